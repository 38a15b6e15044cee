/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/field/field_unit.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* 10^18 still fits 64 bits. Finer fractions of MiB and GiB are refused. */
#define MAX_DECIMALS 18

/* One of this suffix is num / den stored units. Printed suffixes come first, largest first. */
struct unit_suffix {
	const char *word;
	uint64_t num;
	uint64_t den;
	bool printed;
};

struct unit_info {
	const char *noun;
	const char *name; /* of the stored unit */
	uint64_t full_scale;
	const struct unit_suffix *suffixes;
	uint64_t least_bare;
	const char *meant; /* where the unit is missing */
};

static const struct unit_suffix ns_suffixes[] = {
	{"s", 1000000000, 1, true}, {"ms", 1000000, 1, true}, {"us", 1000, 1, true},
	{"ns", 1, 1, true},         {NULL, 0, 0, false},
};
static const struct unit_suffix us_suffixes[] = {
	{"s", 1000000, 1, true}, {"ms", 1000, 1, true}, {"us", 1, 1, true},
	{"ns", 1, 1000, false},  {NULL, 0, 0, false},
};
/* KiB is not printed: people write an MTU as 1024B. */
static const struct unit_suffix bytes_suffixes[] = {
	{"GiB", 1ull << 30, 1, true},
	{"GB", 1000000000, 1, true},
	{"MiB", 1ull << 20, 1, true},
	{"MB", 1000000, 1, true},
	{"KiB", 1ull << 10, 1, false},
	{"KB", 1000, 1, true},
	{"B", 1, 1, true},
	{"kB", 1000, 1, false},
	{NULL, 0, 0, false},
};
static const struct unit_suffix bps_suffixes[] = {
	{"T", 1000000000000, 1, true}, {"G", 1000000000, 1, true}, {"M", 1000000, 1, true},
	{"K", 1000, 1, true},          {"k", 1000, 1, false},      {NULL, 0, 0, false},
};
static const struct unit_suffix ppm_suffixes[] = {
	{"%", 10000, 1, true},
	{"ppm", 1, 1, true},
	{NULL, 0, 0, false},
};
static const struct unit_suffix pct_suffixes[] = {
	{"%", 1, 1, true},
	{NULL, 0, 0, false},
};
static const struct unit_suffix no_suffixes[] = {{NULL, 0, 0, false}};

static const struct unit_info units[] = {
	[UNIT_NONE] = {"a whole number", "", 0, no_suffixes, 0, NULL},
	[UNIT_NS] = {"a time in whole ns", "ns", 0, ns_suffixes, 0, "us"},
	[UNIT_US] = {"a time in whole us", "us", 0, us_suffixes, 0, "ms"},
	[UNIT_BYTES] = {"a size in whole bytes", "bytes", 0, bytes_suffixes, 64, "KB"},
	[UNIT_BPS] = {"a rate in bit/s", "bit/s", 0, bps_suffixes, 1000, "M"},
	[UNIT_PPM] = {"a share", "ppm", 1000000, ppm_suffixes, 0, "%"},
	[UNIT_PCT] = {"a whole percentage", "%", 100, pct_suffixes, 0, NULL},
	[UNIT_1024] = {"parts of 1024, or a fraction such as 1/256,", "1/1024", 1024, no_suffixes,
		       0, NULL},
};

const char *
unit_noun(enum field_unit unit)
{
	return units[unit].noun;
}

const char *
field_unit_name(enum field_unit unit)
{
	return units[unit].name;
}

uint64_t
unit_full_scale(enum field_unit unit)
{
	return units[unit].full_scale;
}

uint64_t
unit_least_bare(enum field_unit unit, const char **meant)
{
	*meant = units[unit].meant;
	return units[unit].least_bare;
}

/* Append n decimal digits to *value; -ERANGE above 64 bits. */
static int
append_digits(const char *text, size_t n, uint64_t *value)
{
	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(text[i] - '0'), value))
			return -ERANGE;
	return 0;
}

/* value * num / den, which must be whole. value * num < 2^128 and den < 2^64 * 10^18, so both fit
 * 128 bits. */
