/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <errno.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "pacer/timing_wheel.h"

#define HOUR_NS (3600 * NS_PER_SEC)

static void
put(struct timing_wheel *w, uint32_t item, uint64_t deadline_ns)
{
	timing_wheel_insert_burst(w, &item, &deadline_ns, 1);
}

TEST(sizes_that_are_no_power_of_two_are_refused)
{
	static const struct {
		uint32_t n_items, n_slots;
		uint64_t slot_ns;
	} rows[] = {{0, 64, 64}, {1, 63, 64}, {1, 32, 64}, {1, 100, 64}, {1, 64, 0}, {1, 64, 100}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		errno = 0;
		assert_null(timing_wheel_create(rows[i].n_items, rows[i].n_slots, rows[i].slot_ns));
		assert_int_equal(errno, EINVAL);
	}
	timing_wheel_destroy(NULL);
}

TEST(item_comes_at_the_slot_boundary_at_or_after_its_deadline)
{
	static const struct {
		uint64_t deadline_ns, due_ns;
	} rows[] = {
		{0, 0},
		{1, 256},
		{255, 256},
		{256, 256},
		{257, 512},
		{256 * 64 - 1, 256 * 64}, /* the last slot, one turn away */
		{256 * 64 + 1, 256 * 65}, /* beyond the horizon */
		{5 * HOUR_NS, 5 * HOUR_NS},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct timing_wheel *w = timing_wheel_create(4, 64, 256);
		uint32_t item = 9;

		assert_non_null(w);
		assert_int_equal(timing_wheel_next_ns(w), NEVER_NS);
		put(w, 3, rows[i].deadline_ns);
		assert_int_equal(timing_wheel_next_ns(w), rows[i].due_ns);
		if (rows[i].due_ns > 0)
			assert_int_equal(timing_wheel_advance(w, &item, 1, rows[i].due_ns - 1), 0);
		assert_int_equal(timing_wheel_next_ns(w), rows[i].due_ns);
		assert_int_equal(timing_wheel_advance(w, &item, 1, rows[i].due_ns), 1);
		assert_int_equal(item, 3);
		assert_int_equal(timing_wheel_next_ns(w), NEVER_NS);
		timing_wheel_destroy(w);
	}
}

/* The same of few items, and of more. */
#define FEW TIMING_WHEEL_FEW
#define MORE (TIMING_WHEEL_FEW + 1)

static void
items_of_one_slot_keep_their_order(uint32_t n_items)
{
	struct timing_wheel *w = timing_wheel_create(n_items, 64, 1);
	uint32_t items[8];

	/* 0 is beyond the horizon when it goes in; when 1 follows, half a turn later, it no longer
	 * is. */
	put(w, 0, 70);
	assert_int_equal(timing_wheel_advance(w, items, 8, 20), 0);
	put(w, 1, 70);
	assert_int_equal(timing_wheel_advance(w, items, 8, 60), 0);
	put(w, 2, 70);
	put(w, 3, 69);
	assert_int_equal(timing_wheel_next_ns(w), 69);
	assert_int_equal(timing_wheel_advance(w, items, 8, 70), 4);
	assert_memory_equal(items, ((uint32_t[]){3, 0, 1, 2}), 4 * sizeof(uint32_t));
	timing_wheel_destroy(w);
}

TEST(items_of_one_slot_keep_their_order_across_the_horizon)
{
	items_of_one_slot_keep_their_order(FEW);
	items_of_one_slot_keep_their_order(MORE);
}

static void
past_deadline_comes_at_once(uint32_t n_items)
{
	struct timing_wheel *w = timing_wheel_create(n_items, 64, 1024);
	uint32_t items[8];

	assert_int_equal(timing_wheel_advance(w, items, 8, HOUR_NS + 700), 0);
	put(w, 5, 17);
	put(w, 4, HOUR_NS);
	assert_true(timing_wheel_next_ns(w) <= HOUR_NS + 700);
	assert_int_equal(timing_wheel_advance(w, items, 8, HOUR_NS + 700), 2);
	assert_int_equal(items[0], 5);
	assert_int_equal(items[1], 4);
	timing_wheel_destroy(w);
}

