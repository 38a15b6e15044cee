/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tick is the time of one slot. The wheel is at now_tick: an item with a tick in
 * [now_tick, horizon_tick) is in slot tick % n_slots, and one with a later tick is in the overflow
 * list. horizon_tick is at most one turn ahead, so all items of a slot have the same tick. Before
 * horizon_tick passes a tick, the overflow items of that tick are moved into their slot, which
 * keeps the order within a slot.
 *
 * A slot holds the numbers of its first items, and chunks of six hold the others. With a million
 * QPs each line touched is a cache miss, and a linked list of items is a chain of misses. Slots are
 * read in order, so the prefetcher hides their misses. The last freed chunks are the next used, so
 * the chunks of a slot tend to be adjacent.
 *
 * A wheel of few items is one sorted list, in one or two cache lines. In slots each item would be
 * in a line of its own, which a process of hundreds of wheels would find evicted at every visit.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/threads/pages.h"
#include "base/numbers/units.h"
#include "pacer/timing_wheel.h"

#define NO_ITEM UINT32_MAX
#define NO_TICK TIMING_WHEEL_NO_TICK
#define WHEEL_ALIGN 64u
#define MAX_SLOTS (1u << 24)

#define SLOT_ITEMS 7u
#define LAST (SLOT_ITEMS - 1)
#define CHUNK_ITEMS LAST

/*
 * Items in the order of insertion. With more than seven, the seventh and all later ones are in
 * chunks; item[LAST] is then the number of the last chunk.
 */
struct slot {
	uint32_t n;
	uint32_t item[SLOT_ITEMS];
};
static_assert(sizeof(struct slot) == TIMING_WHEEL_SLOT_BYTES, "half a cache line");

/* All chunks of a slot but the last are full. They form a ring: after the last comes the first. */
struct chunk {
	uint32_t next; /* free: the next free chunk, or NO_ITEM */
	uint32_t n;
	uint32_t item[CHUNK_ITEMS];
};
static_assert(sizeof(struct chunk) == 32, "half a cache line");

/* The overflow list, linked through links[]. */
struct list {
	uint32_t head;
	uint32_t tail;
};

struct timing_wheel {
	_Alignas(WHEEL_ALIGN) struct timing_wheel_head head;
	uint32_t n_in; /* items in the wheel */
	uint32_t n_items;
	/* few items: in the order of release */
	uint32_t few_item[TIMING_WHEEL_FEW];
	uint64_t few_tick[TIMING_WHEEL_FEW];
	/* more items */
	uint64_t horizon_tick;
	uint64_t overflow_min_tick;
	uint64_t seen_tick;  /* upcoming() has listed all slots before this one */
	uint64_t *words;     /* bit: the slot holds items */
	uint64_t *summaries; /* bit: the word is not zero */
	/* By number; pages are allocated when touched. Those from n_chunks on were never used. */
	struct chunk *chunks;
	uint32_t free_chunk; /* the first of the free ones, or NO_ITEM */
	uint32_t n_chunks;
	/* Released items that are still in the slot of now_tick, at its start. */
	uint32_t skip;
	uint32_t n_slots;
	uint32_t n_words;     /* of 64 slots */
	uint32_t n_summaries; /* of 64 words */
	struct list overflow;
	/* by item; pages are allocated when touched */
	uint32_t *links;
	uint64_t *overflow_ticks;
};

static bool
is_power_of_two(uint64_t x)
{
	return x != 0 && (x & (x - 1)) == 0;
}

static inline bool
is_few(const struct timing_wheel *w)
{
	return w->n_items <= TIMING_WHEEL_FEW;
}

/* A slot has chunks only for items beyond its sixth, and at most one that is not full; the slot
 * that is being released has one more. */
static size_t
chunks_bytes(const struct timing_wheel *w)
{
	return ((size_t)w->n_items / CHUNK_ITEMS + 2) * sizeof(w->chunks[0]);
}

