/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC by carry-less multiplication, after V. Gopal et al., "Fast CRC Computation for Generic
 * Polynomials Using PCLMULQDQ Instruction" (Intel, 2009), bit-reflected form.
 *
 * A 128-bit state X stands for all bytes so far. Appending d bits turns it into
 *   X.first * x^(d+64) + X.last * x^d,
 * where each half is multiplied by the remainder of its power modulo P, so the result again fits
 * 128 bits. Four independent states hide the latency of the products. At the end each half of each
 * state is multiplied by its power. The sum has 96 bits; Barrett's reduction turns it into a
 * register. In bit-reflected form a product is shifted by one bit, so constants are shifted left by
 * one. The unit test derives the powers.
 *
 * Leading zeros do not change a CRC. So zeros may be put before the message, to let the last vector
 * end where the message ends.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "wire/icrc/icrc_impl.h"

#define TARGET_PCLMUL __attribute__((target("sse4.1,pclmul")))
#define TARGET_VPCLMUL __attribute__((target("avx512f,avx512vl,avx512bw,vpclmulqdq,sse4.1,pclmul")))
#define INLINE_PCLMUL TARGET_PCLMUL __attribute__((always_inline)) static inline
#define INLINE_VPCLMUL TARGET_VPCLMUL __attribute__((always_inline)) static inline

/*
 * Fold over d bits: {x^(d+32), x^(d-32)} mod P. The reflected product shifts the exponents by 32.
 */
#define FOLD_2048 0x11542778aull, 0x1322d1430ull
#define FOLD_1536 0x1821d8bc0ull, 0x12e958ac4ull
#define FOLD_1024 0x1e88ef372ull, 0x14a7fe880ull
#define FOLD_512 0x154442bd4ull, 0x1c6e41596ull
#define FOLD_128 0x1751997d0ull, 0x0ccaa009eull
/* Reduce a state that d bits follow: {x^(d+96), x^(d+32)} mod P. */
#define REDUCE_384 0x1c6e41596ull, 0x03db1ecdcull
#define REDUCE_256 0x174359406ull, 0x0f1da05aaull
#define REDUCE_128 0x15a546366ull, 0x1751997d0ull
#define REDUCE_0 0x0ccaa009eull, 0x1db710640ull
#define MU 0xb4e5b025f7011641ull /* x^96 / P without its last bit, which is not needed */
#define P_X 0x1db710641ull

/* Load 16 bytes from (shuffle + r) to move the first r bytes to the end, with zeros before them. */
static const uint8_t shuffle[32] = {
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0,    1,    2,    3,    4,    5,
	6,    7,    8,    9,    10,   11,   12,   13,   14,   15,
};

INLINE_PCLMUL __m128i
load(const void *p)
{
	return _mm_loadu_si128(p);
}

INLINE_PCLMUL __m128i
pair(uint64_t first, uint64_t last)
{
	return _mm_set_epi64x((long long)last, (long long)first);
}

/* Each half of x times its power. */
INLINE_PCLMUL __m128i
times(__m128i x, __m128i k)
{
	return _mm_xor_si128(_mm_clmulepi64_si128(x, k, 0x00), _mm_clmulepi64_si128(x, k, 0x11));
}

INLINE_PCLMUL __m128i
fold(__m128i x, __m128i k, __m128i next)
{
	return _mm_xor_si128(times(x, k), next);
}

/* A * x^32 + B modulo P, with A of 64 and B of 32 bits: quotient = A * MU, then the remainder. */
INLINE_PCLMUL uint32_t
barrett(__m128i x)
{
	__m128i quotient = _mm_clmulepi64_si128(x, pair(MU, P_X), 0x00);
	__m128i product = _mm_clmulepi64_si128(quotient, pair(MU, P_X), 0x10);

	return (uint32_t)_mm_extract_epi32(_mm_xor_si128(x, product), 2);
}

/* The 16 bytes that end at byte `end` of the message, modified by the shape. */
INLINE_PCLMUL __m128i
shaped(__m128i x, const struct icrc_shape *shape, size_t end)
{
	x = _mm_or_si128(x, load(shape->ones + ICRC_SHAPE_START - 16 + end));
	return _mm_xor_si128(x, load(shape->seed + ICRC_SHAPE_START - 16 + end));
}

/*
 * Of n remaining vectors, how many to fold one at a time: then either none remain, or three and
 * whole groups of four.
 */
static inline size_t
n_singles(size_t n)
{
	return n < 3 ? n : (n + 1) % 4;
}

TARGET_PCLMUL uint32_t
icrc_run_pclmul(const uint8_t *buf, size_t n, const struct icrc_shape *shape)
{
	const __m128i k512 = pair(FOLD_512), k128 = pair(FOLD_128);
	size_t done = (n - 1) % 16 + 1, singles;
	__m128i x0, x1, x2, x3;

	if (n < 16)
		return icrc_run_table(buf, n, shape);
	x0 = shaped(_mm_shuffle_epi8(load(buf), load(shuffle + done)), shape, done);
	for (; done < n && done < ICRC_SHAPE_BYTES; done += 16)
		x0 = fold(x0, k128, shaped(load(buf + done), shape, done + 16));
	for (singles = n_singles((n - done) / 16); singles > 0; singles--, done += 16)
		x0 = fold(x0, k128, load(buf + done));
	if (done == n)
		return barrett(times(x0, pair(REDUCE_0)));

	x1 = load(buf + done);
	x2 = load(buf + done + 16);
	x3 = load(buf + done + 32);
	for (done += 48; done < n; done += 64) {
		x0 = fold(x0, k512, load(buf + done));
		x1 = fold(x1, k512, load(buf + done + 16));
		x2 = fold(x2, k512, load(buf + done + 32));
		x3 = fold(x3, k512, load(buf + done + 48));
	}
	x0 = fold(x0, pair(REDUCE_384), times(x1, pair(REDUCE_256)));
	x2 = fold(x2, pair(REDUCE_128), times(x3, pair(REDUCE_0)));
	return barrett(_mm_xor_si128(x0, x2));
}

