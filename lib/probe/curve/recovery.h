/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN's parameters from a recovery: the curve of a QP after a burst of CNPs (SIGCOMM 2015, 3.1,
 * equations 3 and 4, figure 7).
 *
 * Each event of the timer sets R_C = (R_T + R_C) / 2, so the rates r of two successive intervals
 * give the target: R_T = 2 r[k] - r[k - 1]. The target is constant for F events, rises by R_AI with
 * each further one, and by R_HAI once the byte counter, too, has expired more than F times. For
 * given F and B, figure 7 says how many steps of R_AI and of R_HAI precede each interval, and least
 * squares give the two. From the F and B with the smallest errors a search goes on: law.h plays the
 * law, damped least squares change its values, and its neighbours (another T, F, B, law) are tried
 * until none is better. The paper's law and mlx's (lib/cc/points/rp.h) are both tried.
 */
#ifndef QUENCH_PROBE_CURVE_RECOVERY_H
#define QUENCH_PROBE_CURVE_RECOVERY_H

#include "probe/curve/curve.h"

/* Most intervals that are used. */
#define RECOVERY_MAX 1536u

struct recovery {
	bool fits;     /* the law with what was fitted sends what was seen */
	bool hyper;    /* it has a hyper increase */
	double misfit; /* root mean square of the relative differences of rates */
	/* Other values, off by 5 %, do not fit as well. */
	bool tells_fast_steps, tells_ai, tells_hai, tells_bytes;
	double timer_ns;
	uint32_t fast_steps, intervals;
	double ai_bps, hai_bps, byte_reset;
};

/* T from the first increases. */
struct recovery_timer {
	double ns;       /* 0: unknown */
	bool is_told;    /* within 5 % */
	double other_ns; /* if it is not told: T may be that, too; 0: none */
};

/**
 * @param c         Begins with the last cut.
 * @param cut_ns    Time from which packets could leave at the rate after it.
 * @param cut_doubt_ns  Largest error of the cut's time: it may be later.
 * @param timer     T, if it is known.
 * @param frame_bytes  Mean wire bytes of a frame.
 * @param kinds     A mask of enum law_kind: those that the NIC may have.
 * @param line_bps  Rate that ends the recovery.
 */
struct recovery recovery_fit(const struct curve *c, uint64_t cut_ns, double cut_doubt_ns,
			     const struct recovery_timer *timer, double line_bps,
			     double frame_bytes, unsigned int kinds);

/* The first increases after a cut. */
struct recovery_first {
	double after_ns;  /* T, unless the byte counter expires before; 0: none */
	double rate_bps;  /* until then */
	uint32_t regular; /* increases at equal distances: with two or more they are the timer's */
};

/** @param may_be_later  The last fall of the rate is the cut. */
struct recovery_first recovery_first_increase(const struct curve *c, uint64_t cut_ns,
					      bool may_be_later);

/**
 * Find T from the first increases towards a target, as in fast recovery. Each may be the timer's or
 * the byte counter's: the choice that fits is taken, if no other one fits as well.
 * @param doubt_ns  Largest error of the cut's time: it may be later.
 */
struct recovery_timer recovery_timer(const struct curve *c, uint64_t cut_ns, double doubt_ns,
				     double line_bps, double frame_bytes);

#endif
