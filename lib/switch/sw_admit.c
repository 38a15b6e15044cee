/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the way in: admission on both sides, and the queue or, for copies, the queues. */
#include <rte_mbuf.h>

#include "switch/sw_rx.h"

void
sw_count_drop(struct sw *sw, uint16_t port, enum sw_drop reason, uint32_t charged_bytes)
{
	counter_inc(&sw->ports[port].stats.drops[reason]);
	counter_add(&sw->ledger.dropped, charged_bytes);
}

static void
count_egress_drop(struct sw *sw, const struct arrival *a, uint16_t port, enum sw_drop reason)
{
	sw_count_drop(sw, port, reason, a->charged_bytes);
	counter_inc(&sw->ports[port].stats.queue[a->class.queue].drop_packets);
}

static void
classify(const struct sw *sw, struct arrival *a)
{
	const struct frame_view *v = &a->view;
	bool ip = v->ip_version != 0;

	a->class = qos_map_classify(&sw->qos, ip ? v->dscp : -1, a->pcp);
	a->flags = 0;
	if (ip && v->ecn != ECN_NOT_ECT)
		a->flags = v->ecn == ECN_CE ? PKT_CE : PKT_ECT;
}

/* Longer than the class allows? (NX-OS: mtu of a network-qos class.) */
static bool
above_mtu(const struct sw *sw, const struct arrival *a)
{
	uint32_t tag = a->view.tagged ? VLAN_TAG_BYTES : 0;

	/* A priority tag that the frame came with may be off by now. */
	return frame_bytes(a->m->pkt_len) - tag > sw->tc_max_frame_bytes[a->class.tc];
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

/* Does WRED decide on a drop here, because it may not mark? (RFC 3168 section 5: one or the other)
 */
static bool
wred_drops(const struct sw_port *p, const struct arrival *a)
{
	bool may_mark = a->flags & (PKT_ECT | PKT_CE) && p->ecn_queues >> a->class.queue & 1;

	return !may_mark && p->nonect_drop_queues >> a->class.queue & 1;
}

/* Queue limits, then WRED for what it may not mark. */
static enum sw_drop
admit_egress(struct sw *sw, struct arrival *a, uint16_t port)
{
	struct sw_port *p = &sw->ports[port];
	struct sw_queue *q = &p->queue[a->class.queue];
	enum sw_drop reason;

	if (unlikely(p->closed_queues >> a->class.queue & 1))
		return sw_port_refuses(sw, port, a->class.queue);
	reason = drop_of(mmu_egress_admit(sw->mmu, port, a->class.queue, a->charged_bytes));
	a->flags &= (uint8_t)~PKT_WRED_DONE;
	if (reason != SW_PASS || !wred_drops(p, a))
		return reason;
	a->flags |= PKT_WRED_DONE;
	if (!wred_drop(&q->wred, q->bytes, prng_u32(&sw->prng)))
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

	if (unlikely(sw->mark_at_enqueue) && p->wred_queues >> queue & 1)
		m = sw_mark(sw, p, queue, m);
	sw_queue_push(q, m);
	counter_add(&q->bytes, a->charged_bytes);
	/* A port that could send already asks again when its shaper lets it. */
	if ((p->backlogged & ~(p->paused_queues | p->above_max)) == 0)
		node_wake(&sw->node, port);
	p->backlogged |= (uint8_t)(1u << queue);
}

static void
fill_meta(const struct arrival *a, struct rte_mbuf *m, bool tagged, uint8_t flags)
{
	struct pkt_meta *meta = pkt_meta(m);

	meta->charged_bytes = a->charged_bytes;
	meta->in_port = a->in_port;
	meta->l3_off = ETH_HDR_BYTES + (tagged ? VLAN_TAG_BYTES : 0);
	meta->pg = a->class.pg;
	meta->queue = a->class.queue;
	meta->ip_version = a->view.ip_version;
	meta->flags = flags;
}

/* The frame as the port wants it. @return false: no mbuf for that, a->m is as it was. */
static bool
set_tag(struct sw *sw, struct arrival *a)
{
	int32_t tci = sw_egress_tci(sw, a, a->out_port);
	struct rte_mbuf *own;

	if (likely(tci == SW_TAG_AS_IS))
		return true;
	own = sw_retag(sw, a->m, a->view.tagged, tci);
	if (own == NULL)
		return false;
	a->m = own;
	a->view.tagged = tci != SW_UNTAGGED;
	return true;
}

static void
to_port(struct sw *sw, struct arrival *a)
{
	enum sw_drop reason = admit_egress(sw, a, a->out_port);

	if (reason == SW_PASS && unlikely(!set_tag(sw, a))) {
		mmu_egress_release(sw->mmu, a->out_port, a->class.queue, a->charged_bytes);
		reason = SW_DROP_NO_MBUF;
	}
	if (reason == SW_PASS) {
		fill_meta(a, a->m, a->view.tagged, a->flags);
		enqueue(sw, a, a->out_port, a->m);
		return;
	}
	count_egress_drop(sw, a, a->out_port, reason);
	mmu_ingress_release(sw->mmu, a->in_port, a->class.pg, a->charged_bytes);
	rte_pktmbuf_free(a->m);
}

/*
 * The two forms in which copies of a flooded frame leave, with and without a tag. The one that it
 * did not come in is made once, and only if a port wants it.
 */
struct forms {
	struct rte_mbuf *other;
};

/* The frame whose data a copy for this port shares, or NULL: no mbuf. */
static struct rte_mbuf *
form_of(struct sw *sw, const struct arrival *a, struct forms *forms, int32_t tci)
{
	struct rte_mbuf *copy;

	if (tci == SW_TAG_AS_IS)
		return a->m;
	if (forms->other != NULL)
		return forms->other;
	if (a->m->pkt_len > sw->copy_room_bytes)
		return NULL;
	copy = rte_pktmbuf_copy(a->m, sw->pools.frames, 0, UINT32_MAX);
	if (copy == NULL)
		return NULL;
	forms->other = sw_retag(sw, copy, a->view.tagged, tci);
	if (forms->other == NULL)
		rte_pktmbuf_free(copy);
	return forms->other;
}

/* One copy to one port. The frame itself stays behind as the holder of the ingress charge. */
static enum sw_drop
copy_to_port(struct sw *sw, struct arrival *a, struct forms *forms, uint16_t port)
{
	enum sw_drop reason = admit_egress(sw, a, port);
	int32_t tci = sw_egress_tci(sw, a, port);
	struct rte_mbuf *form, *copy = NULL;

	if (reason != SW_PASS)
		return reason;
	form = form_of(sw, a, forms, tci);
	if (form != NULL)
		copy = rte_pktmbuf_clone(form, sw->pools.clones);
	if (copy == NULL) {
		mmu_egress_release(sw->mmu, port, a->class.queue, a->charged_bytes);
		return SW_DROP_NO_MBUF;
	}
	fill_meta(a, copy, tci == SW_TAG_AS_IS ? a->view.tagged : !a->view.tagged,
		  a->flags | PKT_CLONE);
	pkt_meta(copy)->origin = a->m;
	pkt_meta(a->m)->copies++;
	enqueue(sw, a, port, copy);
	return SW_PASS;
}

static void
flood(struct sw *sw, struct arrival *a)
{
	uint64_t ports = sw_flood_ports(sw, a);
	struct pkt_meta *meta = pkt_meta(a->m);
	struct forms forms = {0};

	fill_meta(a, a->m, a->view.tagged, 0);
	meta->copies = 0;
	/* The frame counts as its first copy. */
	counter_add(&sw->ledger.copies,
		    (uint64_t)(__builtin_popcountll(ports) - 1) * a->charged_bytes);
	for (; ports != 0; ports &= ports - 1) {
		uint16_t port = (uint16_t)__builtin_ctzll(ports);
		enum sw_drop reason = copy_to_port(sw, a, &forms, port);

		if (reason != SW_PASS)
			count_egress_drop(sw, a, port, reason);
	}
	/* Copies hold the data of the other form from here on. */
	rte_pktmbuf_free(forms.other);
	if (meta->copies > 0)
		return;
	mmu_ingress_release(sw->mmu, a->in_port, a->class.pg, a->charged_bytes);
	rte_pktmbuf_free(a->m);
}

static enum sw_drop
admit_ingress(struct sw *sw, const struct arrival *a)
{
	return drop_of(mmu_ingress_admit(sw->mmu, a->in_port, a->class.pg, a->charged_bytes));
}

/* A frame for one port that a burst may admit together with others: nothing has to be decided on it
 * alone, nor done to it. */
static bool
is_plain(struct sw *sw, struct arrival *a)
{
	const struct sw_port *in = &sw->ports[a->in_port];
	const struct sw_port *p;

	if (a->out_port == FLOOD)
		return false;
	p = &sw->ports[a->out_port];
	return !((p->closed_queues >> a->class.queue | in->storm_pgs >> a->class.pg) & 1) &&
	       !above_mtu(sw, a) && !wred_drops(p, a) &&
	       sw_egress_tci(sw, a, a->out_port) == SW_TAG_AS_IS;
}

/* What the frames of a burst are charged together: by group of their port, by egress queue. */
struct sums {
	uint32_t total_bytes;
	uint32_t pg_bytes[TM_CLASSES];
	uint32_t pg_packets[TM_CLASSES];
	uint32_t pg_frame_bytes[TM_CLASSES];
	uint8_t pgs;     /* mask: that have bytes */
	uint16_t queues; /* that have bytes, listed in sw->enqueue_queues */
};

/* @return false: a frame of the burst has to be looked at alone. */
static bool
add_up(struct sw *sw, struct arrival *a, unsigned int n, struct sums *s)
{
	for (unsigned int i = 0; i < n; i++, a++) {
		uint16_t queue;

		classify(sw, a);
		if (unlikely(!is_plain(sw, a)))
			return false;
		queue = (uint16_t)(a->out_port * TM_CLASSES + a->class.queue);
		s->total_bytes += a->charged_bytes;
		s->pg_bytes[a->class.pg] += a->charged_bytes;
		s->pg_packets[a->class.pg]++;
		s->pg_frame_bytes[a->class.pg] += a->frame_bytes;
		s->pgs |= (uint8_t)(1u << a->class.pg);
		if (sw->enqueue_bytes[queue] == 0)
			sw->enqueue_queues[s->queues++] = queue;
		sw->enqueue_bytes[queue] += a->charged_bytes;
	}
	return true;
}

static bool
all_fit(const struct sw *sw, uint16_t in_port, const struct sums *s)
{
	for (uint8_t pgs = s->pgs; pgs != 0; pgs &= (uint8_t)(pgs - 1)) {
		uint8_t pg = (uint8_t)__builtin_ctz(pgs);

		if (!mmu_ingress_fits(sw->mmu, in_port, pg, s->pg_bytes[pg], s->total_bytes))
			return false;
	}
	for (unsigned int i = 0; i < s->queues; i++) {
		uint16_t queue = sw->enqueue_queues[i];

		if (!mmu_egress_fits(sw->mmu, queue / TM_CLASSES, queue % TM_CLASSES,
				     sw->enqueue_bytes[queue], s->total_bytes))
			return false;
	}
	return true;
}

static void
charge_all(struct sw *sw, uint16_t in_port, const struct sums *s)
{
	for (uint8_t pgs = s->pgs; pgs != 0; pgs &= (uint8_t)(pgs - 1)) {
		uint8_t pg = (uint8_t)__builtin_ctz(pgs);

		mmu_ingress_admit(sw->mmu, in_port, pg, s->pg_bytes[pg]);
		counter_add(&sw->ports[in_port].stats.pg[pg].rx_packets, s->pg_packets[pg]);
		counter_add(&sw->ports[in_port].stats.pg[pg].rx_bytes, s->pg_frame_bytes[pg]);
	}
	for (unsigned int i = 0; i < s->queues; i++) {
		uint16_t queue = sw->enqueue_queues[i], port = queue / TM_CLASSES;
		struct sw_port *p = &sw->ports[port];

		mmu_egress_admit(sw->mmu, port, queue % TM_CLASSES, sw->enqueue_bytes[queue]);
		counter_add(&p->queue[queue % TM_CLASSES].bytes, sw->enqueue_bytes[queue]);
		if ((p->backlogged & ~(p->paused_queues | p->above_max)) == 0)
			node_wake(&sw->node, port);
		p->backlogged |= (uint8_t)(1u << queue % TM_CLASSES);
	}
}

static bool
all_pass(const enum sw_drop *reasons, unsigned int n)
{
	unsigned int ended = 0;

	for (unsigned int i = 0; i < n; i++)
		ended |= reasons[i] != SW_PASS;
	return ended == 0;
}

bool
sw_admit_burst(struct sw *sw, struct arrival *a, unsigned int n, const enum sw_drop reasons[])
{
	uint16_t in_port = a->in_port;
	struct sums sums = {0};
	bool fit;

	fit = !sw->mark_at_enqueue && all_pass(reasons, n) && add_up(sw, a, n, &sums) &&
	      all_fit(sw, in_port, &sums);
	if (fit)
		charge_all(sw, in_port, &sums);
	for (unsigned int i = 0; i < sums.queues; i++)
		sw->enqueue_bytes[sw->enqueue_queues[i]] = 0;
	if (!fit)
		return false;
	for (unsigned int i = 0; i < n; i++) {
		fill_meta(&a[i], a[i].m, a[i].view.tagged, a[i].flags);
		sw_queue_push(&sw->ports[a[i].out_port].queue[a[i].class.queue], a[i].m);
	}
	for (uint8_t pgs = sums.pgs; pgs != 0; pgs &= (uint8_t)(pgs - 1))
		sw_update_xoff(sw, in_port, (uint8_t)__builtin_ctz(pgs), a->now_ns);
	return true;
}

void
sw_send_own(struct sw *sw, struct rte_mbuf *m, uint16_t domain, uint16_t port, uint64_t now_ns)
{
	struct arrival a = {.m = m,
			    .now_ns = now_ns,
			    .frame_bytes = frame_bytes(m->pkt_len),
			    .in_port = port,
			    .out_port = port,
			    .domain = domain,
			    .pcp = -1};
	enum sw_drop reason;

	a.charged_bytes = mmu_charge_bytes(sw->mmu, a.frame_bytes);
	counter_add(&sw->ledger.generated, a.charged_bytes);
	classify(sw, &a);
	reason = admit_egress(sw, &a, port);
	if (reason == SW_PASS && set_tag(sw, &a)) {
		fill_meta(&a, a.m, a.view.tagged, a.flags | PKT_GENERATED);
		enqueue(sw, &a, port, a.m);
		return;
	}
	if (reason == SW_PASS) {
		mmu_egress_release(sw->mmu, port, a.class.queue, a.charged_bytes);
		reason = SW_DROP_NO_MBUF;
	}
	count_egress_drop(sw, &a, port, reason);
	rte_pktmbuf_free(a.m);
}

uint8_t
sw_admit(struct sw *sw, struct arrival *a)
{
	enum sw_drop reason;

	classify(sw, a);
	reason = unlikely(above_mtu(sw, a)) ? SW_DROP_MTU : SW_PASS;
	if (unlikely(sw->ports[a->in_port].storm_pgs >> a->class.pg & 1) && reason == SW_PASS)
		reason = sw_pfcwd_ingress(sw, a->in_port, a->class.pg);
	if (likely(reason == SW_PASS))
		reason = admit_ingress(sw, a);
	if (unlikely(reason != SW_PASS)) {
		sw_count_drop(sw, a->in_port, reason, a->charged_bytes);
		counter_inc(&sw->ports[a->in_port].stats.pg[a->class.pg].drop_packets);
		rte_pktmbuf_free(a->m);
	} else if (likely(a->out_port != FLOOD)) {
		to_port(sw, a);
	} else {
		flood(sw, a);
	}
	return a->class.pg;
}
