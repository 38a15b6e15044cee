/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time is counted in ticks of one slot. The wheel stands at now_tick; every item with a tick in
 * [now_tick, horizon_tick) is in slot tick % n_slots, every later one in the overflow list.
 * horizon_tick is at most one turn ahead, so a slot holds items of one tick only. It moves past a
 * tick only when the overflow items of that tick move into their slot with it, which keeps the
 * order within a slot.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/fixed.h"
#include "base/pages.h"
#include "base/units.h"
#include "pacer/timing_wheel.h"

#define NO_ITEM UINT32_MAX
#define NO_TICK UINT64_MAX
#define MAX_SLOTS (1u << 24)

/* Twelve bytes, not sixteen: there are as many as QPs. */
struct item {
	uint64_t tick; /* NO_TICK: not in */
	uint32_t next;
} __attribute__((packed, aligned(4)));
static_assert(sizeof(struct item) == 12, "as timing_wheel.h says");

struct list {
	uint32_t head;
	uint32_t tail;
};

struct timing_wheel {
	uint64_t now_tick;
	uint64_t horizon_tick;
	uint64_t overflow_min_tick;
	struct list overflow;
	unsigned int slot_shift;
	uint32_t n_in; /* items that are in */
	uint32_t n_items;
	uint32_t n_slots;
	uint32_t n_words;     /* of 64 slots */
	uint32_t n_summaries; /* of 64 words */
	struct list *slots;
	uint64_t *words;     /* bit: the slot holds items */
	uint64_t *summaries; /* bit: the word is not zero */
	struct item *items;
};

static bool
is_power_of_two(uint64_t x)
{
	return x != 0 && (x & (x - 1)) == 0;
}

