/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of named series at the last WEB_POINTS times, for the charts of the page. A new viewer
 * gets all of them, later only the points that it does not have.
 *
 * Invariant: a history holds at most WEB_SERIES series. A series without a value at all these times
 * is removed; values of further series are not kept.
 */
#ifndef QUENCH_APP_QUENCHCTL_WEB_WEB_HISTORY_H
#define QUENCH_APP_QUENCHCTL_WEB_WEB_HISTORY_H

#include <jansson.h>
#include <stdint.h>

/* Two minutes, at two points a second. */
#define WEB_POINTS 240u
#define WEB_SERIES 2048u

struct web_series;

struct web_history {
	int64_t at_ms[WEB_POINTS];   /* Unix time of a point; the ring's oldest point is at next */
	uint64_t number[WEB_POINTS]; /* the caller's; 0: no point yet */
	unsigned int next;           /* place of the next point */
	struct web_series *series;   /* in order of their first value */
	unsigned int n_series;
};

/**
 * Add a point.
 *
 * @param number  Higher than that of the point before, above 0.
 * @param charts  {chart: {series: number}}; NULL: a gap in all series.
 * @return        0, or -ENOMEM.
 */
int web_history_add(struct web_history *h, uint64_t number, int64_t at_ms, const json_t *charts);

/**
 * The points with a higher number than since, the oldest first: {"at_ms": [...], "charts": {chart:
 * {series: [...]}}}. A missing value is null. A series without a value in these points is left out.
 *
 * @return owned by the caller; NULL without memory.
 */
json_t *web_history_since(const struct web_history *h, uint64_t since);

/** Forget all points. A zero history is empty. */
void web_history_clear(struct web_history *h);

#endif
