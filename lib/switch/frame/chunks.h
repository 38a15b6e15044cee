/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the queues of a shard. A chunk has 15 entries and a link. The free list returns the
 * chunk that was freed last, which is still cached.
 *
 * Invariant: the free list never runs empty if SW_CHUNKS_FOR() was called with the largest number
 * of entries in the shard. A queue of n entries spans at most n / 15 + 2 chunks.
 */
#ifndef QUENCH_SWITCH_FRAME_CHUNKS_H
#define QUENCH_SWITCH_FRAME_CHUNKS_H

#include <assert.h>
#include <stddef.h>
#include <rte_common.h>

#include "switch/frame/entry.h"

#define SW_CHUNK_BYTES 256u
#define SW_CHUNK_ENTRIES 15u

/* Number of chunks for a number of entries in a number of queues. */
#define SW_CHUNKS_FOR(entries, queues) ((entries) / SW_CHUNK_ENTRIES + 2 * (size_t)(queues))

struct sw_chunk {
	struct sw_entry entry[SW_CHUNK_ENTRIES];
	struct sw_chunk *next; /* in the queue or in the free list */
} __rte_aligned(SW_CHUNK_BYTES);
static_assert(sizeof(struct sw_chunk) == SW_CHUNK_BYTES, "the link after the last entry");

struct sw_chunks {
	struct sw_chunk *free;
	struct sw_chunk *fresh, *end; /* never used: their pages are not touched */
	void *memory;
	size_t bytes;
};

/** @return 0 or -ENOMEM. */
int sw_chunks_init(struct sw_chunks *c, size_t n);
void sw_chunks_fini(struct sw_chunks *c);

/* Inline definitions */

static inline struct sw_chunk *
sw_chunk_get(struct sw_chunks *c)
{
	struct sw_chunk *chunk = c->free;

	if (likely(chunk != NULL)) {
		c->free = chunk->next;
		return chunk;
	}
	assert(c->fresh < c->end);
	return c->fresh++;
}

static inline void
sw_chunk_put(struct sw_chunks *c, struct sw_chunk *chunk)
{
	chunk->next = c->free;
	c->free = chunk;
}

#endif
