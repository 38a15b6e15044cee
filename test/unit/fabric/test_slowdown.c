/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "fabric/results/slowdown.h"

#define UNIT SLOWDOWN_UNIT

static struct slowdown_summary
summary(struct slowdowns *s, const uint64_t *edges, uint32_t n)
{
	struct slowdown_summary out;

	assert_int_equal(slowdowns_summary(s, edges, n, &out), 0);
	slowdowns_destroy(s);
	return out;
}

/* Message i of n, from 1 on, has 10 i bytes and slowdown 1 + i / n. */
static struct slowdowns *
ramp(uint32_t n)
{
	struct slowdowns *s = slowdowns_create();

	for (uint32_t i = 1; i <= n; i++)
		assert_int_equal(slowdowns_add(s, 10 * i, n + i, n), 0);
	return s;
}

TEST(nothing_has_no_percentiles)
{
	struct slowdown_summary s = summary(slowdowns_create(), NULL, 0);

	assert_int_equal(s.n_buckets, 0);
	assert_int_equal(s.all.messages, 0);
	assert_int_equal(s.all.percentile[SLOWDOWN_P50], SLOWDOWN_NONE);
	assert_false(s.has_interval);
	assert_false(slowdown_may_rise(&s.all));
}

TEST(ten_equal_shares_have_percentiles_of_their_messages)
{
	static const uint32_t expected[] = {11500, 11950, 11990, 12000};
	struct slowdown_summary s = summary(ramp(1000), NULL, 0);

	assert_int_equal(s.n_buckets, 10);
	for (uint32_t i = 0; i < s.n_buckets; i++) {
		assert_int_equal(s.buckets[i].messages, 100);
		assert_int_equal(s.buckets[i].to_bytes, 1000 * (i + 1));
		assert_int_equal(s.buckets[i].from_bytes, i == 0 ? 0 : 1000 * i + 1);
	}
	for (unsigned int i = 0; i < SLOWDOWN_PERCENTILES; i++)
		assert_int_equal(s.buckets[1].percentile[i], expected[i]);
	assert_int_equal(s.all.messages, 1000);
	assert_int_equal(s.all.percentile[SLOWDOWN_P999], 19990);
}

TEST(messages_of_one_size_are_in_one_bucket)
{
	struct slowdowns *s = slowdowns_create();
	struct slowdown_summary out;

	for (uint32_t i = 0; i < 100; i++)
		slowdowns_add(s, i < 95 ? 7 : i, 1, 1);
	out = summary(s, NULL, 0);
	assert_int_equal(out.n_buckets, 2);
	assert_int_equal(out.buckets[0].messages, 95);
	assert_int_equal(out.buckets[1].to_bytes, 99);
}

TEST(given_edges_hold_and_larger_messages_are_a_last_bucket)
{
	static const uint64_t edges[] = {20, 25, 5000};
	static const uint64_t messages[] = {2, 0, 498, 500};
	struct slowdown_summary s = summary(ramp(1000), edges, ARRAY_LEN(edges));

	assert_int_equal(s.n_buckets, ARRAY_LEN(messages));
	for (uint32_t i = 0; i < s.n_buckets; i++)
		assert_int_equal(s.buckets[i].messages, messages[i]);
	assert_int_equal(s.buckets[1].percentile[SLOWDOWN_P99], SLOWDOWN_NONE);
	assert_int_equal(s.buckets[3].to_bytes, 10000);
	assert_true(slowdown_is_scarce(&s.buckets[0]));
	assert_false(slowdown_is_scarce(&s.buckets[3]));
}

/* Of 1000 messages the p99 is the 990th. With 5 that have not ended it is the 995th, with 11 none.
 */
TEST(messages_that_have_not_ended_may_raise_the_p99)
{
	static const struct {
		uint32_t not_ended, bound;
		bool may_rise;
	} rows[] = {{0, 19900, false},
		    {5, 19950, false},
		    {10, 20000, false},
		    {11, SLOWDOWN_NONE, true}};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct slowdowns *s = ramp(1000);
		struct slowdown_summary out;

		for (uint32_t k = 0; k < rows[i].not_ended; k++)
			slowdowns_add_not_ended(s, 20000);
		out = summary(s, NULL, 0);
		assert_int_equal(out.all.not_ended, rows[i].not_ended);
		assert_int_equal(out.all.p99_bound, rows[i].bound);
		assert_int_equal(slowdown_may_rise(&out.all), rows[i].may_rise);
		/* They are larger than all that have ended, so they are in the last bucket. */
		assert_int_equal(out.buckets[9].not_ended, rows[i].not_ended);
		assert_int_equal(slowdown_may_rise(&out.buckets[9]), rows[i].not_ended > 1);
	}
}

TEST(the_interval_holds_the_p99_of_an_exponential_distribution)
{
	struct slowdowns *s = slowdowns_create();
	struct slowdown_summary out;
	struct prng rnd;

	prng_seed(&rnd, 1, 0);
	for (unsigned int i = 0; i < 20000; i++) {
		double u = ((double)(prng_u64(&rnd) >> 11) + 1) / 0x1p53;

		slowdowns_add(s, 1, (uint64_t)(-log(u) * 1e6), 1000000);
	}
	out = summary(s, NULL, 0);
	assert_true(out.has_interval);
	assert_true(out.p99_low < log(100) && log(100) < out.p99_high);
	assert_true(out.p99_high < 1.1 * out.p99_low);
	assert_false(summary(ramp(999), NULL, 0).has_interval);
}

TEST(memory_is_bounded_and_percentiles_stay)
{
	struct slowdowns *s = slowdowns_create();
	struct slowdown_summary out;

	for (uint64_t i = 0; i < 2ull * SLOWDOWN_MAX_KEPT + 5; i++)
		slowdowns_add(s, 1, 1000 + i * 1000 / (2ull * SLOWDOWN_MAX_KEPT), 1000);
	out = summary(s, NULL, 0);
	assert_int_equal(out.every, 4);
	assert_in_range(out.all.messages, 2ull * SLOWDOWN_MAX_KEPT, 2ull * SLOWDOWN_MAX_KEPT + 8);
	assert_in_range(out.all.percentile[SLOWDOWN_P50], 14990, 15010);
	assert_in_range(out.all.percentile[SLOWDOWN_P99], 19890, 19910);
}

TEST_MAIN()
