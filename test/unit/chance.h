/* SPDX-License-Identifier: BSD-3-Clause */
/* What random lives draw. */
#ifndef QUENCH_TEST_UNIT_CHANCE_H
#define QUENCH_TEST_UNIT_CHANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/prng.h"

/** A number from low to high. */
static inline uint64_t
any(struct prng *r, uint64_t low, uint64_t high)
{
	return low + prng_below(r, high - low + 1);
}

/** True pct times in a hundred. */
static inline bool
chance(struct prng *r, unsigned int pct)
{
	return prng_below(r, 100) < pct;
}

#endif
