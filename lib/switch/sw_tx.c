/* SPDX-License-Identifier: BSD-3-Clause */
/* The way out: MAC control frames, scheduler, marking, release; and when to ask again. */
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "base/fixed.h"
#include "switch/sw_shard.h"
#include "wire/ecn.h"

/* Deepest debt of a port's shaper by control frames: a few of the largest frames. */
#define CONTROL_DEBT_BYTES 65536

static struct rte_mbuf *
set_ce(struct sw *sw, struct sw_queue_stats *stats, struct rte_mbuf *m)
{
	struct rte_mbuf *own = sw_make_private(sw, m);
	const struct pkt_meta *meta;

	if (unlikely(own == NULL)) {
		counter_inc(&stats->ecn_mark_no_mbuf_packets);
		return m;
	}
	meta = pkt_meta(own);
	if (ecn_set_ce(rte_pktmbuf_mtod_offset(own, uint8_t *, meta->l3_off), meta->ip_version))
		counter_inc(&stats->ecn_marked_packets);
	return own;
}

/* The decision, written down beside what the curve says: with mark_accuracy only. */
static bool
counted_hit(struct sw *sw, struct sw_queue *q, uint64_t queue_bytes, bool ect)
{
	uint64_t length_bytes = wred_length(&q->wred, queue_bytes);
	uint64_t p_q32 = wred_curve_q32(&q->wred.mark, length_bytes);
	bool hit = prng_u32(&sw->prng) < p_q32;

	if (ect)
		mark_accuracy_count(q->accuracy, &q->wred.mark, length_bytes, p_q32, hit);
	return hit;
}

struct rte_mbuf *
sw_mark(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes, struct rte_mbuf *m)
{
	const struct pkt_meta *meta = pkt_meta(m);
	struct sw_queue *q = &p->queue[queue];
	bool may_mark = p->ecn_queues >> queue & 1 && meta->flags & PKT_ECT;

	if (meta->flags & PKT_WRED_DONE)
		return m;
	if (unlikely(q->accuracy != NULL)) {
		if (!counted_hit(sw, q, queue_bytes, may_mark))
			return m;
	} else {
		/* Below the curve the answer is known; an average has to see every packet. */
		if (queue_bytes <= q->wred.mark.min_bytes && q->wred.weight == 0)
			return m;
		if (!wred_hit(&q->wred, queue_bytes, prng_u32(&sw->prng)))
			return m;
	}
	return may_mark ? set_ce(sw, &p->stats.queue[queue], m) : m;
}

/*
 * What a burst gives back, group by group: the limits of the groups are looked at once, when all of
 * it has left. Nothing in between asks for them, as all of it leaves at one time.
 */
struct releases {
	uint16_t n;
};

static void
release_later(struct sw *sw, struct releases *r, uint16_t port, uint8_t pg, uint32_t charged_bytes)
{
	uint16_t group = (uint16_t)(port * TM_CLASSES + pg);

	if (sw->release_charge[group] == 0)
		sw->release_groups[r->n++] = group;
	sw->release_charge[group] += sw_charge(charged_bytes);
}

static void
release_all(struct sw *sw, const struct releases *r, uint64_t now_ns)
{
	for (uint16_t i = 0; i < r->n; i++) {
		uint16_t group = sw->release_groups[i];

		uint16_t port = group / TM_CLASSES;
		uint8_t pg = group % TM_CLASSES;

		if (likely(sw_owns(sw, port)))
			sw_ingress_release(sw, port, pg, sw->release_charge[group], now_ns);
		else
			sw_give_back(sw, port, pg, sw->release_charge[group]);
		sw->release_charge[group] = 0;
	}
}

/* A packet leaves its queue: its ingress charge goes back, that of a flooded frame with the last
 * copy. */
static void
leave_ingress(struct sw *sw, struct releases *r, struct rte_mbuf *m)
{
	const struct pkt_meta *meta = pkt_meta(m);
	struct rte_mbuf *origin;

	if (likely(!(meta->flags & (PKT_CLONE | PKT_GENERATED)))) {
		release_later(sw, r, meta->in_port, meta->pg, meta->charged_bytes);
		return;
	}
	if (meta->flags & PKT_GENERATED)
		return;
	origin = meta->origin;
	meta = pkt_meta(origin);
	if (sw_hold_copies(sw, origin, -1) > 0)
		return;
	release_later(sw, r, meta->in_port, meta->pg, meta->charged_bytes);
	rte_pktmbuf_free(origin);
}

void
sw_leave_ingress(struct sw *sw, struct rte_mbuf *m, uint64_t now_ns)
{
	struct releases r = {0};

	leave_ingress(sw, &r, m);
	release_all(sw, &r, now_ns);
}

/* Time has passed: which queues have not had their minimum, and which have had their maximum? */
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

