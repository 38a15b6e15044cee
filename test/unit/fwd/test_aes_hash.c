/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "fwd/aes_hash.h"

AES_HASH_TARGET static uint32_t
hash(const struct aes_hash_key *key, uint64_t number)
{
	return aes_hash(key, number);
}

static struct aes_hash_key
key_of(uint64_t secret)
{
	struct half_sip_key half = half_sip_key(secret);
	struct aes_hash_key key;

	aes_hash_key_init(&key, &half);
	return key;
}

/* Product in AES's field (FIPS 197 section 4.2). */
static uint8_t
times(uint8_t a, uint8_t b)
{
	uint8_t product = 0;

	for (; b != 0; b >>= 1) {
		if (b & 1)
			product ^= a;
		a = (uint8_t)(a << 1 ^ (a >> 7) * 0x1B);
	}
	return product;
}

/* The inverse, and the affine transformation (5.1.1). */
static uint8_t
substitute(uint8_t x)
{
	uint8_t inverse = 1, y;

	for (unsigned int i = 0; i < 254; i++)
		inverse = times(inverse, x);
	y = inverse;
	for (unsigned int i = 1; i <= 4; i++)
		y ^= (uint8_t)(inverse << i | inverse >> (8 - i));
	return y ^ 0x63;
}

/* SubBytes, ShiftRows, MixColumns, AddRoundKey. */
static void
aes_round(uint8_t block[16], const uint8_t key[16])
{
	uint8_t s[16];

	for (unsigned int i = 0; i < 16; i++)
		s[i] = substitute(block[(i + i % 4 * 4) % 16]);
	for (unsigned int i = 0; i < 16; i++) {
		const uint8_t *column = &s[i / 4 * 4];

		block[i] = times(column[i % 4], 2) ^ times(column[(i + 1) % 4], 3) ^
			   column[(i + 2) % 4] ^ column[(i + 3) % 4] ^ key[i];
	}
}

TEST(four_rounds_are_those_of_the_standard)
{
	struct prng r;

	if (!aes_hash_works())
		skip();
	assert_int_equal(substitute(0x53), 0xED); /* 5.1.1 */
	prng_seed(&r, 1, 0);
	for (unsigned int i = 0; i < 100; i++) {
		struct aes_hash_key key = key_of(prng_u64(&r));
		uint64_t number = prng_u64(&r);
		uint8_t block[16] = {0}, rounds[AES_HASH_ROUNDS + 1][16];
		uint32_t expected;

		memcpy(rounds, key.round, sizeof(rounds));
		memcpy(block, &number, sizeof(number));
		for (unsigned int k = 0; k < 16; k++)
			block[k] ^= rounds[0][k];
		for (unsigned int k = 1; k <= AES_HASH_ROUNDS; k++)
			aes_round(block, rounds[k]);
		memcpy(&expected, block, sizeof(expected));
		assert_int_equal(hash(&key, number), expected);
	}
}

/* Of each bit of the number and of the secret, about half of the hash depends on it. */
TEST(every_bit_reaches_half_of_the_hash)
{
	enum { ROUNDS = 2000 };
	struct prng r;

	if (!aes_hash_works())
		skip();
	prng_seed(&r, 2, 0);
	for (unsigned int bit = 0; bit < 128; bit++) {
		uint64_t flipped = 0;

		for (unsigned int i = 0; i < ROUNDS; i++) {
			uint64_t secret = prng_u64(&r), number = prng_u64(&r);
			uint64_t near = bit < 64 ? number ^ 1ull << bit : number;
			uint64_t other = bit < 64 ? secret : secret ^ 1ull << (bit - 64);
			struct aes_hash_key a = key_of(secret), b = key_of(other);

			flipped += (uint64_t)__builtin_popcount(hash(&a, number) ^ hash(&b, near));
		}
		/* 16 of 32; the mean of 2000 is within 0.4 of it but for one of 10^10 runs. */
		assert_in_range(flipped * 10 / ROUNDS, 156, 164);
	}
}

/* Neighbours, of which addresses mostly differ in the last bytes, spread as random ones do. */
TEST(consecutive_addresses_spread_over_buckets)
{
	enum { BUCKETS = 4096, NUMBERS = 4 * BUCKETS };
	static unsigned int in_bucket[BUCKETS];
	struct aes_hash_key key = key_of(0x243f6a8885a308d3);
	unsigned int fullest = 0;

	if (!aes_hash_works())
		skip();
	for (uint64_t i = 0; i < NUMBERS; i++) {
		unsigned int n = ++in_bucket[hash(&key, 0x800006000000ull << 16 | i) % BUCKETS];

		fullest = n > fullest ? n : fullest;
	}
	/* Poisson with mean 4: more than 20 in one of 4096 buckets, once in 10^5 keys. */
	assert_in_range(fullest, 10, 20);
}

TEST_MAIN()
