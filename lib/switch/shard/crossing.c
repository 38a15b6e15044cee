/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/shard/crossing.h"

#include <rte_prefetch.h>

#include "node/pkt_meta.h"
#include "switch/shard/give_back.h"
#include "switch/shard/news.h"

static struct sw_ring *
between(const struct sw_shards *s, uint16_t from, uint16_t to)
{
	return s->rings[from * s->n + to];
}

void
sw_crossing_hand_over(struct sw_shard *shard, uint16_t to)
{
	struct sw_shards *s = shard->shards;
	struct sw_crossing *c = &s->crossings[shard->index * s->n + to];

	/* Never full: the ring has room for every mbuf, and each is in it at most once. */
	sw_ring_put(between(s, shard->index, to), c->m, c->n);
	c->n = 0;
}

void
sw_crossing_flush(struct sw_shard *shard)
{
	for (; shard->crossing_to != 0; shard->crossing_to &= shard->crossing_to - 1) {
		uint16_t to = (uint16_t)__builtin_ctzll(shard->crossing_to);

		if (shard->shards->crossings[shard->index * shard->shards->n + to].n > 0)
			sw_crossing_hand_over(shard, to);
	}
}

void
sw_crossing_fetch(struct sw_shard *shard)
{
	const struct sw_shards *s = shard->shards;
	struct sw_fetched *f = sw_crossing_fetched(shard);
	uint32_t first = f->n;

	for (uint16_t i = 0; f->n < SW_BURST && i < s->n; i++) {
		if (f->from != shard->index)
			f->n += sw_ring_take(between(s, f->from, shard->index), &f->m[f->n],
					     SW_BURST - f->n);
		if (f->n < SW_BURST)
			f->from = f->from + 1 < s->n ? f->from + 1 : 0;
	}
	for (uint32_t i = first; i < f->n; i++) {
		rte_prefetch0(pkt_meta(f->m[i]));
		rte_prefetch0(f->m[i]);
	}
}

bool
sw_crossing_burst_waits(const struct sw_shard *shard)
{
	const struct sw_shards *s = shard->shards;
	uint32_t n = 0;

	for (uint16_t from = 0; from < s->n; from++) {
		if (from != shard->index)
			n += sw_ring_waiting(between(s, from, shard->index));
	}
	return n >= SW_BURST;
}

bool
sw_crossing_waits(const struct sw_shard *shard, uint16_t port)
{
	const struct sw_shards *s = shard->shards;

	/* Frames fetched or collected are not in the rings. */
	if (sw_crossing_fetched(shard)->n > 0 || shard->crossing_to != 0 || shard->owing != 0)
		return true;
	for (uint16_t from = 0; from < s->n; from++) {
		if (from != shard->index && (sw_is_given(s, from, port) ||
					     sw_ring_waiting(between(s, from, shard->index)) > 0 ||
					     sw_news_waits(shard, from)))
			return true;
	}
	return false;
}

void
sw_crossing_prefetch(const struct sw_shard *shard, uint16_t port)
{
	const struct sw_shards *s = shard->shards;

	for (uint16_t from = 0; from < s->n; from++) {
		if (from == shard->index)
			continue;
		rte_prefetch0(sw_given_by(s, from, port));
		rte_prefetch0(&between(s, from, shard->index)->tail);
	}
}