/* Fold constants by number of bytes. */
static uint64_t fold_bytes[64][2];

void
icrc_x86_init(void)
{
	/* x^(2^32 - 1) is 1, which gives negative powers. */
	for (unsigned int r = 0; r < 64; r++) {
		fold_bytes[r][0] = (uint64_t)icrc_mul_x_pow(ICRC_X_0, 8 * r + 32) << 1;
		fold_bytes[r][1] = (uint64_t)icrc_mul_x_pow(ICRC_X_0, UINT32_MAX + 8ull * r - 32)
				   << 1;
	}
}

INLINE_VPCLMUL __m512i
fold4(__m512i x, __m512i k, __m512i next)
{
	__m512i first = _mm512_clmulepi64_epi128(x, k, 0x00);
	__m512i last = _mm512_clmulepi64_epi128(x, k, 0x11);

	return _mm512_ternarylogic_epi64(first, last, next, 0x96);
}

/* The last r bytes (1 to 64) before byte `end` of the message, with zeros in front. */
INLINE_VPCLMUL __m512i
last4(const uint8_t *buf, size_t end, size_t r)
{
	/* Lanes masked out are not read. */
	return _mm512_maskz_loadu_epi8(~0ull << (64 - r), buf + end - 64);
}

/* The 64 bytes that end at byte `end` of the message, modified by the shape. */
INLINE_VPCLMUL __m512i
shaped4(__m512i x, const struct icrc_shape *shape, size_t end)
{
	__m512i ones = _mm512_loadu_si512(shape->ones + ICRC_SHAPE_START - 64 + end);
	__m512i seed = _mm512_loadu_si512(shape->seed + ICRC_SHAPE_START - 64 + end);

	return _mm512_ternarylogic_epi64(x, ones, seed, 0x56); /* (x | ones) ^ seed */
}

INLINE_VPCLMUL uint32_t
reduce4(__m512i x)
{
	static const uint64_t powers[8] = {REDUCE_384, REDUCE_256, REDUCE_128, REDUCE_0};
	__m512i y = fold4(x, _mm512_loadu_si512(powers), _mm512_setzero_si512());
	__m256i z = _mm256_xor_si256(_mm512_castsi512_si256(y), _mm512_extracti64x4_epi64(y, 1));

	return barrett(_mm_xor_si128(_mm256_castsi256_si128(z), _mm256_extracti32x4_epi32(z, 1)));
}

/*
 * A long message is read in whole vectors from aligned addresses, because a load that crosses a
 * cache line costs as much as two. The remaining bytes are folded as a shorter vector. A short
 * message is aligned to its end instead and has no remainder.
 */
TARGET_VPCLMUL uint32_t
icrc_run_vpclmul(const uint8_t *buf, size_t n, const struct icrc_shape *shape)
{
	const __m512i k512 = _mm512_broadcast_i32x4(pair(FOLD_512));
	const __m512i k2048 = _mm512_broadcast_i32x4(pair(FOLD_2048));
	size_t done = n > 128 ? 64 - (uintptr_t)buf % 64 : (n - 1) % 64 + 1, tail_bytes, singles;
	__m512i x0, x1, x2, x3;

	if (n < 16)
		return icrc_run_table(buf, n, shape);
	x0 = shaped4(last4(buf, done, done), shape, done);
	if (done == n)
		return reduce4(x0);
	x0 = fold4(x0, k512, shaped4(_mm512_loadu_si512(buf + done), shape, done + 64));
	done += 64;
	tail_bytes = (n - done) % 64;
	for (singles = n_singles((n - done) / 64); singles > 0; singles--, done += 64)
		x0 = fold4(x0, k512, _mm512_loadu_si512(buf + done));
	if (n - done >= 192) {
		x1 = _mm512_loadu_si512(buf + done);
		x2 = _mm512_loadu_si512(buf + done + 64);
		x3 = _mm512_loadu_si512(buf + done + 128);
		for (done += 192; n - done >= 256; done += 256) {
			x0 = fold4(x0, k2048, _mm512_loadu_si512(buf + done));
			x1 = fold4(x1, k2048, _mm512_loadu_si512(buf + done + 64));
			x2 = fold4(x2, k2048, _mm512_loadu_si512(buf + done + 128));
			x3 = fold4(x3, k2048, _mm512_loadu_si512(buf + done + 192));
		}
		x0 = fold4(x0, _mm512_broadcast_i32x4(pair(FOLD_1536)), x3);
		x1 = fold4(x1, _mm512_broadcast_i32x4(pair(FOLD_1024)), x0);
		x0 = fold4(x2, k512, x1);
	}
	if (tail_bytes > 0)
		x0 = fold4(x0, _mm512_broadcast_i32x4(load(fold_bytes[tail_bytes])),
			   last4(buf, n, tail_bytes));
	return reduce4(x0);
}
#endif