/* What is sent within the minimum is not charged to the queue's weight, nor the rest to its
 * minimum: a queue gets its minimum, and its share of what is left when all have theirs. */
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
 * First a queue that has not had its minimum: the highest of them, as all of them get theirs (their
 * sum is no more than the port's rate). The scheduler knows nothing of it.
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

/* How many bytes may wait behind a frame without its mark having to be thought about; -1: it has to
 * be, always. */
static int64_t
unmarked_bytes(const struct sw *sw, const struct sw_port *p, uint8_t queue)
{
	const struct sw_queue *q = &p->queue[queue];

	if (!(p->wred_queues >> queue & 1) || sw->mark_at_enqueue)
		return INT64_MAX;
	/* Below the curve the answer is known; an average has to see every packet. */
	return q->accuracy == NULL && q->wred.weight == 0 ? (int64_t)q->wred.mark.min_bytes : -1;
}

/* What frames that have left a queue after each other change beside it. */
static void
charge_run(struct sw *sw, struct sw_port *p, uint16_t port, uint8_t queue, uint16_t packets,
	   uint64_t frame_bytes, uint32_t charged_bytes, uint64_t now_ns)
{
	struct sw_queue *q = &p->queue[queue];
	struct sw_queue_stats *stats = &p->stats.queue[queue];
	uint32_t bytes = (uint32_t)frame_bytes + packets * GAP_BYTES;
	uint8_t bit = (uint8_t)(1u << queue);
	bool backlogged = !sw_queue_is_empty(q);

	if (!backlogged) {
		p->backlogged &= (uint8_t)~bit;
		q->wred.idle_since_ns = now_ns;
	}
	counter_add(&q->bytes, -(uint64_t)charged_bytes);
	if (likely(!(p->below_min & bit)))
		sched_charge(&p->sched, queue, bytes, backlogged);
	if (unlikely((p->min_queues | p->max_queues) & bit))
		charge_queue_shapers(p, queue, bytes);
	if (unlikely(p->shaped))
		token_bucket_charge(&p->wire, bytes);
	mmu_egress_release(sw->mmu, port, queue, charged_bytes);
	counter_add(&stats->tx_packets, packets);
	counter_add(&stats->tx_bytes, frame_bytes);
	counter_add(&p->stats.tx_packets, packets);
	counter_add(&p->stats.tx_bytes, frame_bytes);
	counter_add(&sw->ledger.sent, charged_bytes);
}

/*
 * Let a picked queue send until it is empty, the wire is taken, or another queue's turn may have
 * come. At least one frame leaves. Nothing but the queue itself changes meanwhile, so what a frame
 * alone would change in turn is added up, and changed once.
 */
static uint16_t
send_run(struct sw *sw, struct sw_port *p, uint16_t port, uint8_t queue, struct releases *r,
	 struct rte_mbuf **pkts, uint16_t room, uint64_t now_ns)
{
	struct sw_queue *q = &p->queue[queue];
	struct token_account wire = p->shaper.account;
	int64_t unmarked = unmarked_bytes(sw, p, queue), left_bytes = sched_grant(&p->sched, queue);
	uint64_t queue_bytes = q->bytes, sent_bytes = 0;
	uint16_t n = 0;

	do {
		struct rte_mbuf *m = sw_queue_pop(q);
		uint32_t bytes = frame_bytes(m->pkt_len);

		queue_bytes -= pkt_meta(m)->charged_bytes;
		sent_bytes += bytes;
		left_bytes -= bytes + GAP_BYTES;
		token_account_charge(&wire, bytes + GAP_BYTES);
		leave_ingress(sw, r, m);
		if (unlikely((int64_t)queue_bytes > unmarked)) {
			if (!sw_queue_is_empty(q))
				rte_prefetch0(rte_pktmbuf_mtod_offset(sw_queue_head(q), void *,
								      ETH_HDR_BYTES));
			m = sw_mark(sw, p, queue, queue_bytes, m);
		}
		pkts[n++] = m;
	} while (n < room && !sw_queue_is_empty(q) && left_bytes > 0 &&
		 token_account_can_send(&wire));
	p->shaper.account.credit_nanobits = wire.credit_nanobits;
	charge_run(sw, p, port, queue, n, sent_bytes, (uint32_t)(q->bytes - queue_bytes), now_ns);
	return n;
}

/* Data packets, up to room of them, while there is a queue that may send and the wire is free. */
static uint16_t
send_data(struct sw *sw, struct sw_port *p, uint16_t port, struct rte_mbuf **pkts, uint16_t room,
	  uint64_t now_ns)
{
	struct releases releases;
	uint16_t n = 0;

	releases.n = 0;
	while (n < room && token_bucket_can_send(&p->shaper)) {
		int queue = pick(p);
		uint16_t left = (uint16_t)(room - n);

		if (queue < 0)
			break;
		/* A queue's own rates may let another one go first after each of its frames. */
		if (unlikely((p->min_queues | p->max_queues) != 0))
			left = 1;
		n = (uint16_t)(n + send_run(sw, p, port, (uint8_t)queue, &releases, pkts + n, left,
					    now_ns));
	}
	release_all(sw, &releases, now_ns);
	return n;
}

uint64_t
sw_flush_queue(struct sw *sw, uint16_t port, uint8_t queue, enum sw_drop reason, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	struct sw_queue *q = &p->queue[queue];
	uint64_t n = 0;

	while (!sw_queue_is_empty(q)) {
		struct rte_mbuf *m = sw_queue_pop(q);
		uint32_t charged_bytes = pkt_meta(m)->charged_bytes;

		counter_add(&q->bytes, -(uint64_t)charged_bytes);
		mmu_egress_release(sw->mmu, port, queue, charged_bytes);
		sw_leave_ingress(sw, m, now_ns);
		counter_inc(&p->stats.drops[reason]);
		counter_inc(&p->stats.queue[queue].drop_packets);
		counter_add(&sw->ledger.dropped, charged_bytes);
		rte_pktmbuf_free(m);
		n++;
	}
	p->backlogged &= (uint8_t) ~(1u << queue);
	q->wred.idle_since_ns = now_ns;
	sched_charge(&p->sched, queue, 0, false);
	return n;
}

/* What happens once for a call, before it looks for packets. */
static void
begin_tx(struct sw *sw, struct sw_port *p, uint64_t now_ns)
{
	token_bucket_update(&p->shaper, now_ns);
	if (unlikely(p->shaped))
		token_bucket_update(&p->wire, now_ns);
	if (unlikely((p->min_queues | p->max_queues) != 0))
		update_queue_shapers(p, now_ns);
	/* Pauses come with rx() and end with time: within one call neither moves on. */
	if (unlikely(pfc_rx_next_ns(&p->pfc_rx) <= now_ns))
		sw_pfc_update_paused(sw, p, now_ns);
}

/* What a control frame waits for. A slower shaper must not hold it: headroom covers the frame on
 * the wire, and no wait beyond. */
static const struct token_bucket *
control_gate(const struct sw_port *p)
{
	return p->shaped ? &p->wire : &p->shaper;
}

/*
 * Data pays for control frames, so that both together keep to the shaper's rate. Control frames
 * alone may exceed a slow shaper, and then the debt has a bound: data goes on soon after.
 */
static void
charge_control(struct sw_port *p, uint32_t bytes)
{
	if (unlikely(p->shaped))
		token_bucket_charge(&p->wire, bytes);
	if (p->shaper.account.credit_nanobits > -CONTROL_DEBT_BYTES * NANOBITS_PER_BYTE)
		token_bucket_charge(&p->shaper, bytes);
}

uint16_t
sw_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);
	struct sw_port *p = &sw->ports[port];
	struct rte_mbuf *control;
	uint16_t n = 0;

	assert(port < sw->n_ports);
	sw_do_if_wanted(sw, now_ns);
	if (p->backlogged == 0 && pfc_tx_next_ns(&p->pfc_tx) > now_ns)
		return 0;
	begin_tx(sw, p, now_ns);
	if (room == 0)
		return 0;
	if (unlikely(pfc_tx_next_ns(&p->pfc_tx) <= now_ns) &&
	    token_bucket_can_send(control_gate(p))) {
		/* One at most: what it says is all that there is to say now. */
		control = sw_pfc_take(sw, p, now_ns);
		if (control != NULL) {
			charge_control(p, wire_bytes(control->pkt_len));
			pkts[n++] = control;
		}
	}
	return n + send_data(sw, p, port, pkts + n, room - n, now_ns);
}

/* When the first queue that only its maximum holds may send; NEVER_NS: there is none. */
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
sw_next_ns(const struct node *node, uint16_t port)
{
	const struct sw *sw = sw_of_const(node);
	const struct sw_port *p = &sw->ports[port];
	uint64_t control_ns = max_u64(pfc_tx_next_ns(&p->pfc_tx), p->pfc_retry_ns);
	uint64_t data_ns = NEVER_NS;

	assert(port < sw->n_ports);
	if (__atomic_load_n(&sw->wanted, __ATOMIC_RELAXED) & (SW_WANT_PORTS | SW_WANT_LLDP))
		return 0;
	if ((p->backlogged & ~(p->paused_queues | p->above_max)) != 0)
		data_ns = 0;
	else if (p->backlogged != 0)
		data_ns = min_u64(max_due_ns(p), sw_pfc_resume_ns(sw, p));
	if (control_ns != NEVER_NS)
		control_ns = max_u64(control_ns, token_bucket_next_ns(control_gate(p)));
	if (data_ns != NEVER_NS)
		data_ns = max_u64(data_ns, token_bucket_next_ns(&p->shaper));
	return min_u64(control_ns, data_ns);
}
