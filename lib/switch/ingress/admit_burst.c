/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/ingress/admit_burst.h"

#include <rte_mbuf.h>

#include "switch/egress/enqueue.h"
#include "switch/egress/pfc.h"
#include "switch/ingress/admit.h"
#include "switch/ingress/cross.h"
#include "switch/ingress/drop.h"
#include "switch/ingress/flood.h"

/* State of a group during this burst. */
struct group {
	/* bytes that certainly fit, whatever other groups take during the burst */
	uint64_t room_bytes;
	uint64_t room_packets;
	uint32_t bytes, n; /* not charged yet */
	uint32_t packets;
	uint32_t frame_bytes;
};

struct burst {
	struct sw *sw;
	uint16_t port;
	uint32_t total_bytes; /* charged bytes of all frames of the burst that may be admitted */
	uint32_t total_packets;
	uint8_t known; /* mask: groups whose room is known */
	struct group group[TM_CLASSES];
};

struct run {
	struct arrival *a;
	const struct sw_class *class;
	unsigned int n;
	uint32_t bytes; /* charged */
	uint32_t frame_bytes;
};

/* Charge the admitted runs to their groups. The rest of a group's room stays certain. */
static void
charge(struct burst *b)
{
	for (uint8_t known = b->known; known != 0; known &= (uint8_t)(known - 1)) {
		uint8_t pg = (uint8_t)__builtin_ctz(known);
		struct group *g = &b->group[pg];

		if (g->bytes == 0)
			continue;
		mmu_ingress_charge(b->sw->mmu, b->port, pg, g->bytes);
		mmu_packet_charge(b->sw->mmu, b->port, pg, g->n);
		g->room_bytes -= g->bytes;
		g->room_packets -= g->n;
		g->bytes = g->n = 0;
	}
}

static inline struct group *
group_of(struct burst *b, uint8_t pg)
{
	struct group *g = &b->group[pg];

	if (!(b->known >> pg & 1)) {
		b->known |= (uint8_t)(1u << pg);
		g->bytes = g->n = 0;
		g->room_bytes = mmu_ingress_room(b->sw->mmu, b->port, pg, b->total_bytes);
		g->room_packets = mmu_packet_room(b->sw->mmu, b->port, pg, b->total_packets);
	}
	return g;
}

/* A bit that is in no frame's flags: pass_wred() returns it if every frame passes. */
#define ANY_FRAME 0x80u
static_assert(!(ANY_FRAME & (PKT_ECT | PKT_CE)), "of its own");

/*
 * Mask of flags: a frame with one of them enters the queue without a WRED drop decision. This is a
 * table, because branches would be mispredicted in a burst to many queues.
 */
static inline uint8_t
pass_wred(const struct sw_port *p, unsigned int queue)
{
	static const uint8_t flags[] = {ANY_FRAME, ANY_FRAME, 0, PKT_ECT | PKT_CE};
	unsigned int drops = p->nonect_drop_queues >> queue & 1;

	return flags[2 * drops + (p->ecn_queues >> queue & 1)];
}

/*
 * Find the run that begins with the frame run->a. If that frame needs its own decision, run->n
 * stays 0.
 *
 * @param n  Frames of the burst from run->a on.
 * @return   Class of the frame after the run; NULL: not classified yet.
 */
static inline const struct sw_class *
gather(struct sw *sw, struct run *run, unsigned int n, const enum sw_drop reasons[])
{
	const struct sw_class *c = run->class;
	struct arrival *a = run->a;
	uint16_t out_port = a->out_port;
	uint8_t pass = ANY_FRAME;
	bool tags = false;

	run->n = run->bytes = run->frame_bytes = 0;
	if (unlikely(out_port == FLOOD || sw->mark_at_enqueue ||
		     sw->ports[a->in_port].storm_pgs >> c->class.pg & 1))
		return c;
	if (likely(sw_owns(&sw->shard, out_port))) {
		const struct sw_port *p = &sw->ports[out_port];

		tags = sw->forward.vlans->access_domain[out_port] != SW_TRANSPARENT;
		pass = pass_wred(p, c->class.queue);
		if (unlikely(p->closed_queues >> c->class.queue & 1))
			return c;
	}
	do {
		if (unlikely(sw_above_mtu(c, a) || !((a->flags | ANY_FRAME) & pass)) ||
		    (unlikely(tags) && sw_changes_form(sw->forward.vlans, a, out_port)))
			return NULL;
		run->bytes += a->charged_bytes;
		run->frame_bytes += a->frame_bytes;
		a++;
		if (++run->n == n || unlikely(reasons[run->n] != SW_PASS))
			return NULL;
		c = sw_classify(&sw->classes, a);
	} while (c == run->class && a->out_port == out_port);
	return c;
}

