/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames at their egress port: admission of a run and of a single frame, WRED drop, enqueueing.
 *
 * A run is frames of a burst that follow each other, of one class and to one port; all of them are
 * ECT or CE, or none is. A frame that arrives alone is a run of one.
 */
#ifndef QUENCH_SWITCH_EGRESS_ENQUEUE_H
#define QUENCH_SWITCH_EGRESS_ENQUEUE_H

#include "switch/egress/closed.h"
#include "switch/egress/sw_mark.h"
#include "switch/core/switch.h"
#include "switch/frame/arrival.h"
#include "switch/frame/entry.h"

struct sw_run {
	struct arrival *a;
	unsigned int n;
	uint32_t bytes; /* charged */
};

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
sw_admit_egress(struct sw *sw, struct arrival *a)
{
	struct sw_port *p = &sw->ports[a->out_port];
	struct sw_queue *q = &p->queue[a->class.queue];
	enum sw_drop reason;

	if (unlikely(p->closed_queues >> a->class.queue & 1))
		return sw_closed_refuse(sw, a->out_port, a->class.queue);
	reason = sw_drop_of(
		mmu_egress_admit(sw->mmu, a->out_port, a->class.queue, a->charged_bytes));
	a->flags &= (uint8_t)~PKT_WRED_DONE;
	if (reason != SW_PASS || !sw_wred_drops(p, a))
		return reason;
	a->flags |= PKT_WRED_DONE;
	sw_age_average(p, q, a->now_ns);
	if (!wred_drop(&q->wred, q->bytes, prng_u32(&sw->prng)))
		return SW_PASS;
	mmu_egress_release(sw->mmu, a->out_port, a->class.queue, a->charged_bytes);
	return SW_DROP_WRED;
}

/**
 * Count the charged bytes of frames that enter a queue, and wake the port, unless another of its
 * queues may send: next_ns() then includes it.
 */
static __rte_always_inline void
sw_count_queued(struct sw *sw, uint16_t port, uint8_t queue, uint32_t bytes)
{
	struct sw_port *p = &sw->ports[port];

	counter_add(&p->queue[queue].bytes, bytes);
	if ((p->backlogged & ~(p->paused_queues | p->above_max)) == 0)
		node_wake(&sw->node, port);
	p->backlogged |= (uint8_t)(1u << queue);
}

/** Count a frame that enters its queue as CE. No queue of this switch has marked it. */
static inline void
sw_count_ce(struct sw_queue_stats *stats, struct rte_mbuf *m)
{
	counter_inc(&stats->ce_in_packets);
	pkt_meta(m)->marked_by = NULL;
}

/** Append a run to its queue, which has admitted it. Takes the frames. */
static __rte_always_inline void
sw_enqueue(struct sw *sw, struct sw_run run)
{
	const struct arrival *a = run.a;
	struct sw_port *p = &sw->ports[a->out_port];
	uint8_t queue = a->class.queue;
	struct sw_queue *q = &p->queue[queue];
	bool marks = unlikely(sw->mark_at_enqueue) && p->wred_queues >> queue & 1;
	uint64_t queue_bytes = q->bytes; /* before each frame */

	sw_age_average(p, q, a->now_ns);
	sw_count_queued(sw, a->out_port, queue, run.bytes);
	for (unsigned int i = 0; i < run.n; i++, a++) {
		struct sw_entry e = sw_entry_of(a);

		if (unlikely(marks))
			e = sw_mark_arriving(sw, p, queue, queue_bytes, e, a->now_ns);
		queue_bytes += a->charged_bytes;
		sw_fifo_push(&q->fifo, &sw->shard.chunks, e);
		if (unlikely(a->flags & PKT_CE))
			sw_count_ce(&p->stats.queue[queue], a->m);
	}
}

#endif
