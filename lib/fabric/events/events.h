/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduled events of a scenario, done to its net when their time has come.
 *
 * An event happens after all else of its nanosecond. Events of one time happen in the order of the
 * file. A frame that is sent leaves whole by its port beside what the node sends: neither a shaper
 * nor a pause holds it, it waits only after what is on the cable. A host whose link is down is not
 * told: what it sends is lost, and its pause state is reset. A switch is told. Routes
 * follow reroute_after_ns later, if at all.
 */
#ifndef QUENCH_FABRIC_EVENTS_H
#define QUENCH_FABRIC_EVENTS_H

#include "fabric/net/net.h"

struct events;

/** Called for what is not done to the net, EVENT_DUMP and EVENT_CLEAR_COUNTERS; and for EVENT_SET,
 * right before it is done, or ends. */
typedef void (*events_report_fn)(void *arg, const struct event_params *e, uint64_t now_ns);

/** @return owned by the caller, or NULL: no memory. net outlives it. */
struct events *events_create(struct net *net, events_report_fn report, void *arg);
void events_destroy(struct events *ev);

/** When the next one is, or NEVER_NS. */
uint64_t events_next_ns(const struct events *ev);

/** Do what is due by now_ns, up to which the fabric has run. @return 0, or -ENOMEM. */
int events_run(struct events *ev, uint64_t now_ns);

/* Of an event that sends. */
struct event_result {
	uint64_t frames_sent, no_mbuf; /* the latter found no packet buffer, and were not sent */
};

struct event_result events_result(const struct events *ev, uint32_t index);

#endif
