/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A burst's frames to the router: routes of all are looked up at once, then each gets its next hop,
 * and then the bridge is asked for the ports of all.
 */
#ifndef QUENCH_SWITCH_FORWARD_ROUTE_BURST_H
#define QUENCH_SWITCH_FORWARD_ROUTE_BURST_H

#include "switch/forward/forward.h"

/** Route those frames of a burst whose reason is SW_TO_ROUTER; gives each another one. The
 * caller sends the requests for neighbours' addresses. */
void sw_route_burst(struct sw_forward *f, struct arrival *a, unsigned int n,
		    enum sw_drop reasons[]);

#endif
