/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN's parameters from a recovery: the curve of a QP after a burst of CNPs (SIGCOMM 2015, 3.1,
 * equations 3 and 4, figure 7).
 *
 * Each event of the timer sets R_C = (R_T + R_C) / 2, so the rates r of two successive intervals
 * give the target: R_T = 2 r[k] - r[k - 1]. The target is constant for F events, rises by R_AI with
 * each further one, and by R_HAI once the byte counter, too, has expired more than F times. For
 * given F and B, figure 7 says how many steps of R_AI and of R_HAI precede each interval, and least
 * squares give the two; the F and B with the smallest error are the result. The paper's law and
 * mlx's (lib/cc/rp.h) are both tried.
 */
#ifndef QUENCH_PROBE_CURVE_RECOVERY_H
#define QUENCH_PROBE_CURVE_RECOVERY_H

#include "probe/curve/curve.h"

/* Most intervals that are used. */
#define RECOVERY_MAX 1536u

struct recovery {
	bool known; /* T, F and R_AI are */
	bool hyper; /* a hyper increase was seen: B and R_HAI are known too */
	double timer_ns;
	uint32_t fast_steps, intervals;
	double ai_bps, hai_bps, byte_reset;
};

/**
 * @param c         Begins with the last cut.
 * @param cut_ns    Time from which packets could leave at the rate after it.
 * @param timer_ns  T; 0: unknown, found from the curve's own steps.
 * @param line_bps  Rate that ends the recovery.
 */
struct recovery recovery_fit(const struct curve *c, uint64_t cut_ns, double timer_ns,
			     double line_bps);

/**
 * Median of the slopes of all pairs of points, which a few outliers do not change (Theil-Sen).
 * @param n  At most 64. @return 0 with fewer than two points.
 */
double recovery_slope(const double *x, const double *y, uint32_t n);

/** Time from a cut to the first increase: T, unless the byte counter expires before; 0: none. */
double recovery_timer_ns(const struct curve *c, uint64_t cut_ns);

#endif
