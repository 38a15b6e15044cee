/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour addresses that one shard has learned, for the routers of the others. Sending them is an
 * optimisation: if a ring is full, the update is lost, and the other shard asks the neighbour
 * itself.
 *
 * Invariant: each ring has one producer, the shard that learns, and one consumer.
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
	bool counted; /* the shard that learned the address has counted it */
};

struct rte_ring *sw_news_ring_create(void);
/** NULL is allowed. */
void sw_news_ring_free(struct rte_ring *r);

/** Send an update to the other shards. @return the number of rings that were full. */
uint16_t sw_news_send(const struct sw_shard *shard, const struct sw_neigh_news *news);

/** Take the next update from another shard. @return false: there is none. */
bool sw_news_take(const struct sw_shard *shard, uint16_t from, struct sw_neigh_news *news);

/* Inline definitions */

/** Is an update from another shard waiting? */
static inline bool
sw_news_waits(const struct sw_shard *shard, uint16_t from)
{
	const struct sw_shards *s = shard->shards;
	const struct rte_ring *r = s->news[from * s->n + shard->index];

	/* rte_ring_empty() reads the producer's index as if nobody wrote it. */
	return __atomic_load_n(&r->prod.tail, __ATOMIC_RELAXED) != r->cons.tail;
}

#endif