/* @return 0 or -ENOMEM. */
static int
create_slots(struct timing_wheel *w, uint32_t n_slots)
{
	w->n_slots = n_slots;
	w->n_words = n_slots / 64;
	w->n_summaries = (w->n_words + 63) / 64;
	w->horizon_tick = n_slots;
	w->overflow_min_tick = NO_TICK;
	w->overflow = (struct list){NO_ITEM, NO_ITEM};
	w->head.slots = pages_alloc(n_slots * sizeof(struct slot));
	w->head.slot_mask = n_slots - 1;
	w->words = calloc(w->n_words, sizeof(w->words[0]));
	w->summaries = calloc(w->n_summaries, sizeof(w->summaries[0]));
	w->chunks = pages_alloc(chunks_bytes(w));
	w->free_chunk = NO_ITEM;
	w->links = pages_alloc(w->n_items * sizeof(w->links[0]));
	w->overflow_ticks = pages_alloc(w->n_items * sizeof(w->overflow_ticks[0]));
	return w->head.slots == NULL || w->words == NULL || w->summaries == NULL ||
			       w->chunks == NULL || w->links == NULL || w->overflow_ticks == NULL
		       ? -ENOMEM
		       : 0;
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
	w = aligned_alloc(WHEEL_ALIGN, sizeof(*w));
	if (w == NULL)
		return NULL;
	memset(w, 0, sizeof(*w));
	w->head.slot_shift = (unsigned int)__builtin_ctzll(slot_ns);
	w->head.next_tick = TIMING_WHEEL_NO_TICK;
	w->n_items = n_items;
	if (!is_few(w) && create_slots(w, n_slots) < 0) {
		timing_wheel_destroy(w);
		errno = ENOMEM;
		return NULL;
	}
	return w;
}

void
timing_wheel_destroy(struct timing_wheel *w)
{
	if (w == NULL)
		return;
	pages_free(w->head.slots, w->n_slots * sizeof(struct slot));
	free(w->words);
	free(w->summaries);
	pages_free(w->chunks, chunks_bytes(w));
	pages_free(w->links, w->n_items * sizeof(w->links[0]));
	pages_free(w->overflow_ticks, w->n_items * sizeof(w->overflow_ticks[0]));
	free(w);
}

static inline struct slot *
slots_of(const struct timing_wheel *w)
{
	return w->head.slots;
}

static inline uint32_t
slot_of(const struct timing_wheel *w, uint64_t tick)
{
	return (uint32_t)tick & w->head.slot_mask;
}

static inline uint32_t
chunk_take(struct timing_wheel *w)
{
	uint32_t c = w->free_chunk;

	if (c == NO_ITEM)
		return w->n_chunks++;
	w->free_chunk = w->chunks[c].next;
	return c;
}

/* Append an item to a slot that has n >= SLOT_ITEMS items. */
static __attribute__((noinline)) void
chunk_add(struct timing_wheel *w, struct slot *s, uint32_t n, uint32_t item)
{
	uint32_t at = chunk_take(w);
	struct chunk *c = &w->chunks[at];

	assert((size_t)w->n_chunks * sizeof(*c) <= chunks_bytes(w));
	if (n == SLOT_ITEMS) {
		c->next = at;
		c->n = 2;
		c->item[0] = s->item[LAST];
		c->item[1] = item;
	} else {
		c->next = w->chunks[s->item[LAST]].next;
		w->chunks[s->item[LAST]].next = at;
		c->n = 1;
		c->item[0] = item;
	}
	s->item[LAST] = at;
}

static inline void
slot_mark_used(const struct timing_wheel *w, uint32_t slot)
{
	if (w->words[slot / 64] == 0)
		w->summaries[slot / 4096] |= 1ull << slot / 64 % 64;
	w->words[slot / 64] |= 1ull << slot % 64;
}

