/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells captures and recordings of frames that are dropped where they were to leave. */
#ifndef QUENCH_SWITCH_EGRESS_SW_LOST_H
#define QUENCH_SWITCH_EGRESS_SW_LOST_H

#include "switch/core/switch.h"

/** Call node_drops.lost with the name of a reason. */
void sw_tell_lost(struct node_drops *drops, struct node_lost_frame frame, enum sw_drop reason);

/* Inline definitions */

/**
 * Name a frame that is dropped at its egress, if somebody wants to know.
 *
 * @param from_port  The port that received it; NODE_NO_PORT: the switch made it.
 */
static inline void
sw_name_lost(const struct sw *sw, uint16_t port, uint16_t from_port, const struct rte_mbuf *m,
	     enum sw_drop reason, uint64_t now_ns)
{
	if (unlikely(node_lost_wanted(sw->drops)))
		sw_tell_lost(
			sw->drops,
			(struct node_lost_frame){
				.m = m, .port = port, .from_port = from_port, .now_ns = now_ns},
			reason);
}

#endif
