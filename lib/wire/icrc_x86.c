/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC by carry-less multiplication, after V. Gopal et al., "Fast CRC Computation for Generic
 * Polynomials Using PCLMULQDQ Instruction" (Intel, 2009), bit-reflected form.
 *
 * A 128-bit state X stands for all bytes so far: appending d bits turns it into
 *   X.first * x^(d+64) + X.last * x^d, each half multiplied by the power's remainder modulo P,
 * which fits 128 bits again. In bit-reflected form a product comes out shifted by one and the
 * halves 32 bits apart from it, so the constants are x^(d+32) and x^(d-32) mod P, reflected,
 * shifted left by one. The unit test derives all of them.
 */
#ifdef __x86_64__
#include <immintrin.h>

#include "wire/icrc_impl.h"

#define TARGET_PCLMUL __attribute__((target("sse4.1,pclmul")))
#define TARGET_VPCLMUL __attribute__((target("avx512f,avx512vl,vpclmulqdq,sse4.1,pclmul")))
#define INLINE_PCLMUL __attribute__((target("sse4.1,pclmul"), always_inline)) static inline
#define INLINE_VPCLMUL                                                                             \
	__attribute__((target("avx512f,avx512vl,vpclmulqdq,sse4.1,pclmul"),                        \
		       always_inline)) static inline

/* {x^(d+32), x^(d-32)} mod P */
#define FOLD_2048 0x11542778aull, 0x1322d1430ull
#define FOLD_512 0x154442bd4ull, 0x1c6e41596ull
#define FOLD_384 0x03db1ecdcull, 0x174359406ull
#define FOLD_256 0x0f1da05aaull, 0x15a546366ull
#define FOLD_128 0x1751997d0ull, 0x0ccaa009eull
#define X_96 0x0ccaa009eull
#define X_64 0x163cd6124ull
#define MU 0x1f7011641ull /* x^64 / P, for Barrett's reduction */
#define P_X 0x1db710641ull

/* 16 bytes from (shuffles + r): move left by 16 - r; from (shuffles + 16 + r): move right by r.
 * 0x80 gives 0. */
