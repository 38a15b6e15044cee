/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of nodes as they are at one time of the run: what dump and clear_counters are about. */
#ifndef QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_DUMP_H
#define QUENCH_APP_QUENCH_LAB_OUTPUT_OUTPUT_DUMP_H

#include <jansson.h>

#include "fabric/events/events.h"

/* Zero-initialised state has none. */
struct dumps {
	json_t *list;     /* of the dumps so far; NULL: none */
	json_t **cleared; /* by node: what its counters were when they were cleared; NULL: never */
};

/** An event of the scenario. @return 0 or -ENOMEM. */
int dumps_take(struct dumps *d, const struct net *net, const struct event_params *e,
	       uint64_t now_ns);

/** The list, whose reference is the caller's. */
json_t *dumps_list(const struct dumps *d);

void dumps_free(struct dumps *d, const struct net *net);

#endif
