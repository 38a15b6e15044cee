/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "fabric/links/flights.h"

TEST(an_empty_one_has_nothing_that_arrives)
{
	struct flights f;

	flights_init(&f);
	assert_int_equal(flights_count(&f), 0);
	assert_true(flights_next_ns(&f) == NEVER_NS);
	flights_rewind(&f);
	flights_free(&f);
	flights_free(&f);
}

/* Pushes and pops in random runs, so that the array grows, and what is left moves to its start. */
TEST(frames_come_out_in_the_order_of_going_in)
{
	uint64_t in = 0, out = 0;
	struct flights f;
	struct prng rnd;

	prng_seed(&rnd, 1, 0);
	flights_init(&f);
	for (unsigned int turn = 0; turn < 2000; turn++) {
		for (uint64_t n = prng_u64(&rnd) % 30; n > 0; n--, in++)
			assert_true(flights_push(&f, &(struct flight){.due_ns = in}));
		for (uint64_t n = prng_u64(&rnd) % 32; n > 0 && out < in; n--, out++) {
			assert_int_equal(flights_next_ns(&f), out);
			assert_int_equal(flights_pop(&f)->due_ns, out);
		}
		assert_int_equal(flights_count(&f), in - out);
		if (in == out) {
			assert_true(flights_next_ns(&f) == NEVER_NS);
			flights_rewind(&f);
			assert_true(flights_next_ns(&f) == NEVER_NS);
		}
	}
	flights_free(&f);
}

/* What is pushed and popped in turns needs no more room than what is under way at a time. */
TEST(room_is_used_again)
{
	struct flights f;

	flights_init(&f);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(flights_push(&f, &(struct flight){.due_ns = i}));
	for (unsigned int i = 3; i < 10000; i++) {
		assert_true(flights_push(&f, &(struct flight){.due_ns = i}));
		assert_int_equal(flights_pop(&f)->due_ns, i - 3);
	}
	assert_in_range(f.limit - f.items, 4, 16);
	flights_free(&f);
}

TEST_MAIN()
