/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the way in: admission on both sides, and the queue or, for copies, the queues. */
#include <rte_mbuf.h>

#include "switch/sw_egress.h"

void
sw_count_drop(struct sw *sw, uint16_t port, enum sw_drop reason, uint32_t charged_bytes)
{
	counter_inc(&sw->ports[port].stats.drops[reason]);
	counter_add(&sw->ledger.dropped, charged_bytes);
}

/* Where a frame's class stands in sw->classes. */
static unsigned int
code_point(const struct sw *sw, const struct arrival *a)
{
	if (sw->trust_dscp && a->view.ip_version != 0)
		return a->view.dscp;
	return (unsigned int)(SW_CODE_POINT_NONE + 1 + a->pcp);
}

static const struct sw_class *
classify(const struct sw *sw, struct arrival *a)
{
	/* By code point; that of a frame without IP is 0. */
	static const uint8_t flags[] = {
		[ECN_ECT0] = PKT_ECT, [ECN_ECT1] = PKT_ECT, [ECN_CE] = PKT_CE};
	const struct sw_class *c = &sw->classes[code_point(sw, a)];

	a->class = c->class;
	a->flags = flags[a->view.ecn];
	return c;
}

/* Longer than the class allows? (NX-OS: mtu of a network-qos class.) */
static bool
above_mtu(const struct sw_class *c, const struct arrival *a)
{
	uint32_t tag = a->view.tagged ? VLAN_TAG_BYTES : 0;

	/* A priority tag that the frame came with may be off by now. */
	return frame_bytes(a->m->pkt_len) - tag > c->max_frame_bytes;
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
	enum sw_drop reason = sw_admit_egress(sw, a, a->out_port);

	if (reason == SW_PASS && unlikely(!set_tag(sw, a))) {
		mmu_egress_release(sw->mmu, a->out_port, a->class.queue, a->charged_bytes);
		reason = SW_DROP_NO_MBUF;
	}
	if (reason == SW_PASS) {
		sw_fill_meta(a, a->m, a->view.tagged, a->flags);
		sw_enqueue(sw, a, a->out_port, a->m);
		return;
	}
	sw_count_egress_drop(sw, a, a->out_port, reason);
	if (!(a->flags & PKT_GENERATED))
		sw_refund(sw, a->in_port, a->class.pg, a->charged_bytes);
	rte_pktmbuf_free(a->m);
}

static enum sw_drop
admit_ingress(struct sw *sw, const struct arrival *a)
{
	return sw_drop_of(mmu_ingress_admit(sw->mmu, a->in_port, a->class.pg, a->charged_bytes));
}

/* A frame for one port that a burst may admit together with others: nothing has to be decided on it
 * alone, nor done to it. At its egress, and at its ingress. */
static bool
leaves_plain(const struct sw *sw, const struct arrival *a)
{
	const struct sw_port *p = &sw->ports[a->out_port];

	return !(p->closed_queues >> a->class.queue & 1) && !sw_wred_drops(p, a) &&
	       sw_egress_tci(sw, a, a->out_port) == SW_TAG_AS_IS;
}

