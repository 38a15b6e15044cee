/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/show/rows.h"
#include "quenchctl/show/table.h"
#include "quenchctl/socket/utf8.h"

#include <stdbool.h>
#include <string.h>

#define TEXT_CHARS 160
#define MAX_COLUMNS 24

struct column {
	char key[64], title[64];
	int width;
	bool right;
};

static bool
ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

/* Format a rate such as 40.000G, with three digits after the point if it is 1000 or more. */
static void
format_rate(char text[TEXT_CHARS], json_int_t bps)
{
	static const char units[] = {'\0', 'K', 'M', 'G', 'T'};
	double value = (double)bps;
	unsigned int unit = 0;

	for (; value >= 1000 && unit + 1 < sizeof(units); unit++)
		value /= 1000;
	snprintf(text, TEXT_CHARS, "%.*f%c", unit == 0 ? 0 : 3, value, units[unit]);
}

/* Format a time as in configuration files, such as 17.432ms. */
static void
format_time(char text[TEXT_CHARS], json_int_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	unsigned int unit = 0;

	for (; value >= 1000 && unit < 3; unit++)
		value /= 1000;
	snprintf(text, TEXT_CHARS, "%.*f%s", unit == 0 ? 0 : 3, value, units[unit]);
}

/* Format a size as in configuration files, such as 100KB: all its digits, without zeros. */
static void
format_size(char text[TEXT_CHARS], json_int_t bytes)
{
	static const char *const units[] = {"B", "KB", "MB", "GB"};
	double value = (double)bytes;
	unsigned int unit = 0;

	for (; value >= 1000 && unit < 3; unit++)
		value /= 1000;
	snprintf(text, TEXT_CHARS, "%.12g%s", value, units[unit]);
}

static void
format(const char *key, const json_t *v, char text[TEXT_CHARS])
{
	if (json_is_integer(v) && ends_with(key, "_bps"))
		format_rate(text, json_integer_value(v));
	else if (json_is_integer(v) && ends_with(key, "_ns"))
		format_time(text, json_integer_value(v));
	else if (json_is_integer(v) && ends_with(key, "_ppm"))
		snprintf(text, TEXT_CHARS, "%.6g%%", (double)json_integer_value(v) / 1e4);
	else if (json_is_integer(v) && ends_with(key, "_threshold_bytes"))
		format_size(text, json_integer_value(v));
	else if (json_is_real(v) && ends_with(key, "_pct"))
		snprintf(text, TEXT_CHARS, "%.2f%%", json_real_value(v));
	else if (json_is_integer(v))
		snprintf(text, TEXT_CHARS, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		snprintf(text, TEXT_CHARS, "%.6g", json_real_value(v));
	else if (json_is_string(v) && *json_string_value(v) != '\0')
		snprintf(text, TEXT_CHARS, "%s", json_string_value(v));
	else
		snprintf(text, TEXT_CHARS, "-");
	/* Replace control characters, so that a terminal does not execute them. */
	utf8_clean(text);
}

/* Parse the first column. @return the rest of the list, or NULL. */
static const char *
next_column(const char *columns, struct column *c)
{
	size_t n = strcspn(columns, " ");
	const char *equals = memchr(columns, '=', n);
	size_t key = equals != NULL ? (size_t)(equals - columns) : n;

	snprintf(c->key, sizeof(c->key), "%.*s", (int)key, columns);
	if (equals != NULL)
		snprintf(c->title, sizeof(c->title), "%.*s", (int)(n - key - 1), equals + 1);
	else
		snprintf(c->title, sizeof(c->title), "%s", c->key);
	c->width = (int)strlen(c->title);
	c->right = true;
	return columns[n] == '\0' ? NULL : columns + n + 1;
}

/* A port that has a name is shown by it. */
static const json_t *
cell(const json_t *row, const struct column *c)
{
	bool named = strcmp(c->key, "port") == 0 && rows_port_name(row) != NULL;

	return json_object_get(row, named ? "port_name" : c->key);
}

static void
measure(struct column *c, const json_t *rows)
{
	char text[TEXT_CHARS];
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		const json_t *v = cell(row, c);

		format(c->key, v, text);
		if ((int)strlen(text) > c->width)
			c->width = (int)strlen(text);
		if (json_is_string(v))
			c->right = false;
	}
}

static void
put(FILE *out, const struct column *c, const char *text, bool last)
{
	if (c->right)
		fprintf(out, "%*s", c->width, text);
	else if (last)
		fputs(text, out);
	else
		fprintf(out, "%-*s", c->width, text);
	fputs(last ? "\n" : "  ", out);
}

void
table_rows(FILE *out, const json_t *rows, const char *columns)
{
	struct column c[MAX_COLUMNS];
	unsigned int n = 0;
	json_t *row;
	size_t i;

	for (; columns != NULL && n < MAX_COLUMNS; n++) {
		columns = next_column(columns, &c[n]);
		measure(&c[n], rows);
	}
	for (unsigned int k = 0; k < n; k++)
		put(out, &c[k], c[k].title, k + 1 == n);
	if (json_array_size(rows) == 0)
		fputs("(none)\n", out);
	json_array_foreach (rows, i, row) {
		for (unsigned int k = 0; k < n; k++) {
			char text[TEXT_CHARS];

			format(c[k].key, cell(row, &c[k]), text);
			put(out, &c[k], text, k + 1 == n);
		}
	}
}

/* Minimum width of names. */
#define NAME_WIDTH 34

static void
put_member(FILE *out, int width, const char *prefix, const char *key, const json_t *v)
{
	char text[TEXT_CHARS], name[TEXT_CHARS];

	format(key, v, text);
	snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix != '\0' ? " " : "", key);
	fprintf(out, "%-*s %s\n", width, name, text);
}

static void
put_members(FILE *out, int width, const char *prefix, const json_t *object)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)object, key, v) {
		if (json_is_object(v))
			put_members(out, width, key, v);
		else if (!json_is_array(v))
			put_member(out, width, prefix, key, v);
	}
}

static int
longest_name(int prefix, const json_t *object)
{
	int longest = NAME_WIDTH;
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)object, key, v) {
		int n = prefix + (int)strlen(key);

		if (json_is_object(v))
			n = longest_name((int)strlen(key) + 1, v);
		if (!json_is_array(v) && n > longest)
			longest = n;
	}
	return longest;
}

void
table_members(FILE *out, const json_t *object, const char *keys)
{
	struct column c;

	if (keys == NULL)
		put_members(out, longest_name(0, object), "", object);
	while (keys != NULL) {
		keys = next_column(keys, &c);
		if (json_object_get(object, c.key) != NULL)
			put_member(out, NAME_WIDTH, "", c.title, json_object_get(object, c.key));
	}
}
