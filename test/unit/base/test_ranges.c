/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranges of numbers against a plain array of flags. */
#include <errno.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "base/sets/ranges.h"

#define END 200u

static bool flags[END];

static bool
is_free(uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++)
		if (i >= END || flags[i])
			return false;
	return true;
}

static void
mark(uint32_t first, uint32_t n, bool used)
{
	for (uint32_t i = first; i < first + n; i++)
		flags[i] = used;
}

static int64_t
lowest(uint32_t from, uint32_t n)
{
	for (uint32_t i = from; i + n <= END; i++)
		if (is_free(i, n))
			return i;
	return -ENOSPC;
}

static void
are_those_of_the_flags(const struct ranges *r)
{
	bool seen[END] = {false};

	for (uint32_t i = 0; i < r->n; i++) {
		assert_true(r->used[i].first < r->used[i].end);
		assert_true(i == 0 || r->used[i - 1].end < r->used[i].first);
		memset(seen + r->used[i].first, 1, r->used[i].end - r->used[i].first);
	}
	assert_memory_equal(seen, flags, sizeof(flags));
}

TEST(taken_and_given_back_at_random)
{
	struct prng rnd;
	struct ranges r = {0};

	memset(flags, 0, sizeof(flags));
	prng_seed(&rnd, 5, 0);
	for (unsigned int i = 0; i < 20000; i++) {
		uint32_t n = 1 + (uint32_t)(prng_below(&rnd, 12));
		uint32_t first = (uint32_t)(prng_below(&rnd, END - n));
		uint64_t what = prng_below(&rnd, 5);

		if (what < 2) {
			int64_t got;

			assert_int_equal(ranges_find(&r, first, n, END), lowest(first, n));
			got = ranges_take(&r, n, END);
			assert_int_equal(got, lowest(0, n));
			if (got >= 0)
				mark((uint32_t)got, n, true);
		} else if (what == 2) {
			assert_int_equal(ranges_take_at(&r, first, n),
					 is_free(first, n) ? 0 : -EEXIST);
			if (is_free(first, n))
				mark(first, n, true);
		} else {
			bool used = true;

			for (uint32_t k = first; k < first + n; k++)
				used = used && flags[k];
			if (used) {
				assert_int_equal(ranges_give(&r, first, n), 0);
				mark(first, n, false);
			}
		}
		are_those_of_the_flags(&r);
	}
	ranges_free(&r);
}

TEST(in_order_they_are_one)
{
	struct ranges r = {0};

	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(ranges_take(&r, 3, UINT32_MAX), 3 * i);
	assert_int_equal(r.n, 1);
	assert_int_equal(ranges_give(&r, 0, 3000), 0);
	assert_int_equal(r.n, 0);
	assert_int_equal(ranges_take_at(&r, 10, 5), 0);
	assert_int_equal(ranges_take(&r, 11, 20), -ENOSPC);
	assert_int_equal(ranges_take(&r, 10, 20), 0);
	assert_int_equal(ranges_take(&r, 6, 20), -ENOSPC);
	assert_int_equal(ranges_take(&r, 5, 20), 15);
	assert_int_equal(ranges_take(&r, 1, 20), -ENOSPC);
	ranges_free(&r);
}

TEST_MAIN()
