/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log-linear histogram of uint64_t values: 16 linear steps in each power of two, so that any
 * quantile is known within 1/16 of its value (HdrHistogram's idea). Zero-initialised state is an
 * empty one.
 */
#ifndef QUENCH_BASE_HIST_H
#define QUENCH_BASE_HIST_H

#include <stdint.h>

#define HIST_SUB_BITS 4
#define HIST_BUCKETS ((64 - HIST_SUB_BITS + 1) << HIST_SUB_BITS)

struct hist {
	uint64_t count;
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
	h->weight[hist_bucket(value)] += weight;
	h->count += weight;
	if (value > h->max && weight > 0)
		h->max = value;
}

/** Smallest bucket top at or below which at least pct percent of the weight lies; 0 when empty. */
static inline uint64_t
hist_quantile(const struct hist *h, double pct)
{
	double need = (double)h->count * pct / 100.0;
	uint64_t seen = 0;

	for (unsigned b = 0; b < HIST_BUCKETS; b++) {
		seen += h->weight[b];
		if (seen > 0 && (double)seen >= need)
			return hist_bucket_top(b) < h->max ? hist_bucket_top(b) : h->max;
	}
	return h->max;
}

#endif
