/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/curve/law.h"

#include <math.h>

#include "base/numbers/array.h"

/* A recovery is over near the line's rate. */
#define NEAR_LINE 0.95
/* Errors count at most that much. */
#define MOST_ERROR 0.02
/* More events than that are of a byte counter that is no parameter in use. */
#define MOST_EVENTS 200000u

void
law_data_fill(struct law_data *d, const struct curve *c, uint64_t from_ns, double span_ns,
	      uint32_t points, double line_bps)
{
	uint32_t i = curve_find(c, from_ns);
	uint64_t end_ns = c->n > 0 ? c->points[c->n - 1].at_ns : 0;

	d->n = 0;
	d->line_bps = line_bps;
	if (i >= c->n)
		return;
	span_ns = fmax(span_ns, (double)(end_ns - from_ns) / (LAW_SPANS - 1));
	d->at_ns[0] = (double)(c->points[i].at_ns - c->points[0].at_ns);
	d->bytes[0] = (double)(c->points[i].bytes - c->points[0].bytes);
	while (d->n < LAW_SPANS) {
		uint32_t next = i + points;
		double rate;

		while (next < c->n &&
		       (double)(c->points[next].at_ns - c->points[i].at_ns) < span_ns)
			next++;
		if (next >= c->n)
			return;
		rate = (double)(c->points[next].bytes - c->points[i].bytes) * 8e9 /
		       (double)(c->points[next].at_ns - c->points[i].at_ns);
		if (rate > NEAR_LINE * line_bps)
			return;
		i = next;
		d->n++;
		d->at_ns[d->n] = (double)(c->points[i].at_ns - c->points[0].at_ns);
		d->bytes[d->n] = (double)(c->points[i].bytes - c->points[0].bytes);
	}
}

/* A recovery that runs. */
struct run {
	const struct law *law;
	struct law_steps steps;
	double now_ns, bytes, rate_bps, target_bps, most_bps;
	double next_timer_ns, next_bytes;
	double full_ns; /* when next_bytes are sent, at the rate of now */
	double time_stage, byte_stage;
	uint32_t events;
};

static void
raise(struct run *r, double time_stage, double byte_stage)
{
	const struct law *law = r->law;
	double high = fmax(time_stage, byte_stage), low = fmin(time_stage, byte_stage);
	double f = law->fast_steps;

	if (law->kind == LAW_MLX_TIMER)
		low = time_stage;
	if (law->kind == LAW_PAPER ? high <= f : high < f) {
		r->steps.fast++;
	} else if (low > f) {
		r->steps.hyper++;
		r->target_bps += law->kind == LAW_PAPER ? (low - f) * law->hai_bps : law->hai_bps;
	} else {
		r->steps.additive++;
		r->target_bps += law->ai_bps;
	}
	r->target_bps = fmin(r->target_bps, r->most_bps);
	r->rate_bps = (r->target_bps + r->rate_bps) / 2;
	r->events++;
}

static void
set_full(struct run *r)
{
	r->full_ns = r->next_bytes == 0
			     ? INFINITY
			     : r->now_ns + fmax(r->next_bytes - r->bytes, 0) * 8e9 / r->rate_bps;
}

/* The stages of paper include the event, those of mlx do not. */
static void
expire(struct run *r, bool is_timer)
{
	double before = r->law->kind == LAW_PAPER ? 1 : 0;

	if (is_timer) {
		raise(r, r->time_stage + before, r->byte_stage);
		r->time_stage++;
		r->next_timer_ns += r->law->timer_ns;
	} else {
		raise(r, r->time_stage, r->byte_stage + before);
		r->byte_stage++;
		r->next_bytes += r->law->byte_reset;
	}
	set_full(r);
}

/* Of 1 bit/s. */
#define BYTES_IN_NS 1.25e-10

static void
run_until(struct run *r, double until_ns)
{
	while (r->now_ns < until_ns && r->events < MOST_EVENTS) {
		bool is_timer = r->next_timer_ns < r->full_ns;
		double at_ns = is_timer ? r->next_timer_ns : r->full_ns;

		if (at_ns >= until_ns) {
			r->bytes += r->rate_bps * (until_ns - r->now_ns) * BYTES_IN_NS;
			r->now_ns = until_ns;
			return;
		}
		r->bytes = is_timer ? r->bytes + r->rate_bps * (at_ns - r->now_ns) * BYTES_IN_NS
				    : r->next_bytes;
		r->now_ns = at_ns;
		expire(r, is_timer);
	}
}

/* How differences count that are larger than MOST_ERROR. */
enum large {
	CUT_OFF,
	GROWING, /* slowly: from far away, too, least squares see where they fall */
};

