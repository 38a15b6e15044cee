// SPDX-License-Identifier: BSD-3-Clause
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "base/threads/counter.h"
#include "base/sets/hist.h"
#include "base/numbers/prng.h"

TEST(an_empty_histogram_has_quantile_zero)
{
	static struct hist h;

	assert_int_equal(hist_quantile(&h, 50), 0);
	assert_int_equal(hist_quantile(&h, 100), 0);
	hist_add(&h, 1000, 0); /* no weight, no trace */
	assert_int_equal(h.max, 0);
	assert_int_equal(hist_quantile(&h, 100), 0);
}

TEST(buckets_tile_the_numbers_without_gap)
{
	for (unsigned int b = 0; b < HIST_BUCKETS; b++) {
		uint64_t top = hist_bucket_top(b);

		assert_int_equal(hist_bucket(top), b);
		if (b + 1 < HIST_BUCKETS)
			assert_int_equal(hist_bucket(top + 1), b + 1);
	}
	assert_int_equal(hist_bucket(0), 0);
	assert_int_equal(hist_bucket_top(HIST_BUCKETS - 1), UINT64_MAX);
}

TEST(a_bucket_is_at_most_a_128th_wide)
{
	struct prng r;

	prng_seed(&r, 1, 0);
	for (int i = 0; i < 100000; i++) {
		uint64_t v = prng_u64(&r) >> prng_below(&r, 64);
		uint64_t top = hist_bucket_top(hist_bucket(v));

		assert_true(top >= v);
		assert_true(top - v <= v / 128);
	}
}

TEST(quantiles_weigh_time_not_samples)
{
	static struct hist h;

	hist_add(&h, 10, 99); /* for 99 ns the queue held 10 bytes */
	hist_add(&h, 5000, 1);
	assert_int_equal(h.count, 100);
	assert_int_equal(h.max, 5000);
	assert_int_equal(hist_quantile(&h, 0), 10);
	assert_int_equal(hist_quantile(&h, 50), 10);
	assert_int_equal(hist_quantile(&h, 99), 10);
	assert_int_equal(hist_quantile(&h, 99.5), 5000); /* never above the maximum */
	assert_int_equal(hist_quantile(&h, 100), 5000);
}

static int
ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

TEST(quantiles_of_random_values_are_within_a_128th)
{
	static struct hist h;
	static uint64_t values[1000];
	struct prng r;

	prng_seed(&r, 3, 0);
	for (int i = 0; i < 1000; i++) {
		values[i] = prng_u64(&r) >> (20 + prng_below(&r, 40));
		hist_add(&h, values[i], 1);
	}
	qsort(values, 1000, sizeof(values[0]), ascending);
	for (int pct = 1; pct <= 100; pct++) {
		uint64_t exact = values[pct * 10 - 1], got = hist_quantile(&h, pct);

		assert_true(got >= exact);
		assert_true(got - exact <= exact / 128);
	}
}

TEST(the_mean_is_that_of_the_values_themselves)
{
	static struct hist h;

	assert_int_equal(hist_mean(&h), 0);
	hist_add(&h, 1000003, 3);
	hist_add(&h, 1, 1);
	assert_int_equal(h.sum, 3000010);
	assert_int_equal(hist_mean(&h), 750002);
}

TEST(merged_parts_are_what_one_histogram_had_counted)
{
	static struct hist whole, parts[2], sum;
	struct prng r;

	prng_seed(&r, 4, 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t v = prng_below(&r, 1u << 20);

		hist_add(&whole, v, 1);
		hist_add(&parts[i % 2], v, 1);
	}
	hist_merge(&sum, &parts[0]);
	hist_merge(&sum, &parts[1]);
	assert_memory_equal(&sum, &whole, sizeof(sum));
}

TEST(the_difference_of_two_readings_is_what_came_between)
{
	static struct hist h, earlier, since;

	hist_add(&h, 1u << 20, 5);
	hist_since(&h, &earlier, &since);
	assert_memory_equal(&since, &h, sizeof(h));
	hist_since(&h, &earlier, &since);
	assert_int_equal(since.count, 0);
	assert_int_equal(since.max, 0);
	assert_int_equal(since.sum, 0);
	assert_int_equal(hist_quantile(&since, 50), 0);
	hist_add(&h, 100, 1);
	hist_add(&h, 5000, 3);
	hist_since(&h, &earlier, &since);
	assert_int_equal(since.count, 4);
	assert_int_equal(since.sum, 15100);
	assert_int_equal(hist_quantile(&since, 25), 100);
	assert_in_range(hist_quantile(&since, 50), 5000, 5000 + 5000 / 128);
	/* The largest so far came before. */
	assert_in_range(since.max, 5000, 5000 + 5000 / 128);
}

TEST(a_counter_adds_and_reads)
{
	uint64_t counter = 0;

	counter_inc(&counter);
	counter_add(&counter, 41);
	assert_int_equal(counter_read(&counter), 42);
}

/* Completion times of 10^6 QPs, which are all in flight all the time, add up to 2^64 ns in
 * hours. */
TEST(the_mean_outlives_its_sum)
{
	static struct hist h;
	struct prng r;

	prng_seed(&r, 1, 0);
	for (unsigned int day = 1; day <= 365; day++) {
		unsigned __int128 sum = 0;
		uint64_t mean;

		/* Each message of the day takes 1 to 3 s. */
		for (unsigned int i = 0; i < 100; i++)
			hist_add(&h, 1000000000 + prng_below(&r, 2000000000), 432000000);
		for (unsigned int b = 0; b < HIST_BUCKETS; b++)
			sum += (unsigned __int128)hist_bucket_top(b) * h.weight[b];
		mean = hist_mean(&h);
		assert_true(mean <= (uint64_t)(sum / h.count));
		assert_true(mean >= (uint64_t)(sum / h.count / 128 * 127));
	}
	/* 2^64 exactly, twice. */
	memset(&h, 0, sizeof(h));
	hist_add(&h, 1ull << 40, 1ull << 25);
	hist_add(&h, 3, 1ull << 25);
	assert_true(h.sum == 3ull << 25);
	assert_int_equal(hist_mean(&h), ((1ull << 40) + 3) / 2);
}

TEST_MAIN()
