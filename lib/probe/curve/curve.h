/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes that a QP has sent, over time: points (arrival, wire bytes up to and including it), and
 * the rates and steps that follow from them. A QP paced at a constant rate gives points on a
 * straight line, so that two points of a plateau give its rate, and two plateaus the time of the
 * step between them, more exactly than the distance of two packets.
 */
#ifndef QUENCH_PROBE_CURVE_CURVE_H
#define QUENCH_PROBE_CURVE_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct curve_point {
	uint64_t at_ns, bytes;
	double others_ns; /* time that frames of other QPs have taken on the link so far */
};

/* Zero-initialised state has no room and is off. */
struct curve {
	struct curve_point *points;
	uint32_t n, max;
	uint64_t bin_ns; /* least distance of two points */
	bool on;
};

/** @return 0 or -ENOMEM. */
int curve_init(struct curve *c, uint32_t max);
void curve_free(struct curve *c);

/** Begin anew, with points at least bin_ns apart. */
void curve_start(struct curve *c, uint64_t bin_ns);

/**
 * A packet has arrived; bytes is the sum so far, with it. Nothing if off or full. Packets of one
 * burst have one time, and are one point.
 */
static inline void
curve_add(struct curve *c, uint64_t at_ns, uint64_t bytes, double others_ns)
{
	struct curve_point *last = c->n > 0 ? &c->points[c->n - 1] : NULL;

	if (!c->on || c->n == c->max)
		return;
	if (last != NULL && at_ns < last->at_ns + c->bin_ns + 1) {
		if (at_ns == last->at_ns)
			*last = (struct curve_point){at_ns, bytes, others_ns};
		return;
	}
	c->points[c->n++] = (struct curve_point){at_ns, bytes, others_ns};
}

/** Does it take no more points? Then the last one may be long ago. */
static inline bool
curve_is_full(const struct curve *c)
{
	return c->n == c->max;
}

/** Index of the first point at or after a time; n: none. */
uint32_t curve_find(const struct curve *c, uint64_t at_ns);

/** Rate that fits the points in [from_ns, to_ns] best, in bits/s; 0: fewer than two. */
double curve_rate_bps(const struct curve *c, uint64_t from_ns, uint64_t to_ns);

/**
 * Is the rate in [from_ns, to_ns] constant? Then its halves have the same rate within their
 * standard errors, or within the share `least`, below which a step does not matter.
 */
bool curve_is_plateau(const struct curve *c, uint64_t from_ns, uint64_t to_ns, double least);

/**
 * Has the last quarter of [from_ns, to_ns], or the last eighth, another rate than what is before
 * it? A step that is so late hardly changes the halves. The tolerance is that of a plateau.
 */
bool curve_changes_late(const struct curve *c, uint64_t from_ns, uint64_t to_ns, double least);

/**
 * When did the rate change, from that in [from_ns, to_ns] to that in [then_ns, end_ns]? Where the
 * lines through the two meet; 0: there are too few points.
 */
double curve_change_ns(const struct curve *c, uint64_t from_ns, uint64_t to_ns, uint64_t then_ns,
		       uint64_t end_ns);

/**
 * By how much do arrivals in [from_ns, to_ns] stray from those at a constant rate? Difference of
 * the earliest and the latest one, in ns.
 */
double curve_stray_ns(const struct curve *c, double rate_bps, uint64_t from_ns, uint64_t to_ns);

/**
 * By how much are distances of points others than those at a constant rate? But for the worst 3 %,
 * which frames of other QPs cause.
 */
double curve_jitter_ns(const struct curve *c, double rate_bps, uint64_t from_ns, uint64_t to_ns);

/**
 * First time from from_ns on after which the rate is rate_bps or more, over some distances; 0:
 * none.
 */
uint64_t curve_reaches_ns(const struct curve *c, double rate_bps, uint64_t from_ns);

/**
 * Lowest rate between points in [from_ns, to_ns] that are window_ns and two distances apart or
 * more; 0: too few points.
 * @param others  NULL, or receives the share of that time which frames of other QPs took.
 */
double curve_lowest_bps(const struct curve *c, uint64_t window_ns, uint64_t from_ns, uint64_t to_ns,
			double *others);

/* A change of the rate: its time, and the rates of the plateaus before and after it. */
struct curve_step {
	uint64_t at_ns;
	double before_bps, after_bps;
};

/**
 * Find the changes of the rate from from_ns on that exceed `share` of it, in order.
 * @return their number, at most max.
 */
uint32_t curve_steps(const struct curve *c, uint64_t from_ns, double share,
		     struct curve_step *steps, uint32_t max);

#endif
