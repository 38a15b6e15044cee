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

	assert_int_equal(event_queue_init(&q, SOURCES, SEED), 0);
	assert_true(event_queue_min(&q).at_ns == NEVER_NS);
	event_queue_free(&q);
}

/* At each time, each of three sources comes first, second and third in a third of the draws. */
TEST(the_seed_draws_the_order_of_equal_times)
{
	enum { N = 3, TIMES = 3000, LIMIT = 6 * 26 /* six deviations of a binomial count */ };
	uint32_t seen[N][N] = {0};
	struct event_queue q;

	assert_int_equal(event_queue_init(&q, N, SEED), 0);
	for (uint64_t t = 1; t <= TIMES; t++) {
		for (uint32_t i = 0; i < N; i++)
			event_queue_set(&q, i, t);
		for (uint32_t place = 0; place < N; place++) {
			uint32_t source = event_queue_next_source(&q);

			assert_int_equal(event_queue_next_ns(&q), t);
			seen[source][place]++;
			event_queue_set(&q, source, NEVER_NS);
		}
	}
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t place = 0; place < N; place++)
			assert_in_range(seen[i][place], TIMES / N - LIMIT, TIMES / N + LIMIT);
	event_queue_free(&q);
}

TEST(another_seed_draws_another_order)
{
	struct event_queue a, b;
	uint32_t differ = 0;

	assert_int_equal(event_queue_init(&a, 2, SEED), 0);
	assert_int_equal(event_queue_init(&b, 2, SEED + 1), 0);
	for (uint64_t t = 1; t <= 1000; t++) {
		for (uint32_t i = 0; i < 2; i++) {
			event_queue_set(&a, i, t);
			event_queue_set(&b, i, t);
		}
		differ += event_queue_next_source(&a) != event_queue_next_source(&b);
	}
	assert_in_range(differ, 400, 600);
	event_queue_free(&a);
	event_queue_free(&b);
}

/* Against a plain search over all sources, through random moves earlier and later. */
TEST(the_earliest_source_is_always_first)
{
	uint64_t at[SOURCES];
	struct event_queue q;
	struct event first;
	struct prng r;

	prng_seed(&r, SEED, 0);
	assert_int_equal(event_queue_init(&q, SOURCES, SEED), 0);
	for (uint32_t i = 0; i < SOURCES; i++)
		at[i] = NEVER_NS;
	for (int step = 0; step < 20000; step++) {
		uint32_t source = (uint32_t)prng_below(&r, SOURCES), best = 0;

		at[source] = prng_below(&r, 8) == 0 ? NEVER_NS : prng_below(&r, 100);
		event_queue_set(&q, source, at[source]);
		for (uint32_t i = 1; i < SOURCES; i++)
			if (at[i] < at[best])
				best = i;
		first = event_queue_min(&q);
		assert_true(first.at_ns == at[best] && at[first.source] == at[best]);
		assert_true(event_queue_at(&q, source) == at[source]);
		if (at[best] == NEVER_NS)
			continue;
		for (uint32_t i = 0; i < SOURCES; i++)
			assert_false(at[i] == at[best] && event_queue_is_first(&q, i, at[i]));
		assert_true(at[best] == 0 || event_queue_is_first(&q, first.source, at[best] - 1));
		assert_false(event_queue_is_first(&q, first.source, at[best] + 1));
	}
	event_queue_free(&q);
}

TEST_MAIN()
