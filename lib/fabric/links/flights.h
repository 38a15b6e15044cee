/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue of frames in flight on a cable, in order of arrival.
 *
 * Invariant: head <= tail <= limit, and tail->due_ns = NEVER_NS.
 *
 * A flight holds copies of the mbuf members that the event loop needs before the frame's turn, so
 * that the loop does not wait for the mbufs, which are not in the cache when there are hundreds of
 * nodes.
 */
#ifndef QUENCH_FABRIC_LINKS_FLIGHTS_H
#define QUENCH_FABRIC_LINKS_FLIGHTS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <rte_mbuf.h>

#include "base/numbers/units.h"

/* 16 bytes, so that a cache line holds four. */
struct flight {
	/*
	 * The mbuf, whose address has 48 bits and is that of a cache line; its pkt_len << 48; in
	 * the lowest bits, the cache line of its buffer with the first byte.
	 */
	uint64_t frame;
	uint64_t due_ns; /* arrival; NEVER_NS after the last frame */
};
static_assert(sizeof(struct flight) == 16, "four to a cache line");

#define FLIGHT_LINES RTE_CACHE_LINE_SIZE
static_assert(_Alignof(struct rte_mbuf) >= FLIGHT_LINES, "the lowest bits are free");

/*
 * Array; frames are taken from its front. When it is full, the remaining frames move to its start,
 * or to an array of twice the size. A sentinel that never arrives follows the last frame.
 */
struct flights {
	struct flight *head, *tail;
	struct flight *limit; /* end of the array, less the sentinel */
	struct flight *items;
};

void flights_init(struct flights *f);
/** Free the array. The caller has taken out all frames. Zero-initialised: no effect. */
void flights_free(struct flights *f);
/** Make room for one more frame. @return false: out of memory, and nothing has changed. */
bool flights_make_room(struct flights *f);

/* Inline definitions */

static inline struct flight
flight_of(const struct rte_mbuf *m, uint64_t due_ns)
{
	uint64_t line = m->data_off / RTE_CACHE_LINE_SIZE % FLIGHT_LINES;

	/* It is one segment, whose length has 16 bits. */
	assert(m->pkt_len <= UINT16_MAX);
	return (struct flight){.frame = (uintptr_t)m | line | (uint64_t)m->pkt_len << 48,
			       .due_ns = due_ns};
}

static inline struct rte_mbuf *
flight_mbuf(const struct flight *f)
{
	return (struct rte_mbuf *)(uintptr_t)(f->frame & (UINT64_MAX >> 16) &
					      ~(FLIGHT_LINES - 1ull));
}

/** Without FCS. */
static inline uint32_t
flight_pkt_len(const struct flight *f)
{
	return (uint32_t)(f->frame >> 48);
}

/** Number of the cache line of the frame's buffer that has its first byte. */
static inline uint32_t
flight_line(const struct flight *f)
{
	return f->frame % FLIGHT_LINES;
}

static inline size_t
flights_count(const struct flights *f)
{
	return (size_t)(f->tail - f->head);
}

/** Arrival of the oldest frame; NEVER_NS: empty. */
static inline uint64_t
flights_next_ns(const struct flights *f)
{
	return f->head->due_ns;
}

/** @return false: out of memory, and the caller keeps the frame. */
static inline bool
flights_push(struct flights *f, const struct flight *flight)
{
	if (__builtin_expect(f->tail == f->limit, 0) && !flights_make_room(f))
		return false;
	*f->tail++ = *flight;
	f->tail->due_ns = NEVER_NS;
	return true;
}

/** Take the oldest frame. The queue must not be empty. */
static inline const struct flight *
flights_pop(struct flights *f)
{
	return f->head++;
}

/** Restart an empty queue at the start of its array, so that it touches little memory. */
static inline void
flights_rewind(struct flights *f)
{
	if (f->head == f->items)
		return;
	f->head = f->tail = f->items;
	f->head->due_ns = NEVER_NS;
}

#endif
