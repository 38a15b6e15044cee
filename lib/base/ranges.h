/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers in use, as ranges: the lowest free range of a length is taken, or a given one. Ranges
 * side by side are one, so that a long list of neighbours taken in order costs no more than one.
 */
#ifndef QUENCH_BASE_RANGES_H
#define QUENCH_BASE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct range {
	uint32_t first, end;
};

/* Zero-initialised: none in use. */
struct ranges {
	struct range *used; /* rising, with a gap between any two */
	uint32_t n, room;
};

void ranges_free(struct ranges *r);

/** Take the lowest n > 0 free numbers in a row below end. @return the first, or -ENOSPC,
 * -ENOMEM. */
int64_t ranges_take(struct ranges *r, uint32_t n, uint32_t end);

/** Take n > 0 numbers from first on. @return 0, or -EEXIST (one of them is in use), -ENOMEM. */
int ranges_take_at(struct ranges *r, uint32_t first, uint32_t n);

/** Give back n > 0 numbers that are in use. @return 0 or -ENOMEM: then they stay in use. */
int ranges_give(struct ranges *r, uint32_t first, uint32_t n);

#endif
