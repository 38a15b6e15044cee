/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --explain FLOW: what happened to one QP, from its congestion control's trace and from its frames,
 * seen on every cable of the fabric: who marked, which CNP answered that, who paused whom, what was
 * sent again.
 */
#ifndef QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_FLOW_H
#define QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_FLOW_H

#include <stdbool.h>
#include <stdio.h>

#include "fabric/net/net.h"
#include "quench-lab/recording/recording.h"

struct lab_explain;

/**
 * Look at a flow from now on, before the run.
 *
 * @param name  "incast h1", "incast h1#3" for its QP 3, or a section's: the first flow of it.
 * @param recordings  Of ports that are recorded as well; NULL: none.
 * @param rc    On failure the exit code.
 * @return      Owned by the caller, or NULL after an error line.
 */
struct lab_explain *lab_explain_open(const char *name, struct net *net,
				     struct recordings *recordings, int *rc);

/** Other parameters come into force, or no longer are. NULL: nobody looks. */
void lab_explain_set(struct lab_explain *x, const struct event_params *e, uint64_t now_ns);

/** After the run. all: every event, else a story of some 30 lines. @return an exit code. */
int lab_explain_print(FILE *out, struct lab_explain *x, bool all);

/** NULL: none. */
void lab_explain_close(struct lab_explain *x);

#endif