TEST(past_deadline_is_due_at_once)
{
	past_deadline_comes_at_once(FEW);
	past_deadline_comes_at_once(MORE);
}

/* Slots of few items, and of more than a slot names itself. */
TEST(budget_leaves_the_rest_due)
{
	for (uint32_t step_ns = 1; step_ns <= 10; step_ns += 3) {
		struct timing_wheel *w = timing_wheel_create(100, 64, 64);
		uint32_t items[100 + 7];
		uint32_t n = 0;

		for (uint32_t i = 0; i < 100; i++)
			put(w, i, i * step_ns);
		for (uint32_t got = 7; got == 7; n += got) {
			got = timing_wheel_advance(w, items + n, 7, 2000);
			if (n + got < 100)
				assert_true(timing_wheel_next_ns(w) <= 2000);
		}
		assert_int_equal(n, 100);
		for (uint32_t i = 0; i < 100; i++)
			assert_int_equal(items[i], i);
		timing_wheel_destroy(w);
	}
}

/* A walk over each slot of a day would take minutes; the test's time limit would end it. */
TEST(stall_of_hours_costs_no_walk_over_empty_slots)
{
	struct timing_wheel *w = timing_wheel_create(1000, 4096, 1);
	uint32_t items[1000];

	for (uint64_t day = 0; day < 100; day++) {
		uint64_t start_ns = day * 48 * HOUR_NS;

		timing_wheel_advance(w, items, 1000, start_ns);
		for (uint32_t i = 0; i < 1000; i++)
			put(w, i, start_ns + (1000 - i) * (i % 2 ? 3 : 60 * NS_PER_SEC));
		assert_int_equal(timing_wheel_advance(w, items, 1000, start_ns + 24 * HOUR_NS),
				 1000);
		for (uint32_t i = 0; i < 500; i++) {
			assert_int_equal(items[i], 999 - 2 * i);
			assert_int_equal(items[500 + i], 998 - 2 * i);
		}
	}
	timing_wheel_destroy(w);
}

/* The reference: every item with its tick and the number of its insertion, searched for the
 * least. */
#define REF_ITEMS 200

struct ref {
	uint64_t now_tick, slot_ns, n_inserted;
	bool in[REF_ITEMS];
	uint64_t tick[REF_ITEMS], order[REF_ITEMS];
};

static int
ref_first(const struct ref *ref)
{
	int first = -1;

	for (int i = 0; i < REF_ITEMS; i++) {
		if (!ref->in[i])
			continue;
		if (first < 0 || ref->tick[i] < ref->tick[first] ||
		    (ref->tick[i] == ref->tick[first] && ref->order[i] < ref->order[first]))
			first = i;
	}
	return first;
}

static void
ref_insert(struct ref *ref, uint32_t item, uint64_t deadline_ns)
{
	uint64_t tick = (deadline_ns + ref->slot_ns - 1) / ref->slot_ns;

	ref->in[item] = true;
	ref->tick[item] = tick > ref->now_tick ? tick : ref->now_tick;
	ref->order[item] = ref->n_inserted++;
}

static uint32_t
ref_advance(struct ref *ref, uint32_t *items, uint32_t budget, uint64_t now_ns)
{
	uint32_t n = 0;

	for (; n < budget; n++) {
		int first = ref_first(ref);

		if (first < 0 || ref->tick[first] * ref->slot_ns > now_ns) {
			if (now_ns / ref->slot_ns > ref->now_tick)
				ref->now_tick = now_ns / ref->slot_ns;
			break;
		}
		ref->in[first] = false;
		ref->now_tick = ref->tick[first];
		items[n] = (uint32_t)first;
	}
	return n;
}

