/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/curve/recovery.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* The F of figure 7 is at most that (mlx5). */
#define MOST_FAST 31u
#define FIRST_INTERVALS 40u
#define STEPS 6u
/* A change of the rate by less is not seen as a step. */
#define STEP_SHARE 0.03
/* A rate below this share of the one before is not noise. */
#define FALLEN 0.97
/* At higher rates than that many times the first one the byte counter expires too often. */
#define FASTEST 10
/* Share of an interval at each of its ends that is not used: the cut's time is not exact. */
#define MARGIN 0.07

struct series {
	double rate_bps[RECOVERY_MAX], target_bps[RECOVERY_MAX];
	double bytes[RECOVERY_MAX];   /* sent up to the end of the interval */
	bool disturbed[RECOVERY_MAX]; /* the rate fell, as it does not in a recovery */
	uint32_t n;
};

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *v, uint32_t n)
{
	qsort(v, n, sizeof(*v), compare);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double
recovery_slope(const double *x, const double *y, uint32_t n)
{
	double slopes[64 * 63 / 2];
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++)
			slopes[k++] = (y[j] - y[i]) / (x[j] - x[i]);
	return k == 0 ? 0 : median(slopes, k);
}

double
recovery_timer_ns(const struct curve *c, uint64_t cut_ns)
{
	struct curve_step steps[STEPS];
	uint32_t n = curve_steps(c, cut_ns, STEP_SHARE, steps, STEPS), count = 0;
	double timer_ns = 0;

	for (uint32_t i = 0; i < n; i++) {
		double since_ns = (double)(steps[i].at_ns - cut_ns);

		if (steps[i].after_bps <= steps[i].before_bps)
			continue;
		/* Further ones make it more exact, until one is of the byte counter. */
		if (timer_ns > 0 && fabs(since_ns / timer_ns - (count + 1)) > 0.1)
			break;
		timer_ns = since_ns / ++count;
	}
	return timer_ns;
}

/*
 * Is interval k slower than the one before, or the next one after such an interval? Another QP that
 * sent for a moment takes a share of the link.
 */
static bool
is_disturbed(const struct series *s, uint32_t k)
{
	return s->rate_bps[k] < FALLEN * s->rate_bps[k - 1] ||
	       (k > 1 && s->rate_bps[k - 1] < FALLEN * s->rate_bps[k - 2]) ||
	       (k > 1 && s->disturbed[k - 1] && s->rate_bps[k] > s->rate_bps[k - 1] / FALLEN) ||
	       (k > 1 && s->disturbed[k - 1] && s->rate_bps[k - 1] > s->rate_bps[k - 2] / FALLEN);
}

/* Rates and targets by interval; interval 0 begins with the cut. */
static void
fill(struct series *s, const struct curve *c, uint64_t cut_ns, double timer_ns, double line_bps)
{
	uint64_t margin_ns = (uint64_t)(timer_ns * MARGIN);

	s->n = 0;
	for (uint32_t k = 0; k < RECOVERY_MAX; k++) {
		uint64_t from_ns = cut_ns + (uint64_t)(timer_ns * k);
		uint64_t to_ns = from_ns + (uint64_t)timer_ns;
		uint32_t end = curve_find(c, to_ns);
		uint32_t begin = curve_find(c, from_ns + margin_ns);
		double rate = begin == c->n ? 0
					    : curve_rate_bps(c, c->points[begin].at_ns + 1,
							     to_ns - margin_ns);

		/* The packet that waited when the rate changed left as the old rate had it. */
		if (rate == 0 || end == c->n || rate > 0.95 * line_bps ||
		    (k > 0 && rate > FASTEST * s->rate_bps[0]))
			return;
		s->rate_bps[k] = rate;
		s->target_bps[k] = k == 0 ? rate : 2 * rate - s->rate_bps[k - 1];
		s->disturbed[k] = k > 0 && is_disturbed(s, k);
		s->bytes[k] = (double)(c->points[end].bytes - c->points[0].bytes);
		s->n = k + 1;
	}
}

/* How the phases of figure 7 are told, and by how much R_T rises in hyper increase. */
enum law { LAW_PAPER, LAW_MLX };

/* One hypothesis on the targets, and what fits best with it. */
struct guess {
	enum law law;
	uint32_t fast_steps;
	double byte_reset; /* 0: the byte counter never expires */
	double ai_bps, hai_bps, error;
};

/* Increases so far: events of timer and byte counter, and steps by R_AI and R_HAI. */
struct stages {
	double timer, bytes, ai_steps, hai_steps;
};

/* An event whose count, with it, is already in st. */
static void
stages_step(struct stages *st, const struct guess *g, double timer, double bytes)
{
	double f = g->fast_steps, high = timer > bytes ? timer : bytes;
	double low = timer < bytes ? timer : bytes;

	if (g->law == LAW_PAPER ? high <= f : high < f)
		return;
	if (low > f)
		st->hai_steps += g->law == LAW_PAPER ? low - f : 1;
	else
		st->ai_steps++;
}

/* The byte counter expires as often as it has by now, and then the timer. */
static void
stages_advance(struct stages *st, const struct guess *g, double bytes)
{
	double before = g->law == LAW_PAPER ? 0 : 1; /* mlx tests the stage before the event */
	double due = g->byte_reset > 0 ? (double)(uint64_t)(bytes / g->byte_reset) : 0;

	while (st->bytes < due) {
		st->bytes++;
		stages_step(st, g, st->timer, st->bytes - before);
	}
	st->timer++;
	stages_step(st, g, st->timer - before, st->bytes);
}

