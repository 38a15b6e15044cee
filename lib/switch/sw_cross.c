/* SPDX-License-Identifier: BSD-3-Clause */
/* Between shards: frames on their way to another's port, and charges on their way back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <rte_malloc.h>
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
static struct sw_ring *
create_ring(uint32_t count, size_t bytes)
{
	struct sw_ring *r = pages_alloc(bytes);

	if (r != NULL)
		r->mask = r->put_mask = count - 1;
	return r;
}

static struct rte_ring *
create_told(size_t bytes)
{
	struct rte_ring *r = pages_alloc(bytes);

	if (r != NULL && rte_ring_init(r, "told", NEWS, RING_F_SP_ENQ | RING_F_SC_DEQ) == 0)
		return r;
	pages_free(r, bytes);
	return NULL;
}

static void
ring_put(struct sw_ring *r, void *const m[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		r->slot[(r->filled + i) & r->put_mask] = m[i];
	r->filled += n;
	__atomic_store_n(&r->tail, r->filled, __ATOMIC_RELEASE);
}

static uint32_t
ring_waiting(const struct sw_ring *r)
{
	return __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) - r->head;
}

static uint32_t
ring_take(struct sw_ring *r, void *m[], uint32_t most)
{
	uint32_t n = RTE_MIN(ring_waiting(r), most);

	for (uint32_t i = 0; i < n; i++)
		m[i] = r->slot[(r->head + i) & r->mask];
	r->head += n;
	return n;
}

int
sw_cross_init(struct sw_shards *s, uint32_t mbufs)
{
	uint32_t count = rte_align32pow2(mbufs), n = s->n;
	size_t lines = (size_t)n * s->n_ports;

	s->ring_bytes = sizeof(struct sw_ring) + count * sizeof(void *);
	s->told_bytes = (size_t)rte_ring_get_memsize_elem(sizeof(struct news), NEWS);
	s->crossings =
		rte_zmalloc("sw", (size_t)n * n * sizeof(*s->crossings), RTE_CACHE_LINE_SIZE);
	s->rings = calloc((size_t)n * n, sizeof(struct sw_ring *));
	s->given = rte_zmalloc("sw", lines * sizeof(*s->given), RTE_CACHE_LINE_SIZE);
	s->taken = rte_zmalloc("sw", lines * sizeof(*s->taken), RTE_CACHE_LINE_SIZE);
	s->told = calloc((size_t)n * n, sizeof(struct rte_ring *));
	s->owed = rte_zmalloc("sw", lines * sizeof(*s->owed), RTE_CACHE_LINE_SIZE);
	if (s->crossings == NULL || s->rings == NULL || s->told == NULL || s->given == NULL ||
	    s->taken == NULL || s->owed == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n * n; i++) {
		if (i / n == i % n)
			continue;
		s->rings[i] = create_ring(count, s->ring_bytes);
		s->told[i] = create_told(s->told_bytes);
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
	rte_free(s->crossings);
	free(s->rings);
	free(s->told);
	rte_free(s->given);
	rte_free(s->taken);
	rte_free(s->owed);
}

static struct sw_ring *
ring_between(const struct sw_shards *s, uint16_t from, uint16_t to)
{
	return s->rings[from * s->n + to];
}

static struct rte_ring *
told_between(const struct sw_shards *s, uint16_t from, uint16_t to)
{
	return s->told[from * s->n + to];
}

/* One operation on a ring for all that crosses to one shard. */
static void
hand_over(struct sw *sw, uint16_t to)
{
	struct sw_shards *s = sw->shards;
	struct sw_crossing *c = &s->crossings[sw->index * s->n + to];

	/* There is room for all mbufs that can have been received, and each is in it once. */
	ring_put(ring_between(s, sw->index, to), c->m, c->n);
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
label(const struct arrival *a, uint64_t form_ports)
{
	struct pkt_meta *meta = pkt_meta(a->m);

	meta->out_port = a->out_port;
	meta->domain = a->domain;
	meta->tci_bits = a->tci_bits;
	meta->form_ports = form_ports;
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
	label(a, (uint64_t)sw_changes_form(sw, a, a->out_port) << a->out_port);
	counter_add(&sw->crossed_out_bytes, a->charged_bytes);
	put(sw, a->m, sw->shards->of_port[a->out_port]);
}

/* Each has a reference of its own before any makes copies: a count that is known to be one is not
 * changed atomically. */
void
sw_cross_flood(struct sw *sw, const struct arrival *a, uint64_t ports, uint64_t form_ports)
{
	struct sw_shards *s = sw->shards;
	uint64_t shards = 0, others = ports & ~sw->own_ports;

	for (uint64_t p = others; p != 0; p &= p - 1)
		shards |= 1ull << s->of_port[__builtin_ctzll(p)];
	label(a, form_ports);
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
	a->form_ports = meta->form_ports;
	a->flags = meta->flags;
	a->class.pg = meta->pg;
	a->class.queue = meta->queue;
	a->view.ip_version = meta->ip_version;
	a->view.tagged = meta->l3_off != ETH_HDR_BYTES;
	if (unlikely(a->out_port == FLOOD))
		copies = (uint64_t)__builtin_popcountll(meta->flood_ports & sw->own_ports);
	counter_add(&sw->crossed_in_bytes, copies * a->charged_bytes);
}

/* Bursts are taken up to a bound: frames that keep coming must not keep the ports waiting. */
static struct sw_fetched *
fetched_by(const struct sw *sw)
{
	return &sw->shards->fetched[sw->index];
}

void
sw_cross_fetch(struct sw *sw)
{
	const struct sw_shards *s = sw->shards;
	struct sw_fetched *f = fetched_by(sw);
	uint32_t first = f->n;

	for (uint16_t i = 0; f->n < SW_BURST && i < s->n; i++) {
		if (f->from != sw->index)
			f->n += ring_take(ring_between(s, f->from, sw->index), &f->m[f->n],
					  SW_BURST - f->n);
		if (f->n < SW_BURST)
			f->from = f->from + 1 < s->n ? f->from + 1 : 0;
	}
	for (uint32_t i = first; i < f->n; i++) {
		rte_prefetch0(pkt_meta(f->m[i]));
		rte_prefetch0(f->m[i]);
	}
}

static void
take_fetched(struct sw *sw, uint64_t now_ns)
{
	struct sw_fetched *f = fetched_by(sw);
	struct arrival arrivals[SW_BURST];

	if (f->n == 0)
		return;
	for (uint32_t i = 0; i < f->n; i++)
		unpack(sw, &arrivals[i], f->m[i], now_ns);
	sw_admit_crossed(sw, arrivals, f->n);
	f->n = 0;
}

static void
hear_news(struct sw *sw, uint64_t now_ns)
{
	const struct sw_shards *s = sw->shards;
	struct news news;

	for (uint16_t from = 0; sw->router != NULL && from < s->n; from++) {
		if (from == sw->index)
			continue;
		while (rte_ring_sc_dequeue_elem(told_between(s, from, sw->index), &news,
						sizeof(news)) == 0)
			sw_neigh_told(sw, &news.news, now_ns);
	}
}

static bool
burst_waits(const struct sw *sw)
{
	const struct sw_shards *s = sw->shards;
	uint32_t n = 0;

	for (uint16_t from = 0; from < s->n; from++) {
		if (from != sw->index)
			n += ring_waiting(ring_between(s, from, sw->index));
	}
	return n >= SW_BURST;
}

void
sw_cross_take(struct sw *sw, uint64_t now_ns)
{
	take_fetched(sw, now_ns);
	/* So many that those which follow are worth it, unfetched. */
	for (unsigned int i = 1; i < TAKE_BURSTS && burst_waits(sw); i++) {
		sw_cross_fetch(sw);
		take_fetched(sw, now_ns);
	}
	hear_news(sw, now_ns);
}

static struct sw_given *
given_by(const struct sw_shards *s, uint16_t from, uint16_t port)
{
	return &s->given[from * s->n_ports + port];
}

void
sw_give_back(struct sw *sw, uint16_t port, uint8_t pg, uint64_t charge)
{
	uint64_t *owed = &sw->shards->owed[sw->index * sw->n_ports + port].pg_charge[pg];

	*owed += charge;
	sw->owing |= 1ull << port;
	if (sw_charge_bytes(*owed) < SW_OWED_BYTES)
		return;
	counter_add(&given_by(sw->shards, sw->index, port)->pg_charge[pg], *owed);
	*owed = 0;
}

void
sw_cross_settle_debts(struct sw *sw)
{
	for (; sw->owing != 0; sw->owing &= sw->owing - 1) {
		uint16_t port = (uint16_t)__builtin_ctzll(sw->owing);
		struct sw_given *owed = &sw->shards->owed[sw->index * sw->n_ports + port];
		struct sw_given *given = given_by(sw->shards, sw->index, port);

		for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
			if (owed->pg_charge[pg] > 0)
				counter_add(&given->pg_charge[pg], owed->pg_charge[pg]);
			owed->pg_charge[pg] = 0;
		}
	}
}

