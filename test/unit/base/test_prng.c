// SPDX-License-Identifier: BSD-3-Clause

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"

/* First numbers of the authors' xoshiro256plusplus.c from the state 1, 2, 3, 4. */
TEST(numbers_are_those_of_the_published_generator)
{
	static const uint64_t expected[] = {
		41943041u,
		58720359u,
		3588806011781223u,
		3591011842654386u,
		9228616714210784205u,
		9973669472204895162u,
		14011001112246962877u,
		12406186145184390807u,
	};
	struct prng r = {{1, 2, 3, 4}};

	for (unsigned int i = 0; i < ARRAY_LEN(expected); i++)
		assert_int_equal(prng_u64(&r), expected[i]);
}

/* First numbers of splitmix64.c from the seed 1477776061723855037. */
TEST(seeding_fills_the_state_with_splitmix64)
{
	struct prng r;

	prng_seed(&r, 1477776061723855037u, 0);
	assert_int_equal(r.s[0], 1985237415132408290u);
	assert_int_equal(r.s[1], 2979275885539914483u);
	assert_int_equal(r.s[2], 13511426838097143398u);
	assert_int_equal(r.s[3], 8488337342461049707u);
}

TEST(streams_of_one_seed_differ_and_repeat)
{
	struct prng a, b, again;
	int equal = 0;

	prng_seed(&a, 7, 0);
	prng_seed(&b, 7, 1);
	prng_seed(&again, 7, 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t x = prng_u64(&a);

		equal += x == prng_u64(&b);
		assert_int_equal(x, prng_u64(&again));
	}
	assert_int_equal(equal, 0);
}

/* 80000 draws over 8 values: each within 5 sigma (sigma = sqrt(80000 * 1/8 * 7/8) = 93.5). */
TEST(bounded_draws_are_uniform)
{
	int count[8] = {0};
	struct prng r;

	prng_seed(&r, 1, 0);
	for (int i = 0; i < 80000; i++)
		count[prng_below(&r, 8)]++;
	for (int v = 0; v < 8; v++)
		assert_in_range(count[v], 10000 - 468, 10000 + 468);
	for (int i = 0; i < 100; i++)
		assert_int_equal(prng_below(&r, 1), 0);
}

TEST_MAIN()
