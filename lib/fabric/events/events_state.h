/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a run, and their progress. Private to lib/fabric. */
#ifndef QUENCH_FABRIC_EVENTS_EVENTS_STATE_H
#define QUENCH_FABRIC_EVENTS_EVENTS_STATE_H

#include "fabric/events/events.h"
#include "fabric/net/net_state.h"

struct item {
	uint64_t next_ns;  /* NEVER_NS: finished */
	bool lasts;        /* it has begun, and ends at next_ns */
	uint64_t round_ns; /* time of the first frame of this round */
	uint32_t rounds, next_frame;
	struct event_result result;
};

struct events {
	struct net *net;
	events_report_fn report;
	void *arg;
	const struct event_params *params;
	struct item *items;
	uint8_t *down; /* by link: mask of reasons why it is down, events_faults.c */
	uint32_t n;
	uint64_t reroute_ns; /* when routes follow a change of links; NEVER_NS: no change */
	uint64_t next_ns;
};

static inline struct node *
events_switch(const struct events *ev, uint32_t node)
{
	return ev->net->switches[node];
}

/**
 * Begin (on) or end the effect of an event on a link, a cable, a host or a whole switch. @return 0,
 * or -ENOMEM.
 */
int events_fault(struct events *ev, const struct event_params *e, bool on, uint64_t now_ns);

#endif
