/* SPDX-License-Identifier: BSD-3-Clause */
/* The way out: MAC control frames, scheduler, marking, release; and when to ask again. */
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "base/fixed.h"
#include "switch/sw_internal.h"
#include "wire/ecn.h"

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

struct rte_mbuf *
sw_mark(struct sw *sw, struct sw_queue *q, struct sw_queue_stats *stats, struct rte_mbuf *m)
{
	const struct pkt_meta *meta = pkt_meta(m);

	if (meta->flags & PKT_WRED_DONE)
		return m;
	/* Below the curve the answer is known; an average has to see every packet. */
	if (q->bytes <= q->wred.min_bytes && q->wred.weight == 0)
		return m;
	if (!wred_hit(&q->wred, q->bytes, prng_u32(&sw->prng)))
		return m;
	return sw->ecn && meta->flags & PKT_ECT ? set_ce(sw, stats, m) : m;
}

void
sw_leave_ingress(struct sw *sw, struct rte_mbuf *m, uint64_t now_ns)
{
	const struct pkt_meta *meta = pkt_meta(m);
	struct rte_mbuf *origin;

	if (unlikely(meta->flags & PKT_GENERATED))
		return;
	if (unlikely(meta->flags & PKT_CLONE)) {
		origin = meta->origin;
		meta = pkt_meta(origin);
		assert(meta->copies > 0);
		if (--pkt_meta(origin)->copies > 0)
			return;
		sw_ingress_release(sw, meta->in_port, meta->pg, meta->charged_bytes, now_ns);
		rte_pktmbuf_free(origin);
		return;
	}
	sw_ingress_release(sw, meta->in_port, meta->pg, meta->charged_bytes, now_ns);
}

static struct rte_mbuf *
pop(struct sw_port *p, uint8_t queue)
{
	struct sw_queue *q = &p->queue[queue];
	struct rte_mbuf *m = pkt_fifo_pop(&q->fifo);

	if (q->fifo.head != NULL)
		rte_prefetch0(pkt_meta(q->fifo.head));
	else
		p->backlogged &= (uint8_t) ~(1u << queue);
	counter_add(&q->bytes, -(uint64_t)pkt_meta(m)->charged_bytes);
	sched_charge(&p->sched, queue, wire_bytes(m->pkt_len), q->fifo.head != NULL);
	return m;
}

/* The next data packet, or NULL when no queue may send. */
static struct rte_mbuf *
take_packet(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	int picked = sched_pick(&p->sched, p->backlogged & (uint8_t)~p->paused_queues);
	uint32_t bytes, charged_bytes;
	struct sw_queue_stats *stats;
	struct rte_mbuf *m;
	uint8_t queue;

	if (picked < 0)
		return NULL;
	queue = (uint8_t)picked;
	stats = &p->stats.queue[queue];
	m = pop(p, queue);
	bytes = frame_bytes(m->pkt_len);
	charged_bytes = pkt_meta(m)->charged_bytes;
	mmu_egress_release(sw->mmu, port, queue, charged_bytes);
	sw_leave_ingress(sw, m, now_ns);
	if (sw->wred_queues >> queue & 1 && !sw->mark_at_enqueue)
		m = sw_mark(sw, &p->queue[queue], stats, m);
	counter_inc(&stats->tx_packets);
	counter_add(&stats->tx_bytes, bytes);
	counter_inc(&p->stats.tx_packets);
	counter_add(&p->stats.tx_bytes, bytes);
	counter_add(&sw->ledger.sent, charged_bytes);
	return m;
}

uint64_t
sw_flush_queue(struct sw *sw, uint16_t port, uint8_t queue, enum sw_drop reason, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	struct sw_queue *q = &p->queue[queue];
	struct rte_mbuf *m;
	uint64_t n = 0;

	while ((m = pkt_fifo_pop(&q->fifo)) != NULL) {
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
	sched_charge(&p->sched, queue, 0, false);
	return n;
}

uint16_t
sw_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);
	struct sw_port *p = &sw->ports[port];
	uint16_t n = 0;

	assert(port < sw->n_ports);
	sw_do_if_wanted(sw, now_ns);
	if (p->backlogged == 0 && pfc_tx_next_ns(&p->pfc_tx) > now_ns)
		return 0;
	token_bucket_update(&p->shaper, now_ns);
	/* Pauses come with rx() and end with time: within one call neither moves on. */
	if (unlikely(pfc_rx_next_ns(&p->pfc_rx) <= now_ns))
		sw_pfc_update_paused(sw, p, now_ns);
	while (n < room && token_bucket_can_send(&p->shaper)) {
		struct rte_mbuf *m = sw_pfc_take(sw, p, now_ns);

		if (m == NULL)
			m = take_packet(sw, port, now_ns);
		if (m == NULL)
			break;
		token_bucket_charge(&p->shaper, wire_bytes(m->pkt_len));
		pkts[n++] = m;
	}
	return n;
}

uint64_t
sw_next_ns(const struct node *node, uint16_t port)
{
	const struct sw *sw = sw_of_const(node);
	const struct sw_port *p = &sw->ports[port];
	uint64_t due_ns = max_u64(pfc_tx_next_ns(&p->pfc_tx), p->pfc_retry_ns);

	assert(port < sw->n_ports);
	if (__atomic_load_n(&sw->wanted, __ATOMIC_RELAXED) & SW_WANT_PORTS)
		return 0;
	if ((p->backlogged & ~p->paused_queues) != 0)
		due_ns = 0;
	else if (p->backlogged != 0)
		due_ns = min_u64(due_ns, sw_pfc_resume_ns(sw, p));
	if (due_ns == NEVER_NS)
		return NEVER_NS;
	return max_u64(due_ns, token_bucket_next_ns(&p->shaper));
}
