/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log-linear histogram of uint64_t values: 128 linear steps in each power of two, as in
 * HdrHistogram. Invariant: exact <= reported quantile <= exact * (1 + 1/128), which is 0.8 %.
 * Values below 256, count, sum and maximum are exact. Zero-initialised state is empty. A histogram
 * takes 59 KB of address space, but memory only for pages with buckets that are used.
 *
 * One writer. Another thread may read it with hist_merge(), which sums the buckets: a value that is
 * being added concurrently is counted or not.
 */
#ifndef QUENCH_BASE_SETS_HIST_H
#define QUENCH_BASE_SETS_HIST_H

#include <stdint.h>

#include "base/threads/counter.h"

#define HIST_SUB_BITS 7
#define HIST_BUCKETS ((64 - HIST_SUB_BITS + 1) << HIST_SUB_BITS)

struct hist {
	uint64_t count;
	uint64_t sum; /* of value x weight, modulo 2^64; read it with hist_mean() */
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

/** Highest value of a bucket. */
static inline uint64_t
hist_bucket_top(unsigned bucket)
{
	uint64_t step = (bucket & ((1u << HIST_SUB_BITS) - 1)) | (1u << HIST_SUB_BITS);

	if (bucket < (1u << HIST_SUB_BITS))
		return bucket;
	return ((step + 1) << ((bucket >> HIST_SUB_BITS) - 1)) - 1;
}

/** Count value weight times. With durations as weights, quantiles are time-weighted. */
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
 * Mean, rounded down; 0 when empty. Exact until the sum reaches 2^70, then within 1/128. (The
 * completion times of 10^6 QPs add up to 2^64 ns in some hours, and to 2^70 ns in some days.)
 */
uint64_t hist_mean(const struct hist *h);

/** Smallest bucket top at or below which at least pct percent of the weight lies; 0 when empty. */
uint64_t hist_quantile(const struct hist *h, double pct);

/** Add the counts of another histogram, which its owner may be writing. */
void hist_merge(struct hist *h, const struct hist *other);

/**
 * Set out to the values added to h since the last call with this `earlier`, and earlier to h.
 * earlier is zero before the first call. The maximum of out is only as precise as a quantile.
 */
void hist_since(const struct hist *h, struct hist *earlier, struct hist *out);

#endif
