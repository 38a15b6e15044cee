/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Families of samples, and their text: OpenMetrics 1.0, or Prometheus' text format 0.0.4 for
 * clients without it.
 *
 * Invariant: the samples of a family are contiguous in the text, whatever the order of adding.
 */
#ifndef QUENCH_APP_QUENCHCTL_METRICS_OPENMETRICS_H
#define QUENCH_APP_QUENCHCTL_METRICS_OPENMETRICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum metrics_format { METRICS_OPENMETRICS, METRICS_TEXT, METRICS_FORMATS };

/* Content-Type of each format. */
extern const char *const metrics_content_types[METRICS_FORMATS];

/* A text that grows. Without memory it sets failed and keeps its contents. */
struct text {
	char *at;
	size_t used, capacity;
	bool failed;
};

void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *t);

/** Append ,name="value", escaped; without the comma if the text is empty. */
void text_add_label(struct text *t, const char *name, const char *value);

#define METRIC_CHARS 128

/* A family, derived from the name of a key such as rx_bytes or link_down_ns. */
struct metric {
	char name[METRIC_CHARS]; /* without _total */
	const char *unit;        /* "bytes", a base unit, and the last word of name; "": none */
	bool counter;
	/* Conversion of the key's value to the base unit. */
	unsigned int divide_by; /* 1, 8, 10^6 or 10^9 */
	unsigned int digits;    /* after the point */
};

/** Name, unit and scale of a key. more: a last word such as "_bytes", unless key ends with it. */
struct metric metric_of(const char *object, const char *key, const char *more, bool counter);

struct metrics;

/** @return NULL without memory. */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/** Add a sample, and its family if it is the first. */
void metrics_add(struct metrics *m, const struct metric *metric, const char *help,
		 const char *labels, const char *value);

/**
 * Add all samples of other metrics. A family that is a counter in one and a gauge in the other is
 * left out and counted as a clash, because it would make the whole text invalid.
 */
void metrics_merge(struct metrics *to, const struct metrics *from);
unsigned int metrics_clashes(const struct metrics *m);

/** Format a number, boolean or word ("up", "stormed": 1) as a value. @return false: not a value. */
bool metric_value(const struct metric *metric, const json_t *v, char *text, size_t size);

/** Append the text of all families. text->failed: no memory. */
void metrics_print(const struct metrics *m, enum metrics_format format, struct text *text);

#endif
