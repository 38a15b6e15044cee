/* SPDX-License-Identifier: BSD-3-Clause */
/* Lengths of a queue, few or many, are those of a histogram. */
#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "base/sets/hist.h"
#include "fabric/results/lengths.h"

static void
assert_same(const struct lengths *l, const struct hist *without_empty, uint64_t n_empty)
{
	static struct hist h;

	h = *without_empty;
	hist_add(&h, 0, n_empty);
	assert_int_equal(l->count + n_empty, h.count);
	assert_int_equal(l->sum, h.sum);
	assert_int_equal(l->max, h.max);
	for (double pct = 0; pct <= 100; pct += 12.5)
		assert_int_equal(lengths_quantile(l, n_empty, pct), hist_quantile(&h, pct));
}

/* Adds lengths of 1 to `different` frames, in any order. */
static struct lengths
compare(uint32_t different)
{
	static struct hist h;
	struct lengths l = {0};
	struct prng rnd;

	h = (struct hist){0};
	prng_seed(&rnd, different, 0);
	assert_same(&l, &h, 5);
	for (uint32_t i = 0; i < 300; i++) {
		uint64_t bytes = 1082 * (1 + prng_below(&rnd, different));
		uint64_t weight = 1 + prng_below(&rnd, 3);

		assert_true(lengths_add(&l, bytes, weight));
		hist_add(&h, bytes, weight);
		assert_same(&l, &h, i % 7 * i);
	}
	return l;
}

TEST(few_lengths_are_in_a_list)
{
	struct lengths l = compare(20);

	assert_null(l.hist);
	assert_in_range(l.n_few, 10, 20);
	lengths_free(&l);
	assert_null(l.few);
}

TEST(many_lengths_are_in_a_histogram)
{
	struct lengths l = compare(2000);

	assert_non_null(l.hist);
	assert_null(l.few);
	lengths_free(&l);
	assert_null(l.hist);
}

TEST_MAIN()