static double
limited(double error, enum large large)
{
	double most = MOST_ERROR;

	if (fabs(error) <= most)
		return error;
	if (large == GROWING)
		most *= 1 + log(fabs(error) / most);
	return copysign(most, error);
}

/* One residual by span. */
static bool
residuals(const struct law *law, const struct law_data *d, enum large large, double *of,
	  struct law_steps *steps)
{
	struct run r = {
		.law = law,
		.now_ns = law->cut_ns,
		.rate_bps = law->rate_bps,
		.target_bps = law->target_bps,
		.most_bps = d->line_bps,
		.next_timer_ns = law->cut_ns + law->timer_ns,
		.next_bytes = law->byte_reset,
	};
	double before, begin;

	set_full(&r);
	run_until(&r, d->at_ns[0]);
	begin = r.bytes;
	for (uint32_t i = 0; i < d->n; i++) {
		double seen = d->bytes[i + 1] - d->bytes[i];

		before = r.bytes;
		run_until(&r, d->at_ns[i + 1]);
		if (d->frame_bytes > 0) {
			of[i] = (r.bytes - begin - d->bytes[i + 1] + d->bytes[0]) / d->frame_bytes;
		} else {
			of[i] = limited((r.bytes - before) / seen - 1, large);
			/* The byte counter counts what was sent: another QP may have sent. */
			r.bytes = begin + d->bytes[i + 1] - d->bytes[0];
			set_full(&r);
		}
	}
	if (steps != NULL)
		*steps = r.steps;
	return d->n > 0 && r.events < MOST_EVENTS;
}

static double
mean_square(const double *of, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += of[i] * of[i];
	return sum / n;
}

double
law_error(const struct law *law, const struct law_data *d, struct law_steps *steps)
{
	double of[LAW_SPANS];

	return residuals(law, d, CUT_OFF, of, steps) ? mean_square(of, d->n) : 1;
}

/* Of so many spans one may be far off: another QP had the link. */
#define FEW 64u

double
law_trend(const struct law *law, const struct law_data *d, double *rest)
{
	double of[LAW_SPANS], sum = 0;
	uint32_t n = 0, near = 0;

	*rest = 0;
	residuals(law, d, CUT_OFF, of, NULL);
	for (uint32_t i = 0; i < d->n; i++)
		if (fabs(of[i]) < MOST_ERROR)
			of[near++] = of[i];
	if (near == 0 || d->n - near > d->n / FEW)
		return 1;
	*rest = mean_square(of, near);
	for (uint32_t i = 0; i + LAW_RUN <= near; i += LAW_RUN, n++) {
		double least = of[i], most = of[i], mean = 0;

		for (uint32_t k = i; k < i + LAW_RUN; k++) {
			least = fmin(least, of[k]);
			most = fmax(most, of[k]);
			mean += of[k];
		}
		mean = (mean - least - most) / (LAW_RUN - 2);
		sum += mean * mean;
	}
	return n > 0 ? sum / n : 0;
}

/* Members that least squares change by a factor. The time of the cut changes by a share of T, or of
 * this time if T is longer or there is no timer. */
#define MOST_CUT_UNIT_NS 1e6

enum { AT_CUT, AT_RATE, AT_TARGET, AT_TIMER, AT_AI, AT_HAI, AT_BYTES, ATS };

static void
move(struct law *law, unsigned int at, double step)
{
	double *const members[ATS] = {
		[AT_RATE] = &law->rate_bps,  [AT_TARGET] = &law->target_bps,
		[AT_TIMER] = &law->timer_ns, [AT_AI] = &law->ai_bps,
		[AT_HAI] = &law->hai_bps,    [AT_BYTES] = &law->byte_reset,
	};

	if (at == AT_CUT)
		law->cut_ns += step * fmin(law->timer_ns, MOST_CUT_UNIT_NS);
	else
		*members[at] *= 1 + step;
	law->target_bps = fmax(law->target_bps, law->rate_bps);
}

static bool
is_fixed(const struct law *law, unsigned int at, unsigned int fixed)
{
	return (at == AT_TIMER && (fixed & LAW_TIMER)) || (at == AT_CUT && (fixed & LAW_CUT)) ||
	       (at == AT_AI && (fixed & LAW_AI)) || (at == AT_HAI && (fixed & LAW_HAI)) ||
	       (at == AT_BYTES && (fixed & LAW_BYTES)) ||
	       (law->byte_reset == 0 && law->kind != LAW_MLX_TIMER && at == AT_HAI) ||
	       (law->byte_reset == 0 && at == AT_BYTES);
}

/* The unknowns of least squares: members that may change, and the sums of their derivatives. */
struct normal {
	unsigned int at[ATS];
	unsigned int n;
	double of[ATS][ATS], right[ATS];
};

