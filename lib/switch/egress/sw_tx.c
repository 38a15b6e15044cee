/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Egress: MAC control frames, scheduler, marking, release, and the time of the next call.
 *
 * Invariant (tested): in any interval t, data wire bytes of a port <= (shaper rate * t) / 8 + burst
 * + one frame.
 */
#include "switch/egress/egress.h"

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "base/numbers/fixed.h"
#include "switch/egress/sw_mark.h"
#include "switch/egress/pfc.h"
#include "switch/egress/sw_release.h"

/* Limit of the debt that control frames cause in a port's shaper: a few of the largest frames. */
#define CONTROL_DEBT_BYTES 65536

/* Refill the queues' shapers, and update below_min and above_max. */
static void
update_queue_shapers(struct sw_port *p, uint64_t now_ns)
{
	uint8_t queues = p->backlogged & (p->min_queues | p->max_queues);

	for (; queues != 0; queues &= (uint8_t)(queues - 1)) {
		unsigned int i = (unsigned int)__builtin_ctz(queues);
		struct sw_queue_shaper *s = &p->queue_shaper[i];
		uint8_t bit = (uint8_t)(1u << i);

		token_bucket_update(&s->min, now_ns);
		token_bucket_update(&s->max, now_ns);
		if (p->min_queues & bit && token_bucket_can_send(&s->min))
			p->below_min |= bit;
		if (token_bucket_can_send(&s->max))
			p->above_max &= (uint8_t)~bit;
	}
}

/*
 * A frame within the queue's minimum rate is charged to the minimum and not to the queue's weight;
 * any other frame is charged only to the weight. So a queue gets its minimum, plus its share of the
 * rate that all minima leave.
 */
static void
charge_queue_shapers(struct sw_port *p, uint8_t queue, uint32_t bytes)
{
	struct sw_queue_shaper *s = &p->queue_shaper[queue];
	uint8_t bit = (uint8_t)(1u << queue);

	if (p->below_min & bit) {
		token_bucket_charge(&s->min, bytes);
		if (!token_bucket_can_send(&s->min))
			p->below_min &= (uint8_t)~bit;
	}
	if (p->max_queues & bit) {
		token_bucket_charge(&s->max, bytes);
		if (!token_bucket_can_send(&s->max))
			p->above_max |= bit;
	}
}

/*
 * Choose a queue that is below its minimum rate. If there is none, the scheduler chooses. The order
 * of queues below their minima does not matter, because the sum of the minima <= the port's rate.
 */
static int
pick(struct sw_port *p)
{
	uint8_t ready = p->backlogged & (uint8_t) ~(p->paused_queues | p->above_max);
	uint8_t below_min = ready & p->below_min;

	if (unlikely(below_min != 0))
		return 31 - __builtin_clz(below_min);
	return sched_pick(&p->sched, ready);
}

/*
 * Largest number of bytes queued after a frame for which the frame needs no marking decision; -1:
 * every frame needs one.
 */
static int64_t
unmarked_bytes(const struct sw *sw, const struct sw_port *p, uint8_t queue)
{
	const struct sw_queue *q = &p->queue[queue];

	if (!(p->wred_queues >> queue & 1) || sw->mark_at_enqueue)
		return INT64_MAX;
	/*
	 * Below the curve no packet is marked, but the average must be updated for every packet,
	 * and another scheme sees every packet.
	 */
	return p->observed_queues >> queue & 1 ? -1 : (int64_t)q->wred.mark.min_bytes;
}

/*
 * Wire bytes that a picked queue may have sent when it sends another frame: its turn is not over,
 * and the port's shaper is not in debt.
 */
static inline int64_t
run_bytes(const struct sw_port *p, uint8_t queue)
{
	int64_t turn = sched_grant(&p->sched, queue) - 1;
	int64_t wire = p->shaper.account.credit_nanobits / NANOBITS_PER_BYTE;

	return turn < wire ? turn : wire;
}

/* Update counters, buckets and the scheduler for a run of frames that left a queue. */
static inline void
charge_run(struct sw *sw, struct sw_port *p, uint16_t port, uint8_t queue, uint16_t packets,
	   struct rte_mbuf **pkts, uint64_t frame_bytes, uint32_t charged_bytes, uint64_t now_ns)
{
	struct sw_queue *q = &p->queue[queue];
	struct sw_queue_stats *stats = &p->stats.queue[queue];
	uint32_t bytes = (uint32_t)frame_bytes + packets * GAP_BYTES;
	uint8_t bit = (uint8_t)(1u << queue);
	bool backlogged = !sw_queue_is_empty(q);