/* Admit a run to a queue; its caller then pushes the entries. @return false: nothing was done. */
static inline bool
admit_to_queue(struct sw *sw, uint16_t port, uint8_t queue, uint32_t bytes, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	struct sw_queue *q = &p->queue[queue];

	if (unlikely(!mmu_egress_admit_fitting(sw->mmu, port, queue, bytes)))
		return false;
	sw_age_average(p, q, now_ns);
	counter_add(&q->bytes, bytes);
	if ((p->backlogged & ~(p->paused_queues | p->above_max)) == 0)
		node_wake(&sw->node, port);
	p->backlogged |= (uint8_t)(1u << queue);
	return true;
}

/* @return false: nothing was done. */
static inline bool
enqueue_run(struct sw *sw, const struct run *run)
{
	const struct arrival *a = run->a;
	uint16_t port = a->out_port;
	uint8_t queue = a->class.queue;
	struct sw_queue *q = &sw->ports[port].queue[queue];

	if (!admit_to_queue(sw, port, queue, run->bytes, a->now_ns))
		return false;
	for (unsigned int i = 0; i < run->n; i++, a++)
		sw_fifo_push(&q->fifo, &sw->shard.chunks,
			     sw_entry_of(a, a->m, port, a->view.tagged, a->flags));
	return true;
}

/* @return false: nothing was done. */
static inline bool
admit_run(struct burst *b, struct group *g, const struct run *run)
{
	if (unlikely(run->n == 0 || g->bytes + run->bytes > g->room_bytes ||
		     g->n + run->n > g->room_packets))
		return false;
	if (likely(sw_owns(&b->sw->shard, run->a->out_port))) {
		if (unlikely(!enqueue_run(b->sw, run)))
			return false;
	} else {
		for (unsigned int i = 0; i < run->n; i++)
			sw_cross(b->sw, &run->a[i]);
	}
	g->bytes += run->bytes;
	g->n += run->n;
	return true;
}

/*
 * Update XOFF once per group, because the group's use only grows during the burst. Do so even if
 * all its frames were refused, because the use of other groups also moves a dynamic threshold.
 */
static void
end_burst(struct burst *b, uint64_t now_ns)
{
	charge(b);
	for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
		struct sw_pg_stats *stats = &b->sw->ports[b->port].stats.pg[pg];

		if (b->group[pg].packets == 0)
			continue;
		counter_add(&stats->rx_packets, b->group[pg].packets);
		counter_add(&stats->rx_bytes, b->group[pg].frame_bytes);
		sw_update_xoff(b->sw, b->port, pg, now_ns);
	}
}

void
sw_admit_burst(struct sw *sw, struct arrival *a, unsigned int n, const enum sw_drop reasons[])
{
	struct burst b = {.sw = sw, .port = a->in_port, .total_packets = n};
	const struct sw_class *next = NULL;
	uint64_t now_ns = a->now_ns;
	struct run run;

	for (unsigned int i = 0; i < n; i++)
		b.total_bytes += a[i].charged_bytes;
	for (unsigned int i = 0; i < n; i += run.n) {
		struct group *g;

		run.a = &a[i];
		run.n = 1;
		if (unlikely(reasons[i] != SW_PASS)) {
			sw_end(sw, run.a, reasons[i]);
			next = NULL;
			continue;
		}
		run.class = next == NULL ? sw_classify(&sw->classes, run.a) : next;
		next = gather(sw, &run, n - i, &reasons[i]);
		g = group_of(&b, run.class->class.pg);
		if (unlikely(!admit_run(&b, g, &run))) {
			charge(&b);
			run.n = 1;
			run.frame_bytes = run.a->frame_bytes;
			sw_admit(sw, run.a);
			b.known &= (uint8_t) ~(1u << run.class->class.pg);
			next = NULL;
		}
		g->packets += run.n;
		g->frame_bytes += run.frame_bytes;
	}
	end_burst(&b, now_ns);
}

/* Decide on a single crossed frame. */
static void
admit_crossed_one(struct sw *sw, struct sw_entry e, uint64_t now_ns)
{
	struct rte_mbuf *m = sw_entry_mbuf(&e);
	struct arrival a = {
		.m = m,
		.now_ns = now_ns,
		.charged_bytes = sw_entry_charged_bytes(&e),
		.in_port = sw_entry_group(&e) / TM_CLASSES,
		.out_port = sw_entry_queue(&e) / TM_CLASSES,
		.flags = sw_entry_flags(&e) & (uint8_t)~PKT_LABELLED,
		.class = {.pg = sw_entry_group(&e) % TM_CLASSES,
			  .queue = sw_entry_queue(&e) % TM_CLASSES},
		.view = {.ip_version = sw_entry_ip_version(&e),
			 .tagged = sw_entry_l3_off(&e) != ETH_HDR_BYTES},
	};

	if (sw_entry_flags(&e) & PKT_LABELLED) {
		const struct pkt_meta *meta = pkt_meta(m);

		a.out_port = meta->out_port;
		a.domain = meta->domain;
		a.tci_bits = meta->tci_bits;
		a.form_ports = meta->form_ports;
	}
	if (a.out_port == FLOOD)
		sw_flood_crossed(sw, &a);
	else
		sw_to_port(sw, &a, a.form_ports != 0);
}

