/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * WRED with ECN for one queue: should this packet be marked (or dropped)?
 *
 * SIGCOMM 2015 equation 5, which is also SAI's WRED profile:
 *   p = 0 for q <= min;  Pmax (q - min) / (max - min) up to max;  1 above.
 * The step from Pmax to 1 is part of the curve; with min = max the curve is a single step. Each
 * packet has its own random draw: RED's count, which spreads marks, is not used. When marking at
 * dequeue, q is the length without the departing packet. With wred_weight w, avg += (q - avg) / 2^w
 * for each packet; w = 0 means the instantaneous length. No packet updates the average of an empty
 * queue, so it ages by time, as if m packets had met an empty queue, where m is the number of small
 * frames that the port could have sent meanwhile (Floyd and Jacobson 1993, section 4 and figure 2).
 *
 * There is one curve for marks and drops, or, as in newer SAI, a curve of its own (ecn_green_*) for
 * marks of ECT packets, so that marking can begin at shorter queues than dropping.
 */
#ifndef QUENCH_TM_QUEUE_WRED_H
#define QUENCH_TM_QUEUE_WRED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "base/numbers/fixed.h"

/* Highest threshold. Up to here the curve is exact at both of its ends. */
#define WRED_MAX_BYTES (1ull << 31)

enum wred_ecn { WRED_ECN_NONE, WRED_ECN_ALL };

/* Keys as in SONiC's WRED_PROFILE. Green only, because no policer colours packets. */
struct wred_params {
	bool wred_green_enable;
	int ecn; /* enum wred_ecn */
	uint64_t green_min_threshold_bytes;
	uint64_t green_max_threshold_bytes;
	/* Pmax; SONiC counts per cent (alias green_drop_probability) */
	uint32_t green_drop_probability_ppm;
	/* Curve of marks; if its max is 0, green_* apply. */
	uint64_t ecn_green_min_threshold_bytes;
	uint64_t ecn_green_max_threshold_bytes;
	uint32_t ecn_green_mark_probability_ppm;
	uint8_t wred_weight;          /* 0..15 */
	bool nonect_drop_in_lossless; /* as vendors do; off: non-ECT passes a lossless queue */
};

FIELD_TABLE(wred_fields);

/** Ranges, and min <= max. @return 0, or as params_refuse(). */
int wred_params_check(const struct wred_params *params, char *why, unsigned int why_size);

/* Precomputed, so that a decision is one multiplication and one comparison. */
struct wred_curve {
	uint32_t min_bytes;
	uint32_t max_bytes;
	uint64_t slope_q63; /* probability per byte above min */
};

/* State of one queue. */
struct wred {
	struct wred_curve mark;
	uint64_t average_q16; /* EWMA of the queue length; unused at weight 0 */
	/* while the queue is empty: time to which the average has been aged */
	uint64_t idle_since_ns;
	uint8_t weight;
	bool enabled;
	struct wred_curve drop;
};

/** params must have passed wred_params_check(). The average restarts at 0. */
void wred_init(struct wred *w, const struct wred_params *params);

/** Probability of a curve at this queue length, Q32 in [0, Q32_ONE]. */
static inline uint64_t wred_curve_q32(const struct wred_curve *curve, uint64_t queue_bytes);

/** Does chance hit a packet at this queue length? @param rnd A uniform 32-bit random number. */
static inline bool wred_curve_hit(const struct wred_curve *curve, uint64_t queue_bytes,
				  uint32_t rnd);

/** Probability of the marking curve; 0 when WRED is off. Does not update the average. */
static inline uint64_t wred_probability_q32(const struct wred *w, uint64_t queue_bytes);

/**
 * Age the average of a queue that has been empty since idle_since_ns. Call it before the next
 * packet is enqueued or decided on. The caller sets idle_since_ns when the queue becomes empty. Not
 * needed at weight 0.
 *
 * @param rate_bps  Rate of the queue's port, in wire bytes.
 */
void wred_age(struct wred *w, uint64_t rate_bps, uint64_t now_ns);

/** Update the average. @return the queue length to use with the curves. */
static inline uint64_t wred_length(struct wred *w, uint64_t queue_bytes);

/** Update the average, and decide on a mark. */
static inline bool wred_hit(struct wred *w, uint64_t queue_bytes, uint32_t rnd);

/** As wred_hit() for a drop, by the drop curve. */
static inline bool wred_drop(struct wred *w, uint64_t queue_bytes, uint32_t rnd);

/* Inline definitions */

/* At weight 15 the average settles within half a byte of the queue length. */
#define WRED_AVERAGE_BITS 16

static inline uint64_t
wred_curve_q32(const struct wred_curve *curve, uint64_t queue_bytes)
{
	if (queue_bytes <= curve->min_bytes)
		return 0;
	if (queue_bytes > curve->max_bytes)
		return Q32_ONE;
	return (uint64_t)((unsigned __int128)(queue_bytes - curve->min_bytes) * curve->slope_q63 >>
			  31);
}

/* rnd < 2^32, so never at probability 0 and always at 1. */
static inline bool
wred_curve_hit(const struct wred_curve *curve, uint64_t queue_bytes, uint32_t rnd)
{
	return rnd < wred_curve_q32(curve, queue_bytes);
}

static inline uint64_t
wred_probability_q32(const struct wred *w, uint64_t queue_bytes)
{
	return w->enabled ? wred_curve_q32(&w->mark, queue_bytes) : 0;
}

/*
 * SAI: avg = avg (1 - 2^-w) + q 2^-w. Signed differences of Q16 lengths below 2^47 do not overflow.
 */
static inline uint64_t
wred_length(struct wred *w, uint64_t queue_bytes)
{
	int64_t gap_q16;

	if (w->weight == 0)
		return queue_bytes;
	gap_q16 = (int64_t)((queue_bytes << WRED_AVERAGE_BITS) - w->average_q16);
	w->average_q16 += (uint64_t)(gap_q16 >> w->weight);
	return w->average_q16 >> WRED_AVERAGE_BITS;
}

static inline bool
wred_hit(struct wred *w, uint64_t queue_bytes, uint32_t rnd)
{
	queue_bytes = wred_length(w, queue_bytes);
	return w->enabled && wred_curve_hit(&w->mark, queue_bytes, rnd);
}

static inline bool
wred_drop(struct wred *w, uint64_t queue_bytes, uint32_t rnd)
{
	queue_bytes = wred_length(w, queue_bytes);
	return w->enabled && wred_curve_hit(&w->drop, queue_bytes, rnd);
}

#endif