	if (!backlogged) {
		p->backlogged &= (uint8_t)~bit;
		sw_fifo_rewind(&q->fifo);
		q->wred.idle_since_ns = now_ns;
	}
	counter_add(&q->bytes, -(uint64_t)charged_bytes);
	if (likely(!(p->below_min & bit)))
		sched_charge(&p->sched, queue, bytes, backlogged);
	if (unlikely((p->min_queues | p->max_queues) & bit))
		charge_queue_shapers(p, queue, bytes);
	mmu_egress_release(sw->mmu, port, queue, charged_bytes);
	counter_add(&stats->tx_packets, packets);
	counter_add(&stats->tx_bytes, frame_bytes);
	counter_add(&p->stats.tx_packets, packets);
	counter_add(&p->stats.tx_bytes, frame_bytes);
	counter_add(&sw->ledger.sent, charged_bytes);
	if (unlikely(p->per_run)) {
		if (p->shaped)
			token_bucket_charge(&p->wire, bytes);
		if (p->adds_int)
			sw_inband_add(sw, p, queue, pkts, packets, now_ns);
	}
}

/*
 * Let a picked queue send at least one frame, and more until it is empty, the wire is busy, or
 * another queue may have its turn. The loop changes only the queue. After it, charge_run() makes
 * all other updates once.
 */
static __rte_always_inline uint16_t
send_run(struct sw *sw, struct sw_port *p, uint16_t port, uint8_t queue, struct sw_releases *r,
	 struct rte_mbuf **pkts, uint16_t max_pkts, uint64_t now_ns)
{
	struct sw_queue *q = &p->queue[queue];
	int64_t unmarked = unmarked_bytes(sw, p, queue), left_bytes = run_bytes(p, queue);
	uint64_t queue_bytes = q->bytes, sent_bytes = 0;
	uint16_t n = 0;

	do {
		const struct sw_entry *e = sw_fifo_pop(&q->fifo, &sw->shard.chunks);
		uint32_t bytes = sw_entry_frame_bytes(e);

		queue_bytes -= sw_entry_charged_bytes(e);
		sent_bytes += bytes;
		left_bytes -= bytes + GAP_BYTES;
		sw_leave_ingress_later(sw, r, e);
		/* The driver reads it next, and nothing has touched it since the frame came. */
		rte_prefetch0(sw_entry_mbuf(e));
		pkts[n] = sw_entry_mbuf(e);
		if (unlikely((int64_t)queue_bytes > unmarked))
			pkts[n] = sw_mark(sw, p, queue, queue_bytes, e, now_ns);
		n++;
	} while (n < max_pkts && !sw_queue_is_empty(q) && left_bytes >= 0);
	token_bucket_charge(&p->shaper, (uint32_t)sent_bytes + n * GAP_BYTES);
	charge_run(sw, p, port, queue, n, pkts, sent_bytes, (uint32_t)(q->bytes - queue_bytes),
		   now_ns);
	return n;
}

/* Send up to max_pkts data packets, while a queue may send and the wire is free. */
static uint16_t
send_data(struct sw *sw, struct sw_port *p, uint16_t port, struct rte_mbuf **pkts,
	  uint16_t max_pkts, uint64_t now_ns)
{
	struct sw_releases releases = {0};
	uint16_t n = 0;

	while (n < max_pkts && token_bucket_can_send(&p->shaper)) {
		int queue = pick(p);
		uint16_t left = (uint16_t)(max_pkts - n);

		if (queue < 0)
			break;
		/*
		 * With rates per queue, the choice may change after each frame. A single frame, as
		 * under light load, needs no loop.
		 */
		if (left == 1 || unlikely((p->min_queues | p->max_queues) != 0) ||
		    sw_fifo_has_one(&p->queue[queue].fifo))
			n = (uint16_t)(n + send_run(sw, p, port, (uint8_t)queue, &releases,
						    pkts + n, 1, now_ns));
		else
			n = (uint16_t)(n + send_run(sw, p, port, (uint8_t)queue, &releases,
						    pkts + n, left, now_ns));
	}
	sw_release_all(sw, releases, now_ns);
	return n;
}

