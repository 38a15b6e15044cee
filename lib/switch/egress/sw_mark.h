/* SPDX-License-Identifier: BSD-3-Clause */
/* ECN marking: WRED or another scheme decides, CE is set. */
#ifndef QUENCH_SWITCH_EGRESS_SW_MARK_H
#define QUENCH_SWITCH_EGRESS_SW_MARK_H

#include "switch/core/switch.h"

/**
 * Decide whether to mark a packet that leaves its queue, or enters it (mark_at_enqueue), and set
 * CE.
 *
 * @param queue_bytes  Charged bytes of the queue without this packet.
 * @param e            Of the packet, which the caller owns.
 * @return             The packet, or a private copy of it, which the caller owns instead.
 */
static inline struct rte_mbuf *sw_mark(struct sw *sw, struct sw_port *p, uint8_t queue,
				       uint64_t queue_bytes, const struct sw_entry *e,
				       uint64_t now_ns);

/** With mark_at_enqueue: sw_mark() of a packet that is about to enter its queue. */
struct sw_entry sw_mark_arriving(struct sw *sw, struct sw_port *p, uint8_t queue,
				 uint64_t queue_bytes, struct sw_entry e, uint64_t now_ns);

/* Inline definitions */

/** sw_mark() of a queue of observed_queues: its average or another scheme sees every packet. */
bool sw_mark_observed(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
		      const struct sw_entry *e, uint64_t now_ns);
/** Set CE in a packet that was hit, unless it may not be marked. @return as sw_mark(). */
struct rte_mbuf *sw_mark_hit(struct sw *sw, struct sw_port *p, uint8_t queue,
			     const struct sw_entry *e);

/* Few packets are hit, even in a long queue. */
static inline struct rte_mbuf *
sw_mark(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
	const struct sw_entry *e, uint64_t now_ns)
{
	const struct wred_curve *curve = &p->queue[queue].wred.mark;
	bool hit;

	if (sw_entry_flags(e) & PKT_WRED_DONE)
		return sw_entry_mbuf(e);
	if (unlikely(p->observed_queues >> queue & 1))
		hit = sw_mark_observed(sw, p, queue, queue_bytes, e, now_ns);
	else
		hit = queue_bytes > curve->min_bytes &&
		      wred_curve_hit(curve, queue_bytes, prng_u32(&sw->prng));
	return unlikely(hit) ? sw_mark_hit(sw, p, queue, e) : sw_entry_mbuf(e);
}

#endif
