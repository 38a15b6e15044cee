/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers with units as text: the part of field.h that knows suffixes. Private to lib/base.
 *
 * A number is exact: decimals and small units are kept as a ratio until the end, and what does not
 * come out as a whole count of the stored unit is refused, never rounded.
 */
#ifndef QUENCH_BASE_FIELD_UNIT_H
#define QUENCH_BASE_FIELD_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/field.h"

struct unit_number {
	uint64_t magnitude;
	bool negative;
};

/**
 * Read a whole text as one number of a unit.
 *
 * @param bare_scale  What a number without a suffix is multiplied by.
 * @return            0, -EINVAL (not a number of this unit, not whole), -ERANGE (over 64 bits).
 */
int unit_parse(enum field_unit unit, uint64_t bare_scale, const char *text,
	       struct unit_number *out);

/** Write a value with the largest suffix that divides it. @return as snprintf. */
int unit_format(enum field_unit unit, uint64_t value, char *text, size_t size);

/** One whole of a unit of shares (1024, 100, 1000000), else 0. */
uint64_t unit_full_scale(enum field_unit unit);

/** What a number of this unit is called in an error line, e.g. "a rate". */
const char *unit_noun(enum field_unit unit);

/** Does "never" stand for this member's highest value? */
static inline bool
field_has_never(const struct field *field)
{
	return field->type == FIELD_U64 && field->max == UINT64_MAX &&
	       (field->unit == UNIT_NS || field->unit == UNIT_US);
}

#endif