static void
collect_from(struct sw *sw, uint16_t from, uint16_t port, uint64_t now_ns)
{
	struct sw_shards *s = sw->shards;
	const struct sw_given *given = given_by(s, from, port);
	struct sw_given *taken = &s->taken[from * s->n_ports + port];

	for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
		uint64_t sum = counter_read(&given->pg_charge[pg]);
		uint64_t charge = sum - taken->pg_charge[pg];

		if (likely(charge == 0))
			continue;
		taken->pg_charge[pg] = sum;
		sw_ingress_release(sw, port, pg, charge, now_ns);
	}
}

void
sw_cross_collect(struct sw *sw, uint16_t port, uint64_t now_ns)
{
	for (uint16_t from = 0; from < sw->shards->n; from++) {
		if (from != sw->index)
			collect_from(sw, from, port, now_ns);
	}
}

static bool
is_given(const struct sw_shards *s, uint16_t from, uint16_t port)
{
	const struct sw_given *given = given_by(s, from, port);
	const struct sw_given *taken = &s->taken[from * s->n_ports + port];

	for (unsigned int pg = 0; pg < TM_CLASSES; pg++) {
		if (counter_read(&given->pg_charge[pg]) != taken->pg_charge[pg])
			return true;
	}
	return false;
}

bool
sw_cross_waits(const struct sw *sw, uint16_t port)
{
	const struct sw_shards *s = sw->shards;

	/* What this shard has in hand has left the rings. */
	if (fetched_by(sw)->n > 0 || sw->crossing_to != 0 || sw->owing != 0)
		return true;
	for (uint16_t from = 0; from < s->n; from++) {
		if (from != sw->index && (is_given(s, from, port) ||
					  ring_waiting(ring_between(s, from, sw->index)) > 0 ||
					  !rte_ring_empty(told_between(s, from, sw->index))))
			return true;
	}
	return false;
}

void
sw_cross_prefetch(const struct sw *sw, uint16_t port)
{
	const struct sw_shards *s = sw->shards;

	for (uint16_t from = 0; from < s->n; from++) {
		if (from == sw->index)
			continue;
		rte_prefetch0(given_by(s, from, port));
		rte_prefetch0(&ring_between(s, from, sw->index)->tail);
	}
}

void
sw_cross_tell(struct sw *sw, const struct sw_neigh_news *news)
{
	struct sw_shards *s = sw->shards;
	struct news n = {*news};

	for (uint16_t to = 0; s != NULL && to < s->n; to++) {
		if (to != sw->index &&
		    rte_ring_sp_enqueue_elem(told_between(s, sw->index, to), &n, sizeof(n)) != 0)
			counter_inc(&sw->router->stats.neigh_not_told);
	}
}
