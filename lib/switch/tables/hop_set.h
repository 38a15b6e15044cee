/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of a route's next hops, by their places in its list: bit place % 64 of word place / 64. */
#ifndef QUENCH_SWITCH_TABLES_HOP_SET_H
#define QUENCH_SWITCH_TABLES_HOP_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "switch/tables/sw_limits.h"

#define SW_HOP_WORDS (SW_MAX_NEXTHOPS / 64)

struct sw_hop_set {
	uint64_t word[SW_HOP_WORDS];
};

/** Words that hold n next hops. */
static inline uint32_t
sw_hop_words(uint32_t n)
{
	return (n + 63) / 64;
}

static inline bool
sw_hop_words_have(const uint64_t *words, uint32_t hop)
{
	return words[hop / 64] >> hop % 64 & 1;
}

/** Of n next hops, those that are not in words[]. */
static inline struct sw_hop_set
sw_hop_set_others(const uint64_t *words, uint32_t n)
{
	struct sw_hop_set others = {0};

	for (uint32_t i = 0; i < n; i += 64)
		others.word[i / 64] = ~words[i / 64] & ~0ull >> (n - i < 64 ? 64 - (n - i) : 0);
	return others;
}

static inline uint32_t
sw_hop_set_count(const struct sw_hop_set *s)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < SW_HOP_WORDS; i++)
		n += (uint32_t)__builtin_popcountll(s->word[i]);
	return n;
}

/** The n-th member from 0, of more than n. */
static inline uint32_t
sw_hop_set_nth(const struct sw_hop_set *s, uint32_t n)
{
	uint64_t left = s->word[0];
	uint32_t i = 0;

	for (uint32_t here; n >= (here = (uint32_t)__builtin_popcountll(left)); n -= here)
		left = s->word[++i];
	for (; n > 0; n--)
		left &= left - 1;
	return i * 64 + (uint32_t)__builtin_ctzll(left);
}

#endif
