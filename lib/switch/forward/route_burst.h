/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routing of a burst, in three steps: look up the routes of all frames, choose the next hop of
 * each, look up the egress ports of all in the bridge's table.
 *
 * Invariant: afterwards no reason is SW_TO_ROUTER.
 */
#ifndef QUENCH_SWITCH_FORWARD_ROUTE_BURST_H
#define QUENCH_SWITCH_FORWARD_ROUTE_BURST_H

#include "switch/forward/forward.h"

/** Route the frames of a burst whose reason is SW_TO_ROUTER, and replace the reason. The caller
 * sends the requests for neighbours' addresses. */
void sw_route_burst(struct sw_forward *f, struct arrival *a, unsigned int n,
		    enum sw_drop reasons[]);

/**
 * Ask for the addresses of the routes' next hops that are due, whether frames need them or not, and
 * find the next hops that are dead. The caller sends the requests.
 */
void sw_route_check_next_hops(struct sw_forward *f, uint64_t now_ns);

#endif
