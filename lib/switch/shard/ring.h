/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ring of frames from one shard to another, with one producer and one consumer.
 *
 * Invariant: a ring has room for every mbuf of the switch (filled - head <= slots), so a put never
 * fails.
 *
 * Hence the producer need not read head, which the consumer writes. (In rte_ring each side reads
 * the other's index for every burst, a cache miss for both.)
 */
#ifndef QUENCH_SWITCH_SHARD_RING_H
#define QUENCH_SWITCH_SHARD_RING_H

#include <stdint.h>
#include <rte_common.h>

struct sw_ring {
	uint32_t tail; /* = filled, published by the producer */
	/* producer */
	uint32_t filled __rte_cache_aligned;
	uint32_t put_mask;
	/* consumer */
	uint32_t head __rte_cache_aligned;
	uint32_t mask;
	void *slot[] __rte_cache_aligned;
};

static inline void
sw_ring_put(struct sw_ring *r, void *const m[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		r->slot[(r->filled + i) & r->put_mask] = m[i];
	r->filled += n;
	__atomic_store_n(&r->tail, r->filled, __ATOMIC_RELEASE);
}

static inline uint32_t
sw_ring_waiting(const struct sw_ring *r)
{
	return __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) - r->head;
}

/** Take up to `most` frames. @return how many. */
static inline uint32_t
sw_ring_take(struct sw_ring *r, void *m[], uint32_t most)
{
	uint32_t n = RTE_MIN(sw_ring_waiting(r), most);

	for (uint32_t i = 0; i < n; i++)
		m[i] = r->slot[(r->head + i) & r->mask];
	r->head += n;
	return n;
}

#endif
