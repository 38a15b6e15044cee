/* SPDX-License-Identifier: BSD-3-Clause */
/* Every counter and gauge of a running program as samples (doc/counters.md). */
#ifndef QUENCH_APP_QUENCHCTL_METRICS_METRICS_H
#define QUENCH_APP_QUENCHCTL_METRICS_METRICS_H

#include "quenchctl/command/command.h"
#include "quenchctl/metrics/openmetrics.h"
#include "quenchctl/socket/client.h"

/* Limits of --qps and --flows: there may be a million QPs and 4096 flows. */
#define METRICS_MOST_QPS 4096u
#define METRICS_MOST_FLOWS 1024u

/* A program's meanings of its keys, read once. */
struct meanings {
	json_t *counters, *gauges; /* rows of object, name, help */
};

/** @return 0, or an exit code, as client_ask(). */
int meanings_read(struct client *c, struct meanings *meanings);
void meanings_free(struct meanings *meanings);

/**
 * Read all counters and gauges of a program, and add them.
 *
 * @param labels  For every sample: program="..",prefix="..".
 * @return        0, or an exit code as of client_ask().
 */
int metrics_collect(struct metrics *m, struct client *c, const struct meanings *meanings,
		    const char *labels, const struct metrics_bounds *bounds);

#endif
