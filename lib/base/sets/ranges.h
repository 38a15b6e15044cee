/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocator of number ranges: takes the lowest free range of a given length, or a range that the
 * caller names.
 *
 * Invariant: used[] is sorted, with used[i].end < used[i + 1].first. Adjacent ranges are merged, so
 * a long run of numbers taken in order is one entry.
 */
#ifndef QUENCH_BASE_SETS_RANGES_H
#define QUENCH_BASE_SETS_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct range {
	uint32_t first, end;
};

/* Zero-initialised: no number is in use. */
struct ranges {
	struct range *used; /* sorted; at least one free number between two ranges */
	uint32_t n, capacity;
};

void ranges_free(struct ranges *r);

/**
 * Take the lowest n > 0 consecutive free numbers below end. @return the first, or -ENOSPC, -ENOMEM.
 */
int64_t ranges_take(struct ranges *r, uint32_t n, uint32_t end);

/**
 * Find the lowest n > 0 consecutive free numbers in [from, end), without taking them.
 * @return the first, or -ENOSPC.
 */
int64_t ranges_find(const struct ranges *r, uint32_t from, uint32_t n, uint32_t end);

/** Take the n > 0 numbers from first on. @return 0, -EEXIST if one is in use, or -ENOMEM. */
int ranges_take_at(struct ranges *r, uint32_t first, uint32_t n);

/** Release n > 0 numbers that are in use. @return 0, or -ENOMEM: they stay in use. */
int ranges_give(struct ranges *r, uint32_t first, uint32_t n);

#endif
