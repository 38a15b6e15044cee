/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of nodes at a time of the run: the events dump and clear_counters. */
#ifndef QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_DUMP_H
#define QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_DUMP_H

#include <jansson.h>

#include "base/field/walk.h"
#include "fabric/events/events.h"

/* Zero-initialised: no dumps. */
struct dumps {
	json_t *list;     /* the dumps so far; NULL: none */
	json_t **cleared; /* by node: its counters at the last clear; NULL: never cleared */
};

/** Handle an event dump or clear_counters. @return 0 or -ENOMEM. */
int dumps_take(struct dumps *d, const struct net *net, const struct event_params *e,
	       uint64_t now_ns);

/** The list dumps; w is a struct json_walk, or names_only and d NULL. */
void dumps_walk(struct walk *w, const struct dumps *d);

void dumps_free(struct dumps *d, const struct net *net);

#endif