/* Normal equations of y = c + ai x1 + hai x2. */
struct sums {
	double n, a, b, aa, ab, bb, y, ay, by, yy;
};

static void
sums_add(struct sums *s, double a, double b, double y)
{
	s->n++;
	s->a += a;
	s->b += b;
	s->aa += a * a;
	s->ab += a * b;
	s->bb += b * b;
	s->y += y;
	s->ay += a * y;
	s->by += b * y;
	s->yy += y * y;
}

/* Solve, and set the error: the mean of the squares that remain. */
static void
sums_solve(const struct sums *s, struct guess *g)
{
	double aa = s->aa - s->a * s->a / s->n, bb = s->bb - s->b * s->b / s->n;
	double ab = s->ab - s->a * s->b / s->n;
	double ay = s->ay - s->a * s->y / s->n, by = s->by - s->b * s->y / s->n;
	double yy = s->yy - s->y * s->y / s->n, d = aa * bb - ab * ab;

	g->ai_bps = g->hai_bps = 0;
	if (bb > 0 && d > aa * bb * 1e-9) {
		g->ai_bps = (ay * bb - by * ab) / d;
		g->hai_bps = (by * aa - ay * ab) / d;
	} else if (aa > 0) {
		g->ai_bps = ay / aa;
	}
	g->error = (yy - g->ai_bps * ay - g->hai_bps * by) / s->n;
}

/* Does the byte counter expire in interval k? */
static bool
expires_in(const struct guess *g, const struct series *s, uint32_t k)
{
	return g->byte_reset > 0 && (uint64_t)(s->bytes[k] / g->byte_reset) !=
					    (uint64_t)(s->bytes[k - 1] / g->byte_reset);
}

static void
guess_fit(struct guess *g, const struct series *s, uint32_t n)
{
	struct stages st = {0};
	struct sums sums = {0};

	/*
	 * Interval k begins with event k of the timer; R_T of it is in the rate of interval k. If
	 * the byte counter expires in an interval, its rate is a mean, and two targets are wrong.
	 */
	for (uint32_t k = 1; k < n; k++) {
		double before = st.bytes;

		stages_advance(&st, g, s->bytes[k - 1]);
		if (!s->disturbed[k] && st.bytes == before && !expires_in(g, s, k))
			sums_add(&sums, st.ai_steps, st.hai_steps, s->target_bps[k]);
	}
	/* A byte counter that expires in most intervals cannot be told from the timer. */
	if (sums.n * 2 > n)
		sums_solve(&sums, g);
	else
		g->error = -1;
}

static bool
is_better(const struct guess *g, const struct guess *best)
{
	return g->error >= 0 && g->ai_bps >= 0 && g->hai_bps >= 0 &&
	       (best->error < 0 || g->error < best->error);
}

/* F from the first intervals, where all increases are additive; later ones say little about it. */
static struct guess
best_fast_steps(const struct series *s)
{
	struct guess best = {.error = -1};
	uint32_t n = s->n < FIRST_INTERVALS ? s->n : FIRST_INTERVALS;

	for (uint32_t f = 1; f <= MOST_FAST && f + 2 < n; f++) {
		struct guess g = {.law = LAW_PAPER, .fast_steps = f};

		guess_fit(&g, s, n);
		if (is_better(&g, &best))
			best = g;
	}
	return best;
}

/* Fit with B such that hyper increase begins after one of the intervals. */
static struct guess
best_corner(const struct series *s, uint32_t fast_steps)
{
	struct guess best = {.error = -1};

	for (uint32_t corner = 4; corner + 4 < s->n; corner++) {
		for (int law = LAW_PAPER; law <= LAW_MLX; law++) {
			struct guess g = {.law = (enum law)law, .fast_steps = fast_steps};

			g.byte_reset = s->bytes[corner] / (fast_steps + 1);
			guess_fit(&g, s, s->n);
			if (g.hai_bps > g.ai_bps && is_better(&g, &best))
				best = g;
		}
	}
	return best;
}

static struct guess
fit(const struct series *s)
{
	struct guess first = best_fast_steps(s), plain = first, best;

	if (first.error < 0)
		return first;
	guess_fit(&plain, s, s->n);
	best = best_corner(s, first.fast_steps);
	/* A bend of the targets that is noise improves the fit by little. */
	return best.error >= 0 && best.error < plain.error / 4 ? best : plain;
}

struct recovery
recovery_fit(const struct curve *c, uint64_t cut_ns, double timer_ns, double line_bps)
{
	struct recovery r = {.timer_ns = timer_ns > 0 ? timer_ns : recovery_timer_ns(c, cut_ns)};
	struct series *s;
	struct guess g;

	if (r.timer_ns <= 0)
		return r;
	s = malloc(sizeof(*s));
	if (s == NULL)
		return r;
	fill(s, c, cut_ns, r.timer_ns, line_bps);
	r.intervals = s->n;
	if (s->n >= 6) {
		g = fit(s);
		r.known = g.error >= 0;
		r.fast_steps = g.fast_steps;
		r.ai_bps = g.ai_bps;
		r.hyper = g.byte_reset > 0;
		r.hai_bps = g.hai_bps;
		r.byte_reset = g.byte_reset;
	}
	free(s);
	return r;
}