/* Of a derivative: small beside all that is looked for, large beside rounding. */
#define DERIVATIVE_STEP 1e-4

static void
normal_fill(struct normal *eq, const struct law *law, const struct law_data *d, unsigned int fixed,
	    enum large large, const double *of)
{
	static double by[ATS][LAW_SPANS];

	*eq = (struct normal){0};
	for (unsigned int at = 0; at < ATS; at++) {
		struct law other = *law;
		double *to = by[eq->n], step = DERIVATIVE_STEP;

		if (is_fixed(law, at, fixed))
			continue;
		/* A target above the line's rate changes nothing. */
		if (at == AT_TARGET && law->target_bps * (1 + step) > d->line_bps)
			step = -step;
		move(&other, at, step);
		if (!residuals(&other, d, large, to, NULL))
			continue;
		for (uint32_t i = 0; i < d->n; i++)
			to[i] = (to[i] - of[i]) / step;
		eq->at[eq->n++] = at;
	}
	for (unsigned int i = 0; i < eq->n; i++) {
		for (unsigned int j = 0; j <= i; j++) {
			double sum = 0;

			for (uint32_t k = 0; k < d->n; k++)
				sum += by[i][k] * by[j][k];
			eq->of[i][j] = eq->of[j][i] = sum;
		}
		for (uint32_t k = 0; k < d->n; k++)
			eq->right[i] -= by[i][k] * of[k];
	}
}

/* Gauss, for a symmetric matrix that is made positive by the damping. */
static void
normal_solve(const struct normal *eq, double damping, double *x)
{
	double a[ATS][ATS + 1];
	unsigned int n = eq->n;

	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int j = 0; j < n; j++)
			a[i][j] = eq->of[i][j];
		a[i][i] = a[i][i] * (1 + damping) + 1e-12;
		a[i][n] = eq->right[i];
	}
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = i + 1; k < n; k++) {
			double f = a[k][i] / a[i][i];

			for (unsigned int j = i; j <= n; j++)
				a[k][j] -= f * a[i][j];
		}
	for (unsigned int i = n; i-- > 0;) {
		x[i] = a[i][n];
		for (unsigned int j = i + 1; j < n; j++)
			x[i] -= a[i][j] * x[j];
		x[i] /= a[i][i];
	}
}

/* Largest change of a member in one step, as a share: T and the cut have many minima. */
#define MOST_MOVE 0.25
#define MOST_TIMER_MOVE 0.004
#define MOST_DAMPING 1e5
#define LEAST_GAIN 1e-4

static void
move_all(struct law *law, const struct normal *eq, const double *x)
{
	for (unsigned int i = 0; i < eq->n; i++) {
		double most = eq->at[i] == AT_TIMER ? MOST_TIMER_MOVE : MOST_MOVE;

		move(law, eq->at[i], fmax(fmin(x[i], most), -most));
	}
}

static void
keep_known(struct law *law, const struct law_data *d)
{
	law->cut_ns = fmax(fmin(law->cut_ns, d->cut_to_ns), d->cut_from_ns);
	law->timer_ns = fmax(fmin(law->timer_ns, d->timer_to_ns), d->timer_from_ns);
}

static double
least_squares(struct law *law, const struct law_data *d, unsigned int fixed, unsigned int rounds,
	      enum large large)
{
	double of[LAW_SPANS], x[ATS], damping = 1e-3, best;
	struct normal eq;

	if (!residuals(law, d, large, of, NULL))
		return 1;
	best = mean_square(of, d->n);
	for (; rounds > 0 && damping < MOST_DAMPING; rounds--) {
		double before = best;

		normal_fill(&eq, law, d, fixed, large, of);
		for (; best == before && damping < MOST_DAMPING; damping *= 10) {
			struct law other = *law;
			double error = INFINITY;

			normal_solve(&eq, damping, x);
			move_all(&other, &eq, x);
			keep_known(&other, d);
			if (residuals(&other, d, large, of, NULL))
				error = mean_square(of, d->n);
			if (error < best) {
				best = error;
				*law = other;
				damping /= 300;
			}
		}
		if (best > before * (1 - LEAST_GAIN))
			break;
	}
	return best;
}

/* Of a law that is near, few differences are limited. */
#define FAR (MOST_ERROR * MOST_ERROR / 25)

double
law_improve(struct law *law, const struct law_data *d, unsigned int fixed, unsigned int rounds)
{
	struct law far = *law;
	double from, error = least_squares(law, d, fixed, rounds, CUT_OFF);

	if (d->frame_bytes > 0 || error < FAR)
		return error;
	least_squares(&far, d, fixed, rounds, GROWING);
	from = least_squares(&far, d, fixed, rounds, CUT_OFF);
	if (from >= error)
		return error;
	*law = far;
	return from;
}
