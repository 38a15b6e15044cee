/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv4 routes in a trie of 16, 8 and 8 bits: a lookup reads memory one to three times. An entry has
 * the target of the longest prefix that covers it, or the number of a block of 256 entries for the
 * next 8 bits. So a shorter prefix that is added later does not replace a longer one.
 *
 * Memory: 196 KB, and up to 1.5 KB for each route, touched as prefixes longer than 16 bits need
 * blocks.
 *
 * Zero-initialised: empty, without room. Private to lib/fwd.
 */
#ifndef QUENCH_FWD_ROUTE_TRIE_H
#define QUENCH_FWD_ROUTE_TRIE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/threads/pages.h"

#define ROUTE_TRIE_ROOT 65536u
#define ROUTE_TRIE_BLOCK 256u
/* Flag of an entry that is the number of a block; a target has 15 bits too. */
#define ROUTE_TRIE_IS_BLOCK 0x8000u
#define ROUTE_TRIE_MAX_BLOCKS 32768u
/* A route of more than 24 bits needs two blocks. */
#define ROUTE_TRIE_BLOCKS_PER_ROUTE 2u

struct route_trie {
	uint16_t *value;
	uint8_t *length; /* of the prefix whose target value is */
	uint32_t n_blocks, max_blocks;
};

static inline size_t
route_trie_entries(uint32_t max_blocks)
{
	return ROUTE_TRIE_ROOT + (size_t)max_blocks * ROUTE_TRIE_BLOCK;
}

/** @param routes  Most routes. @return 0 or -ENOMEM. */
static inline int
route_trie_init(struct route_trie *t, uint32_t routes)
{
	uint32_t blocks = routes * ROUTE_TRIE_BLOCKS_PER_ROUTE;

	t->max_blocks = blocks < ROUTE_TRIE_MAX_BLOCKS ? blocks : ROUTE_TRIE_MAX_BLOCKS;
	t->value = pages_alloc(route_trie_entries(t->max_blocks) * sizeof(*t->value));
	t->length = pages_alloc(route_trie_entries(t->max_blocks) * sizeof(*t->length));
	return t->value == NULL || t->length == NULL ? -ENOMEM : 0;
}

static inline void
route_trie_free(struct route_trie *t)
{
	pages_free(t->value, route_trie_entries(t->max_blocks) * sizeof(*t->value));
	pages_free(t->length, route_trie_entries(t->max_blocks) * sizeof(*t->length));
}

/* First entry of the block below this entry. */
static inline uint32_t
route_trie_below(const struct route_trie *t, uint32_t at)
{
	uint32_t block = t->value[at] & ~ROUTE_TRIE_IS_BLOCK;

	return ROUTE_TRIE_ROOT + block * ROUTE_TRIE_BLOCK;
}

/* Make sure that the entry has a block. @return false: no room. */
static inline bool
route_trie_divide(struct route_trie *t, uint32_t at)
{
	uint32_t first;

	if (t->value[at] & ROUTE_TRIE_IS_BLOCK)
		return true;
	if (t->n_blocks == t->max_blocks)
		return false;
	first = ROUTE_TRIE_ROOT + t->n_blocks * ROUTE_TRIE_BLOCK;
	for (uint32_t i = first; i < first + ROUTE_TRIE_BLOCK; i++) {
		t->value[i] = t->value[at];
		t->length[i] = t->length[at];
	}
	t->value[at] = (uint16_t)(ROUTE_TRIE_IS_BLOCK | t->n_blocks++);
	return true;
}

/* Set an entry of the last level. */
static inline void
route_trie_set(struct route_trie *t, uint32_t at, uint8_t length, uint16_t target)
{
	if (t->length[at] > length)
		return;
	t->value[at] = target;
	t->length[at] = length;
}

/* Set n entries, and those of the blocks below, of shorter prefixes or none. */
static inline void
route_trie_fill(struct route_trie *t, uint32_t at, uint32_t n, uint8_t length, uint16_t target)
{
	for (uint32_t end = at + n; at < end; at++) {
		if (t->value[at] & ROUTE_TRIE_IS_BLOCK)
			/* A block of the last level has none below it. */
			route_trie_fill(t, route_trie_below(t, at), ROUTE_TRIE_BLOCK, length,
					target);
		else
			route_trie_set(t, at, length, target);
	}
}

/** @param length  0..32. @return 0, or -ENOSPC: no room for more long prefixes. */
static inline int
route_trie_add(struct route_trie *t, uint32_t ip, uint8_t length, uint16_t target)
{
	uint32_t at = ip >> 16, bits = 16, n;

	while (bits < length) {
		if (!route_trie_divide(t, at))
			return -ENOSPC;
		bits += 8;
		at = route_trie_below(t, at) + (ip >> (32 - bits)) % ROUTE_TRIE_BLOCK;
	}
	n = 1u << (bits - length);
	route_trie_fill(t, at & ~(n - 1), n, length, target);
	return 0;
}

/** @return the target of an address in host order, or 0. */
static inline uint16_t
route_trie_look_up(const struct route_trie *t, uint32_t ip)
{
	uint32_t at = ip >> 16;

	if (t->value[at] & ROUTE_TRIE_IS_BLOCK) {
		at = route_trie_below(t, at) + (ip >> 8) % ROUTE_TRIE_BLOCK;
		if (t->value[at] & ROUTE_TRIE_IS_BLOCK)
			at = route_trie_below(t, at) + ip % ROUTE_TRIE_BLOCK;
	}
	return t->value[at];
}

#endif
