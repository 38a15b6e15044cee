/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames under way, in the order in which they arrive: on a cable, or in front of a node.
 *
 * What the event loop asks of a frame stands here and not in the frame, so that those under way can
 * be gone through without a line of them in the caches: with hundreds of nodes none would be there.
 */
#ifndef QUENCH_FABRIC_LINKS_FLIGHTS_H
#define QUENCH_FABRIC_LINKS_FLIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"

struct rte_mbuf;

struct flight {
	struct rte_mbuf *m;
	uint64_t due_ns;      /* arrival; NEVER_NS after the last */
	uint64_t fingerprint; /* what tells it from another frame */
	uint32_t pkt_len;     /* without FCS */
	uint16_t data_off;    /* its first byte, from buf_addr */
	uint16_t to_port;     /* of the node that it arrives at */
};

/*
 * An array from whose front frames are taken. At its end those that are left move to its start, or
 * to an array of twice the size. After the last stands one that never arrives.
 */
struct flights {
	struct flight *head, *tail;
	struct flight *last; /* of the array; tail is never after it */
	struct flight *items;
};

void flights_init(struct flights *f);
/** What is in it stays the caller's, who has taken it out before. Of all zeros, nothing. */
void flights_free(struct flights *f);
/** Room for one more after tail. @return false: there is no memory, and nothing has changed. */
bool flights_make_room(struct flights *f);

/* Inline definitions */

static inline size_t
flights_count(const struct flights *f)
{
	return (size_t)(f->tail - f->head);
}

/** When the oldest arrives; NEVER_NS: none is under way. */
static inline uint64_t
flights_next_ns(const struct flights *f)
{
	return f->head->due_ns;
}

/** @return false: there is no memory for it, and it is still the caller's. */
static inline bool
flights_push(struct flights *f, const struct flight *flight)
{
	if (__builtin_expect(f->tail == f->last, 0) && !flights_make_room(f))
		return false;
	*f->tail++ = *flight;
	f->tail->due_ns = NEVER_NS;
	return true;
}

/** The oldest, of one or more. */
static inline const struct flight *
flights_pop(struct flights *f)
{
	return f->head++;
}

/** An empty one begins at its start again: what is emptied often so touches little memory. */
static inline void
flights_rewind(struct flights *f)
{
	if (f->head == f->items)
		return;
	f->head = f->tail = f->items;
	f->head->due_ns = NEVER_NS;
}

#endif
