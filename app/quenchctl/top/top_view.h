/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of quenchctl top, made from two snapshots, without a terminal. */
#ifndef QUENCH_APP_QUENCHCTL_TOP_TOP_VIEW_H
#define QUENCH_APP_QUENCHCTL_TOP_TOP_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "quenchctl/top/snapshot.h"

#define TOP_COLUMNS 200

enum top_style {
	TOP_PLAIN,
	TOP_HEADING,
	TOP_ALARM, /* a storm, drops, a link that is down */
	TOP_QUIET, /* all rates are 0 */
};

struct top_line {
	enum top_style style;
	char text[TOP_COLUMNS + 1];
};

struct top_view {
	struct top_line *lines;
	unsigned int n, capacity;
	bool hide_quiet; /* omit lines of TOP_QUIET */
	/* Of the terminal; 0: any. Narrow lines have shorter names and bars, and fewer columns. */
	unsigned int columns;
	unsigned int full; /* columns in which nothing is shortened or left out */
};

/** Does a line of this width fit? If it does not, the view is shortened: full rises to width. */
bool top_view_fits(struct top_view *v, int width);

/** Empty it. Zero is an empty view. */
void top_view_clear(struct top_view *v);
void top_view_free(struct top_view *v);

void top_view_add(struct top_view *v, enum top_style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Format a number as "12.30K", with a decimal prefix. Returns text. */
const char *top_number(double value, char text[16]);

/**
 * A bar of `width` characters over 0 to scale: filled up to value, with one letter at each mark
 * that is on it. Returns text.
 *
 * @param marks  Values; one for each character of letters.
 */
const char *top_bar(double value, double scale, const char *letters, const double *marks,
		    unsigned int width, char text[TOP_COLUMNS]);

/** Add the lines of a quench-switch; before may be empty: then rates are 0. */
void top_switch(struct top_view *v, const struct snapshot *now, const struct snapshot *before);

/** Add the lines of a quench-nic. */
void top_nic(struct top_view *v, const struct snapshot *now, const struct snapshot *before);

/** @return increase of a counter per second; 0 if its earlier value is unknown. */
double top_rate(const json_t *now, const json_t *before, const char *key, double seconds);

/** Seconds between two snapshots; 0: there is only one. */
double top_seconds(const struct snapshot *now, const struct snapshot *before);

/**
 * Find the row whose members named by keys equal those of `like`.
 * @return NULL: none. keys end with NULL.
 */
const json_t *top_row(const json_t *rows, const json_t *like, const char *const *keys);

double top_value(const json_t *object, const char *key);

/**
 * A name in at most width characters, 8 or more: Eth for Ethernet, then ~ for a part of its first
 * half, because names differ in their ends. @return text.
 */
const char *top_short(const char *name, int width, char text[TOP_COLUMNS]);

/** Text of the port of a row, in at most width characters: its name, or its number. */
const char *top_port(const json_t *row, int width, char text[TOP_COLUMNS]);

/** Width of a column that holds the ports of these rows and its heading. */
int top_port_width(const json_t *rows);

#endif