/* Append an item to a slot that has n >= SLOT_ITEMS items. */
static inline void
slot_push_far(struct timing_wheel *w, struct slot *s, uint32_t n, uint32_t item)
{
	struct chunk *c = &w->chunks[s->item[LAST]];

	if (n > SLOT_ITEMS && c->n < CHUNK_ITEMS)
		c->item[c->n++] = item;
	else
		chunk_add(w, s, n, item);
}

/* Append n items, at least one. */
static inline void
slot_push(struct timing_wheel *w, uint32_t slot, const uint32_t *items, uint32_t n)
{
	struct slot *s = &slots_of(w)[slot];
	uint32_t had = s->n, end = had + n;

	if (had == 0)
		slot_mark_used(w, slot);
	s->n = end;
	for (; had < end && had < SLOT_ITEMS; had++)
		s->item[had] = *items++;
	for (; had < end; had++)
		slot_push_far(w, s, had, *items++);
}

static void
slot_mark_empty(struct timing_wheel *w, uint32_t slot)
{
	w->words[slot / 64] &= ~(1ull << slot % 64);
	if (w->words[slot / 64] == 0)
		w->summaries[slot / 4096] &= ~(1ull << slot / 64 % 64);
}

/* First non-zero word at or after word `from`, wrapping around; NO_ITEM if all are zero. */
static uint32_t
next_word(const struct timing_wheel *w, uint32_t from)
{
	uint32_t i = from / 64;
	uint64_t bits = w->summaries[i] & (~0ull << from % 64);

	/*
	 * Go around once. The first summary word comes again at the end, because its low bits are
	 * last.
	 */
	for (uint32_t n = 0; n <= w->n_summaries; n++) {
		if (bits != 0)
			return i * 64 + (uint32_t)__builtin_ctzll(bits);
		i = i + 1 == w->n_summaries ? 0 : i + 1;
		bits = w->summaries[i];
	}
	return NO_ITEM;
}

/* Earliest tick of the slots at or after from_tick; NO_TICK if they are empty. */
static uint64_t
slots_next_tick(const struct timing_wheel *w, uint64_t from_tick)
{
	uint32_t start = slot_of(w, from_tick);
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
	return from_tick + slot_of(w, (uint64_t)slot - start);
}

/* Earliest tick of all items. Ticks of the overflow list are later than those of the slots. */
static uint64_t
find_next_tick(const struct timing_wheel *w)
{
	uint64_t tick = NO_TICK;

	if (w->n_in == 0)
		return NO_TICK;
	tick = slots_next_tick(w, w->head.now_tick);
	if (tick != NO_TICK)
		return tick;
	return w->overflow_min_tick;
}

static void
overflow_push(struct timing_wheel *w, uint32_t item, uint64_t tick)
{
	w->overflow_ticks[item] = tick;
	w->overflow_min_tick = min_u64(w->overflow_min_tick, tick);
	w->links[item] = NO_ITEM;
	if (w->overflow.head == NO_ITEM)
		w->overflow.head = item;
	else
		w->links[w->overflow.tail] = item;
	w->overflow.tail = item;
}

/* Move the horizon a whole turn ahead, and the items that it passes into their slots in order. */
static void
overflow_migrate(struct timing_wheel *w)
{
	uint32_t next;
	uint32_t i = w->overflow.head;

	w->horizon_tick = w->head.now_tick + w->n_slots;
	w->overflow = (struct list){NO_ITEM, NO_ITEM};
	w->overflow_min_tick = NO_TICK;
	for (; i != NO_ITEM; i = next) {
		uint64_t tick = w->overflow_ticks[i];

		next = w->links[i];
		if (tick < w->horizon_tick)
			slot_push(w, slot_of(w, tick), &i, 1);
		else
			overflow_push(w, i, tick);
	}
}

