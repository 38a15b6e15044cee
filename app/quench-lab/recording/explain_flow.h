/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --explain FLOW: the events of one QP, from the trace of its congestion control and from its
 * frames on every cable: where frames were marked, which CNP followed, which node paused which,
 * which packets were sent again.
 */
#ifndef QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_FLOW_H
#define QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_FLOW_H

#include <stdbool.h>
#include <stdio.h>

#include "fabric/net/net.h"
#include "quench-lab/recording/recording.h"

struct lab_explain;

/**
 * Observe a flow. Call before the run.
 *
 * @param name  "incast h1", "incast h1#3" for its QP 3, or a section's name: its first flow.
 * @param recordings  Recordings of the same run, which share their taps; NULL: none.
 * @param rc    The exit code on failure.
 * @return      Owned by the caller, or NULL after an error line.
 */
struct lab_explain *lab_explain_open(const char *name, struct net *net,
				     struct recordings *recordings, int *rc);

/** Call when an event changes parameters, or when its change ends. x may be NULL. */
void lab_explain_set(struct lab_explain *x, const struct event_params *e, uint64_t now_ns);

/**
 * Take over what was seen up to now_ns, the time that the fabric has reached; NEVER_NS: all, after
 * the run. All ranks call it together, and rank 0 gets what they have seen. x may be NULL.
 */
void lab_explain_take(struct lab_explain *x, uint64_t now_ns);

/** Call after the run. all: every event; else a summary of about 30 lines. @return an exit code. */
int lab_explain_print(FILE *out, struct lab_explain *x, bool all);

/** x may be NULL. */
void lab_explain_close(struct lab_explain *x);

#endif
