/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame at its egress port: admission, WRED drop, enqueueing. */
#ifndef QUENCH_SWITCH_EGRESS_ENQUEUE_H
#define QUENCH_SWITCH_EGRESS_ENQUEUE_H

#include "switch/egress/closed.h"
#include "switch/egress/mark.h"
#include "switch/core/switch.h"
#include "switch/frame/arrival.h"

static inline enum sw_drop
sw_drop_of(enum mmu_verdict v)
{
	switch (v) {
	case MMU_DROP_PG_LIMIT:
		return SW_DROP_PG_LIMIT;
	case MMU_DROP_NO_HEADROOM:
		return SW_DROP_NO_HEADROOM;
	case MMU_DROP_POOL:
		return SW_DROP_POOL;
	case MMU_DROP_PACKETS:
		return SW_DROP_PACKET_MEMORY;
	case MMU_DROP_QUEUE_LIMIT:
		return SW_DROP_QUEUE_LIMIT;
	case MMU_ADMIT:
	case MMU_ADMIT_HEADROOM:
		break;
	}
	return SW_PASS;
}

/* Does WRED drop this frame instead of marking it? (RFC 3168 section 5: one or the other) */
static inline bool
sw_wred_drops(const struct sw_port *p, const struct arrival *a)
{
	bool may_mark = a->flags & (PKT_ECT | PKT_CE) && p->ecn_queues >> a->class.queue & 1;

	return !may_mark && p->nonect_drop_queues >> a->class.queue & 1;
}

/** Before a packet enters a queue: age its average for the time that the queue was empty. */
static inline void
sw_age_average(const struct sw_port *p, struct sw_queue *q, uint64_t now_ns)
{
	if (unlikely(q->wred.weight > 0) && sw_queue_is_empty(q))
		wred_age(&q->wred, p->shaper.account.rate_bps, now_ns);
}

/* Check the limits of the queue, then let WRED drop frames that it may not mark. */
static inline enum sw_drop
sw_admit_egress(struct sw *sw, struct arrival *a, uint16_t port)
{
	struct sw_port *p = &sw->ports[port];
	struct sw_queue *q = &p->queue[a->class.queue];
	enum sw_drop reason;

	if (unlikely(p->closed_queues >> a->class.queue & 1))
		return sw_closed_refuse(sw, port, a->class.queue);
	reason = sw_drop_of(mmu_egress_admit(sw->mmu, port, a->class.queue, a->charged_bytes));
	a->flags &= (uint8_t)~PKT_WRED_DONE;
	if (reason != SW_PASS || !sw_wred_drops(p, a))
		return reason;
	a->flags |= PKT_WRED_DONE;
	sw_age_average(p, q, a->now_ns);
	if (!wred_drop(&q->wred, q->bytes, prng_u32(&sw->prng)))
		return SW_PASS;
	mmu_egress_release(sw->mmu, port, a->class.queue, a->charged_bytes);
	return SW_DROP_WRED;
}

static inline void
sw_enqueue(struct sw *sw, const struct arrival *a, uint16_t port, struct sw_entry e)
{
	struct sw_port *p = &sw->ports[port];
	uint8_t queue = a->class.queue;
	struct sw_queue *q = &p->queue[queue];

	sw_age_average(p, q, a->now_ns);
	if (unlikely(sw->mark_at_enqueue) && p->wred_queues >> queue & 1)
		e.frame = sw_entry_frame(sw_mark_arrival(sw, p, queue, q->bytes, &e, a->now_ns),
					 sw_entry_frame_bytes(&e));
	sw_fifo_push(&q->fifo, &sw->shard.chunks, e);
	if (unlikely(a->flags & PKT_CE))
		counter_inc(&p->stats.queue[queue].ce_in_packets);
	counter_add(&q->bytes, a->charged_bytes);
	/* Wake the port, unless another of its queues may send: next_ns() then includes it. */
	if ((p->backlogged & ~(p->paused_queues | p->above_max)) == 0)
		node_wake(&sw->node, port);
	p->backlogged |= (uint8_t)(1u << queue);
}

#endif
