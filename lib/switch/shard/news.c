/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/shard/news.h"

#include <rte_ring_elem.h>

#include "base/threads/pages.h"

/* Entries of a ring. */
#define NEWS 64

/* Rings store whole 32-bit words. */
struct news {
	struct sw_neigh_news news;
} __attribute__((aligned(4)));

static size_t
ring_bytes(void)
{
	return (size_t)rte_ring_get_memsize_elem(sizeof(struct news), NEWS);
}

struct rte_ring *
sw_news_ring_create(void)
{
	struct rte_ring *r = pages_alloc(ring_bytes());

	if (r != NULL && rte_ring_init(r, "news", NEWS, RING_F_SP_ENQ | RING_F_SC_DEQ) == 0)
		return r;
	pages_free(r, ring_bytes());
	return NULL;
}

void
sw_news_ring_free(struct rte_ring *r)
{
	pages_free(r, ring_bytes());
}

static struct rte_ring *
between(const struct sw_shards *s, uint16_t from, uint16_t to)
{
	return s->news[from * s->n + to];
}

uint16_t
sw_news_send(const struct sw_shard *shard, const struct sw_neigh_news *news)
{
	const struct sw_shards *s = shard->shards;
	struct news n = {*news};
	uint16_t full = 0;

	for (uint16_t to = 0; s != NULL && to < s->n; to++) {
		if (to != shard->index &&
		    rte_ring_sp_enqueue_elem(between(s, shard->index, to), &n, sizeof(n)) != 0)
			full++;
	}
	return full;
}

bool
sw_news_take(const struct sw_shard *shard, uint16_t from, struct sw_neigh_news *news)
{
	struct news n;

	if (rte_ring_sc_dequeue_elem(between(shard->shards, from, shard->index), &n, sizeof(n)) !=
	    0)
		return false;
	*news = n.news;
	return true;
}
