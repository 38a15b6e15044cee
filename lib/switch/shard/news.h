/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a neighbour of the router has said to one shard, for the others. A full ring takes no more:
 * what it does not take the others find out by asking.
 */
#ifndef QUENCH_SWITCH_SHARD_NEWS_H
#define QUENCH_SWITCH_SHARD_NEWS_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_ring.h>

#include "fwd/neigh.h"
#include "switch/shard/shard.h"

struct sw_neigh_news {
	struct neigh_key key;
	uint8_t mac[6];
	uint8_t kind; /* enum news_kind */
	bool counted; /* by the shard that heard it */
};

struct rte_ring *sw_news_ring_create(void);
/** NULL is allowed. */
void sw_news_ring_free(struct rte_ring *r);

/** Tell the other shards. @return how many had no room for it. */
uint16_t sw_news_tell(const struct sw_shard *shard, const struct sw_neigh_news *news);

/** Take the next that one of the others has told. @return false: there is none. */
bool sw_news_take(const struct sw_shard *shard, uint16_t from, struct sw_neigh_news *news);

/* Inline definitions */

/** Has this one told something that was not taken? */
static inline bool
sw_news_waits(const struct sw_shard *shard, uint16_t from)
{
	const struct sw_shards *s = shard->shards;

	return !rte_ring_empty(s->told[from * s->n + shard->index]);
}

#endif
