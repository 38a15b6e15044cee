/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/field/field_list.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static void
skip_blanks(const char **p)
{
	*p += strspn(*p, " \t");
}

static int
take_number(const char **p, unsigned int limit, unsigned int *value)
{
	size_t n = strspn(*p, "0123456789");

	if (n == 0)
		return -EINVAL;
	*value = 0;
	for (; n > 0; n--, (*p)++)
		if (*value < limit) /* beyond the limit, further digits do not matter */
			*value = *value * 10 + (unsigned int)(**p - '0');
	return *value < limit ? 0 : -ERANGE;
}

/* "n" or "n-m", both below limit. */
static int
take_range(const char **p, unsigned int limit, unsigned int *first, unsigned int *last)
{
	int rc = take_number(p, limit, first);

	*last = *first;
	if (rc != 0 || **p != '-')
		return rc;
	(*p)++;
	rc = take_number(p, limit, last);
	if (rc == 0 && *last < *first)
		rc = -EINVAL;
	return rc;
}

/* After an item, expect the end of the text, or a comma and another item. */
static int
take_comma(const char **p, bool *more)
{
	skip_blanks(p);
	*more = **p == ',';
	if (!*more)
		return **p == '\0' ? 0 : -EINVAL;
	(*p)++;
	skip_blanks(p);
	return 0;
}

int
set8_parse(const char *text, uint8_t *mask)
{
	uint8_t set = 0;
	bool more = true;

	if (strcmp(text, "none") == 0) {
		*mask = 0;
		return 0;
	}
	while (more) {
		unsigned int first, last;
		int rc = take_range(&text, 8, &first, &last);

		if (rc == 0)
			rc = take_comma(&text, &more);
		if (rc != 0)
			return rc;
		for (unsigned int i = first; i <= last; i++) {
			if (set >> i & 1)
				return -EINVAL;
			set |= (uint8_t)(1u << i);
		}
	}
	*mask = set;
	return 0;
}

struct map_item {
	bool rest; /* the key is * */
	unsigned int first, last;
	uint8_t value;
};

static int
take_map_item(const struct field *field, const char **p, struct map_item *item)
{
	unsigned int value = 0;
	int rc = 0;

	item->rest = **p == '*';
	if (item->rest)
		(*p)++;
	else
		rc = take_range(p, field->map_keys, &item->first, &item->last);
	if (rc != 0)
		return rc;
	skip_blanks(p);
	if (**p != ':')
		return -EINVAL;
	(*p)++;
	skip_blanks(p);
	rc = take_number(p, 256, &value);
	if (rc != 0)
		return rc;
	if ((int64_t)value < field->min || value > field->max)
		return -ERANGE;
	item->value = (uint8_t)value;
	return 0;
}

int
map_parse(const struct field *field, const char *text, const uint8_t *was, uint8_t *values)
{
	uint8_t map[FIELD_MAP_KEYS];
	bool named[FIELD_MAP_KEYS] = {false};
	int rest = -1;
	bool more = true;

	assert(field->map_keys <= FIELD_MAP_KEYS);
	while (more) {
		struct map_item item = {0};
		int rc = take_map_item(field, &text, &item);

		if (rc == 0)
			rc = take_comma(&text, &more);
		if (rc != 0)
			return rc;
		if (item.rest) {
			if (rest >= 0)
				return -EINVAL;
			rest = item.value;
			continue;
		}
		for (unsigned int k = item.first; k <= item.last; k++) {
			if (named[k])
				return -EINVAL;
			named[k] = true;
			map[k] = item.value;
		}
	}
	for (unsigned int k = 0; k < field->map_keys; k++) {
		if (named[k])
			continue;
		if (rest < 0 && was == NULL)
			return -EINVAL;
		map[k] = rest < 0 ? was[k] : (uint8_t)rest;
	}
	memcpy(values, map, field->map_keys);
	return 0;
}

/* Where to append, or NULL once the text has been truncated. */
static char *
tail(char *text, size_t size, int used)
{
	return (size_t)used < size ? text + used : NULL;
}

static size_t
space_left(size_t size, int used)
{
	return (size_t)used < size ? size - (size_t)used : 0;
}

int
set8_format(uint8_t mask, char *text, size_t size)
{
	int used = 0;

	if (mask == 0)
		return snprintf(text, size, "none");
	for (unsigned int i = 0; i < 8; i++) {
		unsigned int first = i;

		if (!(mask >> i & 1))
			continue;
		while (i < 7 && mask >> (i + 1) & 1)
			i++;
		used += snprintf(tail(text, size, used), space_left(size, used),
				 i > first ? "%s%u-%u" : "%s%u", used ? "," : "", first, i);
	}
	return used;
}

/* The last key of the run of equal values that begins at first. */
static unsigned int
run_end(const uint8_t *values, unsigned int n, unsigned int first)
{
	while (first + 1 < n && values[first + 1] == values[first])
		first++;
	return first;
}

static int
run_format(const uint8_t *values, unsigned int first, unsigned int last, char *text, size_t size)
{
	if (last > first)
		return snprintf(text, size, "%u-%u:%u", first, last, values[first]);
	return snprintf(text, size, "%u:%u", first, values[first]);
}

/*
 * The value whose runs of keys need the most text: field_format() writes it as *. Of equals, the
 * smallest.
 */
static uint8_t
longest(const uint8_t *values, unsigned int n)
{
	int chars[256] = {0};
	uint8_t best = 0;

	for (unsigned int k = 0; k < n; k++) {
		unsigned int last = run_end(values, n, k);

		chars[values[k]] += run_format(values, k, last, NULL, 0) + 1;
		k = last;
	}
	for (unsigned int v = 1; v < 256; v++)
		if (chars[v] > chars[best])
			best = (uint8_t)v;
	return best;
}

static int
map_join(const uint8_t *values, unsigned int n, const char *comma, char *text, size_t size)
{
	uint8_t rest = longest(values, n);
	int used = 0;

	for (unsigned int k = 0; k < n; k++) {
		unsigned int last = run_end(values, n, k);

		if (values[k] != rest) {
			used += run_format(values, k, last, tail(text, size, used),
					   space_left(size, used));
			used += snprintf(tail(text, size, used), space_left(size, used), "%s",
					 comma);
		}
		k = last;
	}
	return used + snprintf(tail(text, size, used), space_left(size, used), "*:%u", rest);
}

/* A longer text is written without blanks. */
#define FILE_CHARS 255

int
map_format(const struct field *field, const uint8_t *values, char *text, size_t size)
{
	bool fits = map_join(values, field->map_keys, ", ", NULL, 0) <= FILE_CHARS;

	return map_join(values, field->map_keys, fits ? ", " : ",", text, size);
}
