/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/egress/sw_mark.h"

#include <rte_mbuf.h>

#include "switch/frame/copy_on_write.h"
#include "wire/frame/ecn.h"

static struct rte_mbuf *
set_ce(struct sw *sw, struct sw_queue_stats *stats, const struct sw_entry *e)
{
	struct rte_mbuf *own = sw_make_writable(&sw->pools, sw_entry_mbuf(e));

	if (unlikely(own == NULL)) {
		counter_inc(&stats->ecn_mark_no_mbuf_packets);
		return sw_entry_mbuf(e);
	}
	if (ecn_set_ce(rte_pktmbuf_mtod_offset(own, uint8_t *, sw_entry_l3_off(e)),
		       sw_entry_ip_version(e))) {
		counter_inc(&stats->ecn_marked_packets);
		counter_add(&stats->ecn_marked_bytes, sw_entry_frame_bytes(e));
		pkt_meta(own)->marked_by = stats;
	}
	return own;
}

static bool
may_mark(const struct sw_port *p, uint8_t queue, const struct sw_entry *e)
{
	return p->ecn_queues >> queue & 1 && sw_entry_flags(e) & PKT_ECT;
}

/*
 * Are this queue's marks counted now? When nobody has asked for a while (control/mark_look.h), the
 * queue is no longer observed.
 */
static bool
is_counted(struct sw_port *p, uint8_t queue, const struct sw_marking *m, uint64_t now_ns)
{
	if (m == NULL || m->accuracy == NULL)
		return false;
	if (likely(now_ns < m->count_until_ns))
		return true;
	if (p->queue[queue].wred.weight == 0)
		p->observed_queues &= (uint8_t) ~(1u << queue);
	return false;
}

/* WRED, with a record of the decision and the curve's probability if marks are counted. */
static bool
wred_observed(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
	      const struct sw_entry *e, const struct sw_marking *m, uint64_t now_ns)
{
	struct sw_queue *q = &p->queue[queue];
	const struct wred_curve *curve = &q->wred.mark;
	uint64_t length_bytes = wred_length(&q->wred, queue_bytes);
	bool hit = wred_curve_hit(curve, length_bytes, prng_u32(&sw->prng));

	if (is_counted(p, queue, m, now_ns) && may_mark(p, queue, e))
		mark_accuracy_count(m->accuracy, curve, length_bytes,
				    wred_curve_q32(curve, length_bytes), hit);
	return hit;
}

bool
sw_mark_observed(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
		 const struct sw_entry *e, uint64_t now_ns)
{
	struct sw_marking *m = sw_marking_of(&p->queue[queue]);
	struct mark_packet packet;

	if (m == NULL || m->scheme.ops == NULL)
		return wred_observed(sw, p, queue, queue_bytes, e, m, now_ns);
	packet = (struct mark_packet){
		.queue_bytes = queue_bytes,
		.bytes = sw_entry_frame_bytes(e) + GAP_BYTES,
		.rnd = prng_u32(&sw->prng),
		.now_ns = now_ns,
	};
	return mark_hit(&m->scheme, &packet);
}

struct sw_entry
sw_mark_arriving(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
		 struct sw_entry e, uint64_t now_ns)
{
	struct rte_mbuf *m = sw_mark(sw, p, queue, queue_bytes, &e, now_ns);

	return (struct sw_entry){.frame = sw_entry_frame(m, sw_entry_frame_bytes(&e)),
				 .rest = e.rest};
}

static void
count_not_ect(struct sw *sw, struct sw_queue_stats *stats, const struct sw_entry *e)
{
	counter_inc(&stats->ecn_not_ect_packets);
	/* No port has received what the switch has generated. */
	if (!(sw_entry_flags(e) & PKT_GENERATED))
		counter_inc(&sw->not_ect_packets[sw_entry_group(e) / TM_CLASSES]);
}

struct rte_mbuf *
sw_mark_hit(struct sw *sw, struct sw_port *p, uint8_t queue, const struct sw_entry *e)
{
	struct sw_queue_stats *stats = &p->stats.queue[queue];

	if (likely(may_mark(p, queue, e)))
		return set_ce(sw, stats, e);
	if (p->ecn_queues >> queue & 1 && !(sw_entry_flags(e) & PKT_CE))
		count_not_ect(sw, stats, e);
	return sw_entry_mbuf(e);
}
