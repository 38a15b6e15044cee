/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timing wheel of item numbers (QPs, not packets): insert in constant time, empty slots
 * skipped by a bitmap with a summary level, deadlines beyond the horizon kept in an overflow list.
 *
 * A deadline is rounded up to a slot boundary: an item is never released early and at most one slot
 * late. Items of one slot come out in the order in which they went in, so runs repeat.
 * Memory is taken at creation: 4 bytes an item, 32 a slot, and 8 an item once deadlines beyond the
 * horizon come; of TIMING_WHEEL_FEW items or fewer, none. An item stays in until it is due: an
 * owner that has lost interest ignores it then.
 *
 * Work: advance() costs its items and a few bitmap words, however far the time jumps. The overflow
 * list is walked once each half horizon in which one of its items comes near; choose a horizon that
 * holds the usual deadlines.
 */
#ifndef QUENCH_PACER_TIMING_WHEEL_H
#define QUENCH_PACER_TIMING_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

/* Up to this many items stand in one sorted list, without slots. */
#define TIMING_WHEEL_FEW 7u
#define TIMING_WHEEL_NO_TICK UINT64_MAX

/* What a wheel begins with: callers ask this all the time. */
struct timing_wheel_head {
	uint64_t now_tick;
	uint64_t next_tick; /* of all items; TIMING_WHEEL_NO_TICK: there are none */
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
 * Put n items in, in this order; none of them may be in. A deadline in the past is due at once,
 * after the items that are due in the slot reached. deadlines_ns < 2^63. With many items each is a
 * cache miss or two, which a burst takes at once.
 */
void timing_wheel_insert_burst(struct timing_wheel *w, const uint32_t *items,
			       const uint64_t *deadlines_ns, uint32_t n);

/**
 * An item that may be in is due at deadline_ns already, or, of many items, at the horizon if that
 * is later: its owner no longer waits for what it waited for. One that is due before stays so.
 * Constant work.
 */
void timing_wheel_hurry(struct timing_wheel *w, uint32_t item, uint64_t deadline_ns);

/**
 * Take out up to budget items that are due at now_ns, earliest slot first. @return how many; fewer
 * than budget means that nothing else is due. The rest of items[budget] may be overwritten.
 */
uint32_t timing_wheel_advance(struct timing_wheel *w, uint32_t *items, uint32_t budget,
			      uint64_t now_ns);

/**
 * Items that are due soon, before until_ns, for their owner to bring what it will read of them into
 * the cache. A slot is returned once; later calls go on after it. Some of a very full slot, and
 * those put in after that, are left out, and so are all of few items, which are at hand.
 *
 * @param budget  At least 7. @return how many.
 */
uint32_t timing_wheel_upcoming(struct timing_wheel *w, uint32_t *items, uint32_t budget,
			       uint64_t until_ns);

/* Inline definitions */

/** Time at which advance() will have an item, a slot boundary; NEVER_NS when the wheel is empty. */
static inline uint64_t
timing_wheel_next_ns(const struct timing_wheel *w)
{
	const struct timing_wheel_head *h = (const struct timing_wheel_head *)w;

	return h->next_tick == TIMING_WHEEL_NO_TICK ? NEVER_NS : h->next_tick << h->slot_shift;
}

#endif
