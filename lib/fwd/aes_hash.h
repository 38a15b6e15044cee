/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keyed hash by the AES instructions: four rounds of AES (FIPS 197) over a 64-bit number, with
 * secret round keys, cut to 32 bits. It takes 7 instructions where HalfSipHash
 * (base/numbers/half_sip.h) takes 45, and is for the table that is looked up for each frame.
 *
 * Over four rounds, a given difference of two numbers becomes a given difference of two states with
 * a probability of at most 2^-113 (Keliher and Sui, "Exact maximum expected differential and linear
 * probability for two-round AES", 2007): without the key, no choice of addresses makes their states
 * agree more often than that. The bound is for whole states with independent round keys. That the
 * bits which choose a bucket are as good is an assumption, as for any hash that is cut.
 *
 * Only for a CPU with AES instructions: aes_hash_works().
 */
#ifndef QUENCH_FWD_AES_HASH_H
#define QUENCH_FWD_AES_HASH_H

#include <stdbool.h>
#include <stdint.h>
#include <wmmintrin.h>

#include "base/numbers/half_sip.h"

#define AES_HASH_ROUNDS 4
/* Callers need it too, so that the hash is inlined. */
#define AES_HASH_TARGET __attribute__((target("aes")))

struct aes_hash_key {
	__m128i round[AES_HASH_ROUNDS + 1];
};

static inline bool
aes_hash_works(void)
{
	return __builtin_cpu_supports("aes");
}

/** Expand a secret. */
static inline void
aes_hash_key_init(struct aes_hash_key *key, const struct half_sip_key *secret)
{
	for (uint32_t i = 0; i <= AES_HASH_ROUNDS; i++) {
		uint32_t words[4];

		for (uint32_t k = 0; k < 4; k++)
			words[k] = half_sip_u64(secret, 4 * i + k);
		key->round[i] = _mm_loadu_si128((const __m128i *)words);
	}
}

AES_HASH_TARGET static inline uint32_t
aes_hash(const struct aes_hash_key *key, uint64_t number)
{
	__m128i state = _mm_xor_si128(_mm_cvtsi64_si128((long long)number), key->round[0]);

	for (unsigned int i = 1; i <= AES_HASH_ROUNDS; i++)
		state = _mm_aesenc_si128(state, key->round[i]);
	return (uint32_t)_mm_cvtsi128_si32(state);
}

#endif