/* Once per call, after the shaper: refill buckets, end the pauses that are over. */
static void
begin_tx(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];

	if (unlikely(p->shaped))
		token_bucket_update(&p->wire, now_ns);
	if (unlikely((p->min_queues | p->max_queues) != 0))
		update_queue_shapers(p, now_ns);
	/*
	 * Once per call is enough, because pauses begin in rx(), and now_ns is the same throughout
	 * the call.
	 */
	if (unlikely(pfc_rx_next_ns(&p->pfc_rx) <= now_ns))
		sw_pfc_update_paused(sw, port, now_ns);
}

/*
 * The bucket that a control frame waits for. It has the rate of the wire and not that of a slower
 * shaper, because headroom covers only the wait for the frame on the wire.
 */
static const struct token_bucket *
control_gate(const struct sw_port *p)
{
	return p->shaped ? &p->wire : &p->shaper;
}

/*
 * Charge control frames to the shaper too, so that data and control frames together stay within its
 * rate. Control frames alone may exceed the rate of a slow shaper. Their debt is bounded, so that
 * data resumes soon.
 */
static void
charge_control(struct sw_port *p, uint32_t bytes)
{
	if (unlikely(p->shaped))
		token_bucket_charge(&p->wire, bytes);
	if (p->shaper.account.credit_nanobits > -CONTROL_DEBT_BYTES * NANOBITS_PER_BYTE)
		token_bucket_charge(&p->shaper, bytes);
}

/* Is the port's shaper in debt once this frame has left? */
static inline bool
is_last_on_wire(const struct sw_port *p, const struct sw_entry *e)
{
	int64_t bytes = sw_entry_frame_bytes(e) + GAP_BYTES;

	return p->shaper.account.credit_nanobits < bytes * NANOBITS_PER_BYTE;
}

/*
 * Does at most one frame leave, and nothing but the shaper decide whether it leaves now? It is the
 * port's only frame, or the first of its only queue, after which the wire is busy. A pause or a
 * limit of a queue does not decide, WRED need not see every frame, and the charge is that of one of
 * our groups.
 */
static inline bool
sends_one(const struct sw *sw, const struct sw_port *p, uint64_t now_ns)
{
	uint8_t queues = p->backlogged;
	const struct sw_fifo *fifo;

	if (queues == 0 || (queues & (queues - 1)) != 0 ||
	    ((queues & (p->paused_queues | p->observed_queues)) | p->min_queues | p->max_queues |
	     p->per_run) != 0)
		return false;
	if (pfc_rx_next_ns(&p->pfc_rx) <= now_ns || pfc_tx_next_ns(&p->pfc_tx) <= now_ns)
		return false;
	fifo = &p->queue[__builtin_ctz(queues)].fifo;
	if (unlikely(sw_fifo_at_link(fifo->head)) ||
	    (!sw_fifo_has_one(fifo) && !is_last_on_wire(p, fifo->head)))
		return false;
	return !(sw_entry_flags(fifo->head) & (PKT_CLONE | PKT_GENERATED)) &&
	       sw_owns(&sw->shard, sw_entry_group(fifo->head) / TM_CLASSES);
}

/* send_one() of a frame that leaves others in its queue. Out of line: most frames are alone. */
static __rte_noinline struct rte_mbuf *
leave_others(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t now_ns)
{
	struct sw_queue *q = &p->queue[queue];
	const struct sw_entry *e = q->fifo.head++;

	sched_pick(&p->sched, p->backlogged);
	sched_charge(&p->sched, queue, sw_entry_frame_bytes(e) + GAP_BYTES, true);
	if ((int64_t)q->bytes > unmarked_bytes(sw, p, queue))
		return sw_mark(sw, p, queue, q->bytes, e, now_ns);
	return sw_entry_mbuf(e);
}

