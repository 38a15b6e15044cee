/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiving from other shards: frames, returned charges, and neighbours' addresses.
 *
 * Invariant: crossed_out_bytes - crossed_in_bytes, over all shards, is the number of charged bytes
 * on their way between shards.
 */
#include "switch/ingress/ingress.h"

#include <rte_mbuf.h>

#include "switch/egress/sw_release.h"
#include "switch/forward/neighbours.h"
#include "switch/ingress/admit.h"
#include "switch/shard/crossing.h"
#include "tm/buffer/mmu_part.h"

/*
 * One call takes at most a burst for each port, so that many crossing frames do not delay the
 * ports. A shard of few ports takes more than its ports can send, because WRED counts only frames
 * that have been taken from the ring.
 */
#define LEAST_BURSTS 4u

/* Decide on a single crossed frame. */
static void
admit_crossed_one(struct sw *sw, struct sw_entry e, uint64_t now_ns)
{
	struct rte_mbuf *m = sw_entry_mbuf(&e);
	struct arrival a = {
		.m = m,
		.now_ns = now_ns,
		.charged_bytes = sw_entry_charged_bytes(&e),
		.frame_bytes = sw_entry_frame_bytes(&e),
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
	a.class.tc = a.class.queue; /* of a flooded frame */
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
		b->queue[last].any_ce |= (sw_entry_flags(e) & PKT_CE) != 0;
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

	if (unlikely(sw->mark_at_enqueue || sw->ports[port].decides[!c->all_ect] >> queue & 1))
		return false;
	if (!mmu_egress_fits(sw->mmu, port, queue, c->bytes))
		return false;
	mmu_egress_charge(sw->mmu, port, queue, c->bytes);
	sw_age_average(&sw->ports[port], &sw->ports[port].queue[queue], now_ns);
	sw_count_queued(sw, port, queue, c->bytes);
	return true;
}

/* Count the CE marks of a sorted burst, in queues whose entries are admitted together. */
static void
count_crossed_ce(struct sw *sw, const struct sw_crossed *b, const struct sw_ring *r, uint32_t first,
		 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct sw_crossed_queue *c = &b->queue[b->queue_of[i]];
		struct sw_port *p = &sw->ports[c->place / TM_CLASSES];
		const struct sw_entry *e = sw_ring_at(r, first + i);

		if (c->admitted && sw_entry_flags(e) & PKT_CE)
			sw_count_ce(&p->stats.queue[c->place % TM_CLASSES], sw_entry_mbuf(e));
	}
}

/* Entries of different queues may overtake each other, those of one queue do not. */
static uint32_t
admit_crossed(struct sw *sw, const struct sw_ring *r, uint32_t first, uint32_t most,
	      uint64_t now_ns)
{
	struct sw_crossed *b = &sw->crossed;
	uint32_t n = sort_crossed(b, r, first, most);
	uint64_t bytes = 0;
	bool any_ce = false;

	for (unsigned int i = 0; i < b->n_queues; i++) {
		b->queue[i].admitted = admit_crossed_queue(sw, &b->queue[i], now_ns);
		bytes += b->queue[i].bytes;
		any_ce |= b->queue[i].any_ce;
	}
	if (unlikely(any_ce))
		count_crossed_ce(sw, b, r, first, n);
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

static void
admit_all(struct sw *sw, const struct sw_ring *r, uint32_t n, uint64_t now_ns)
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

/* The order of the source shards changes with each call, so that none is always served last. */
void
sw_crossed_take(struct sw *sw, uint64_t now_ns)
{
	const struct sw_shards *s = sw->shard.shards;
	uint16_t from = sw->shard.take_from;
	uint32_t left = SW_BURST *
			RTE_MAX(LEAST_BURSTS, (uint32_t)__builtin_popcountll(sw->shard.own_ports));

	for (uint16_t i = 0; i < s->n; i++, from = from + 1 < s->n ? from + 1 : 0) {
		struct sw_ring *r;
		uint32_t n;

		if (from == sw->shard.index)
			continue;
		r = sw_crossing_ring(s, from, sw->shard.index);
		n = RTE_MIN(sw_ring_waiting(r), left);
		if (n == 0)
			continue;
		sw_ring_prefetch(r, n);
		admit_all(sw, r, n, now_ns);
		sw_ring_advance(r, n);
		left -= n;
	}
	sw->shard.take_from = sw->shard.take_from + 1 < s->n ? sw->shard.take_from + 1 : 0;
	if (sw->forward.router != NULL)
		sw_neigh_take_news(sw->forward.router, now_ns);
}

static void
collect_from(struct sw *sw, uint16_t from, uint16_t port, uint64_t now_ns)
{
	const struct sw_given *given = sw_given_by(sw->shard.shards, from, port);
	struct sw_given *taken = sw_taken_by(sw->shard.shards, from, port);

	for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
		uint64_t charge = sw_given_take(given, taken, pg);

		if (unlikely(charge != 0))
			sw_ingress_release(sw, port, pg, charge, now_ns);
	}
}

void
sw_crossed_collect(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	const struct sw_shards *s = sw->shard.shards;
	uint16_t self = sw->shard.index;
	uint32_t returns;

	for (uint16_t from = 0; from < s->n; from++) {
		if (from == self || !sw_returns_changed(s, from, self, port, &returns))
			continue;
		sw_taken_by(s, from, port)->returns = returns;
		collect_from(sw, from, port, now_ns);
	}
}

void
sw_crossed_settle(struct sw *front, uint64_t now_ns)
{
	bool waits = true;

	while (waits) {
		waits = false;
		for (uint16_t port = 0; port < front->n_ports; port++) {
			struct sw *sw = sw_owner(front, port);

			if (!sw_crossing_waits(&sw->shard, port))
				continue;
			waits = true;
			mmu_part_refresh(sw->mmu, sw->shard.index);
			sw_crossed_collect(sw, port, now_ns);
			sw_crossed_take(sw, now_ns);
			sw_crossing_flush(&sw->shard);
			sw_give_back_debts(&sw->shard);
			mmu_part_publish(sw->mmu, sw->shard.index);
		}
	}
}
