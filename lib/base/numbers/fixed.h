/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Integer arithmetic that does not overflow silently: scaled products, saturation, Q32 fractions. A
 * Q32 fraction is a uint64_t in [0, Q32_ONE]; only 1.0 itself uses the 33rd bit.
 */
#ifndef QUENCH_BASE_NUMBERS_FIXED_H
#define QUENCH_BASE_NUMBERS_FIXED_H

#include <stdint.h>

#define Q32_ONE (1ull << 32)

/** a * b / c, rounded down, with a 128-bit product. c > 0 and the quotient fits 64 bits. */
static inline uint64_t
mul_div(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

/** a * fraction, rounded down. */
static inline uint64_t
mul_q32(uint64_t a, uint64_t fraction_q32)
{
	return (uint64_t)((unsigned __int128)a * fraction_q32 >> 32);
}

static inline uint64_t
add_sat(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t
sub_sat(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline uint64_t
min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t
max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
