/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does a queue mark as often as its curve requires? For each bin of queue lengths this counts
 * packets, marks, and expected marks: the sum of the curve's probabilities at the lengths that the
 * packets met. Draws are independent, so
 *   E[marked] = sum p,   Var[marked] = sum p (1 - p).
 *
 * One bin holds lengths up to the minimum, MARK_BINS - 2 bins of equal width cover the ramp, and
 * the last bin holds lengths above the maximum.
 */
#ifndef QUENCH_TM_QUEUE_MARK_ACCURACY_H
#define QUENCH_TM_QUEUE_MARK_ACCURACY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/threads/counter.h"
#include "tm/queue/wred.h"

#define MARK_BINS 18

struct mark_bin {
	uint64_t packets;
	uint64_t marked;
	uint64_t expected_q32; /* sum of probabilities; holds 2^32 packets at probability 1 */
};

struct mark_accuracy {
	struct mark_bin bins[MARK_BINS];
};

/** Bin of a queue length. */
static inline unsigned int
mark_bin_of(const struct wred_curve *curve, uint64_t queue_bytes)
{
	if (queue_bytes <= curve->min_bytes)
		return 0;
	if (queue_bytes > curve->max_bytes)
		return MARK_BINS - 1;
	return 1 + (unsigned int)((queue_bytes - curve->min_bytes - 1) * (MARK_BINS - 2) /
				  (curve->max_bytes - curve->min_bytes));
}

/** Greatest length in a bin; UINT64_MAX for the last. */
static inline uint64_t
mark_bin_upper_bytes(const struct wred_curve *curve, unsigned int bin)
{
	uint64_t span_bytes = curve->max_bytes - curve->min_bytes;

	if (bin == MARK_BINS - 1)
		return UINT64_MAX;
	/* Largest length with (length - min - 1) * bins / span < bin. */
	return curve->min_bytes + (bin * span_bytes + MARK_BINS - 3) / (MARK_BINS - 2);
}

/**
 * Count a decision that was taken at this queue length, with the probability that the curve gave.
 */
static inline void
mark_accuracy_count(struct mark_accuracy *a, const struct wred_curve *curve, uint64_t queue_bytes,
		    uint64_t probability_q32, bool marked)
{
	struct mark_bin *bin = &a->bins[mark_bin_of(curve, queue_bytes)];

	counter_inc(&bin->packets);
	counter_add(&bin->marked, marked);
	counter_add(&bin->expected_q32, probability_q32);
}

#endif