#define CHECK(seed, step, cond)                                                                    \
	do {                                                                                       \
		if (!(cond))                                                                       \
			fail_msg("seed %llu step %u: %s", (unsigned long long)(seed), step,        \
				 #cond);                                                           \
	} while (0)

static void
one_random_run(uint64_t seed, uint32_t n_items)
{
	static const uint32_t slots[] = {64, 128, 4096, 16384};
	struct timing_wheel *w;
	struct ref ref = {0};
	struct prng rnd;
	uint64_t now_ns;
	uint64_t spread_ns; /* deadlines: from well inside to far beyond the horizon */
	uint32_t n_slots;

	prng_seed(&rnd, seed, 0);
	n_slots = slots[prng_below(&rnd, 4)];
	ref.slot_ns = 1ull << prng_below(&rnd, 12);
	now_ns = prng_below(&rnd, 1ull << prng_below(&rnd, 55));
	spread_ns = n_slots * ref.slot_ns << prng_below(&rnd, 4) >> 2;
	w = timing_wheel_create(n_items, n_slots, ref.slot_ns);
	for (unsigned int step = 0; step < 1500; step++) {
		uint32_t item = (uint32_t)prng_below(&rnd, n_items);
		uint32_t got[16], want[16], n, budget = (uint32_t)prng_below(&rnd, 17);
		int first;

		switch (prng_below(&rnd, 7)) {
		case 0:
		case 1:
			now_ns += prng_below(&rnd, 50) == 0 ? prng_below(&rnd, HOUR_NS)
							    : prng_below(&rnd, spread_ns / 16 + 2);
			n = timing_wheel_advance(w, got, budget, now_ns);
			CHECK(seed, step, n == ref_advance(&ref, want, budget, now_ns));
			CHECK(seed, step, memcmp(got, want, n * sizeof(got[0])) == 0);
			break;
		default:
			if (!ref.in[item]) {
				uint64_t deadline_ns = now_ns + prng_below(&rnd, spread_ns);

				if (prng_below(&rnd, 10) == 0)
					deadline_ns = prng_below(&rnd, now_ns + 1);
				put(w, item, deadline_ns);
				ref_insert(&ref, item, deadline_ns);
			}
		}
		first = ref_first(&ref);
		CHECK(seed, step,
		      timing_wheel_next_ns(w) ==
			      (first < 0 ? NEVER_NS : ref.tick[first] * ref.slot_ns));
	}
	timing_wheel_destroy(w);
}

TEST(burst_goes_in_like_its_items_one_after_another)
{
	struct timing_wheel *one = timing_wheel_create(200, 256, 8);
	struct timing_wheel *burst = timing_wheel_create(200, 256, 8);
	uint32_t items[200], a[200], b[200];
	uint64_t at_ns[200];
	struct prng rnd;

	prng_seed(&rnd, 5, 0);
	for (uint32_t i = 0; i < 200; i++) {
		items[i] = i;
		at_ns[i] = prng_below(&rnd, 400);
		put(one, i, at_ns[i]);
	}
	timing_wheel_insert_burst(burst, items, at_ns, 200);
	assert_int_equal(timing_wheel_advance(one, a, 200, 400), 200);
	assert_int_equal(timing_wheel_advance(burst, b, 200, 400), 200);
	assert_memory_equal(a, b, sizeof(a));
	timing_wheel_destroy(one);
	timing_wheel_destroy(burst);
}

/* Three to a slot, over two words of the bitmap and the end of the wheel. */
TEST(upcoming_items_are_told_once_and_in_their_order)
{
	struct timing_wheel *w = timing_wheel_create(300, 128, 8);
	uint32_t seen[300], n;

	assert_int_equal(timing_wheel_advance(w, seen, 300, 100 * 8), 0);
	assert_int_equal(timing_wheel_upcoming(w, seen, 300, 105 * 8), 0);
	for (uint32_t i = 0; i < 300; i++)
		put(w, i, (110 + i / 3) * 8);
	n = timing_wheel_upcoming(w, seen, 300, 110 * 8);
	assert_int_equal(n, 0);
	n = timing_wheel_upcoming(w, seen, 300, 120 * 8);
	assert_int_equal(n, 30);
	n += timing_wheel_upcoming(w, seen + n, 13, 200 * 8); /* three whole slots */
	assert_int_equal(n, 39);
	n += timing_wheel_upcoming(w, seen + n, 300, 190 * 8);
	assert_int_equal(n, 240);
	assert_int_equal(timing_wheel_upcoming(w, seen, 300, 190 * 8), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(seen[i], i);
	/* What came out is not upcoming. */
	assert_int_equal(timing_wheel_advance(w, seen, 300, 199 * 8), 270);
	assert_int_equal(timing_wheel_upcoming(w, seen, 300, 1000 * 8), 30);
	assert_int_equal(seen[0], 270);
	timing_wheel_destroy(w);
}

/* Slots of 0 to 40 items, released in parts while others are added at the end. */
TEST(items_of_a_full_slot_come_in_order_whatever_the_parts)
{
	for (uint32_t in_slot = 0; in_slot <= 40; in_slot++) {
		for (uint32_t part = 1; part <= 40; part++) {
			struct timing_wheel *w = timing_wheel_create(100, 64, 8);
			uint32_t added = 0, out = 0, items[40];

			for (; added < in_slot; added++)
				put(w, added, 80);
			do {
				uint32_t n = timing_wheel_advance(w, items, part, 80);

				for (uint32_t i = 0; i < n; i++)
					assert_int_equal(items[i], out++);
				assert_true(n == part || out == added);
				for (uint32_t i = 0; i < 3 && added < in_slot + 30; i++)
					put(w, added++, 80);
			} while (out < added);
			assert_int_equal(out, in_slot + 30);
			assert_int_equal(timing_wheel_next_ns(w), NEVER_NS);
			timing_wheel_destroy(w);
		}
	}
}

TEST(upcoming_lists_all_items_of_a_full_slot)
{
	struct timing_wheel *w = timing_wheel_create(300, 128, 8);
	uint32_t seen[300];

	for (uint32_t i = 0; i < 40; i++)
		put(w, i, (10 + i / 20) * 8);
	/* the second slot does not fit, and comes next time */
	assert_int_equal(timing_wheel_upcoming(w, seen, 39, 100 * 8), 20);
	assert_int_equal(timing_wheel_upcoming(w, seen + 20, 20, 100 * 8), 20);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(seen[i], i);
	/* a slot that is larger than the budget */
	for (uint32_t i = 40; i < 100; i++)
		put(w, i, 20 * 8);
	assert_int_equal(timing_wheel_upcoming(w, seen, 32, 100 * 8), 32);
	assert_int_equal(seen[31], 71);
	assert_int_equal(timing_wheel_upcoming(w, seen, 32, 100 * 8), 0);
	timing_wheel_destroy(w);
}

TEST(random_runs_equal_a_sorted_reference)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		one_random_run(seed, REF_ITEMS);
		one_random_run(seed, 1 + (uint32_t)(seed % MORE));
	}
}

