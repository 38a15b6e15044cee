/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * WRED with ECN of one queue: mark (or drop) this packet?
 *
 * SIGCOMM 2015 equation 5 (and SAI's WRED profile): p = 0 for q <= min; Pmax (q - min) / (max -
 * min) up to max; 1 above. The jump from Pmax to 1 is intended; min = max is a step. An independent
 * draw for each packet (no spreading of marks as in RED's count). q is the length at departure,
 * without the departing packet, when marking at dequeue. wred_weight w: avg += (q - avg) / 2^w for
 * each packet; 0 is the instantaneous length. While the queue is empty no packet moves the average,
 * so it ages by time: as if m packets had left an empty queue, m being the small frames that the
 * port could have sent meanwhile (Floyd and Jacobson 1993, section 4 and figure 2).
 *
 * One curve for marking and dropping alike; or, as newer SAI has it, ecn_green_* for the marks of
 * ECT packets, so that marking may begin below dropping.
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
	/* Curve of marks; max 0: that of green_* */
	uint64_t ecn_green_min_threshold_bytes;
	uint64_t ecn_green_max_threshold_bytes;
	uint32_t ecn_green_mark_probability_ppm;
	uint8_t wred_weight;          /* 0..15 */
	bool nonect_drop_in_lossless; /* vendors' behaviour; off: non-ECT passes a lossless queue */
};

extern const struct field wred_fields[];
extern const unsigned int wred_fields_n;

/** Ranges, and min <= max. @return 0, or as params_refuse(). */
int wred_params_check(const struct wred_params *params, char *why, unsigned int why_size);

/* Precomputed so that a decision is a multiplication and a compare. */
struct wred_curve {
	uint32_t min_bytes;
	uint32_t max_bytes;
	uint64_t slope_q63; /* probability per byte above min */
};

/* Per queue. */
struct wred {
	struct wred_curve mark;
	uint64_t average_q16;   /* EWMA of the queue length; unused at weight 0 */
	uint64_t idle_since_ns; /* while the queue is empty: the average is of this time */
	uint8_t weight;
	bool enabled;
	struct wred_curve drop;
};

/** params must have passed wred_params_check(). */
void wred_init(struct wred *w, const struct wred_params *params);

/** A curve's probability at this queue length, Q32 in [0, Q32_ONE]. */
static inline uint64_t wred_curve_q32(const struct wred_curve *curve, uint64_t queue_bytes);

/** That of the marking curve; 0 when WRED is off. Does not move the average. */
static inline uint64_t wred_probability_q32(const struct wred *w, uint64_t queue_bytes);

/**
 * Age the average of a queue that has been empty since idle_since_ns; before a packet enters it or
 * is decided on. The caller sets idle_since_ns when the queue becomes empty. Of no use at weight 0.
 *
 * @param rate_bps  What the queue's port sends, in wire bytes.
 */
void wred_age(struct wred *w, uint64_t rate_bps, uint64_t now_ns);

/** Move the average. @return the length that the curves are asked for. */
static inline uint64_t wred_length(struct wred *w, uint64_t queue_bytes);

/** Move the average and decide on a mark. @param rnd  Uniform 32-bit draw of the caller. */
static inline bool wred_hit(struct wred *w, uint64_t queue_bytes, uint32_t rnd);

/** The same on a drop, by the curve of drops. */
static inline bool wred_drop(struct wred *w, uint64_t queue_bytes, uint32_t rnd);

/* Inline definitions */

/* At weight 15 the average settles within half a byte of the queue. */
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

static inline uint64_t
wred_probability_q32(const struct wred *w, uint64_t queue_bytes)
{
	return w->enabled ? wred_curve_q32(&w->mark, queue_bytes) : 0;
}

/* SAI: avg = avg (1 - 2^-w) + q 2^-w. Queue lengths below 2^47 keep their sign as Q16. */
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

/* rnd < 2^32: never at probability 0, always at 1. */
static inline bool
wred_hit(struct wred *w, uint64_t queue_bytes, uint32_t rnd)
{
	return rnd < wred_probability_q32(w, wred_length(w, queue_bytes));
}

static inline bool
wred_drop(struct wred *w, uint64_t queue_bytes, uint32_t rnd)
{
	queue_bytes = wred_length(w, queue_bytes);
	return w->enabled && rnd < wred_curve_q32(&w->drop, queue_bytes);
}

#endif
