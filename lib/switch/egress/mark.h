/* SPDX-License-Identifier: BSD-3-Clause */
/* ECN marking: WRED decides, CE is set. */
#ifndef QUENCH_SWITCH_EGRESS_MARK_H
#define QUENCH_SWITCH_EGRESS_MARK_H

#include "switch/core/switch.h"

/**
 * Let WRED decide whether to mark a packet of a queue, and set CE.
 *
 * @param queue_bytes  Charged bytes of the queue without this packet.
 * @param e            Of the packet, which the caller owns.
 * @return             The packet, or a private copy of it, which the caller owns instead.
 */
static inline struct rte_mbuf *sw_mark(struct sw *sw, struct sw_port *p, uint8_t queue,
				       uint64_t queue_bytes, const struct sw_entry *e);

/* Inline definitions */

/** Decide whether to mark, and record the decision and the curve's probability (mark_accuracy). */
bool sw_mark_counted_hit(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
			 const struct sw_entry *e);
/** Set CE in a packet that was hit, unless it may not be marked. @return as sw_mark(). */
struct rte_mbuf *sw_mark_hit(struct sw *sw, struct sw_port *p, uint8_t queue,
			     const struct sw_entry *e);

/* Few packets are hit, even in a long queue. */
static inline struct rte_mbuf *
sw_mark(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
	const struct sw_entry *e)
{
	struct sw_queue *q = &p->queue[queue];
	bool hit;

	if (sw_entry_flags(e) & PKT_WRED_DONE)
		return sw_entry_mbuf(e);
	if (unlikely(q->accuracy != NULL))
		hit = sw_mark_counted_hit(sw, p, queue, queue_bytes, e);
	else
		/*
		 * Below the curve no packet is marked, but the average must be updated for every
		 * packet.
		 */
		hit = (queue_bytes > q->wred.mark.min_bytes || q->wred.weight != 0) &&
		      wred_hit(&q->wred, queue_bytes, prng_u32(&sw->prng));
	return unlikely(hit) ? sw_mark_hit(sw, p, queue, e) : sw_entry_mbuf(e);
}

#endif
