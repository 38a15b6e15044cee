/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which event source is next? A tournament tree over all sources: its leaves are the sources' next
 * times, and each inner node is the earlier of its two children. A change of one time repeats the
 * matches of that leaf up to the root: a load, a comparison and a store per level, without a
 * branch. A heap has half as many levels, each with an unpredictable branch.
 *
 * Invariant: best[i] = min(best[2i], best[2i + 1]), so best[1] is the next event.
 *
 * The seed draws the order of sources with equal times, for each time again: no source is always
 * served before another one, and runs are the same on every machine.
 */
#ifndef QUENCH_FABRIC_LINKS_EVENT_QUEUE_H
#define QUENCH_FABRIC_LINKS_EVENT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"

/*
 * One word holds the time in its high bits, then the draw for ties, and the source in its low bits,
 * so that one comparison gives the order. Times end at 2^42 - 2 ns (73 minutes); later times count
 * as never. The draw has at least 12 bits; where those are equal too, the lower source is first.
 */
#define EVENT_TIME_BITS 42
#define EVENT_ORDER_BITS (64 - EVENT_TIME_BITS)
#define EVENT_MAX_SOURCES (1u << 10)
#define EVENT_NEVER ((UINT64_C(1) << EVENT_TIME_BITS) - 1)

struct event_queue {
	uint64_t *best; /* the children of node i are 2i and 2i + 1; the root is 1 */
	/*
	 * lowest levels whose matches are always repeated; above them, repeating stops once a match
	 * has the same result as before
	 */
	uint16_t fixed_levels;
	uint16_t n_leaves; /* a power of two; source s is node n_leaves + s */
	uint32_t seed;     /* of the order at equal times */
};

struct event {
	uint64_t at_ns;
	uint32_t source;
};

/**
 * All sources [0, n), 0 < n <= EVENT_MAX_SOURCES, start at NEVER_NS. @return 0, -EINVAL, -ENOMEM.
 */
int event_queue_init(struct event_queue *q, uint32_t n, uint32_t seed);
void event_queue_free(struct event_queue *q);

/* Inline definitions */

/*
 * The order of a source among those of one time: the draw, and the source itself. The factors are
 * those of splitmix64.
 */
static inline uint64_t
event_queue_order(const struct event_queue *q, uint64_t at_ns, uint32_t source)
{
	uint64_t x = (at_ns + ((uint64_t)q->seed << 32)) * 0xbf58476d1ce4e5b9ull +
		     source * 0x94d049bb133111ebull;

	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ull;
	return (x >> EVENT_TIME_BITS & ~(uint64_t)(q->n_leaves - 1)) | source;
}

static inline uint64_t
event_queue_pack(const struct event_queue *q, uint64_t at_ns, uint32_t source)
{
	uint64_t at = at_ns < EVENT_NEVER ? at_ns : EVENT_NEVER;

	return at << EVENT_ORDER_BITS | event_queue_order(q, at, source);
}

static inline struct event
event_queue_unpack(const struct event_queue *q, uint64_t entry)
{
	uint64_t at = entry >> EVENT_ORDER_BITS;

	return (struct event){.at_ns = at == EVENT_NEVER ? NEVER_NS : at,
			      .source = (uint32_t)entry & (q->n_leaves - 1)};
}

static inline struct event
event_queue_min(const struct event_queue *q)
{
	return event_queue_unpack(q, q->best[1]);
}

/** Time of the next event; EVENT_NEVER or later: none. */
static inline uint64_t
event_queue_next_ns(const struct event_queue *q)
{
	return q->best[1] >> EVENT_ORDER_BITS;
}

/** Source of the next event. */
static inline uint32_t
event_queue_next_source(const struct event_queue *q)
{
	return (uint32_t)q->best[1] & (q->n_leaves - 1);
}

/** Would this source, at this time, come before everything in the queue? */
static inline bool
event_queue_is_first(const struct event_queue *q, uint32_t source, uint64_t at_ns)
{
	return event_queue_pack(q, at_ns, source) < q->best[1];
}

static inline uint64_t
event_queue_at(const struct event_queue *q, uint32_t source)
{
	return event_queue_unpack(q, q->best[q->n_leaves + source]).at_ns;
}

/** Move one source to a new time, earlier or later. */
static inline void
event_queue_set(struct event_queue *q, uint32_t source, uint64_t at_ns)
{
	uint64_t *const best = q->best;
	uint64_t entry = event_queue_pack(q, at_ns, source);
	uint64_t i = (uint64_t)q->n_leaves + source;

	if (best[i] == entry)
		return;
	best[i] = entry;
	for (uint32_t level = q->fixed_levels; level > 0; level--) {
		entry = min_u64(entry, best[i ^ 1]);
		i /= 2;
		best[i] = entry;
	}
	while (i > 1) {
		entry = min_u64(entry, best[i ^ 1]);
		i /= 2;
		if (best[i] == entry)
			return;
		best[i] = entry;
	}
}

#endif
