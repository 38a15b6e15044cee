/* SPDX-License-Identifier: BSD-3-Clause */
/* ECN marking: WRED or another scheme decides, CE is set. */
#ifndef QUENCH_SWITCH_EGRESS_MARK_H
#define QUENCH_SWITCH_EGRESS_MARK_H

#include "switch/core/switch.h"

/**
 * Let the queue's scheme decide whether to mark a packet that leaves the queue, and set CE.
 *
 * @param queue_bytes  Charged bytes of the queue without this packet.
 * @param e            Of the packet, which the caller owns.
 * @return             The packet, or a private copy of it, which the caller owns instead.
 */
static inline struct rte_mbuf *sw_mark(struct sw *sw, struct sw_port *p, uint8_t queue,
				       uint64_t queue_bytes, const struct sw_entry *e);

/** As sw_mark(), for a packet that enters the queue. */
static inline struct rte_mbuf *sw_mark_arrival(struct sw *sw, struct sw_port *p, uint8_t queue,
					       uint64_t queue_bytes, const struct sw_entry *e,
					       uint64_t now_ns);

/* Inline definitions */

/**
 * Decide for a queue with a struct sw_marking: by its scheme, or by WRED, with a record of the
 * decision and the curve's probability (mark_accuracy). The time is that of the port's shaper,
 * because one more argument here would cost WRED's path an instruction per packet.
 */
bool sw_mark_own_hit(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
		     const struct sw_entry *e);
/** The same, at another time. */
bool sw_mark_own_hit_at(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
			const struct sw_entry *e, uint64_t now_ns);
/** Set CE in a packet that was hit, unless it may not be marked. @return as sw_mark(). */
struct rte_mbuf *sw_mark_hit(struct sw *sw, struct sw_port *p, uint8_t queue,
			     const struct sw_entry *e);

/**
 * sw_mark() for a queue that is above the curve's minimum and not one of observed_queues: chance
 * and the curve decide.
 */
static inline struct rte_mbuf *
sw_mark_by_curve(struct sw *sw, struct sw_port *p, const struct sw_queue *q, uint64_t queue_bytes,
		 const struct sw_entry *e)
{
	if (sw_entry_flags(e) & PKT_WRED_DONE ||
	    likely(prng_u32(&sw->prng) >= wred_probability_q32(&q->wred, queue_bytes)))
		return sw_entry_mbuf(e);
	return sw_mark_hit(sw, p, (uint8_t)(q - p->queue), e);
}

/* Few packets are hit, even in a long queue. */
static inline struct rte_mbuf *
sw_mark(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
	const struct sw_entry *e)
{
	struct sw_queue *q = &p->queue[queue];
	bool hit;

	if (sw_entry_flags(e) & PKT_WRED_DONE)
		return sw_entry_mbuf(e);
	if (unlikely(q->marking != NULL))
		hit = sw_mark_own_hit(sw, p, queue, queue_bytes, e);
	else
		/*
		 * Below the curve no packet is marked, but the average must be updated for every
		 * packet.
		 */
		hit = (queue_bytes > q->wred.mark.min_bytes || q->wred.weight != 0) &&
		      wred_hit(&q->wred, queue_bytes, prng_u32(&sw->prng));
	return unlikely(hit) ? sw_mark_hit(sw, p, queue, e) : sw_entry_mbuf(e);
}

static inline struct rte_mbuf *
sw_mark_arrival(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
		const struct sw_entry *e, uint64_t now_ns)
{
	if (likely(p->queue[queue].marking == NULL))
		return sw_mark(sw, p, queue, queue_bytes, e);
	if (sw_entry_flags(e) & PKT_WRED_DONE ||
	    !sw_mark_own_hit_at(sw, p, queue, queue_bytes, e, now_ns))
		return sw_entry_mbuf(e);
	return sw_mark_hit(sw, p, queue, e);
}

#endif
