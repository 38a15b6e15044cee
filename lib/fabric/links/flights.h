/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue of frames in flight on a cable, in order of arrival.
 *
 * Invariant: head <= tail <= limit, and tail->due_ns = NEVER_NS.
 *
 * A flight holds copies of the mbuf members that the event loop needs, so that the loop does not
 * touch the mbufs, which are not in the cache when there are hundreds of nodes.
 */
#ifndef QUENCH_FABRIC_LINKS_FLIGHTS_H
#define QUENCH_FABRIC_LINKS_FLIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers/units.h"

struct rte_mbuf;

struct flight {
	struct rte_mbuf *m;
	uint64_t due_ns;      /* arrival; NEVER_NS after the last frame */
	uint64_t fingerprint; /* distinguishes it from other frames */
	uint32_t pkt_len;     /* without FCS */
	uint32_t data_off;    /* offset of its first byte from buf_addr */
};

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
