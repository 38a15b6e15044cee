/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Passes entries from one shard to another: puts them into a ring and publishes them in bursts.
 *
 * Invariant: crossing_to has a bit for each shard with entries that it cannot see yet.
 */
#ifndef QUENCH_SWITCH_SHARD_CROSSING_H
#define QUENCH_SWITCH_SHARD_CROSSING_H

#include "switch/shard/shard.h"

/** Publish all entries that the rings have room for. */
void sw_crossing_flush(struct sw_shard *shard);

/**
 * Does an entry, a neighbour's address, or a charge returned to this port wait for the shard? Or
 * does the shard have entries or debts to publish?
 */
bool sw_crossing_waits(const struct sw_shard *shard, uint16_t port);

/*
 * Lines that another shard has written take long to arrive, so each is prefetched one call of the
 * driver before it is read: the indices of the rings before the entries, and these before they are
 * taken.
 */
void sw_crossing_prefetch_indices(const struct sw_shard *shard);
void sw_crossing_prefetch_entries(const struct sw_shard *shard);
/** Prefetch the sums that the port's next sw_crossed_collect() reads. */
void sw_crossing_prefetch_given(const struct sw_shard *shard, uint16_t port);

/* Inline definitions */

/** The ring from one shard to another one. */
static inline struct sw_ring *
sw_crossing_ring(const struct sw_shards *s, uint16_t from, uint16_t to)
{
	return s->rings[from * s->n + to];
}

/** Pass an entry and its frame to another shard. */
static inline void
sw_crossing_put(struct sw_shard *shard, struct sw_entry e, uint16_t to)
{
	struct sw_ring *r = sw_crossing_ring(shard->shards, shard->index, to);

	sw_ring_put(r, &shard->chunks, e);
	shard->crossing_to |= 1ull << to;
	if (sw_ring_unpublished(r) >= SW_BURST)
		(void)sw_ring_publish(r, &shard->chunks);
}

#endif
