/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways in: from a port, from other shards, and by flooding (admit.h has the decisions). */
#ifndef QUENCH_SWITCH_INGRESS_INGRESS_H
#define QUENCH_SWITCH_INGRESS_INGRESS_H

#include "switch/core/switch.h"
#include "switch/frame/arrival.h"

/** Process frames received by port; takes all of them. */
void sw_rx(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns);

/** Release the charges that other shards have returned to a port. */
void sw_crossed_collect(struct sw *sw, uint16_t port, uint64_t now_ns);
/** Take what other shards have handed over: frames, up to a bound, and neighbours' addresses. */
void sw_crossed_take(struct sw *sw, uint64_t now_ns);
/**
 * Serve all shards until nothing waits between them. Call it only if one thread drives all shards.
 */
void sw_crossed_settle(struct sw *front, uint64_t now_ns);

/** Send copies of an admitted frame to sw_flood_ports(); takes it. */
void sw_flood(struct sw *sw, struct arrival *a);
/** As sw_flood(), for a crossed frame, to the ports of this shard. */
void sw_flood_crossed(struct sw *sw, struct arrival *a);

#endif
