/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * WRED with ECN of one queue: mark (or drop) this packet?
 *
 * SIGCOMM 2015 equation 5 (and SAI's WRED profile): p = 0 for q <= min; Pmax (q - min) / (max -
 * min) up to max; 1 above. The jump from Pmax to 1 is intended; min = max is a step. An independent
 * draw for each packet (no spreading of marks as in RED's count). q is the length at departure,
 * without the departing packet, when marking at dequeue. wred_weight w: avg += (q - avg) / 2^w for
 * each packet; 0 is the instantaneous length.
 */
#ifndef QUENCH_TM_WRED_H
#define QUENCH_TM_WRED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/fixed.h"

/* Highest threshold: the curve is exact at both ends up to here. */
#define WRED_MAX_BYTES (1ull << 31)

enum wred_ecn { WRED_ECN_NONE, WRED_ECN_ALL };

/* Keys as in SONiC's WRED_PROFILE; green only (no policer colours packets). */
struct wred_params {
	bool wred_green_enable;
	int ecn; /* enum wred_ecn */
	uint64_t green_min_threshold_bytes;
	uint64_t green_max_threshold_bytes;
	uint32_t green_drop_probability_ppm; /* Pmax; in SONiC per cent: alias
						green_drop_probability */
	uint8_t wred_weight;                 /* 0..15 */
	bool nonect_drop_in_lossless; /* vendors' behaviour; off: non-ECT passes a lossless queue */
};

extern const struct field wred_fields[];
extern const unsigned int wred_fields_n;

/** Ranges, and min <= max. @return 0, or -EINVAL with a clause in *why naming the key. */
int wred_params_check(const struct wred_params *params, const char **why);

/* Per queue; the curve is precomputed so that a decision is a multiplication and a compare. */
struct wred {
	uint64_t min_bytes;
	uint64_t max_bytes;
	uint64_t slope_q63;   /* probability per byte above min */
	uint64_t average_q16; /* EWMA of the queue length; unused at weight 0 */
	uint8_t weight;
	bool enabled;
};

/** params must have passed wred_params_check(). */
void wred_init(struct wred *w, const struct wred_params *params);

/** Probability at this queue length, Q32 in [0, Q32_ONE]. Does not move the average. */
static inline uint64_t wred_probability_q32(const struct wred *w, uint64_t queue_bytes);

/** Move the average and decide. @param rnd  Uniform 32-bit draw of the caller. */
static inline bool wred_hit(struct wred *w, uint64_t queue_bytes, uint32_t rnd);

/* Inline definitions */

/* At weight 15 the average settles within half a byte of the queue. */
#define WRED_AVERAGE_BITS 16

static inline uint64_t
wred_probability_q32(const struct wred *w, uint64_t queue_bytes)
{
	if (!w->enabled || queue_bytes <= w->min_bytes)
		return 0;
	if (queue_bytes > w->max_bytes)
		return Q32_ONE;
	return (uint64_t)((unsigned __int128)(queue_bytes - w->min_bytes) * w->slope_q63 >> 31);
}

/* SAI: avg = avg (1 - 2^-w) + q 2^-w. Queue lengths below 2^47 keep their sign as Q16. */
static inline uint64_t
wred_averaged(struct wred *w, uint64_t queue_bytes)
{
	int64_t gap_q16 = (int64_t)((queue_bytes << WRED_AVERAGE_BITS) - w->average_q16);

	w->average_q16 += (uint64_t)(gap_q16 >> w->weight);
	return w->average_q16 >> WRED_AVERAGE_BITS;
}

static inline bool
wred_hit(struct wred *w, uint64_t queue_bytes, uint32_t rnd)
{
	if (w->weight > 0)
		queue_bytes = wred_averaged(w, queue_bytes);
	/* rnd < 2^32: never at probability 0, always at 1 */
	return rnd < wred_probability_q32(w, queue_bytes);
}

#endif
