/* SPDX-License-Identifier: BSD-3-Clause */
/* Between shards: frames on their way to another's port, and charges on their way back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "base/pages.h"
#include "switch/sw_router.h"
#include "switch/sw_shard.h"

/* Bursts that are taken from one ring in one call. */
#define TAKE_BURSTS 4
/* News of neighbours that wait for a shard. */
#define NEWS 64

/* In whole words, as rings have them. */
struct news {
	struct sw_neigh_news news;
} __attribute__((aligned(4)));

/* Rings lie in pages that are touched as they are used: most never are. */
static struct rte_ring *
create_ring(unsigned int count, size_t bytes)
{
	struct rte_ring *r = pages_alloc(bytes);

	if (r != NULL && rte_ring_init(r, "cross", count, RING_F_SP_ENQ | RING_F_SC_DEQ) == 0)
		return r;
	pages_free(r, bytes);
	return NULL;
}

int
sw_cross_init(struct sw_shards *s, uint32_t mbufs)
{
	/* One slot of a ring stays empty. */
	unsigned int count = rte_align32pow2(mbufs + 1), n = s->n;

	s->ring_bytes = (size_t)rte_ring_get_memsize(count);
	s->told_bytes = (size_t)rte_ring_get_memsize_elem(sizeof(struct news), NEWS);
	s->crossings = calloc((size_t)n * n, sizeof(*s->crossings));
	s->rings = calloc((size_t)n * n, sizeof(struct rte_ring *));
	s->told = calloc((size_t)n * n, sizeof(struct rte_ring *));
	if (s->crossings == NULL || s->rings == NULL || s->told == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n * n; i++) {
		if (i / n == i % n)
			continue;
		s->rings[i] = create_ring(count, s->ring_bytes);
		s->told[i] = create_ring(NEWS, s->told_bytes);
		if (s->rings[i] == NULL || s->told[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
sw_cross_free(struct sw_shards *s)
{
	for (unsigned int i = 0; i < (unsigned int)s->n * s->n; i++) {
		if (s->rings != NULL)
			pages_free(s->rings[i], s->ring_bytes);
		if (s->told != NULL)
			pages_free(s->told[i], s->told_bytes);
	}
	free(s->crossings);
	free(s->rings);
	free(s->told);
}

static struct rte_ring *
ring_between(struct rte_ring *const *rings, const struct sw_shards *s, uint16_t from, uint16_t to)
{
	return rings[from * s->n + to];
}

/* One operation on a ring for all that crosses to one shard. */
static void
hand_over(struct sw *sw, uint16_t to)
{
	struct sw_shards *s = sw->shards;
	struct sw_crossing *c = &s->crossings[sw->index * s->n + to];
	unsigned int n = rte_ring_sp_enqueue_bulk(ring_between(s->rings, s, sw->index, to), c->m,
						  c->n, NULL);

	/* There is room for all mbufs that can have been received. */
	assert(n == c->n);
	RTE_SET_USED(n);
	c->n = 0;
}

void
sw_cross_flush(struct sw *sw)
{
	for (; sw->crossing_to != 0; sw->crossing_to &= sw->crossing_to - 1) {
		uint16_t to = (uint16_t)__builtin_ctzll(sw->crossing_to);

		if (sw->shards->crossings[sw->index * sw->shards->n + to].n > 0)
			hand_over(sw, to);
	}
}

static void
put(struct sw *sw, struct rte_mbuf *m, uint16_t to)
{
	struct sw_crossing *c = &sw->shards->crossings[sw->index * sw->shards->n + to];

	c->m[c->n++] = m;
	sw->crossing_to |= 1ull << to;
	if (c->n == SW_BURST)
		hand_over(sw, to);
}

static void
label(const struct arrival *a)
{
	struct pkt_meta *meta = pkt_meta(a->m);

	meta->out_port = a->out_port;
	meta->domain = a->domain;
	meta->tci_bits = a->tci_bits;
}

void
sw_cross(struct sw *sw, const struct arrival *a)
{
	struct pkt_meta *meta = pkt_meta(a->m);

	meta->charged_bytes = a->charged_bytes;
	meta->in_port = a->in_port;
	meta->l3_off = ETH_HDR_BYTES + (a->view.tagged ? VLAN_TAG_BYTES : 0);
	meta->pg = a->class.pg;
	meta->queue = a->class.queue;
	meta->ip_version = a->view.ip_version;
	meta->flags = a->flags;
	label(a);
	counter_add(&sw->crossed_out_bytes, a->charged_bytes);
	put(sw, a->m, sw->shards->of_port[a->out_port]);
}

/* Each has a reference of its own before any makes copies: a count that is known to be one is not
 * changed atomically. */
void
sw_cross_flood(struct sw *sw, const struct arrival *a, uint64_t ports)
{
	struct sw_shards *s = sw->shards;
	uint64_t shards = 0, others = ports & ~sw->own_ports;

	for (uint64_t p = others; p != 0; p &= p - 1)
		shards |= 1ull << s->of_port[__builtin_ctzll(p)];
	label(a);
	pkt_meta(a->m)->flood_ports = ports;
	pkt_meta(a->m)->copies += (uint32_t)__builtin_popcountll(shards);
	rte_mbuf_refcnt_update(a->m, (int16_t)__builtin_popcountll(shards));
	counter_add(&sw->crossed_out_bytes,
		    (uint64_t)__builtin_popcountll(others) * a->charged_bytes);
	for (; shards != 0; shards &= shards - 1)
		put(sw, a->m, (uint16_t)__builtin_ctzll(shards));
}

/* What the stages of the way out want to know of a frame. */
static void
unpack(struct sw *sw, struct arrival *a, struct rte_mbuf *m, uint64_t now_ns)
{
	const struct pkt_meta *meta = pkt_meta(m);
	uint64_t copies = 1;

	a->m = m;
	a->now_ns = now_ns;
	a->charged_bytes = meta->charged_bytes;
	a->in_port = meta->in_port;
	a->out_port = meta->out_port;
	a->domain = meta->domain;
	a->tci_bits = meta->tci_bits;
	a->flags = meta->flags;
	a->class.pg = meta->pg;
	a->class.queue = meta->queue;
	a->view.ip_version = meta->ip_version;
	a->view.tagged = meta->l3_off != ETH_HDR_BYTES;
	if (unlikely(a->out_port == FLOOD))
		copies = (uint64_t)__builtin_popcountll(meta->flood_ports & sw->own_ports);
	counter_add(&sw->crossed_in_bytes, copies * a->charged_bytes);
}

static void
take_frames(struct sw *sw, struct rte_mbuf **pkts, unsigned int n, uint64_t now_ns)
{
	struct arrival arrivals[SW_BURST];

	for (unsigned int i = 0; i < n; i++)
		rte_prefetch0(pkt_meta(pkts[i]));
	for (unsigned int i = 0; i < n; i++)
		unpack(sw, &arrivals[i], pkts[i], now_ns);
	sw_admit_crossed(sw, arrivals, n);
}

static void
take_from(struct sw *sw, uint16_t from, uint64_t now_ns)
{
	struct sw_shards *s = sw->shards;
	struct rte_ring *ring = ring_between(s->rings, s, from, sw->index);
	struct rte_ring *told = ring_between(s->told, s, from, sw->index);
	unsigned int n = SW_BURST;
	void *pkts[SW_BURST];
	struct news news;

	for (unsigned int i = 0; i < TAKE_BURSTS && n == SW_BURST; i++) {
		n = rte_ring_sc_dequeue_burst(ring, pkts, SW_BURST, NULL);
		if (n > 0)
			take_frames(sw, (struct rte_mbuf **)pkts, n, now_ns);
	}
	while (unlikely(rte_ring_sc_dequeue_elem(told, &news, sizeof(news)) == 0))
		sw_neigh_told(sw, &news.news, now_ns);
}

/*
 * The addition comes before the question whether the owner knows, and the owner takes the mask
 * before it takes the bytes: in the one order that all agree on, bytes that come after it looked
 * find their port's bit clear, and set it.
 */
void
sw_give_back(struct sw *sw, uint16_t port, uint8_t pg, uint32_t charged_bytes)
{
	struct sw_shards *s = sw->shards;
	uint64_t *ports = &s->inbox[s->of_port[port]].returned_ports;

	__atomic_fetch_add(&s->returned[port].pg_bytes[pg], charged_bytes, __ATOMIC_SEQ_CST);
	if (!(__atomic_load_n(ports, __ATOMIC_SEQ_CST) >> port & 1))
		__atomic_fetch_or(ports, 1ull << port, __ATOMIC_SEQ_CST);
}

static void
collect(struct sw *sw, uint64_t now_ns)
{
	struct sw_shards *s = sw->shards;
	uint64_t ports =
		__atomic_exchange_n(&s->inbox[sw->index].returned_ports, 0, __ATOMIC_SEQ_CST);

	for (; ports != 0; ports &= ports - 1) {
		uint16_t port = (uint16_t)__builtin_ctzll(ports);

		for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
			uint64_t *returned = &s->returned[port].pg_bytes[pg], bytes;

			if (__atomic_load_n(returned, __ATOMIC_SEQ_CST) == 0)
				continue;
			bytes = __atomic_exchange_n(returned, 0, __ATOMIC_SEQ_CST);
			/* No more than the buffer: a group's share of it fits. */
			for (; bytes > UINT32_MAX; bytes -= UINT32_MAX)
				mmu_ingress_release(sw->mmu, port, pg, UINT32_MAX);
			sw_ingress_release(sw, port, pg, (uint32_t)bytes, now_ns);
		}
	}
}

bool
sw_cross_waits(const struct sw *sw)
{
	const struct sw_shards *s = sw->shards;

	if (__atomic_load_n(&s->inbox[sw->index].returned_ports, __ATOMIC_RELAXED) != 0)
		return true;
	for (uint16_t from = 0; from < s->n; from++) {
		if (from != sw->index &&
		    (!rte_ring_empty(ring_between(s->rings, s, from, sw->index)) ||
		     !rte_ring_empty(ring_between(s->told, s, from, sw->index))))
			return true;
	}
	return false;
}

void
sw_cross_take(struct sw *sw, uint64_t now_ns)
{
	const struct sw_shards *s = sw->shards;

	if (__atomic_load_n(&s->inbox[sw->index].returned_ports, __ATOMIC_RELAXED) != 0)
		collect(sw, now_ns);
	for (uint16_t from = 0; from < s->n; from++) {
		if (from != sw->index)
			take_from(sw, from, now_ns);
	}
}

void
sw_cross_tell(struct sw *sw, const struct sw_neigh_news *news)
{
	struct sw_shards *s = sw->shards;
	struct news n = {*news};

	for (uint16_t to = 0; s != NULL && to < s->n; to++) {
		if (to != sw->index &&
		    rte_ring_sp_enqueue_elem(ring_between(s->told, s, sw->index, to), &n,
					     sizeof(n)) != 0)
			counter_inc(&sw->router->stats.neigh_not_told);
	}
}