static const uint8_t shuffles[48] = {
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0,    1,    2,    3,    4,    5,    6,    7,
	8,    9,    10,   11,   12,   13,   14,   15,   0x80, 0x80, 0x80, 0x80,
	0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
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

INLINE_PCLMUL __m128i
fold(__m128i x, __m128i k, __m128i next)
{
	__m128i first = _mm_clmulepi64_si128(x, k, 0x00);
	__m128i last = _mm_clmulepi64_si128(x, k, 0x11);

	return _mm_xor_si128(_mm_xor_si128(first, last), next);
}

/* 16 bytes of state to a register: append 32 bits of zero, then reduce 96 to 64 to 32 bits. */
INLINE_PCLMUL uint32_t
reduce(__m128i x)
{
	const __m128i low32 = _mm_setr_epi32(-1, 0, 0, 0);
	__m128i t;

	t = _mm_clmulepi64_si128(x, pair(X_96, 0), 0x00);
	x = _mm_xor_si128(_mm_srli_si128(x, 8), t);
	t = _mm_clmulepi64_si128(_mm_and_si128(x, low32), pair(X_64, 0), 0x00);
	x = _mm_xor_si128(_mm_srli_si128(x, 4), t);
	t = _mm_clmulepi64_si128(_mm_and_si128(x, low32), pair(MU, P_X), 0x00);
	t = _mm_clmulepi64_si128(_mm_and_si128(t, low32), pair(MU, P_X), 0x10);
	return (uint32_t)_mm_extract_epi32(_mm_xor_si128(x, t), 1);
}

/*
 * The bytes behind the last whole 64: blocks of 16, then r < 16 bytes. done bytes are in x; done
 * >= 16. ones still matters if done < ICRC_MASK_BYTES.
 */
INLINE_PCLMUL uint32_t
finish(__m128i x, const uint8_t *buf, size_t n, size_t done, const uint8_t *ones)
{
	const __m128i k128 = pair(FOLD_128);
	size_t r;

	for (; n - done >= 16; done += 16) {
		__m128i next = load(buf + done);

		if (done < ICRC_MASK_BYTES)
			next = _mm_or_si128(next, load(ones + done));
		x = fold(x, k128, next);
	}
	r = n - done;
	if (r != 0) {
		/* The last 16 bytes overlap what is done by 16 - r; the state moves r bytes to make
		 * room. */
		__m128i last = load(buf + n - 16);
		__m128i right = load(shuffles + 16 + r);

		if (done < ICRC_MASK_BYTES)
			last = _mm_or_si128(last, load(ones + n - 16));
		last = _mm_blendv_epi8(_mm_shuffle_epi8(x, right), last, right);
		x = fold(_mm_shuffle_epi8(x, load(shuffles + r)), k128, last);
	}
	return reduce(x);
}

TARGET_PCLMUL uint32_t
icrc_update_pclmul(uint32_t reg, const uint8_t *buf, size_t n, const uint8_t *ones)
{
	const __m128i k512 = pair(FOLD_512), k128 = pair(FOLD_128);
	__m128i x0, x1, x2, x3;
	size_t done;

	if (n < 16)
		return icrc_update_table(reg, buf, n, ones);
	x0 = _mm_or_si128(load(buf), load(ones));
	x0 = _mm_xor_si128(x0, _mm_cvtsi32_si128((int)reg));
	if (n < 64)
		return finish(x0, buf, n, 16, ones);

	x1 = _mm_or_si128(load(buf + 16), load(ones + 16));
	x2 = _mm_or_si128(load(buf + 32), load(ones + 32));
	x3 = _mm_or_si128(load(buf + 48), load(ones + 48));
	for (done = 64; n - done >= 64; done += 64) {
		x0 = fold(x0, k512, load(buf + done));
		x1 = fold(x1, k512, load(buf + done + 16));
		x2 = fold(x2, k512, load(buf + done + 32));
		x3 = fold(x3, k512, load(buf + done + 48));
	}
	x1 = fold(x0, k128, x1);
	x2 = fold(x1, k128, x2);
	x3 = fold(x2, k128, x3);
	return finish(x3, buf, n, done, ones);
}

INLINE_VPCLMUL __m512i
fold4(__m512i x, __m512i k, __m512i next)
{
	__m512i first = _mm512_clmulepi64_epi128(x, k, 0x00);
	__m512i last = _mm512_clmulepi64_epi128(x, k, 0x11);

	return _mm512_ternarylogic_epi64(first, last, next, 0x96);
}

/* Distances of four states from the last of them, which needs no shift. */
static const uint64_t joins[8] = {FOLD_384, FOLD_256, FOLD_128, 0, 0};

/* Four states, 128 bits apart, into one. */
INLINE_VPCLMUL __m128i
join4(__m512i x)
{
	__m512i t = fold4(x, _mm512_loadu_si512(joins), _mm512_setzero_si512());
	__m128i a = _mm_xor_si128(_mm512_castsi512_si128(t), _mm512_extracti32x4_epi32(t, 1));
	__m128i b = _mm_xor_si128(_mm512_extracti32x4_epi32(t, 2), _mm512_extracti32x4_epi32(x, 3));

	return _mm_xor_si128(a, b);
}

TARGET_VPCLMUL uint32_t
icrc_update_vpclmul(uint32_t reg, const uint8_t *buf, size_t n, const uint8_t *ones)
{
	const __m512i k512 = _mm512_broadcast_i32x4(pair(FOLD_512));
	__m512i x0;
	size_t done = 64;

	if (n < 64)
		return icrc_update_pclmul(reg, buf, n, ones);
	x0 = _mm512_or_si512(_mm512_loadu_si512(buf), _mm512_loadu_si512(ones));
	x0 = _mm512_xor_si512(x0, _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)reg)));
	if (n >= 256) {
		const __m512i k2048 = _mm512_broadcast_i32x4(pair(FOLD_2048));
		__m512i x1 = _mm512_loadu_si512(buf + 64);
		__m512i x2 = _mm512_loadu_si512(buf + 128);
		__m512i x3 = _mm512_loadu_si512(buf + 192);

		for (done = 256; n - done >= 256; done += 256) {
			x0 = fold4(x0, k2048, _mm512_loadu_si512(buf + done));
			x1 = fold4(x1, k2048, _mm512_loadu_si512(buf + done + 64));
			x2 = fold4(x2, k2048, _mm512_loadu_si512(buf + done + 128));
			x3 = fold4(x3, k2048, _mm512_loadu_si512(buf + done + 192));
		}
		x1 = fold4(x0, k512, x1);
		x2 = fold4(x1, k512, x2);
		x0 = fold4(x2, k512, x3);
	}
	for (; n - done >= 64; done += 64)
		x0 = fold4(x0, k512, _mm512_loadu_si512(buf + done));
	return finish(join4(x0), buf, n, done, ones);
}
#endif