/* Move the wheel to a tick before which no item is due. */
static inline void
move_to(struct timing_wheel *w, uint64_t tick)
{
	if (tick <= w->head.now_tick)
		return;
	w->head.now_tick = tick;
	/* Walking the list at half a turn leaves at least half a turn until the next walk. */
	if (w->overflow_min_tick < tick + w->n_slots / 2)
		overflow_migrate(w);
	else
		w->horizon_tick = min_u64(tick + w->n_slots, w->overflow_min_tick);
}

/* The slot boundary at or after a deadline. */
static inline uint64_t
tick_of(const struct timing_wheel *w, uint64_t deadline_ns)
{
	assert(deadline_ns < 1ull << 63);
	return max_u64((deadline_ns + (1ull << w->head.slot_shift) - 1) >> w->head.slot_shift,
		       w->head.now_tick);
}

/* Insert after all items with the same or an earlier tick. */
static inline void
few_insert(struct timing_wheel *w, uint32_t item, uint64_t tick)
{
	uint32_t at = w->n_in;

	for (; at > 0 && w->few_tick[at - 1] > tick; at--) {
		w->few_tick[at] = w->few_tick[at - 1];
		w->few_item[at] = w->few_item[at - 1];
	}
	w->few_tick[at] = tick;
	w->few_item[at] = item;
}

/* timing_wheel_advance() of a wheel of few items. */
static inline uint32_t
few_take_due(struct timing_wheel *w, uint32_t *items, uint32_t budget, uint64_t now_tick)
{
	uint32_t n = 0, left;

	while (n < budget && n < w->n_in && w->few_tick[n] <= now_tick) {
		items[n] = w->few_item[n];
		n++;
	}
	if (n == 0)
		return 0;
	w->head.now_tick = n < budget ? now_tick : w->few_tick[n - 1];
	left = w->n_in - n;
	for (uint32_t i = 0; i < left; i++) {
		w->few_item[i] = w->few_item[n + i];
		w->few_tick[i] = w->few_tick[n + i];
	}
	w->n_in = left;
	w->head.next_tick = left > 0 ? w->few_tick[0] : NO_TICK;
	return n;
}

static void
few_hurry(struct timing_wheel *w, uint32_t item, uint64_t tick)
{
	for (uint32_t i = 0; i < w->n_in; i++) {
		if (w->few_item[i] != item || w->few_tick[i] <= tick)
			continue;
		w->n_in--;
		memmove(&w->few_item[i], &w->few_item[i + 1],
			(w->n_in - i) * sizeof(w->few_item[0]));
		memmove(&w->few_tick[i], &w->few_tick[i + 1],
			(w->n_in - i) * sizeof(w->few_tick[0]));
		few_insert(w, item, tick);
		w->n_in++;
		w->head.next_tick = w->few_tick[0];
		return;
	}
}

/*
 * An item in a slot is due before the horizon already. An item in the overflow list gets an earlier
 * tick, at or after the horizon; its place in the list does not matter. For an item that is not in
 * the wheel, the tick means nothing, and the list may be walked once without need.
 */
void
timing_wheel_hurry(struct timing_wheel *w, uint32_t item, uint64_t deadline_ns)
{
	uint64_t tick = tick_of(w, deadline_ns);

	assert(item < w->n_items);
	if (is_few(w)) {
		few_hurry(w, item, tick);
		return;
	}
	if (w->overflow.head == NO_ITEM)
		return;
	tick = max_u64(tick, w->horizon_tick);
	if (w->overflow_ticks[item] <= tick)
		return;
	w->overflow_ticks[item] = tick;
	w->overflow_min_tick = min_u64(w->overflow_min_tick, tick);
	if (w->head.next_tick > tick)
		w->head.next_tick = tick;
}

static void
few_insert_burst(struct timing_wheel *w, const uint32_t *items, const uint64_t *deadlines_ns,
		 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t tick = tick_of(w, deadlines_ns[i]);

		assert(items[i] < w->n_items && w->n_in < w->n_items);
		w->head.next_tick = min_u64(w->head.next_tick, tick);
		few_insert(w, items[i], tick);
		w->n_in++;
	}
}

