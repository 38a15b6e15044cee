/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scheduled events of a scenario, applied to its net at their times.
 *
 * Order: an event happens after everything else of its nanosecond, and events of the same time
 * happen in the order of the file.
 *
 * An injected frame leaves by its port independently of the node's own frames: no shaper and no
 * pause delays it, and it waits only for frames that are on the cable. A host whose link goes down
 * is not notified: the frames that it sends are lost, and its pause state is reset. A switch is
 * notified. Routes follow after reroute_after_ns, unless that is never.
 */
#ifndef QUENCH_FABRIC_EVENTS_EVENTS_H
#define QUENCH_FABRIC_EVENTS_EVENTS_H

#include "fabric/net/net.h"

struct events;

/**
 * Called for events that do not change the net (EVENT_DUMP, EVENT_CLEAR_COUNTERS), and for
 * EVENT_SET, right before it is applied or ends.
 */
typedef void (*events_report_fn)(void *arg, const struct event_params *e, uint64_t now_ns);

/** @return owned by the caller, or NULL: out of memory. net must outlive it. */
struct events *events_create(struct net *net, events_report_fn report, void *arg);
void events_destroy(struct events *ev);

/** Time of the next event, or NEVER_NS. */
uint64_t events_next_ns(const struct events *ev);

/** Apply the events due by now_ns, up to which the fabric has run. @return 0, or -ENOMEM. */
int events_run(struct events *ev, uint64_t now_ns);

/* Result of an event that sends. */
struct event_result {
	uint64_t frames_sent, no_mbuf; /* no_mbuf: not sent, because no packet buffer was free */
};

struct event_result events_result(const struct events *ev, uint32_t index);

#endif
