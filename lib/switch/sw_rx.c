/* SPDX-License-Identifier: BSD-3-Clause */
/* The way in: MAC control, parse, classify, learn, forward, admission, enqueue. */
#include <string.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "switch/sw_internal.h"
#include "wire/pfc_frame.h"

/* Frames of a burst whose headers are on their way into the cache. */
#define PREFETCH 4
#define FLOOD FDB_UNKNOWN

/* One received frame on its way through the stages below. */
struct arrival {
	struct rte_mbuf *m;
	uint64_t now_ns;
	uint32_t frame_bytes;
	uint32_t charged_bytes;
	uint16_t in_port;
	uint16_t out_port; /* or FLOOD */
	struct qos_class class;
	uint8_t flags; /* PKT_* that its copies start with */
	struct frame_view view;
};

/* Count a frame that ends here, without freeing it. */
static void
count_drop(struct sw *sw, uint16_t port, enum sw_drop reason, uint32_t charged_bytes)
{
	counter_inc(&sw->ports[port].stats.drops[reason]);
	counter_add(&sw->ledger.dropped, charged_bytes);
}

static void
count_egress_drop(struct sw *sw, const struct arrival *a, uint16_t port, enum sw_drop reason)
{
	count_drop(sw, port, reason, a->charged_bytes);
	counter_inc(&sw->ports[port].stats.queue[a->class.queue].drop_packets);
}

static bool
is_mac_control(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	return m->data_len >= ETH_HDR_BYTES && frame[12] == ETHERTYPE_MAC_CONTROL >> 8 &&
	       frame[13] == (ETHERTYPE_MAC_CONTROL & 0xFF);
}

static void
on_pfc(struct sw *sw, uint16_t port, const struct mac_control *mc, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	struct pfc_vector v = {.enable = mc->enable};

	static_assert(sizeof(v.quanta) == sizeof(mc->quanta), "eight priorities");
	memcpy(v.quanta, mc->quanta, sizeof(v.quanta));
	p->paused_queues = qos_map_paused_queues(&sw->qos, pfc_rx_on_frame(&p->pfc_rx, &v, now_ns));
	counter_inc(&p->stats.rx_pause_frames);
	node_wake(&sw->node, port);
}

/* MAC control ends here: it is not learned from, not forwarded, and no received frame to the
 * counters. */
static void
rx_mac_control(struct sw *sw, const struct arrival *a)
{
	struct mac_control mc;
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);

	switch (mac_control_parse(frame, a->m->data_len, &mc)) {
	case MAC_CONTROL_PFC:
		on_pfc(sw, a->in_port, &mc, a->now_ns);
		counter_add(&sw->ledger.consumed, a->charged_bytes);
		break;
	case MAC_CONTROL_PAUSE:
		counter_inc(&sw->ports[a->in_port].stats.rx_global_pause_frames);
		counter_add(&sw->ledger.consumed, a->charged_bytes);
		break;
	case MAC_CONTROL_UNKNOWN:
		count_drop(sw, a->in_port, SW_DROP_MAC_CONTROL_UNKNOWN, a->charged_bytes);
		break;
	case MAC_CONTROL_MALFORMED:
		count_drop(sw, a->in_port, SW_DROP_MAC_CONTROL_MALFORMED, a->charged_bytes);
		break;
	}
	rte_pktmbuf_free(a->m);
}

/* 01:80:C2:00:00:00..0F (802.1Q table 8-1). */
static bool
is_reserved(uint64_t dst_key)
{
	return (dst_key & 0xFFFFFFFFFFF0ull) == 0x0180C2000000ull;
}

/* Is this a frame that a bridge may forward? */
static enum sw_drop
inspect(struct sw *sw, struct arrival *a)
{
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);
	enum frame_verdict verdict;

	if (a->m->nb_segs != 1 || a->frame_bytes > sw->max_frame_bytes)
		return SW_DROP_OVERSIZE;
	verdict = frame_parse(frame, a->m->data_len, &a->view);
	if (verdict != FRAME_OK) {
		counter_inc(&sw->ports[a->in_port].stats.malformed[verdict]);
		return SW_DROP_MALFORMED;
	}
	if (a->view.ethertype == ETHERTYPE_MAC_CONTROL)
		return SW_DROP_MAC_CONTROL_UNKNOWN;
	return SW_PASS;
}

