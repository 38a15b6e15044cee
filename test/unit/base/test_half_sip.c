/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "base/numbers/half_sip.h"

/* HalfSipHash-1-3 of the bytes 0, 1, 2, ... under the key 00..07, as other implementations give
 * it. */
TEST(hashes_are_those_of_other_implementations)
{
	static const uint32_t words[6] = {0x03020100, 0x07060504, 0x0B0A0908,
					  0x0F0E0D0C, 0x13121110, 0x17161514};
	static const uint32_t expected[7] = {0x5814c896, 0x7e059ea6, 0x577999b1, 0x6b28096c,
					     0x8b31d501, 0x911bb605, 0x57150ad7};
	struct half_sip_key key = half_sip_key(0x0706050403020100);

	for (unsigned int n = 0; n < 7; n++)
		assert_int_equal(half_sip(&key, words, n), expected[n]);
	assert_int_equal(half_sip_u64(&key, 0x0706050403020100), expected[2]);
}

TEST(four_at_once_are_hashed_as_one_by_one)
{
	struct prng r;

	prng_seed(&r, 1, 0);
	for (unsigned int i = 0; i < 1000; i++) {
		struct half_sip_key key = half_sip_key(prng_u64(&r));
		uint64_t numbers[HALF_SIP_LANES];
		uint32_t hashes[HALF_SIP_LANES];

		for (unsigned int k = 0; k < HALF_SIP_LANES; k++)
			numbers[k] = prng_u64(&r);
		half_sip_u64_x4(&key, numbers, hashes);
		for (unsigned int k = 0; k < HALF_SIP_LANES; k++)
			assert_int_equal(hashes[k], half_sip_u64(&key, numbers[k]));
	}
}

/* Of each bit of the number and of the key, about half of the hash depends on it. */
TEST(every_bit_reaches_half_of_the_hash)
{
	enum { ROUNDS = 2000 };
	struct prng r;

	prng_seed(&r, 2, 0);
	for (unsigned int bit = 0; bit < 128; bit++) {
		uint64_t flipped = 0;

		for (unsigned int i = 0; i < ROUNDS; i++) {
			uint64_t k = prng_u64(&r), number = prng_u64(&r);
			struct half_sip_key key = half_sip_key(k), other = key;
			uint64_t near = number;

			if (bit < 64)
				near ^= 1ull << bit;
			else
				other = half_sip_key(k ^ 1ull << (bit - 64));
			flipped += (uint64_t)__builtin_popcount(half_sip_u64(&key, number) ^
								half_sip_u64(&other, near));
		}
		/* 16 of 32; the mean of 2000 is within 0.4 of it but for one of 10^10 runs. */
		assert_in_range(flipped * 10 / ROUNDS, 156, 164);
	}
}

TEST_MAIN()
