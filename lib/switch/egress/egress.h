/* SPDX-License-Identifier: BSD-3-Clause */
/* The way out of a port as others call it: frames to send, and the requested state of the port. */
#ifndef QUENCH_SWITCH_EGRESS_EGRESS_H
#define QUENCH_SWITCH_EGRESS_EGRESS_H

#include "switch/core/switch.h"

/** Take up to max_pkts frames that may leave now. @return their number; the caller owns them. */
uint16_t sw_tx(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
	       uint64_t now_ns);
/** Earliest time at which sw_tx() could do more; NEVER_NS: none. */
uint64_t sw_next_ns(const struct sw *sw, uint16_t port);

/**
 * Add a hop to those of a run of frames that have an INT header. Call it after the counters and the
 * queue were updated for the run.
 *
 * @param pkts  n frames of a queue in the order in which they leave, owned by the caller. A frame
 *              whose data others hold is replaced by a private copy.
 */
void sw_inband_add(struct sw *sw, struct sw_port *p, uint8_t queue, struct rte_mbuf **pkts,
		   uint16_t n, uint64_t now_ns);

/** Put the requested state of a port in force. */
void sw_port_apply(struct sw *sw, uint16_t port, uint64_t now_ns);

/**
 * A frame arrived on a port whose link counts as down: treat the link as up until a link poll finds
 * it down again.
 */
void sw_port_hear(struct sw *sw, uint16_t port, uint64_t now_ns);

#endif
