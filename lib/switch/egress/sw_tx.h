/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Egress: MAC control frames, scheduler, marking, release, and the time of the next call.
 *
 * Invariant (tested): in any interval t, data wire bytes of a port <= (shaper rate * t) / 8 + burst
 * + one frame.
 */
#ifndef QUENCH_SWITCH_EGRESS_SW_TX_H
#define QUENCH_SWITCH_EGRESS_SW_TX_H

#include "switch/core/switch.h"

/** Take up to max_pkts frames that may leave now. @return their number; the caller owns them. */
uint16_t sw_tx(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	       uint64_t now_ns);
/** Earliest time at which sw_tx() could do more; NEVER_NS: none. */
uint64_t sw_next_ns(const struct sw *sw, uint16_t port);

#endif
