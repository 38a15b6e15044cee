/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timing wheel of item numbers (QPs, not packets). Insertion takes constant time. A bitmap with a
 * summary level skips empty slots. Deadlines beyond the horizon wait in an overflow list.
 *
 * A deadline is rounded up to a slot boundary: an item is never released early, and at most one
 * slot late. Items of one slot are released in the order of their insertion, so runs repeat.
 * Creation allocates 32 bytes for each slot. For each item it reserves 5.4 bytes, touched as slots
 * come to hold more than seven items, and 12, touched once a deadline is beyond the horizon. A
 * wheel of up to TIMING_WHEEL_FEW items allocates no slots. An item cannot be removed before it is
 * due: its owner ignores it when it is released.
 *
 * Cost: advance() touches the items that it releases and a few bitmap words, however far the time
 * jumps. It walks the overflow list at most once for each half horizon, and only if one of its
 * items is due within half a turn. Choose a horizon beyond the usual deadlines.
 */
#ifndef QUENCH_PACER_TIMING_WHEEL_H
#define QUENCH_PACER_TIMING_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/units.h"

/* A wheel of up to this many items is one sorted list without slots. */
#define TIMING_WHEEL_FEW 7u
#define TIMING_WHEEL_SLOT_BYTES 32u
#define TIMING_WHEEL_NO_TICK UINT64_MAX

/* The first members of a wheel, for inline functions. */
struct timing_wheel_head {
	uint64_t now_tick;
	uint64_t next_tick; /* earliest of all items; TIMING_WHEEL_NO_TICK: no item */
	void *slots;        /* NULL: few items */
	uint32_t slot_mask;
	unsigned int slot_shift;
};

struct timing_wheel;

/**
 * @param n_items  Items are numbered [0, n_items); each is in the wheel at most once.
 * @param n_slots  Power of two, at least 64.
 * @param slot_ns  Power of two. The horizon is n_slots * slot_ns.
 * @return         The wheel, owned by the caller, or NULL with errno ENOMEM or EINVAL.
 */
struct timing_wheel *timing_wheel_create(uint32_t n_items, uint32_t n_slots, uint64_t slot_ns);

/** NULL is allowed. */
void timing_wheel_destroy(struct timing_wheel *w);

/**
 * Insert n items in this order; none of them may be in the wheel. An item with a deadline in the
 * past is due at once, after those already in the current slot. deadlines_ns < 2^63. In a large
 * wheel each item costs one or two cache misses: call timing_wheel_fetch() earlier.
 */
void timing_wheel_insert_burst(struct timing_wheel *w, const uint32_t *items,
			       const uint64_t *deadlines_ns, uint32_t n);

/**
 * Make an item's deadline earlier: deadline_ns, because its owner no longer has to wait. In a wheel
 * with slots the new deadline is at or after the horizon. An earlier deadline stays, and an item
 * that is not in the wheel is ignored. Constant time.
 */
void timing_wheel_hurry(struct timing_wheel *w, uint32_t item, uint64_t deadline_ns);

/**
 * Release up to budget items that are due at now_ns, earliest slot first. The rest of items[budget]
 * may be overwritten.
 * @return the number of items; if it is below budget, no other item is due.
 */
uint32_t timing_wheel_advance(struct timing_wheel *w, uint32_t *items, uint32_t budget,
			      uint64_t now_ns);

/**
 * List items that are due before until_ns, so that their owner can prefetch them. Each slot is
 * listed once; the next call continues after it. The list omits items of a slot beyond the budget,
 * items of a slot that is being released, and items inserted after their slot was listed. It is
 * empty for a wheel of TIMING_WHEEL_FEW items or fewer, which are in the cache anyway.
 *
 * @param budget  Of fewer than seven, none is used. @return how many are listed.
 */
uint32_t timing_wheel_upcoming(struct timing_wheel *w, uint32_t *items, uint32_t budget,
			       uint64_t until_ns);

/* Inline definitions */

/**
 * Slot boundary at which advance() releases the next item; NEVER_NS when the wheel is empty. It may
 * be too early after timing_wheel_hurry() of an item that is not in the wheel.
 */
static inline uint64_t
timing_wheel_next_ns(const struct timing_wheel *w)
{
	const struct timing_wheel_head *h = (const struct timing_wheel_head *)w;

	return h->next_tick == TIMING_WHEEL_NO_TICK ? NEVER_NS : h->next_tick << h->slot_shift;
}

/** Prefetch the slot of a deadline, before the insertion of an item. */
static inline void
timing_wheel_fetch(const struct timing_wheel *w, uint64_t deadline_ns)
{
	const struct timing_wheel_head *h = (const struct timing_wheel_head *)w;
	uint64_t tick = (deadline_ns + (1ull << h->slot_shift) - 1) >> h->slot_shift;

	__builtin_prefetch((char *)h->slots + (tick & h->slot_mask) * TIMING_WHEEL_SLOT_BYTES, 1);
}

/** Deadlines are rounded up to a multiple of it. */
static inline uint64_t
timing_wheel_slot_ns(const struct timing_wheel *w)
{
	return 1ull << ((const struct timing_wheel_head *)w)->slot_shift;
}

#endif
