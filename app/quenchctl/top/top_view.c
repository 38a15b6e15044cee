/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/show/rows.h"
#include "quenchctl/top/top_view.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
top_view_clear(struct top_view *v)
{
	v->n = 0;
	v->full = 0;
}

bool
top_view_fits(struct top_view *v, int width)
{
	if ((unsigned int)width > v->full)
		v->full = (unsigned int)width;
	return v->columns == 0 || (unsigned int)width <= v->columns;
}

void
top_view_free(struct top_view *v)
{
	free(v->lines);
	*v = (struct top_view){0};
}

void
top_view_add(struct top_view *v, enum top_style style, const char *format, ...)
{
	va_list args;

	if (v->hide_quiet && style == TOP_QUIET)
		return;
	if (v->n == v->capacity) {
		unsigned int capacity = v->capacity == 0 ? 64 : 2 * v->capacity;
		struct top_line *lines = realloc(v->lines, capacity * sizeof(*lines));

		/* Without memory the view ends here. */
		if (lines == NULL)
			return;
		v->lines = lines;
		v->capacity = capacity;
	}
	v->lines[v->n].style = style;
	va_start(args, format);
	vsnprintf(v->lines[v->n].text, sizeof(v->lines[v->n].text), format, args);
	va_end(args);
	v->n++;
}

const char *
top_number(double value, char text[16])
{
	static const char prefixes[] = " KMGTP";
	unsigned int i = 0;

	while (fabs(value) >= 999.95 && i + 2 < sizeof(prefixes)) {
		value /= 1000;
		i++;
	}
	if (i == 0)
		snprintf(text, 16, value == floor(value) ? "%.0f" : "%.1f", value);
	else
		snprintf(text, 16, fabs(value) < 99.95 ? "%.2f%c" : "%.1f%c", value, prefixes[i]);
	return text;
}

static unsigned int
place(double value, double scale, unsigned int width)
{
	double at = scale > 0 ? value / scale * width : 0;

	if (!(at > 0))
		return 0;
	return at < width ? (unsigned int)at : width;
}

const char *
top_bar(double value, double scale, const char *letters, const double *marks, unsigned int width,
	char text[TOP_COLUMNS])
{
	unsigned int filled = place(value, scale, width);

	/* Any value above 0 is visible. */
	if (filled == 0 && value > 0)
		filled = 1;
	memset(text, '.', width);
	memset(text, '=', filled);
	text[width] = '\0';
	for (unsigned int i = 0; letters[i] != '\0'; i++) {
		unsigned int at = place(marks[i], scale, width);

		if (at < width)
			text[at] = letters[i];
	}
	return text;
}

double
top_value(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

double
top_rate(const json_t *now, const json_t *before, const char *key, double seconds)
{
	const json_t *was = json_object_get(before, key);

	if (was == NULL || seconds <= 0)
		return 0;
	return (top_value(now, key) - json_number_value(was)) / seconds;
}

double
top_seconds(const struct snapshot *now, const struct snapshot *before)
{
	if (before->replies == NULL || before->elapsed_ns >= now->elapsed_ns)
		return 0;
	return (double)(now->elapsed_ns - before->elapsed_ns) / 1e9;
}

const json_t *
top_row(const json_t *rows, const json_t *like, const char *const *keys)
{
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		bool same = true;

		for (unsigned int k = 0; same && keys[k] != NULL; k++)
			same = json_equal(json_object_get(row, keys[k]),
					  json_object_get(like, keys[k])) == 1;
		if (same)
			return row;
	}
	return NULL;
}

const char *
top_short(const char *name, int width, char text[TOP_COLUMNS])
{
	static const char word[] = "Ethernet";
	int n = (int)strlen(name), head = width / 3;

	if (n > width && strncmp(name, word, strlen(word)) == 0) {
		snprintf(text, TOP_COLUMNS, "Eth%s", name + strlen(word));
		n -= (int)strlen(word) - 3;
	} else {
		snprintf(text, TOP_COLUMNS, "%s", name);
	}
	if (n <= width || n >= TOP_COLUMNS)
		return text;
	text[head] = '~';
	memmove(text + head + 1, text + n - (width - head - 1), (size_t)(width - head));
	return text;
}

const char *
top_port(const json_t *row, int width, char text[TOP_COLUMNS])
{
	const char *name = rows_port_name(row);

	if (name != NULL)
		return top_short(name, width, text);
	snprintf(text, TOP_COLUMNS, "%.0f", top_value(row, "port"));
	return text;
}

int
top_port_width(const json_t *rows)
{
	int width = (int)strlen("port");
	char text[TOP_COLUMNS];
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		int n = (int)strlen(top_port(row, TOP_COLUMNS, text));

		width = n > width ? n : width;
	}
	return width;
}