static bool
comes_plain(const struct sw *sw, const struct sw_class *c, const struct arrival *a)
{
	return a->out_port != FLOOD && !(sw->ports[a->in_port].storm_pgs >> a->class.pg & 1) &&
	       !above_mtu(c, a);
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

static void
add_to_queue(struct sw *sw, const struct arrival *a, struct sums *s)
{
	uint16_t queue = (uint16_t)(a->out_port * TM_CLASSES + a->class.queue);

	if (sw->enqueue_bytes[queue] == 0)
		sw->enqueue_queues[s->queues++] = queue;
	sw->enqueue_bytes[queue] += a->charged_bytes;
}

/*
 * Whether there is more than one shard is known where this is called: one alone does not pay for
 * the question, frame by frame.
 *
 * @return false: a frame of the burst has to be looked at alone.
 */
static __rte_always_inline bool
add_up(struct sw *sw, struct arrival *a, unsigned int n, struct sums *s, bool alone)
{
	for (unsigned int i = 0; i < n; i++, a++) {
		if (unlikely(!comes_plain(sw, classify(sw, a), a)))
			return false;
		s->total_bytes += a->charged_bytes;
		s->pg_bytes[a->class.pg] += a->charged_bytes;
		s->pg_packets[a->class.pg]++;
		s->pg_frame_bytes[a->class.pg] += a->frame_bytes;
		s->pgs |= (uint8_t)(1u << a->class.pg);
		if (!alone && !sw_owns(sw, a->out_port))
			continue;
		if (unlikely(!leaves_plain(sw, a)))
			return false;
		add_to_queue(sw, a, s);
	}
	return true;
}

static bool
queues_fit(const struct sw *sw, const struct sums *s)
{
	for (unsigned int i = 0; i < s->queues; i++) {
		uint16_t queue = sw->enqueue_queues[i];

		if (!mmu_egress_fits(sw->mmu, queue / TM_CLASSES, queue % TM_CLASSES,
				     sw->enqueue_bytes[queue], s->total_bytes))
			return false;
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
	return queues_fit(sw, s);
}

static void
charge_queues(struct sw *sw, const struct sums *s)
{
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

static void
forget_queues(struct sw *sw, const struct sums *s)
{
	for (unsigned int i = 0; i < s->queues; i++)
		sw->enqueue_bytes[sw->enqueue_queues[i]] = 0;
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
	charge_queues(sw, s);
}

static bool
all_pass(const enum sw_drop *reasons, unsigned int n)
{
	unsigned int ended = 0;

	for (unsigned int i = 0; i < n; i++)
		ended |= reasons[i] != SW_PASS;
	return ended == 0;
}

static __rte_always_inline bool
admit_burst(struct sw *sw, struct arrival *a, unsigned int n, const enum sw_drop reasons[],
	    bool alone)
{
	uint16_t in_port = a->in_port;
	struct sums sums = {0};
	bool fit;

	fit = !sw->mark_at_enqueue && all_pass(reasons, n) && add_up(sw, a, n, &sums, alone) &&
	      all_fit(sw, in_port, &sums);
	if (fit)
		charge_all(sw, in_port, &sums);
	forget_queues(sw, &sums);
	if (!fit)
		return false;
	for (unsigned int i = 0; i < n; i++) {
		if (!alone && !sw_owns(sw, a[i].out_port)) {
			sw_cross(sw, &a[i]);
			continue;
		}
		sw_fill_meta(&a[i], a[i].m, a[i].view.tagged, a[i].flags);
		sw_queue_push(&sw->ports[a[i].out_port].queue[a[i].class.queue], a[i].m);
	}
	for (uint8_t pgs = sums.pgs; pgs != 0; pgs &= (uint8_t)(pgs - 1))
		sw_update_xoff(sw, in_port, (uint8_t)__builtin_ctz(pgs), a->now_ns);
	return true;
}

bool
sw_admit_burst(struct sw *sw, struct arrival *a, unsigned int n, const enum sw_drop reasons[])
{
	return sw->shards == NULL ? admit_burst(sw, a, n, reasons, true)
				  : admit_burst(sw, a, n, reasons, false);
}

/* As sw_admit_burst(), of the egress alone. */
static bool
queue_crossed(struct sw *sw, const struct arrival *a, unsigned int n)
{
	bool fit = !sw->mark_at_enqueue;
	struct sums sums = {0};

	for (unsigned int i = 0; fit && i < n; i++) {
		fit = a[i].out_port != FLOOD && leaves_plain(sw, &a[i]);
		if (!fit)
			break;
		sums.total_bytes += a[i].charged_bytes;
		add_to_queue(sw, &a[i], &sums);
	}
	fit = fit && queues_fit(sw, &sums);
	if (fit)
		charge_queues(sw, &sums);
	forget_queues(sw, &sums);
	for (unsigned int i = 0; fit && i < n; i++)
		sw_queue_push(&sw->ports[a[i].out_port].queue[a[i].class.queue], a[i].m);
	return fit;
}

void
sw_admit_crossed(struct sw *sw, struct arrival *a, unsigned int n)
{
	if (queue_crossed(sw, a, n))
		return;
	for (unsigned int i = 0; i < n; i++) {
		if (a[i].out_port == FLOOD)
			sw_flood_crossed(sw, &a[i]);
		else
			to_port(sw, &a[i]);
	}
}

/* A frame for one port, admitted or not charged at its ingress. */
static void
send_to_port(struct sw *sw, struct arrival *a)
{
	if (likely(sw_owns(sw, a->out_port)))
		to_port(sw, a);
	else
		sw_cross(sw, a);
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

	a.charged_bytes = mmu_charge_bytes(sw->mmu, a.frame_bytes);
	counter_add(&sw->ledger.generated, a.charged_bytes);
	classify(sw, &a);
	a.flags |= PKT_GENERATED;
	send_to_port(sw, &a);
}

uint8_t
sw_admit(struct sw *sw, struct arrival *a)
{
	enum sw_drop reason;

	reason = unlikely(above_mtu(classify(sw, a), a)) ? SW_DROP_MTU : SW_PASS;
	if (unlikely(sw->ports[a->in_port].storm_pgs >> a->class.pg & 1) && reason == SW_PASS)
		reason = sw_pfcwd_ingress(sw, a->in_port, a->class.pg);
	if (likely(reason == SW_PASS))
		reason = admit_ingress(sw, a);
	if (unlikely(reason != SW_PASS)) {
		sw_count_drop(sw, a->in_port, reason, a->charged_bytes);
		counter_inc(&sw->ports[a->in_port].stats.pg[a->class.pg].drop_packets);
		rte_pktmbuf_free(a->m);
	} else if (likely(a->out_port != FLOOD)) {
		send_to_port(sw, a);
	} else {
		sw_flood(sw, a);
	}
	return a->class.pg;
}
