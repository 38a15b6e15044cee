/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names numbered in the order in which they are added, and found by a hash: thousands of sections
 * or flows are compared without looking at each for each.
 */
#ifndef QUENCH_BASE_NAMES_H
#define QUENCH_BASE_NAMES_H

#include <stdint.h>

#define NAMES_NONE UINT32_MAX

/* Zero-initialised: none. */
struct names {
	const char **names; /* by number; not owned */
	uint32_t n, room;
	uint32_t *slots; /* 1 + number; 0: free. Twice as many as there is room for names */
};

void names_free(struct names *names);

/**
 * Add a name that is not there.
 * @param name  Stays as it is until names_free().
 * @return      Its number, or NAMES_NONE: no memory.
 */
uint32_t names_add(struct names *names, const char *name);

/** @return the number of a name, or NAMES_NONE. */
uint32_t names_find(const struct names *names, const char *name);

#endif
