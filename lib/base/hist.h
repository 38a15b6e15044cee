/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log-linear histogram of uint64_t values: 128 linear steps in each power of two (HdrHistogram's
 * idea), so that a quantile is never below the exact one and above it by at most 1/128 of its value
 * (0.8 %); values below 256, count, sum and maximum are exact. Zero-initialised state is an empty
 * one. It takes 59 KB, of which only the few pages are touched where values lie.
 *
 * One writer. Another thread may read it with hist_merge(), which counts what it finds in the
 * buckets: a value that is being added is in it or not.
 */
#ifndef QUENCH_BASE_HIST_H
#define QUENCH_BASE_HIST_H

#include <stdint.h>

#include "base/counter.h"

#define HIST_SUB_BITS 7
#define HIST_BUCKETS ((64 - HIST_SUB_BITS + 1) << HIST_SUB_BITS)

struct hist {
	uint64_t count;
	uint64_t sum; /* of value x weight, modulo 2^64: read it with hist_mean() */
	uint64_t max;
	uint64_t weight[HIST_BUCKETS];
};

static inline unsigned
hist_bucket(uint64_t value)
{
	unsigned log2, shift;

	if (value < (1u << HIST_SUB_BITS))
		return (unsigned)value;
	log2 = 63u - (unsigned)__builtin_clzll(value);
	shift = log2 - HIST_SUB_BITS;
	return ((shift + 1) << HIST_SUB_BITS) +
	       (unsigned)((value >> shift) & ((1u << HIST_SUB_BITS) - 1));
}

/** Highest value that falls into a bucket. */
static inline uint64_t
hist_bucket_top(unsigned bucket)
{
	uint64_t step = (bucket & ((1u << HIST_SUB_BITS) - 1)) | (1u << HIST_SUB_BITS);

	if (bucket < (1u << HIST_SUB_BITS))
		return bucket;
	return ((step + 1) << ((bucket >> HIST_SUB_BITS) - 1)) - 1;
}

/** Count value weight times (a duration, for a time-weighted quantile). */
static inline void
hist_add(struct hist *h, uint64_t value, uint64_t weight)
{
	counter_add(&h->weight[hist_bucket(value)], weight);
	counter_add(&h->count, weight);
	counter_add(&h->sum, value * weight);
	if (value > h->max && weight > 0)
		__atomic_store_n(&h->max, value, __ATOMIC_RELAXED);
}

/**
 * Mean, rounded down; 0 when empty. Exact until the sum is 2^70 (completion times of 10^6 QPs add
 * up to 2^64 ns in some hours, and to 2^70 in some days); after that within 1/128.
 */
uint64_t hist_mean(const struct hist *h);

/** Smallest bucket top at or below which at least pct percent of the weight lies; 0 when empty. */
uint64_t hist_quantile(const struct hist *h, double pct);

/** Add what another one has counted, perhaps one that is being written. */
void hist_merge(struct hist *h, const struct hist *other);

/**
 * What h has counted since the last call with this earlier, which is zero at first and then what h
 * was. The maximum is known no better than a quantile.
 */
void hist_since(const struct hist *h, struct hist *earlier, struct hist *out);

#endif
