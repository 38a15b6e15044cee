/* SPDX-License-Identifier: BSD-3-Clause */
/* Every counter and gauge of a running program as samples (doc/counters.md). */
#ifndef QUENCH_APP_QUENCHCTL_METRICS_METRICS_H
#define QUENCH_APP_QUENCHCTL_METRICS_METRICS_H

#include "quenchctl/command/command.h"
#include "quenchctl/metrics/openmetrics.h"
#include "quenchctl/socket/client.h"

/* There may be a million QPs and 4096 flows: what is asked for, and no more. */
#define METRICS_MOST_QPS 4096u
#define METRICS_MOST_FLOWS 1024u

/* What a program says its keys mean; asked for once. */
struct meanings {
	json_t *counters, *gauges; /* rows of object, name, help */
};

/** @return 0, or an exit code, as client_ask(). */
int meanings_read(struct client *c, struct meanings *meanings);
void meanings_free(struct meanings *meanings);

/**
 * Ask a program for everything and add it.
 *
 * @param labels  Of every sample: program="..",prefix="..".
 * @return        0, or an exit code, as client_ask(): the program is gone, or answers no more.
 */
int metrics_collect(struct metrics *m, struct client *c, const struct meanings *meanings,
		    const char *labels, const struct metrics_bounds *bounds);

#endif
