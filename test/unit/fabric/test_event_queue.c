/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "fabric/links/event_queue.h"

/* More levels than are always played. */
#define SOURCES 300
#define SEED 11

TEST(sources_start_at_never)
{
	struct event_queue q;

	assert_int_equal(event_queue_init(&q, SOURCES), 0);
	assert_true(event_queue_min(&q).at_ns == NEVER_NS);
	event_queue_free(&q);
}

TEST(equal_times_come_out_in_source_order)
{
	struct event_queue q;

	assert_int_equal(event_queue_init(&q, SOURCES), 0);
	for (uint32_t i = SOURCES; i-- > 0;)
		event_queue_set(&q, i, 5);
	for (uint32_t i = 0; i < SOURCES; i++) {
		assert_int_equal(event_queue_min(&q).source, i);
		event_queue_set(&q, i, NEVER_NS);
	}
	event_queue_free(&q);
}

/* Against a plain search over all sources, through random moves earlier and later. */
TEST(the_earliest_source_is_always_first)
{
	uint64_t at[SOURCES];
	struct event_queue q;
	struct prng r;

	prng_seed(&r, SEED, 0);
	assert_int_equal(event_queue_init(&q, SOURCES), 0);
	for (uint32_t i = 0; i < SOURCES; i++)
		at[i] = NEVER_NS;
	for (int step = 0; step < 20000; step++) {
		uint32_t source = (uint32_t)prng_below(&r, SOURCES), best = 0;

		at[source] = prng_below(&r, 8) == 0 ? NEVER_NS : prng_below(&r, 100);
		event_queue_set(&q, source, at[source]);
		for (uint32_t i = 1; i < SOURCES; i++)
			if (at[i] < at[best])
				best = i;
		assert_int_equal(event_queue_min(&q).source, best);
		assert_true(event_queue_min(&q).at_ns == at[best]);
		assert_true(event_queue_at(&q, source) == at[source]);
		if (at[best] != NEVER_NS) {
			assert_false(event_queue_is_first(&q, best, at[best]));
			assert_true(best == 0 || event_queue_is_first(&q, best - 1, at[best]));
			assert_false(event_queue_is_first(&q, best + 1, at[best]));
		}
	}
	event_queue_free(&q);
}

TEST_MAIN()
