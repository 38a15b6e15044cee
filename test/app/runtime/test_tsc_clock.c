/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "runtime/eal/tsc_clock.h"

TEST(one_second_of_cycles_is_one_second)
{
	static const uint64_t hz[] = {1000000000, 2100000000, 2593906000, 3999999999};

	for (unsigned int i = 0; i < ARRAY_LEN(hz); i++) {
		struct tsc_clock clock;

		tsc_clock_init(&clock, hz[i]);
		assert_in_range(tsc_clock_ns(&clock, hz[i]), NS_PER_SEC - 1, NS_PER_SEC);
		/* A year: the product needs more than 64 bits. */
		assert_in_range(tsc_clock_ns(&clock, hz[i] * 31536000), (NS_PER_SEC - 1) * 31536000,
				NS_PER_SEC * 31536000);
	}
}

TEST(time_never_goes_back)
{
	struct tsc_clock clock;
	uint64_t last = 0;

	tsc_clock_init(&clock, 2593906000);
	for (uint64_t cycles = 0; cycles < 1000000; cycles++) {
		uint64_t ns = tsc_clock_ns(&clock, cycles);

		assert_true(ns >= last && ns - last <= 1);
		last = ns;
	}
	last = 0;
	for (unsigned int i = 0; i < 1000000; i++) {
		uint64_t ns = tsc_clock_now(&clock);

		assert_true(ns >= last);
		last = ns;
	}
}

/* The kernel's clock is the peer. */
TEST(the_frequency_is_that_of_the_kernels_clock)
{
	struct tsc_moment begin = tsc_moment_now(), end;
	uint64_t hz = tsc_hz_since(&begin), ns;
	struct tsc_clock clock;

	tsc_clock_init(&clock, hz);
	end = tsc_moment_now();
	ns = end.ns - begin.ns;
	assert_in_range(ns, 50 * NS_PER_MS, UINT64_MAX);
	/* 10 ppm */
	assert_in_range(tsc_clock_ns(&clock, end.cycles - begin.cycles), ns - ns / 100000,
			ns + ns / 100000);
	/* Two programs that start one after the other. */
	assert_int_equal(hz % 1000, 0);
	begin = end;
	assert_in_range(tsc_hz_since(&begin), hz - 1000, hz + 1000);
}

TEST_MAIN()