struct timing_wheel *
timing_wheel_create(uint32_t n_items, uint32_t n_slots, uint64_t slot_ns)
{
	struct timing_wheel *w;

	if (n_items == 0 || n_items == NO_ITEM || n_slots < 64 || n_slots > MAX_SLOTS ||
	    !is_power_of_two(n_slots) || !is_power_of_two(slot_ns)) {
		errno = EINVAL;
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return NULL;
	w->slot_shift = (unsigned int)__builtin_ctzll(slot_ns);
	w->n_items = n_items;
	w->n_slots = n_slots;
	w->n_words = n_slots / 64;
	w->n_summaries = (w->n_words + 63) / 64;
	w->horizon_tick = n_slots;
	w->overflow_min_tick = NO_TICK;
	w->overflow = (struct list){NO_ITEM, NO_ITEM};
	w->slots = pages_alloc(n_slots * sizeof(w->slots[0]));
	w->words = calloc(w->n_words, sizeof(w->words[0]));
	w->summaries = calloc(w->n_summaries, sizeof(w->summaries[0]));
	w->items = pages_alloc(n_items * sizeof(w->items[0]));
	if (w->slots == NULL || w->words == NULL || w->summaries == NULL || w->items == NULL) {
		timing_wheel_destroy(w);
		errno = ENOMEM;
		return NULL;
	}
	for (uint32_t i = 0; i < n_slots; i++)
		w->slots[i] = (struct list){NO_ITEM, NO_ITEM};
	for (uint32_t i = 0; i < n_items; i++)
		w->items[i] = (struct item){NO_TICK, NO_ITEM};
	return w;
}

void
timing_wheel_destroy(struct timing_wheel *w)
{
	if (w == NULL)
		return;
	pages_free(w->slots, w->n_slots * sizeof(w->slots[0]));
	free(w->words);
	free(w->summaries);
	pages_free(w->items, w->n_items * sizeof(w->items[0]));
	free(w);
}

static void
list_push(struct timing_wheel *w, struct list *list, uint32_t item)
{
	w->items[item].next = NO_ITEM;
	if (list->head == NO_ITEM)
		list->head = item;
	else
		w->items[list->tail].next = item;
	list->tail = item;
}

static uint32_t
slot_of(const struct timing_wheel *w, uint64_t tick)
{
	return (uint32_t)tick & (w->n_slots - 1);
}

static void
slot_push(struct timing_wheel *w, uint32_t item)
{
	uint32_t slot = slot_of(w, w->items[item].tick);

	list_push(w, &w->slots[slot], item);
	w->words[slot / 64] |= 1ull << slot % 64;
	w->summaries[slot / 4096] |= 1ull << slot / 64 % 64;
}

static void
slot_mark_empty(struct timing_wheel *w, uint32_t slot)
{
	w->words[slot / 64] &= ~(1ull << slot % 64);
	if (w->words[slot / 64] == 0)
		w->summaries[slot / 4096] &= ~(1ull << slot / 64 % 64);
}

/* First word that is not zero, from word `from` on and once around; NO_ITEM when all are zero. */
static uint32_t
next_word(const struct timing_wheel *w, uint32_t from)
{
	uint32_t i = from / 64;
	uint64_t bits = w->summaries[i] & (~0ull << from % 64);

	/* One turn and the first summary again, now with its low bits. */
	for (uint32_t n = 0; n <= w->n_summaries; n++) {
		if (bits != 0)
			return i * 64 + (uint32_t)__builtin_ctzll(bits);
		i = i + 1 == w->n_summaries ? 0 : i + 1;
		bits = w->summaries[i];
	}
	return NO_ITEM;
}

/* Earliest tick in the slots, NO_TICK when they are empty. */
static uint64_t
slots_next_tick(const struct timing_wheel *w)
{
	uint32_t start = slot_of(w, w->now_tick);
	uint32_t word = start / 64;
	uint64_t bits = w->words[word] & (~0ull << start % 64);
	uint32_t slot;

	if (bits == 0) {
		word = next_word(w, word + 1 == w->n_words ? 0 : word + 1);
		if (word == NO_ITEM)
			return NO_TICK;
		bits = w->words[word];
	}
	slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
	return w->now_tick + slot_of(w, (uint64_t)slot - start);
}

/* Earliest tick of all items; later ones only are in the overflow list. */
static uint64_t
next_tick(const struct timing_wheel *w)
{
	uint64_t tick = NO_TICK;

	if (w->n_in == 0)
		return NO_TICK;
	tick = slots_next_tick(w);
	if (tick != NO_TICK)
		return tick;
	return w->overflow_min_tick;
}

/* Move the horizon a whole turn ahead and into the slots what it passes, in list order. */
static void
overflow_migrate(struct timing_wheel *w)
{
	uint32_t next;
	uint32_t i = w->overflow.head;

	w->horizon_tick = w->now_tick + w->n_slots;
	w->overflow = (struct list){NO_ITEM, NO_ITEM};
	w->overflow_min_tick = NO_TICK;
	for (; i != NO_ITEM; i = next) {
		next = w->items[i].next;
		if (w->items[i].tick < w->horizon_tick) {
			slot_push(w, i);
			continue;
		}
		list_push(w, &w->overflow, i);
		w->overflow_min_tick = min_u64(w->overflow_min_tick, w->items[i].tick);
	}
}

/* All ticks before this one are empty. */
static void
move_to(struct timing_wheel *w, uint64_t tick)
{
	if (tick <= w->now_tick)
		return;
	w->now_tick = tick;
	/* Walking the list at half a turn leaves at least half a turn until the next walk. */
	if (w->overflow_min_tick < tick + w->n_slots / 2)
		overflow_migrate(w);
	else
		w->horizon_tick = min_u64(tick + w->n_slots, w->overflow_min_tick);
}

static uint64_t
tick_of(const struct timing_wheel *w, uint64_t deadline_ns)
{
	uint64_t slot_mask = (1ull << w->slot_shift) - 1;

	return (deadline_ns >> w->slot_shift) + ((deadline_ns & slot_mask) != 0);
}

void
timing_wheel_insert(struct timing_wheel *w, uint32_t item, uint64_t deadline_ns)
{
	uint64_t tick = tick_of(w, deadline_ns);

	assert(item < w->n_items && w->items[item].tick == NO_TICK);
	assert(deadline_ns < 1ull << 63);
	tick = max_u64(tick, w->now_tick);
	w->items[item].tick = tick;
	w->n_in++;
	if (tick < w->horizon_tick) {
		slot_push(w, item);
	} else {
		list_push(w, &w->overflow, item);
		w->overflow_min_tick = min_u64(w->overflow_min_tick, tick);
	}
}

void
timing_wheel_insert_burst(struct timing_wheel *w, const uint32_t *items,
			  const uint64_t *deadlines_ns, uint32_t n)
{
	/* The slots' lines, and then those of the items that are last in them. */
	for (uint32_t i = 0; i < n && n > 1; i++)
		__builtin_prefetch(&w->slots[slot_of(w, tick_of(w, deadlines_ns[i]))], 1);
	for (uint32_t i = 0; i < n && n > 1; i++) {
		const struct list *list = &w->slots[slot_of(w, tick_of(w, deadlines_ns[i]))];

		if (list->head != NO_ITEM)
			__builtin_prefetch(&w->items[list->tail], 1);
	}
	for (uint32_t i = 0; i < n; i++)
		timing_wheel_insert(w, items[i], deadlines_ns[i]);
}

uint32_t
timing_wheel_peek(const struct timing_wheel *w, uint32_t *items)
{
	uint32_t start = slot_of(w, w->now_tick);
	uint32_t word = start / 64, n = 0, slots = TIMING_WHEEL_PEEK_SLOTS;
	uint64_t bits = w->words[word] & (~0ull << start % 64);

	/* A few words on, or nothing is so near that it matters. */
	for (uint32_t words = 8; words > 0; words--) {
		for (; bits != 0; bits &= bits - 1) {
			uint32_t i = w->slots[word * 64 + (uint32_t)__builtin_ctzll(bits)].head;
			uint32_t depth =
				1 + slots * TIMING_WHEEL_PEEK_DEPTH / (TIMING_WHEEL_PEEK_SLOTS + 8);

			for (; i != NO_ITEM && depth > 0; depth--) {
				items[n++] = i;
				__builtin_prefetch(&w->items[i], 1);
				i = depth > 1 ? w->items[i].next : NO_ITEM;
			}
			if (--slots == 0)
				return n;
		}
		word = word + 1 == w->n_words ? 0 : word + 1;
		bits = w->words[word];
	}
	return n;
}

bool
timing_wheel_contains(const struct timing_wheel *w, uint32_t item)
{
	return item < w->n_items && w->items[item].tick != NO_TICK;
}

/* Take items of one slot from its head. */
static uint32_t
slot_pop(struct timing_wheel *w, uint32_t slot, uint32_t *items, uint32_t budget)
{
	struct list *list = &w->slots[slot];
	uint32_t n = 0;

	while (n < budget && list->head != NO_ITEM) {
		uint32_t i = list->head;

		list->head = w->items[i].next;
		w->items[i].tick = NO_TICK;
		items[n++] = i;
	}
	if (list->head == NO_ITEM)
		slot_mark_empty(w, slot);
	w->n_in -= n;
	return n;
}

uint32_t
timing_wheel_advance(struct timing_wheel *w, uint32_t *items, uint32_t budget, uint64_t now_ns)
{
	uint64_t now_tick = now_ns >> w->slot_shift;
	uint32_t n = 0;

	while (n < budget) {
		uint64_t tick = next_tick(w);

		if (tick > now_tick) {
			move_to(w, now_tick);
			break;
		}
		move_to(w, tick);
		n += slot_pop(w, slot_of(w, tick), items + n, budget - n);
	}
	return n;
}

uint64_t
timing_wheel_next_ns(const struct timing_wheel *w)
{
	uint64_t tick = next_tick(w);

	return tick == NO_TICK ? NEVER_NS : tick << w->slot_shift;
}