/* Learn where the source is, find where the destination is. */
static enum sw_drop
forward(struct sw *sw, struct arrival *a)
{
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);
	uint16_t vid = a->view.tagged ? a->view.vlan_tci & 0xFFF : 0;
	uint64_t src = fdb_key(vid, frame + 6);
	uint64_t dst = fdb_key(vid, frame);

	if (fdb_key_is_group(src))
		return SW_DROP_BAD_SOURCE;
	if (is_reserved(dst))
		return SW_DROP_RESERVED_ADDRESS;
	fdb_learn(sw->fdb, src, a->in_port, a->now_ns);
	a->out_port = fdb_key_is_group(dst) ? FLOOD : fdb_lookup(sw->fdb, dst, a->now_ns);
	if (a->out_port == a->in_port || sw->n_ports == 1)
		return SW_DROP_SAME_PORT;
	/* With two ports there is nothing to copy. */
	if (a->out_port == FLOOD && sw->n_ports == 2)
		a->out_port = (uint16_t)(1 - a->in_port);
	return SW_PASS;
}

static void
classify(const struct sw *sw, struct arrival *a)
{
	const struct frame_view *v = &a->view;
	bool ip = v->ip_version != 0;
	bool ect = ip && (v->ecn == ECN_ECT0 || v->ecn == ECN_ECT1);
	bool may_mark = sw->ecn && ip && v->ecn != ECN_NOT_ECT;

	a->class =
		qos_map_classify(&sw->qos, ip ? v->dscp : -1, v->tagged ? v->vlan_tci >> 13 : -1);
	a->flags = ect ? PKT_ECT : 0;
	if (!may_mark && sw->wred_drop_queues >> a->class.queue & 1)
		a->flags |= PKT_WRED_DONE;
}

static enum sw_drop
drop_of(enum mmu_verdict v)
{
	switch (v) {
	case MMU_DROP_PG_LIMIT:
		return SW_DROP_PG_LIMIT;
	case MMU_DROP_NO_HEADROOM:
		return SW_DROP_NO_HEADROOM;
	case MMU_DROP_POOL:
		return SW_DROP_POOL;
	case MMU_DROP_QUEUE_LIMIT:
		return SW_DROP_QUEUE_LIMIT;
	case MMU_ADMIT:
	case MMU_ADMIT_HEADROOM:
		break;
	}
	return SW_PASS;
}

/* Queue limits, then WRED for what it may not mark (facts: RFC 3168 section 5, a mark or a drop).
 */
static enum sw_drop
admit_egress(struct sw *sw, const struct arrival *a, uint16_t port)
{
	struct sw_queue *q = &sw->ports[port].queue[a->class.queue];
	enum sw_drop reason =
		drop_of(mmu_egress_admit(sw->mmu, port, a->class.queue, a->charged_bytes));

	if (reason != SW_PASS || !(a->flags & PKT_WRED_DONE))
		return reason;
	if (!wred_hit(&q->wred, q->bytes, prng_u32(&sw->prng)))
		return SW_PASS;
	mmu_egress_release(sw->mmu, port, a->class.queue, a->charged_bytes);
	return SW_DROP_WRED;
}

static void
enqueue(struct sw *sw, const struct arrival *a, uint16_t port, struct rte_mbuf *m)
{
	struct sw_port *p = &sw->ports[port];
	uint8_t queue = a->class.queue;
	struct sw_queue *q = &p->queue[queue];

	if (sw->mark_at_enqueue && sw->wred_queues >> queue & 1)
		m = sw_mark(sw, q, &p->stats.queue[queue], m);
	pkt_fifo_push(&q->fifo, m);
	counter_add(&q->bytes, a->charged_bytes);
	/* A port that could send already asks again when its shaper lets it. */
	if ((p->backlogged & ~p->paused_queues) == 0)
		node_wake(&sw->node, port);
	p->backlogged |= (uint8_t)(1u << queue);
}

static void
fill_meta(const struct arrival *a, struct rte_mbuf *m, uint8_t flags)
{
	struct pkt_meta *meta = pkt_meta(m);

	meta->charged_bytes = a->charged_bytes;
	meta->in_port = a->in_port;
	meta->l3_off = a->view.l3_off;
	meta->pg = a->class.pg;
	meta->queue = a->class.queue;
	meta->ip_version = a->view.ip_version;
	meta->flags = flags;
}