/* Charged bytes that an entry adds to this shard: a flooded frame counts once for each port. */
static uint64_t
crossed_bytes(const struct sw *sw, struct sw_entry e)
{
	const struct pkt_meta *meta = pkt_meta(sw_entry_mbuf(&e));

	if (likely(!(sw_entry_flags(&e) & PKT_LABELLED)) || meta->out_port != FLOOD)
		return sw_entry_charged_bytes(&e);
	return (uint64_t)__builtin_popcountll(meta->flood_ports & sw->shard.own_ports) *
	       sw_entry_charged_bytes(&e);
}

static inline unsigned int
find_crossed_queue(struct sw_crossed *b, uint16_t place)
{
	unsigned int i = b->queue_at[place];

	if (i < b->n_queues && b->queue[i].place == place)
		return i;
	i = b->n_queues++;
	b->queue_at[place] = (uint8_t)i;
	b->queue[i] = (struct sw_crossed_queue){.place = place, .all_ect = true};
	return i;
}

/*
 * Sort entries by queue, up to the first that does not name its queue: that of a flooded frame, or
 * of one whose form changes.
 * @return the number of entries.
 */
static inline uint32_t
sort_crossed(struct sw_crossed *b, const struct sw_ring *r, uint32_t first, uint32_t most)
{
	unsigned int last = 0;
	uint32_t n;

	b->n_queues = 0;
	for (n = 0; n < most; n++) {
		const struct sw_entry *e = sw_ring_at(r, first + n);
		uint16_t place = sw_entry_queue(e);

		if (unlikely(sw_entry_flags(e) & PKT_LABELLED))
			break;
		if (n == 0 || b->queue[last].place != place)
			last = find_crossed_queue(b, place);
		b->queue[last].bytes += sw_entry_charged_bytes(e);
		b->queue[last].all_ect &= (sw_entry_flags(e) & (PKT_ECT | PKT_CE)) != 0;
		b->queue_of[n] = (uint8_t)last;
	}
	return n;
}

/* Admit all entries to one queue together. @return false: each needs its own decision. */
static inline bool
admit_crossed_queue(struct sw *sw, const struct sw_crossed_queue *c, uint64_t now_ns)
{
	uint16_t port = c->place / TM_CLASSES;
	uint8_t queue = c->place % TM_CLASSES;
	const struct sw_port *p = &sw->ports[port];
	uint8_t flags = ANY_FRAME | (c->all_ect ? PKT_ECT | PKT_CE : 0);

	if (unlikely(sw->mark_at_enqueue || p->closed_queues >> queue & 1 ||
		     !(flags & pass_wred(p, queue))))
		return false;
	return admit_to_queue(sw, port, queue, c->bytes, now_ns);
}

/* Entries of different queues may overtake each other, those of one queue do not. */
static uint32_t
admit_crossed(struct sw *sw, const struct sw_ring *r, uint32_t first, uint32_t most,
	      uint64_t now_ns)
{
	struct sw_crossed *b = &sw->crossed;
	uint32_t n = sort_crossed(b, r, first, most);
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < b->n_queues; i++) {
		b->queue[i].admitted = admit_crossed_queue(sw, &b->queue[i], now_ns);
		bytes += b->queue[i].bytes;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_entry *e = sw_ring_at(r, first + i);
		const struct sw_crossed_queue *c = &b->queue[b->queue_of[i]];
		struct sw_queue *q = &sw->ports[c->place / TM_CLASSES].queue[c->place % TM_CLASSES];

		if (likely(c->admitted))
			sw_fifo_push(&q->fifo, &sw->shard.chunks, *e);
		else
			admit_crossed_one(sw, *e, now_ns);
	}
	counter_add(&sw->shard.crossed_in_bytes, bytes);
	return n;
}

void
sw_admit_crossed(struct sw *sw, const struct sw_ring *r, uint32_t n, uint64_t now_ns)
{
	uint32_t done = 0;

	while (done < n) {
		struct sw_entry e;
		uint64_t bytes;

		done += admit_crossed(sw, r, done, RTE_MIN(n - done, SW_CROSSED_BURST), now_ns);
		if (done == n)
			break;
		e = *sw_ring_at(r, done);
		if (!(sw_entry_flags(&e) & PKT_LABELLED))
			continue;
		bytes = crossed_bytes(sw, e);
		admit_crossed_one(sw, e, now_ns);
		counter_add(&sw->shard.crossed_in_bytes, bytes);
		done++;
	}
}
