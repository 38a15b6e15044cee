/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/egress/mark.h"

#include <rte_mbuf.h>

#include "switch/frame/copy_on_write.h"
#include "wire/ecn.h"

static struct rte_mbuf *
set_ce(struct sw *sw, struct sw_queue_stats *stats, struct rte_mbuf *m)
{
	struct rte_mbuf *own = sw_make_writable(&sw->pools, m);
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

/* Decide, and record the decision and the curve's probability; with mark_accuracy only. */
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
		/* Below the curve nothing is marked, but an average must see every packet. */
		if (queue_bytes <= q->wred.mark.min_bytes && q->wred.weight == 0)
			return m;
		if (!wred_hit(&q->wred, queue_bytes, prng_u32(&sw->prng)))
			return m;
	}
	return may_mark ? set_ce(sw, &p->stats.queue[queue], m) : m;
}