/* Insert n items, at least one, of one tick. */
static inline void
insert_run(struct timing_wheel *w, const uint32_t *items, uint32_t n, uint64_t tick)
{
	w->head.next_tick = min_u64(w->head.next_tick, tick);
	if (tick < w->horizon_tick) {
		slot_push(w, slot_of(w, tick), items, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		overflow_push(w, items[i], tick);
}

/* QPs that leave in one poll often have one tick: insert them together. */
static void
slots_insert_burst(struct timing_wheel *w, const uint32_t *items, const uint64_t *deadlines_ns,
		   uint32_t n)
{
	uint64_t tick = tick_of(w, deadlines_ns[0]);
	uint32_t start = 0;

	w->n_in += n;
	assert(w->n_in <= w->n_items);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t next = tick_of(w, deadlines_ns[i]);

		assert(items[i] < w->n_items);
		if (next == tick)
			continue;
		insert_run(w, items + start, i - start, tick);
		tick = next;
		start = i;
	}
	insert_run(w, items + start, n - start, tick);
}

void
timing_wheel_insert_burst(struct timing_wheel *w, const uint32_t *items,
			  const uint64_t *deadlines_ns, uint32_t n)
{
	if (is_few(w))
		few_insert_burst(w, items, deadlines_ns, n);
	else if (n > 0)
		slots_insert_burst(w, items, deadlines_ns, n);
}

/* Copy the first n items of a slot. `room` of them may be written, at least n and seven. */
static inline void
slot_copy(const struct timing_wheel *w, const struct slot *s, uint32_t *items, uint32_t n,
	  uint32_t room)
{
	const struct chunk *c;
	uint32_t at = CHUNK_ITEMS;

	/* Copying all seven costs less than one mispredicted branch. */
	memcpy(items, s->item, sizeof(s->item));
	if (s->n <= SLOT_ITEMS)
		return;
	for (c = &w->chunks[s->item[LAST]]; at < n; at += CHUNK_ITEMS) {
		c = &w->chunks[c->next];
		if (at + CHUNK_ITEMS <= room)
			memcpy(items + at, c->item, sizeof(c->item));
		else
			memcpy(items + at, c->item, (n - at) * sizeof(items[0]));
	}
}

/*
 * Prefetch what the next calls of upcoming() read: the chunks of the next slot, whose own line the
 * last call has prefetched, and the line of the slot after it.
 */
static void
fetch_next_slots(const struct timing_wheel *w)
{
	uint64_t tick = slots_next_tick(w, w->seen_tick);
	const struct slot *s = &slots_of(w)[slot_of(w, tick)];

	if (tick == NO_TICK)
		return;
	if (s->n > SLOT_ITEMS) {
		const char *last = (const char *)&w->chunks[s->item[LAST]];

		__builtin_prefetch(last);
		__builtin_prefetch(last - 64);
		__builtin_prefetch(last + 64);
	}
	__builtin_prefetch(&slots_of(w)[slot_of(w, slots_next_tick(w, tick + 1))]);
}

uint32_t
timing_wheel_upcoming(struct timing_wheel *w, uint32_t *items, uint32_t budget, uint64_t until_ns)
{
	uint64_t end_tick = min_u64(until_ns >> w->head.slot_shift, w->horizon_tick);
	uint64_t tick = max_u64(w->seen_tick, w->head.now_tick + (w->skip > 0));
	uint32_t n = 0;

	if (is_few(w))
		return 0;
	while (tick < end_tick && n + SLOT_ITEMS <= budget) {
		uint32_t slot = slot_of(w, tick);
		uint64_t bits = w->words[slot / 64] >> slot % 64;
		const struct slot *s;
		uint32_t listed;

		if (bits == 0) {
			tick += 64 - slot % 64;
			continue;
		}
		tick += (uint64_t)__builtin_ctzll(bits);
		if (tick >= end_tick)
			break;
		s = &slots_of(w)[slot_of(w, tick)];
		listed = s->n;
		if (listed > budget - n) {
			if (n > 0)
				break;
			listed = budget;
		}
		slot_copy(w, s, items + n, listed, budget - n);
		n += listed;
		tick++;
	}
	w->seen_tick = max_u64(w->seen_tick, min_u64(tick, end_tick));
	fetch_next_slots(w);
	return n;
}

static inline void
chunk_free(struct timing_wheel *w, uint32_t at)
{
	w->chunks[at].next = w->free_chunk;
	w->free_chunk = at;
}

/* The six items in a slot with more than seven are released: move those of its first chunk
 * there. */
static void
slot_refill(struct timing_wheel *w, struct slot *s)
{
	struct chunk *last = &w->chunks[s->item[LAST]];
	uint32_t first = last->next;

	last->next = w->chunks[first].next;
	memcpy(s->item, w->chunks[first].item, sizeof(last->item));
	chunk_free(w, first);
	s->n -= CHUNK_ITEMS;
	w->skip = 0;
	if (s->n == SLOT_ITEMS) {
		uint32_t at = s->item[LAST];

		s->item[LAST] = w->chunks[at].item[0];
		chunk_free(w, at);
	}
}

/* Release up to budget items of a slot of which w->skip are released already, or not all can be. */
static __attribute__((noinline)) uint32_t
slot_take_part(struct timing_wheel *w, struct slot *s, uint32_t *items, uint32_t budget)
{
	uint32_t n = 0;

	while (n < budget && w->skip < s->n) {
		if (w->skip == CHUNK_ITEMS && s->n > SLOT_ITEMS)
			slot_refill(w, s);
		items[n++] = s->item[w->skip++];
	}
	if (w->skip == s->n)
		s->n = w->skip = 0;
	return n;
}

/* Release up to budget items of the slot of now_tick, in order. */
static inline uint32_t
slot_take(struct timing_wheel *w, uint32_t slot, uint32_t *items, uint32_t budget)
{
	struct slot *s = &slots_of(w)[slot];
	uint32_t n = s->n;

	if (n <= budget && budget >= SLOT_ITEMS && w->skip == 0) {
		slot_copy(w, s, items, n, budget);
		if (n > SLOT_ITEMS) {
			struct chunk *last = &w->chunks[s->item[LAST]];
			uint32_t first = last->next;

			last->next = w->free_chunk;
			w->free_chunk = first;
		}
		s->n = 0;
	} else {
		n = slot_take_part(w, s, items, budget);
	}
	if (s->n == 0)
		slot_mark_empty(w, slot);
	w->n_in -= n;
	return n;
}

static __attribute__((noinline)) uint32_t
take_due(struct timing_wheel *w, uint32_t *items, uint32_t budget, uint64_t now_tick)
{
	uint32_t n = 0;

	while (n < budget && w->head.next_tick <= now_tick) {
		move_to(w, w->head.next_tick);
		n += slot_take(w, slot_of(w, w->head.next_tick), items + n, budget - n);
		w->head.next_tick = find_next_tick(w);
	}
	if (n < budget)
		move_to(w, now_tick);
	return n;
}

uint32_t
timing_wheel_advance(struct timing_wheel *w, uint32_t *items, uint32_t budget, uint64_t now_ns)
{
	uint64_t now_tick = now_ns >> w->head.slot_shift;

	if (w->head.next_tick <= now_tick)
		return is_few(w) ? few_take_due(w, items, budget, now_tick)
				 : take_due(w, items, budget, now_tick);
	if (budget == 0)
		return 0;
	if (is_few(w))
		w->head.now_tick = max_u64(w->head.now_tick, now_tick);
	else
		move_to(w, now_tick);
	return 0;
}
