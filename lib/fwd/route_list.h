/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A few IPv4 routes, sorted by decreasing prefix length. A lookup compares the address with all of
 * them, sixteen per step, without a branch that depends on the address. The first match is the
 * longest prefix.
 *
 * Invariant: mask[] does not increase, so the lowest set bit of the match word is the longest
 * prefix.
 *
 * Zero-initialised: empty. Private to lib/fwd.
 */
#ifndef QUENCH_FWD_ROUTE_LIST_H
#define QUENCH_FWD_ROUTE_LIST_H

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <rte_vect.h>

#define ROUTE_LIST_MAX 64u
#define ROUTE_LIST_STEP 16u

struct route_list {
	uint32_t n;
	/* of ROUTE_LIST_STEP routes; entries after the last route match no address */
	uint32_t n_steps;
	/* An address is in prefix i if (address & mask[i]) == net[i]. */
	_Alignas(16) uint32_t mask[ROUTE_LIST_MAX];
	_Alignas(16) uint32_t net[ROUTE_LIST_MAX];
	uint16_t target[ROUTE_LIST_MAX];
};
static_assert(ROUTE_LIST_MAX <= 64, "a bit of one word for each route");

/** @param length  0..32. @return 0, or -ENOMEM if the list already has `most` routes. */
static inline int
route_list_add(struct route_list *l, uint32_t ip, uint8_t length, uint16_t target, uint32_t most)
{
	uint32_t mask = length == 0 ? 0 : UINT32_MAX << (32 - length), at = 0;
	uint32_t n_after;

	while (at < l->n &&
	       (l->mask[at] > mask || (l->mask[at] == mask && l->net[at] != (ip & mask))))
		at++;
	if (at < l->n && l->mask[at] == mask) {
		l->target[at] = target;
		return 0;
	}
	if (l->n >= most || l->n == ROUTE_LIST_MAX)
		return -ENOMEM;
	n_after = l->n++ - at;
	memmove(&l->mask[at + 1], &l->mask[at], n_after * sizeof(l->mask[0]));
	memmove(&l->net[at + 1], &l->net[at], n_after * sizeof(l->net[0]));
	memmove(&l->target[at + 1], &l->target[at], n_after * sizeof(l->target[0]));
	l->mask[at] = mask;
	l->net[at] = ip & mask;
	l->target[at] = target;
	l->n_steps = (l->n + ROUTE_LIST_STEP - 1) / ROUTE_LIST_STEP;
	/* Unused entries match no address: an address & mask 0 is never net 1. */
	for (uint32_t i = l->n; i < l->n_steps * ROUTE_LIST_STEP; i++) {
		l->mask[i] = 0;
		l->net[i] = 1;
	}
	return 0;
}

/*
 * Compare an address with four routes. In the result, the lane of a route whose prefix contains the
 * address has all bits set.
 */
static inline __m128i
route_list_match(const struct route_list *l, uint32_t at, __m128i ip)
{
	__m128i mask = _mm_load_si128((const __m128i *)&l->mask[at]);
	__m128i net = _mm_load_si128((const __m128i *)&l->net[at]);

	return _mm_cmpeq_epi32(_mm_and_si128(ip, mask), net);
}

/** @return the target of an address in host order, or none. */
static inline uint16_t
route_list_look_up(const struct route_list *l, uint32_t ip, uint16_t none)
{
	__m128i want = _mm_set1_epi32((int)ip);
	uint64_t hits = 0;

	for (uint32_t i = 0; i < l->n_steps; i++) {
		uint32_t at = i * ROUTE_LIST_STEP;
		__m128i low = _mm_packs_epi32(route_list_match(l, at, want),
					      route_list_match(l, at + 4, want));
		__m128i high = _mm_packs_epi32(route_list_match(l, at + 8, want),
					       route_list_match(l, at + 12, want));

		hits |= (uint64_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) << at;
	}
	return hits == 0 ? none : l->target[__builtin_ctzll(hits)];
}

#endif
