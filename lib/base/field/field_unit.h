/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers with units as text: the part of field.h that knows suffixes. Private to lib/base.
 *
 * Conversion is exact: decimals and small units are kept as a ratio until the end. A value that is
 * not a whole multiple of the stored unit is refused, never rounded.
 */
#ifndef QUENCH_BASE_FIELD_FIELD_UNIT_H
#define QUENCH_BASE_FIELD_FIELD_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/field/field.h"

struct unit_number {
	uint64_t magnitude;
	bool negative;
};

/**
 * Parse a text that is one number of a unit, and nothing else.
 *
 * @param bare_scale  Stored units in 1 without a suffix.
 * @return            0, -EINVAL (not a number of this unit, not whole), -ERANGE (over 64 bits).
 */
int unit_parse(enum field_unit unit, uint64_t bare_scale, const char *text,
	       struct unit_number *out);

/** Write a value with the largest suffix that divides it. @return as snprintf. */
int unit_format(enum field_unit unit, uint64_t value, char *text, size_t size);

/** Full scale of a share (1024, 100 or 1000000); 0 for other units. */
uint64_t unit_full_scale(enum field_unit unit);

/** least_bare of fields that have none, and a unit that is probably meant. */
uint64_t unit_least_bare(enum field_unit unit, const char **meant);

/** Noun for a number of this unit in an error line, such as "a rate". */
const char *unit_noun(enum field_unit unit);

/** The word for this member's highest value: "never" of times, "auto" of sizes; NULL: none. */
static inline const char *
field_highest_word(const struct field *field)
{
	if (field->type != FIELD_U64 || field->max != UINT64_MAX)
		return NULL;
	if (field->unit == UNIT_BYTES)
		return "auto";
	return field->unit == UNIT_NS || field->unit == UNIT_US ? "never" : NULL;
}

#endif
