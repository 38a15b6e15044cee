// SPDX-License-Identifier: BSD-3-Clause

#include "unit/cases.h"
#include "base/numbers/fixed.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"

TEST(scaled_products_keep_128_bits)
{
	assert_int_equal(mul_div(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
	assert_int_equal(mul_div(40 * GBPS, 3600 * NS_PER_SEC, NS_PER_SEC), 144000 * GBPS);
	assert_int_equal(mul_div(7, 3, 2), 10); /* rounded down */
	assert_int_equal(mul_div(0, UINT64_MAX, 1), 0);
}

TEST(q32_one_is_the_identity_and_rounding_is_down)
{
	assert_int_equal(mul_q32(UINT64_MAX, Q32_ONE), UINT64_MAX);
	assert_int_equal(mul_q32(40 * GBPS, Q32_ONE / 2), 20 * GBPS);
	assert_int_equal(mul_q32(3, Q32_ONE / 2), 1);
	assert_int_equal(mul_q32(UINT64_MAX, 0), 0);
}

TEST(sums_and_differences_stop_at_the_ends)
{
	assert_int_equal(add_sat(UINT64_MAX, 1), UINT64_MAX);
	assert_int_equal(add_sat(UINT64_MAX - 1, 1), UINT64_MAX);
	assert_int_equal(add_sat(1, 2), 3);
	assert_int_equal(sub_sat(1, 2), 0);
	assert_int_equal(sub_sat(2, 1), 1);
	assert_int_equal(min_u64(1, UINT64_MAX), 1);
	assert_int_equal(max_u64(1, UINT64_MAX), UINT64_MAX);
}

TEST(sizes_count_fcs_padding_and_gap)
{
	assert_int_equal(frame_bytes(42), 64);
	assert_int_equal(frame_bytes(60), 64);
	assert_int_equal(frame_bytes(61), 65);
	assert_int_equal(wire_bytes(60), 84);
	assert_int_equal(wire_bytes(1514), 1538);
	/* 84 bytes at 100 Gb/s are 6.72 ns, rounded up; 148.8 Mpps. */
	assert_int_equal(serialization_ns(84, 100 * GBPS), 7);
	assert_int_equal(serialization_ns(1538, GBPS), 12304);
	/* One byte at 1 bit/s, and the largest frame count the comment allows. */
	assert_int_equal(serialization_ns(1, 1), 8 * NS_PER_SEC);
	assert_int_equal(serialization_ns((1u << 31) - 1, GBPS), ((1ull << 31) - 1) * 8);
}

TEST(random_scaled_products_agree_with_long_division)
{
	struct prng r;

	prng_seed(&r, 1, 0);
	for (int i = 0; i < 10000; i++) {
		uint64_t a = prng_u64(&r) >> prng_below(&r, 64);
		uint64_t c = (prng_u64(&r) >> prng_below(&r, 64)) | 1;
		uint64_t b = prng_below(&r, c) + (c < UINT64_MAX);
		uint64_t q = mul_div(a, b, c);
		unsigned __int128 product = (unsigned __int128)a * b;

		assert_true((unsigned __int128)q * c <= product);
		assert_true(product - (unsigned __int128)q * c < c);
	}
}

TEST_MAIN()
