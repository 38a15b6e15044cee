/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ring of entries from one shard to another, with one producer and one consumer. It is small, so
 * that both cores keep it in their caches. Entries that do not fit wait in the producer's overflow
 * list.
 *
 * Invariant: head <= tail <= filled <= head + SW_RING_SLOTS; entries leave in the order in which
 * they were added. So overflow has entries only while the ring is full, or until its first entry
 * has been moved to the ring.
 */
#ifndef QUENCH_SWITCH_SHARD_RING_H
#define QUENCH_SWITCH_SHARD_RING_H

#include <stdint.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#include "base/threads/lines.h"
#include "switch/frame/fifo.h"

#define SW_RING_SLOTS 1024u
/* Prefetch distance of the producer, in slots. */
#define SW_RING_AHEAD 16u

struct sw_ring {
	/* the producer's */
	_Alignas(LINES_APART) uint32_t filled;
	uint32_t published;  /* = tail */
	uint32_t known_head; /* head as last read; each read moves a cache line between cores */
	struct sw_fifo overflow;
	/* written by one side, read by the other */
	_Alignas(LINES_APART) uint32_t tail;
	uint32_t returns; /* publications of charges that the producer returned: give_back.h */
	_Alignas(LINES_APART) uint32_t head;
	_Alignas(LINES_APART) struct sw_entry slot[SW_RING_SLOTS];
};

/** Producer: does the ring have room for one more entry? */
static inline bool
sw_ring_has_capacity(struct sw_ring *r)
{
	if (likely(r->filled - r->known_head < SW_RING_SLOTS))
		return true;
	r->known_head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
	return r->filled - r->known_head < SW_RING_SLOTS;
}

/** Producer: add an entry, for sw_ring_publish() to hand over. */
static inline void
sw_ring_put(struct sw_ring *r, struct sw_chunks *c, struct sw_entry e)
{
	if (likely(sw_fifo_is_empty(&r->overflow) && sw_ring_has_capacity(r))) {
		/* These lines are in the cache of the consumer's core. */
		prefetch_to_write(&r->slot[(r->filled + SW_RING_AHEAD) % SW_RING_SLOTS]);
		r->slot[r->filled++ % SW_RING_SLOTS] = e;
	} else
		sw_fifo_push(&r->overflow, c, e);
}

/** Producer: number of entries that the consumer cannot see yet. */
static inline uint32_t
sw_ring_unpublished(const struct sw_ring *r)
{
	return r->filled - r->published;
}

/** Producer: hand over the entries. @return false: some did not fit and wait in overflow. */
static inline bool
sw_ring_publish(struct sw_ring *r, struct sw_chunks *c)
{
	while (unlikely(!sw_fifo_is_empty(&r->overflow)) && sw_ring_has_capacity(r))
		r->slot[r->filled++ % SW_RING_SLOTS] = *sw_fifo_pop(&r->overflow, c);
	if (r->published != r->filled) {
		r->published = r->filled;
		__atomic_store_n(&r->tail, r->filled, __ATOMIC_RELEASE);
	}
	return sw_fifo_is_empty(&r->overflow);
}

/** Consumer: number of entries to take. */
static inline uint32_t
sw_ring_waiting(const struct sw_ring *r)
{
	return __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) - r->head;
}

/** Consumer: the next entry; i < sw_ring_waiting(). */
static inline const struct sw_entry *
sw_ring_at(const struct sw_ring *r, uint32_t i)
{
	return &r->slot[(r->head + i) % SW_RING_SLOTS];
}

/* Entries of a cache line. */
#define SW_RING_LINE 4u
/* Entries of a ring that are prefetched a call before they are taken. */
#define SW_RING_EARLY 64u

/**
 * Consumer: prefetch the next n entries. The producer's core has them, and all their lines together
 * take little longer than one.
 */
static inline void
sw_ring_prefetch(const struct sw_ring *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += SW_RING_LINE)
		rte_prefetch0(sw_ring_at(r, i));
}

/** Consumer: release the first n slots. */
static inline void
sw_ring_advance(struct sw_ring *r, uint32_t n)
{
	__atomic_store_n(&r->head, r->head + n, __ATOMIC_RELEASE);
}

#endif
