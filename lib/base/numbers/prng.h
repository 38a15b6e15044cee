/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small seeded generator (xoshiro256++, state filled by splitmix64; Blackman and Vigna 2019). The
 * caller owns the state; equal seeds give equal sequences on every compiler.
 */
#ifndef QUENCH_BASE_NUMBERS_PRNG_H
#define QUENCH_BASE_NUMBERS_PRNG_H

#include <stdint.h>

struct prng {
	uint64_t s[4];
};

static inline uint64_t
prng_rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

/**
 * Fill the state from a seed and a stream number, so that objects with one seed draw different
 * numbers.
 */
static inline void
prng_seed(struct prng *r, uint64_t seed, uint64_t stream)
{
	uint64_t x = seed ^ (stream * 0x9e3779b97f4a7c15ull);

	for (int i = 0; i < 4; i++) {
		uint64_t z = (x += 0x9e3779b97f4a7c15ull);

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
		r->s[i] = z ^ (z >> 31);
	}
}

static inline uint64_t
prng_u64(struct prng *r)
{
	uint64_t *s = r->s;
	uint64_t out = prng_rotl(s[0] + s[3], 23) + s[0];
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = prng_rotl(s[3], 45);
	return out;
}

static inline uint32_t
prng_u32(struct prng *r)
{
	return (uint32_t)(prng_u64(r) >> 32);
}

/** Uniform in [0, bound), bound > 0; the bias is below bound / 2^64. */
static inline uint64_t
prng_below(struct prng *r, uint64_t bound)
{
	return (uint64_t)((unsigned __int128)prng_u64(r) * bound >> 64);
}

#endif
