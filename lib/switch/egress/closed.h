/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues and groups that are closed, by a storm or because the link is down: arriving frames are
 * refused, queued frames dropped.
 *
 * Invariant: a queue of closed_queues is empty after sw_port_apply().
 */
#ifndef QUENCH_SWITCH_EGRESS_CLOSED_H
#define QUENCH_SWITCH_EGRESS_CLOSED_H

#include "switch/egress/switch.h"

/** Drop all packets of a queue, counted under reason. @return how many. */
uint64_t sw_closed_flush(struct sw *sw, uint16_t port, uint8_t queue, enum sw_drop reason,
			 uint64_t now_ns);

/** Drop all packets of a queue whose storm has begun. */
void sw_closed_flush_storm(struct sw *sw, uint16_t port, uint8_t queue, uint64_t now_ns);

/** A frame was received in a group of storm_pgs. @return SW_PASS or why it is dropped. */
enum sw_drop sw_closed_ingress(struct sw *sw, uint16_t port, uint8_t pg);

/** @return the reason to refuse a frame to a queue of closed_queues. During a storm, counts the
 * frame for the watchdog. */
enum sw_drop sw_closed_refuse(struct sw *sw, uint16_t port, uint8_t queue);

#endif