/* sw_tx() of a port for which sends_one() is true. */
static inline uint16_t
send_one(struct sw *sw, struct sw_port *p, uint16_t port, struct rte_mbuf **pkts, uint64_t now_ns)
{
	uint8_t queue = (uint8_t)__builtin_ctz(p->backlogged);
	struct sw_queue *q = &p->queue[queue];
	struct sw_queue_stats *stats = &p->stats.queue[queue];
	const struct sw_entry e = *q->fifo.head;
	uint32_t bytes = sw_entry_frame_bytes(&e), charged_bytes = sw_entry_charged_bytes(&e);
	uint16_t in_port = sw_entry_group(&e) / TM_CLASSES;
	uint8_t pg = sw_entry_group(&e) % TM_CLASSES;

	if (!token_bucket_can_send(&p->shaper))
		return 0;
	token_bucket_charge(&p->shaper, bytes + GAP_BYTES);
	pkts[0] = sw_entry_mbuf(&e);
	counter_add(&q->bytes, -(uint64_t)charged_bytes);
	if (likely(sw_fifo_has_one(&q->fifo))) {
		p->backlogged = 0;
		sw_fifo_rewind(&q->fifo);
		q->wred.idle_since_ns = now_ns;
		sched_send_alone(&p->sched, queue, bytes + GAP_BYTES);
	} else {
		pkts[0] = leave_others(sw, p, queue, now_ns);
	}
	counter_inc(&stats->tx_packets);
	counter_add(&stats->tx_bytes, bytes);
	counter_inc(&p->stats.tx_packets);
	counter_add(&p->stats.tx_bytes, bytes);
	counter_add(&sw->ledger.sent, charged_bytes);
	mmu_egress_release(sw->mmu, port, queue, charged_bytes);
	mmu_ingress_release(sw->mmu, in_port, pg, charged_bytes, 1);
	sw_update_xoff(sw, in_port, pg, now_ns);
	return 1;
}

static __rte_noinline uint16_t
tx_any(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	struct rte_mbuf *control;
	uint16_t n = 0;

	begin_tx(sw, port, now_ns);
	if (max_pkts == 0)
		return 0;
	if (unlikely(pfc_tx_next_ns(&p->pfc_tx) <= now_ns) &&
	    token_bucket_can_send(control_gate(p))) {
		/* At most one frame per call, because a frame has the state of all priorities. */
		control = sw_pfc_take(sw, port, now_ns);
		if (control != NULL) {
			charge_control(p, wire_bytes(control->pkt_len));
			pkts[n++] = control;
		}
	}
	return n + send_data(sw, p, port, pkts + n, max_pkts - n, now_ns);
}

uint16_t
sw_tx(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];

	assert(port < sw->n_ports);
	if (p->backlogged == 0 && pfc_tx_next_ns(&p->pfc_tx) > now_ns)
		return 0;
	token_bucket_update(&p->shaper, now_ns);
	if (max_pkts > 0 && sends_one(sw, p, now_ns))
		return send_one(sw, p, port, pkts, now_ns);
	return tx_any(sw, port, pkts, max_pkts, now_ns);
}

/*
 * Of the queues that wait only for their maximum rate, the earliest time at which one may send;
 * NEVER_NS: there is none.
 */
static uint64_t
max_due_ns(const struct sw_port *p)
{
	uint8_t queues = p->backlogged & p->above_max & (uint8_t)~p->paused_queues;
	uint64_t first_ns = NEVER_NS;

	for (; queues != 0; queues &= (uint8_t)(queues - 1))
		first_ns =
			min_u64(first_ns,
				token_bucket_next_ns(&p->queue_shaper[__builtin_ctz(queues)].max));
	return first_ns;
}

uint64_t
sw_next_ns(const struct sw *sw, uint16_t port)
{
	const struct sw_port *p = &sw->ports[port];
	uint64_t control_ns = max_u64(pfc_tx_next_ns(&p->pfc_tx), p->pfc_retry_ns);
	uint64_t data_ns = NEVER_NS;

	assert(port < sw->n_ports);
	if ((p->backlogged & ~(p->paused_queues | p->above_max)) != 0)
		data_ns = 0;
	else if (p->backlogged != 0)
		data_ns = min_u64(max_due_ns(p), sw_pfc_resume_ns(sw, port));
	if (control_ns != NEVER_NS)
		control_ns = max_u64(control_ns, token_bucket_next_ns(control_gate(p)));
	if (data_ns != NEVER_NS)
		data_ns = max_u64(data_ns, token_bucket_next_ns(&p->shaper));
	return min_u64(control_ns, data_ns);
}
