/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Families of samples, and their text: OpenMetrics 1.0, or Prometheus' text format 0.0.4 for who
 * does not know it. The samples of a family stand together whatever the order in which they come.
 */
#ifndef QUENCH_APP_QUENCHCTL_METRICS_OPENMETRICS_H
#define QUENCH_APP_QUENCHCTL_METRICS_OPENMETRICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum metrics_format { METRICS_OPENMETRICS, METRICS_TEXT, METRICS_FORMATS };

/* What stands in front of the first format's text, for HTTP. */
extern const char *const metrics_content_types[METRICS_FORMATS];

/* Text that grows; without memory it ends, and is no more than what it was. */
struct text {
	char *at;
	size_t used, room;
	bool failed;
};

void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *t);

/** Append ,name="value", escaped; without the comma to an empty text. */
void text_add_label(struct text *t, const char *name, const char *value);

#define METRIC_CHARS 128

/* What a family is, from the name of a key: rx_bytes, link_down_ns. */
struct metric {
	char name[METRIC_CHARS]; /* without _total */
	const char *unit;        /* "bytes", a base unit, and the last word of name; "": none */
	bool counter;
	/* How a value of the key becomes one in the base unit. */
	unsigned int divide_by; /* 1, 8, 10^6 or 10^9 */
	unsigned int digits;    /* after the point */
};

/** Name, unit and scale of object's key. more: last word of its name, "_bytes", unless there is. */
struct metric metric_of(const char *object, const char *key, const char *more, bool counter);

struct metrics;

/** @return NULL without memory. */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/** Add a sample; its family begins with the first one. */
void metrics_add(struct metrics *m, const struct metric *metric, const char *help,
		 const char *labels, const char *value);

/**
 * Add all samples of other metrics. A family that is a counter in the one and a gauge in the other
 * is left out and counted as a clash: it would make the whole text wrong.
 */
void metrics_merge(struct metrics *to, const struct metrics *from);
unsigned int metrics_clashes(const struct metrics *m);

/** A JSON number, switch or word ("up", "stormed" are 1) as a value. @return false: it is none. */
bool metric_value(const struct metric *metric, const json_t *v, char *text, size_t size);

/** All of it. text->failed: there was no memory for it. */
void metrics_print(const struct metrics *m, enum metrics_format format, struct text *text);

#endif
