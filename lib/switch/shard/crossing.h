/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames from one shard to another: handed over in bursts, prefetched, taken.
 *
 * Invariant: a frame is in one place: collected, in a ring, or fetched; crossing_to has a bit for
 * each shard with collected frames.
 */
#ifndef QUENCH_SWITCH_SHARD_CROSSING_H
#define QUENCH_SWITCH_SHARD_CROSSING_H

#include "switch/shard/shard.h"

struct rte_mbuf;

/** Hand over the frames collected for one shard, in one operation on the ring. */
void sw_crossing_hand_over(struct sw_shard *shard, uint16_t to);
/** Hand over all collected frames. */
void sw_crossing_flush(struct sw_shard *shard);

/** Prefetch the frames handed over so far for the next sw_crossed_take(): another core wrote each
 * of them last. */
void sw_crossing_fetch(struct sw_shard *shard);
/** Does at least a burst wait in the rings? */
bool sw_crossing_burst_waits(const struct sw_shard *shard);

/** Does anything wait for the shard, or for this port of it? */
bool sw_crossing_waits(const struct sw_shard *shard, uint16_t port);
/** Prefetch what the port's next sw_crossed_collect() will read. */
void sw_crossing_prefetch(const struct sw_shard *shard, uint16_t port);

/* Inline definitions */

/** Collect a frame, which crosses at the end of the burst; takes it. */
static inline void
sw_crossing_put(struct sw_shard *shard, struct rte_mbuf *m, uint16_t to)
{
	struct sw_crossing *c = &shard->shards->crossings[shard->index * shard->shards->n + to];

	c->m[c->n++] = m;
	shard->crossing_to |= 1ull << to;
	if (c->n == SW_BURST)
		sw_crossing_hand_over(shard, to);
}

/** Frames that the shard has taken from the rings and not processed yet. */
static inline struct sw_fetched *
sw_crossing_fetched(const struct sw_shard *shard)
{
	return &shard->shards->fetched[shard->index];
}

#endif
