/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/field/field_table.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
params_refuse(char *why, unsigned int why_size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, why_size, format, args);
	va_end(args);
	return -EINVAL;
}

static bool
is_word(const char *const *choices, int value)
{
	int n = 0;

	while (choices[n] != NULL)
		n++;
	return value >= 0 && value < n;
}

static bool
is_station(const uint8_t mac[6])
{
	static const uint8_t zero[6];

	return memcmp(mac, zero, sizeof(zero)) != 0 && !(mac[0] & 1);
}

static bool
all_in(const struct field *f, const uint8_t *values)
{
	for (unsigned int i = 0; i < f->map_keys; i++)
		if (values[i] < f->min || values[i] > f->max)
			return false;
	return true;
}

static bool
in_range(const struct field *f, const void *object)
{
	const void *member = (const char *)object + f->offset;

	if (!field_is_own(f, object))
		return true;
	switch (f->type) {
	case FIELD_BOOL:
	case FIELD_STR:
	case FIELD_TEXT:
	case FIELD_SET8:
		return true;
	case FIELD_I8:
		return *(const int8_t *)member >= f->min &&
		       *(const int8_t *)member <= (int64_t)f->max;
	case FIELD_ENUM:
		return is_word(f->choices, *(const int *)member);
	case FIELD_MAC:
		return f->min == 0 || is_station(member);
	case FIELD_IP:
		return field_takes_ip(f, member);
	case FIELD_MAP:
		return all_in(f, member);
	default:
		return field_number(f, object) >= (uint64_t)f->min &&
		       field_number(f, object) <= f->max;
	}
}

int
fields_check(const struct field *fields, unsigned int n, const void *object, char *why,
	     unsigned int why_size)
{
	for (unsigned int i = 0; i < n; i++) {
		struct field bare = fields[i];
		char expected[FIELD_TEXT_SIZE];

		if (in_range(&bare, object))
			continue;
		/* Omit the example. */
		bare.def = NULL;
		field_expected(&bare, NULL, expected, sizeof(expected));
		if (bare.type == FIELD_MAP)
			snprintf(expected, sizeof(expected), "values from %" PRId64 " to %" PRIu64,
				 bare.min, bare.max);
		return params_refuse(why, why_size, "%s must be %s", bare.name, expected);
	}
	return 0;
}

size_t
field_bytes(const struct field *f)
{
	size_t own = f->or_default ? sizeof(bool) : 0;

	switch (f->type) {
	case FIELD_BOOL:
		return sizeof(bool);
	case FIELD_U8:
	case FIELD_I8:
	case FIELD_SET8:
		return sizeof(uint8_t) + own;
	case FIELD_U16:
		return sizeof(uint16_t);
	case FIELD_U32:
		return sizeof(uint32_t);
	case FIELD_U64:
		return sizeof(uint64_t);
	case FIELD_ENUM:
		return sizeof(int);
	case FIELD_MAC:
		return 6;
	case FIELD_IP:
		return sizeof(struct field_ip);
	case FIELD_STR:
		return f->max + 1;
	case FIELD_TEXT:
		return sizeof(const char *);
	case FIELD_MAP:
		return f->map_keys + own;
	}
	return 0;
}

static void
copy_live(const struct field_section *s, const void *from, void *to)
{
	for (unsigned int i = 0; i < *s->n; i++) {
		const struct field *f = &s->fields[i];
		const char *value = (const char *)from + f->offset;
		char *member = (char *)to + f->offset;

		/* It would have two owners. */
		assert(f->type != FIELD_TEXT);
		if (f->live && memcmp(member, value, field_bytes(f)) != 0)
			memcpy(member, value, field_bytes(f));
	}
}

void
field_sections_copy_live(const struct field_section *sections, unsigned int n, const void *from,
			 void *to)
{
	for (unsigned int i = 0; i < n; i++)
		copy_live(&sections[i], (const char *)from + sections[i].offset,
			  (char *)to + sections[i].offset);
}

int
field_sections_defaults(const struct field_section *sections, unsigned int n, void *params)
{
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < n; i++)
		rc = field_defaults(sections[i].fields, *sections[i].n,
				    (char *)params + sections[i].offset);
	return rc;
}

int
field_sections_check(const struct field_section *sections, unsigned int n, const void *params,
		     char *why, unsigned int why_size)
{
	int rc = 0;

	for (unsigned int i = 0; rc == 0 && i < n; i++)
		rc = fields_check(sections[i].fields, *sections[i].n,
				  (const char *)params + sections[i].offset, why, why_size);
	return rc;
}