/* An item that no longer waits for what it waited for is due earlier, at the horizon at best. */
static void
hurried_items_are_due_earlier(uint32_t n_items, bool few)
{
	struct timing_wheel *w = timing_wheel_create(n_items, 64, 16);
	uint32_t items[8];

	put(w, 0, HOUR_NS);
	put(w, 1, HOUR_NS + 1600);
	put(w, 2, 160);
	/* Not in, in a slot already, and later than it is. */
	timing_wheel_hurry(w, 3, 16);
	timing_wheel_hurry(w, 2, 320);
	timing_wheel_hurry(w, 0, 2 * HOUR_NS);
	assert_int_equal(timing_wheel_next_ns(w), 160);
	timing_wheel_hurry(w, 1, 320);
	assert_int_equal(timing_wheel_advance(w, items, 8, 319), 1);
	assert_int_equal(items[0], 2);
	assert_true(timing_wheel_next_ns(w) <= (few ? 320 : 2 * 64 * 16));
	assert_int_equal(timing_wheel_advance(w, items, 8, 2 * 64 * 16), 1);
	assert_int_equal(items[0], 1);
	assert_int_equal(timing_wheel_next_ns(w), HOUR_NS);
	assert_int_equal(timing_wheel_advance(w, items, 8, HOUR_NS), 1);
	assert_int_equal(items[0], 0);
	assert_int_equal(timing_wheel_next_ns(w), NEVER_NS);
	timing_wheel_destroy(w);
}

TEST(hurried_items_come_at_the_horizon_or_before)
{
	hurried_items_are_due_earlier(FEW, true);
	hurried_items_are_due_earlier(MORE, false);
}

TEST_MAIN()