static int
scale_exactly(uint64_t value, uint64_t num, unsigned __int128 den, uint64_t *out)
{
	unsigned __int128 product = (unsigned __int128)value * num;

	if (den == 0 || product % den != 0)
		return -EINVAL;
	if (product / den > UINT64_MAX)
		return -ERANGE;
	*out = (uint64_t)(product / den);
	return 0;
}

static int
parse_hex(const char *text, uint64_t *out)
{
	size_t n = strspn(text, "0123456789abcdefABCDEF");

	if (n == 0 || text[n] != '\0')
		return -EINVAL;
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		if (*out >> 60)
			return -ERANGE;
		*out = *out << 4 |
		       (uint64_t)(isdigit((unsigned char)text[i]) ? text[i] - '0'
								  : (text[i] | 0x20) - 'a' + 10);
	}
	return 0;
}

static int
parse_fraction(uint64_t full_scale, uint64_t numerator, const char *text, uint64_t *out)
{
	size_t n = strspn(text, "0123456789");
	uint64_t denominator = 0;

	if (n == 0 || text[n] != '\0' || append_digits(text, n, &denominator) != 0)
		return -EINVAL;
	return scale_exactly(numerator, full_scale, denominator, out);
}

/* "bps" or "bit/s" may follow the suffix of a rate, such as G. */
static bool
suffix_matches(enum field_unit unit, const struct unit_suffix *s, const char *text)
{
	size_t n = strlen(s->word);

	if (strcmp(text, s->word) == 0)
		return true;
	return unit == UNIT_BPS && strncmp(text, s->word, n) == 0 &&
	       (strcmp(text + n, "bps") == 0 || strcmp(text + n, "bit/s") == 0);
}

static int
find_suffix(enum field_unit unit, const char *text, uint64_t *num, uint64_t *den)
{
	*den = 1;
	if (unit == UNIT_BPS && (strcmp(text, "bps") == 0 || strcmp(text, "bit/s") == 0)) {
		*num = 1;
		return 0;
	}
	for (const struct unit_suffix *s = units[unit].suffixes; s->word; s++) {
		if (suffix_matches(unit, s, text)) {
			*num = s->num;
			*den = s->den;
			return 0;
		}
	}
	return -EINVAL;
}

int
unit_parse(enum field_unit unit, uint64_t bare_scale, const char *text, struct unit_number *out)
{
	uint64_t value = 0, num = bare_scale, den = 1;
	unsigned __int128 ratio = 1;
	size_t n, decimals = 0;
	int rc;

	out->negative = *text == '-';
	text += out->negative;
	if (unit == UNIT_NONE && text[0] == '0' && (text[1] | 0x20) == 'x')
		return parse_hex(text + 2, &out->magnitude);
	n = strspn(text, "0123456789");
	if (n == 0)
		return -EINVAL;
	rc = append_digits(text, n, &value);
	text += n;
	if (rc == 0 && unit == UNIT_1024 && *text == '/')
		return parse_fraction(unit_full_scale(unit), value, text + 1, &out->magnitude);
	if (*text == '.') {
		n = strspn(++text, "0123456789");
		if (n == 0)
			return -EINVAL;
		for (decimals = n; decimals > 0 && text[decimals - 1] == '0'; decimals--)
			;
		if (decimals > MAX_DECIMALS)
			return -EINVAL;
		if (rc == 0)
			rc = append_digits(text, decimals, &value);
		text += n;
	}
	text += strspn(text, " \t");
	if (*text != '\0' && find_suffix(unit, text, &num, &den) != 0)
		return -EINVAL;
	if (rc != 0)
		return rc;
	while (decimals-- > 0)
		ratio *= 10;
	return scale_exactly(value, num, ratio * den, &out->magnitude);
}

int
unit_format(enum field_unit unit, uint64_t value, char *text, size_t size)
{
	for (const struct unit_suffix *s = units[unit].suffixes; s->word && value != 0; s++)
		if (s->printed && value % s->num == 0)
			return snprintf(text, size, "%" PRIu64 "%s", value / s->num, s->word);
	return snprintf(text, size, "%" PRIu64, value);
}
