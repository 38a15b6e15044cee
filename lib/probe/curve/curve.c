/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/curve/curve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Distances of points that show a new plateau. */
#define LOOK 3u

int
curve_init(struct curve *c, uint32_t max)
{
	*c = (struct curve){.points = calloc(max, sizeof(*c->points)), .max = max};
	return c->points == NULL ? -ENOMEM : 0;
}

void
curve_free(struct curve *c)
{
	free(c->points);
}

void
curve_start(struct curve *c, uint64_t bin_ns)
{
	c->n = 0;
	c->bin_ns = bin_ns;
	c->on = true;
}

uint32_t
curve_find(const struct curve *c, uint64_t at_ns)
{
	uint32_t low = 0, high = c->n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (c->points[mid].at_ns < at_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Rate from point a to point b > a. */
static double
rate_between(const struct curve *c, uint32_t a, uint32_t b)
{
	uint64_t ns = c->points[b].at_ns - c->points[a].at_ns;

	return ns == 0 ? 0 : (double)(c->points[b].bytes - c->points[a].bytes) * 8e9 / (double)ns;
}

/* A straight line through points. */
struct line {
	uint32_t n;
	double rate_bps; /* 0: there is none */
	double error;    /* standard error of the rate, as a share of it */
};

static struct line
fit_line(const struct curve *c, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t a = curve_find(c, from_ns), b = curve_find(c, to_ns + 1);
	double n = b - a, x = 0, y = 0, xx = 0, xy = 0, yy = 0, rest;
	struct line line = {0};

	if (b < a + 2)
		return line;
	/* Least squares of time over bytes: the bytes are exact, the times are not. */
	for (uint32_t i = a; i < b; i++) {
		double bytes = (double)(c->points[i].bytes - c->points[a].bytes);
		double ns = (double)(c->points[i].at_ns - c->points[a].at_ns);

		x += bytes;
		y += ns;
		xx += bytes * bytes;
		xy += bytes * ns;
		yy += ns * ns;
	}
	xx -= x * x / n;
	xy -= x * y / n;
	yy -= y * y / n;
	line.n = b - a;
	if (!(xy > 0))
		return line;
	line.rate_bps = xx / xy * 8e9;
	rest = fmax(yy - xy * xy / xx, 0);
	line.error = n > 2 ? sqrt(rest / (n - 2) / xx) / (xy / xx) : INFINITY;
	return line;
}

double
curve_rate_bps(const struct curve *c, uint64_t from_ns, uint64_t to_ns)
{
	return fit_line(c, from_ns, to_ns).rate_bps;
}

/* Fewer points of a half give no standard error. */
#define HALF_POINTS 4u
#define SURE 4
/* Upper limit of the tolerance, however large the standard errors are. */
#define MOST_DOUBT 0.01

/* Do two lines have the same rate? most: upper limit of the tolerance. */
static bool
is_alike(const struct line *early, const struct line *late, double least, double most)
{
	/* With few points, the standard error itself may be too small. */
	uint32_t n = early->n < late->n ? early->n : late->n;
	double doubt = SURE * hypot(early->error, late->error) * (1 + 4.0 / (n + 1));

	return fabs(early->rate_bps / late->rate_bps - 1) < fmax(least, fmin(doubt, most));
}

bool
curve_is_plateau(const struct curve *c, uint64_t from_ns, uint64_t to_ns, double least)
{
	uint64_t mid_ns = from_ns + (to_ns - from_ns) / 2;
	struct line early = fit_line(c, from_ns, mid_ns), late = fit_line(c, mid_ns, to_ns);

	return early.n >= HALF_POINTS && late.n >= HALF_POINTS && late.rate_bps > 0 &&
	       is_alike(&early, &late, least, MOST_DOUBT);
}

bool
curve_changes_late(const struct curve *c, uint64_t from_ns, uint64_t to_ns, double least)
{
	for (unsigned int part = 4; part <= 8; part *= 2) {
		uint64_t at_ns = to_ns - (to_ns - from_ns) / part;
		struct line early = fit_line(c, from_ns, at_ns), late = fit_line(c, at_ns, to_ns);

		if (late.n >= HALF_POINTS && late.rate_bps > 0 &&
		    !is_alike(&early, &late, least, INFINITY))
			return true;
	}
	return false;
}

double
curve_change_ns(const struct curve *c, uint64_t from_ns, uint64_t to_ns, uint64_t then_ns,
		uint64_t end_ns)
{
	double r1 = curve_rate_bps(c, from_ns, to_ns), r2 = curve_rate_bps(c, then_ns, end_ns);
	uint32_t a = curve_find(c, to_ns + 1), b = curve_find(c, then_ns);
	double bytes, ns;

	if (r1 == 0 || r2 == 0 || a == 0 || b == c->n || r1 == r2)
		return 0;
	a--;
	bytes = (double)(c->points[b].bytes - c->points[a].bytes);
	ns = (double)(c->points[b].at_ns - c->points[a].at_ns);
	return (double)c->points[a].at_ns + (bytes * 8e9 - r2 * ns) / (r1 - r2);
}

double
curve_stray_ns(const struct curve *c, double rate_bps, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t a = curve_find(c, from_ns), end = curve_find(c, to_ns + 1);
	double least = 0, most = 0;

	for (uint32_t i = a; i < end; i++) {
		double ns = (double)(c->points[i].at_ns - c->points[a].at_ns) -
			    (double)(c->points[i].bytes - c->points[a].bytes) * 8e9 / rate_bps;

		least = ns < least ? ns : least;
		most = ns > most ? ns : most;
	}
	return most - least;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#define JITTER_POINTS 4096u

double
curve_jitter_ns(const struct curve *c, double rate_bps, uint64_t from_ns, uint64_t to_ns)
{
	static double off[JITTER_POINTS];
	uint32_t a = curve_find(c, from_ns), end = curve_find(c, to_ns + 1), n = 0;

	for (uint32_t i = a; i + 1 < end && n < JITTER_POINTS; i++) {
		double ns = (double)(c->points[i + 1].bytes - c->points[i].bytes) * 8e9 / rate_bps;

		ns -= (double)(c->points[i + 1].at_ns - c->points[i].at_ns);
		off[n++] = ns < 0 ? -ns : ns;
	}
	if (n == 0)
		return 0;
	qsort(off, n, sizeof(*off), compare);
	return off[n - 1 - n / 32];
}

/* Distances over which a rate is taken. */
#define REACH 4u

uint64_t
curve_reaches_ns(const struct curve *c, double rate_bps, uint64_t from_ns)
{
	/* A QP that waited for another one catches up, and is not at that rate after it. */
	for (uint32_t i = curve_find(c, from_ns); i + 2 * REACH < c->n; i++)
		if (rate_between(c, i, i + REACH) >= rate_bps &&
		    rate_between(c, i + REACH, i + 2 * REACH) >= rate_bps)
			return c->points[i + REACH / 2].at_ns;
	return 0;
}

double
curve_lowest_bps(const struct curve *c, uint64_t window_ns, uint64_t from_ns, uint64_t to_ns,
		 double *others)
{
	uint32_t a = curve_find(c, from_ns), end = curve_find(c, to_ns + 1), b = a;
	double lowest = 0;

	for (; a < end; a++) {
		double rate;

		b = b < a + 2 ? a + 2 : b;
		while (b < end && c->points[b].at_ns < c->points[a].at_ns + window_ns)
			b++;
		if (b >= end)
			break;
		rate = rate_between(c, a, b);
		if (lowest != 0 && rate >= lowest)
			continue;
		lowest = rate;
		if (others != NULL)
			*others = (c->points[b].others_ns - c->points[a].others_ns) /
				  (double)(c->points[b].at_ns - c->points[a].at_ns);
	}
	return lowest;
}

/* End of the plateau that begins at point a: the last point of its line. */
static uint32_t
plateau_end(const struct curve *c, uint32_t a, double share)
{
	uint32_t b = a + LOOK;

	while (b + LOOK < c->n) {
		double rate = rate_between(c, a, b);
		double next = rate_between(c, b, b + LOOK);
		double one = rate_between(c, b, b + 1);

		if ((next > rate * (1 + share) && one > rate * (1 + share / 2)) ||
		    (next < rate * (1 - share) && one < rate * (1 - share / 2)))
			return b;
		b++;
	}
	return c->n;
}

/* Time at which the line through a with rate r1 meets that through b with rate r2. */
static uint64_t
meet_ns(const struct curve_point *a, double r1, const struct curve_point *b, double r2)
{
	/* a.bytes + r1 (t - a.at) = b.bytes + r2 (t - b.at), from a on. */
	double bytes = (double)(b->bytes - a->bytes), ns = (double)(b->at_ns - a->at_ns);
	double t_ns = (bytes * 8e9 - r2 * ns) / (r1 - r2);

	if (!(t_ns > 0))
		return a->at_ns;
	return t_ns > ns ? b->at_ns : a->at_ns + (uint64_t)t_ns;
}

uint32_t
curve_steps(const struct curve *c, uint64_t from_ns, double share, struct curve_step *steps,
	    uint32_t max)
{
	uint32_t a = curve_find(c, from_ns), n = 0;

	while (n < max && a + 3 * LOOK < c->n) {
		uint32_t b = plateau_end(c, a, share), next = b + 2, end;
		double before, after;

		if (b + 2 + LOOK >= c->n)
			break;
		end = plateau_end(c, next, share);
		if (end >= c->n)
			end = next + LOOK;
		before = rate_between(c, a, b);
		after = rate_between(c, next, end);
		/* A distance across the step may look like a plateau of its own. */
		if (after > before * (1 + share / 2) || after < before * (1 - share / 2))
			steps[n++] = (struct curve_step){
				meet_ns(&c->points[b], before, &c->points[next], after), before,
				after};
		a = next;
	}
	return n;
}
