/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues and groups that are closed because of a storm or because the link is down: frames that
 * arrive for them are refused, and queued frames are dropped.
 *
 * Invariant: a queue of closed_queues is empty after sw_port_apply().
 */
#ifndef QUENCH_SWITCH_EGRESS_CLOSED_H
#define QUENCH_SWITCH_EGRESS_CLOSED_H

#include "switch/core/switch.h"

/** Drop all packets of a queue, and count them under reason. @return their number. */
uint64_t sw_closed_flush(struct sw *sw, uint16_t port, uint8_t queue, enum sw_drop reason,
			 uint64_t now_ns);

/** Drop all packets of a queue whose storm has begun, and count them for the watchdog. */
void sw_closed_flush_storm(struct sw *sw, uint16_t port, uint8_t queue, uint64_t now_ns);

/** Handle a frame received in a group of storm_pgs. @return SW_PASS, or the reason to drop it. */
enum sw_drop sw_closed_ingress(struct sw *sw, uint16_t port, uint8_t pg);

/** Why a port without a link, or one that is shut down, drops a frame. */
static inline enum sw_drop
sw_closed_reason(const struct sw_port *p)
{
	return p->now.shutdown ? SW_DROP_SHUTDOWN : SW_DROP_LINK_DOWN;
}

/**
 * Refuse a frame to a queue of closed_queues; during a storm, count it for the watchdog.
 * @return the reason.
 */
enum sw_drop sw_closed_refuse(struct sw *sw, uint16_t port, uint8_t queue);

#endif
