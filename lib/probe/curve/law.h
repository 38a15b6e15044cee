/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recovery as figure 7 of SIGCOMM 2015 has it: from its parameters to the bytes that a QP sends.
 * A fit is believed if the law, with what was fitted, sends what was seen, and if it does not do so
 * with other values.
 */
#ifndef QUENCH_PROBE_CURVE_LAW_H
#define QUENCH_PROBE_CURVE_LAW_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/curve/curve.h"

/* Rules of the phases, and of the rise of R_T in hyper increase. */
enum law_kind {
	LAW_PAPER,
	LAW_MLX,
	LAW_MLX_TIMER, /* hyper increase by the timer alone */
	LAW_KINDS
};

struct law {
	enum law_kind kind;
	uint32_t fast_steps;
	double cut_ns;               /* begin of the recovery, since the curve's first point */
	double timer_ns;             /* T */
	double rate_bps, target_bps; /* after the cut */
	double ai_bps, hai_bps;
	double byte_reset; /* 0: the byte counter never expires */
};

/* Steps of each kind in a recovery. */
struct law_steps {
	uint32_t fast, additive, hyper;
};

/* What was seen: rates of successive spans of time. */
#define LAW_SPANS 1024u

struct law_data {
	uint32_t n;
	double line_bps;
	/*
	 * Not 0: errors are those of the bytes so far, in frames of that size. For a curve of few
	 * packets, whose rates over a few of them are not exact.
	 */
	double frame_bytes;
	/* What is known beside: the cut came between these times, T is between those. */
	double cut_from_ns, cut_to_ns, timer_from_ns, timer_to_ns;
	double at_ns[LAW_SPANS + 1];
	double bytes[LAW_SPANS + 1];
};

/**
 * Spans from the first point after from_ns until the rate is near the line's.
 * @param span_ns  Least length of a span.
 * @param points   Least number of points in it.
 */
void law_data_fill(struct law_data *d, const struct curve *c, uint64_t from_ns, double span_ns,
		   uint32_t points, double line_bps);

/**
 * Mean of the squares of the relative differences between the rates of the spans and the law's.
 * Large ones count as 2 %: another QP sent for a moment. With frame_bytes, of the differences of
 * the bytes so far.
 */
double law_error(const struct law *law, const struct law_data *d, struct law_steps *steps);

/**
 * Mean of the squares of the means of LAW_RUN successive differences, without the least and the
 * largest of them: another QP sent for a moment, or this one caught up. Differences that late
 * packets leave cancel out in it; those of a wrong law have one sign for long. Few spans that are
 * far off do not count; 1: they are many.
 * @param rest  Mean square of the others.
 */
#define LAW_RUN 8u
double law_trend(const struct law *law, const struct law_data *d, double *rest);

/* Members of struct law that law_improve() leaves as they are: a mask. */
enum law_member {
	LAW_TIMER = 1 << 0,
	LAW_AI = 1 << 1,
	LAW_HAI = 1 << 2,
	LAW_BYTES = 1 << 3,
	LAW_CUT = 1 << 4,
};

/**
 * Change the members, but for those in `fixed`, so that the error falls: damped least squares
 * (Levenberg and Marquardt), which follow a valley in which two members fall together.
 * @return the error.
 */
double law_improve(struct law *law, const struct law_data *d, unsigned int fixed,
		   unsigned int rounds);

#endif
