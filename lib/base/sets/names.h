/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names numbered in the order in which they are added, and found by a hash, so that comparing
 * thousands of sections or flows is not quadratic.
 *
 * Invariant: names[i] has number i; slots has 2 x room entries, so at least half of them are
 * free.
 */
#ifndef QUENCH_BASE_SETS_NAMES_H
#define QUENCH_BASE_SETS_NAMES_H

#include <stdint.h>

#define NAMES_NONE UINT32_MAX

/* Zero-initialised: empty. */
struct names {
	const char **names; /* by number; the strings are not owned */
	uint32_t n, capacity;
	uint32_t *slots; /* 1 + number, or 0: free; there are 2 x room slots */
};

void names_free(struct names *names);

/**
 * Add a name that is not in the set.
 * @param name  Must stay valid and unchanged until names_free().
 * @return      Its number, or NAMES_NONE: out of memory.
 */
uint32_t names_add(struct names *names, const char *name);

/** @return the number of a name, or NAMES_NONE. */
uint32_t names_find(const struct names *names, const char *name);

#endif