static void
to_port(struct sw *sw, const struct arrival *a)
{
	enum sw_drop reason = admit_egress(sw, a, a->out_port);

	if (reason == SW_PASS) {
		fill_meta(a, a->m, a->flags);
		enqueue(sw, a, a->out_port, a->m);
		return;
	}
	count_egress_drop(sw, a, a->out_port, reason);
	mmu_ingress_release(sw->mmu, a->in_port, a->class.pg, a->charged_bytes);
	rte_pktmbuf_free(a->m);
}

/* One copy to one port. The frame itself stays behind as the holder of the ingress charge. */
static enum sw_drop
copy_to_port(struct sw *sw, const struct arrival *a, uint16_t port)
{
	enum sw_drop reason = admit_egress(sw, a, port);
	struct rte_mbuf *copy;

	if (reason != SW_PASS)
		return reason;
	copy = rte_pktmbuf_clone(a->m, sw->pools.clones);
	if (copy == NULL) {
		mmu_egress_release(sw->mmu, port, a->class.queue, a->charged_bytes);
		return SW_DROP_NO_MBUF;
	}
	fill_meta(a, copy, a->flags | PKT_CLONE);
	pkt_meta(copy)->origin = a->m;
	pkt_meta(a->m)->copies++;
	enqueue(sw, a, port, copy);
	return SW_PASS;
}

static void
flood(struct sw *sw, const struct arrival *a)
{
	struct pkt_meta *meta = pkt_meta(a->m);

	fill_meta(a, a->m, 0);
	meta->copies = 0;
	/* The frame counts as its first copy, so there is one less than ports to go to. */
	counter_add(&sw->ledger.copies, (sw->n_ports - 2) * (uint64_t)a->charged_bytes);
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		enum sw_drop reason = port == a->in_port ? SW_PASS : copy_to_port(sw, a, port);

		if (reason != SW_PASS)
			count_egress_drop(sw, a, port, reason);
	}
	if (meta->copies > 0)
		return;
	mmu_ingress_release(sw->mmu, a->in_port, a->class.pg, a->charged_bytes);
	rte_pktmbuf_free(a->m);
}

static void
drop(struct sw *sw, const struct arrival *a, enum sw_drop reason)
{
	count_drop(sw, a->in_port, reason, a->charged_bytes);
	rte_pktmbuf_free(a->m);
}

static void
rx_data(struct sw *sw, struct arrival *a)
{
	enum sw_drop reason = inspect(sw, a);

	if (reason == SW_PASS)
		reason = forward(sw, a);
	if (reason != SW_PASS) {
		drop(sw, a, reason);
		return;
	}
	classify(sw, a);
	reason = drop_of(mmu_ingress_admit(sw->mmu, a->in_port, a->class.pg, a->charged_bytes));
	if (reason != SW_PASS)
		drop(sw, a, reason);
	else if (likely(a->out_port != FLOOD))
		to_port(sw, a);
	else
		flood(sw, a);
	/* After a refusal too: under a dynamic threshold the limit moves without this group. */
	sw_update_xoff(sw, a->in_port, a->class.pg, a->now_ns);
}

static void
rx_one(struct sw *sw, uint16_t port, struct rte_mbuf *m, uint64_t now_ns)
{
	struct sw_port_stats *stats = &sw->ports[port].stats;
	struct arrival a;

	a.m = m;
	a.now_ns = now_ns;
	a.in_port = port;
	a.frame_bytes = frame_bytes(m->pkt_len);
	a.charged_bytes = mmu_charge_bytes(sw->mmu, a.frame_bytes);
	counter_add(&sw->ledger.in, a.charged_bytes);
	if (unlikely(is_mac_control(m))) {
		rx_mac_control(sw, &a);
		return;
	}
	counter_inc(&stats->rx_packets);
	counter_add(&stats->rx_bytes, a.frame_bytes);
	rx_data(sw, &a);
}

void
sw_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct sw *sw = sw_of(node);

	assert(port < sw->n_ports);
	sw_sweep_if_wanted(sw, now_ns);
	for (uint16_t i = 0; i < n && i < PREFETCH; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		if (i + PREFETCH < n)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + PREFETCH], void *));
		rx_one(sw, port, pkts[i], now_ns);
	}
}
