/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets and maps of small numbers as text: "3-4", "26:3, 24:3, *:0". Private to lib/base.
 */
#ifndef QUENCH_BASE_FIELD_FIELD_LIST_H
#define QUENCH_BASE_FIELD_FIELD_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/field/field.h"

/** Most keys of a FIELD_MAP. */
#define FIELD_MAP_KEYS 256

/*
 * All return 0, -EINVAL (malformed, or a number named twice) or -ERANGE, and write only on success.
 */
int set8_parse(const char *text, uint8_t *mask);
/* was: values of keys that the text does not name; NULL: it must name every key */
int map_parse(const struct field *field, const char *text, const uint8_t *was, uint8_t *values);

/* Return as snprintf. */
int set8_format(uint8_t mask, char *text, size_t size);
int map_format(const struct field *field, const uint8_t *values, char *text, size_t size);

#endif
