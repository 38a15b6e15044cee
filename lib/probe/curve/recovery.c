/* SPDX-License-Identifier: BSD-3-Clause */
#include "probe/curve/recovery.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/numbers/array.h"
#include "probe/curve/law.h"

/* The F of figure 7 is at most that (mlx5). */
#define MOST_FAST 31u
#define FIRST_INTERVALS 40u
#define STEPS 6u
/* Of least squares: a fit, and a look at one that may be better. */
#define ROUNDS 20u
#define TRY_ROUNDS 10u
#define LOOK_ROUNDS 4u
/* Fewer spans say nothing. */
#define LEAST_SPANS 16
/* A change of the rate by less is not seen as a step. */
#define STEP_SHARE 0.03
/* A rate below this share of the one before is not noise. */
#define FALLEN 0.97
/* A law fits if the rates differ from it by at most this share, root mean square. */
#define FITS 0.006
/* Spans of many frames have a lower limit: this many frames, but at least this share. */
#define FITS_IN_SPAN 0.15
#define FITS_LEAST 0.0012
/* Before the fit, T is known within this share, or within GUESS_SHARE. */
#define TIMER_SHARE 0.036
#define GUESS_SHARE 0.1
/* Points of a span, so that its rate is exact. */
#define SPAN_POINTS 6u
/* Or bytes within that many frames. */
#define FITS_FRAMES 0.7
/* Increases by the timer are at equal distances, within this share or so: the law decides. */
#define REGULAR 0.1
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

struct recovery_first
recovery_first_increase(const struct curve *c, uint64_t cut_ns, bool may_be_later)
{
	struct curve_step steps[STEPS];
	uint32_t n = curve_steps(c, cut_ns, STEP_SHARE, steps, STEPS), i = 0;
	struct recovery_first first = {0};
	double first_ns = 0;

	for (; i < n && steps[i].after_bps <= steps[i].before_bps; i++)
		if (may_be_later && steps[i].at_ns > cut_ns)
			cut_ns = steps[i].at_ns;
	if (i == n || steps[i].at_ns <= cut_ns)
		return first;
	first.after_ns = (double)(steps[i].at_ns - cut_ns);
	first.rate_bps = steps[i].before_bps;
	/* Those of the byte counter come faster and faster, those of the timer do not. */
	for (uint32_t count = 1; i < n; i++, count++) {
		double since_ns = (double)(steps[i].at_ns - cut_ns);

		if (steps[i].after_bps <= steps[i].before_bps ||
		    fabs(since_ns / first.after_ns - count) > REGULAR * count)
			break;
		if (count == 1)
			first_ns = since_ns;
		/* The cut's time is less exact than those of increases. */
		first.after_ns = count < 3 ? since_ns / count : (since_ns - first_ns) / (count - 1);
		first.regular = count;
	}
	return first;
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

/* One hypothesis on the targets, and what fits best with it. */
struct guess {
	enum law_kind law;
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

#define MOST_CORNERS 150u

/* Fit with B such that hyper increase begins after one of the intervals. */
static struct guess
best_corner(const struct series *s, uint32_t fast_steps, unsigned int kinds)
{
	struct guess best = {.error = -1};

	for (uint32_t corner = 4; corner + 4 < s->n; corner += 1 + s->n / MOST_CORNERS) {
		for (int law = LAW_PAPER; law <= LAW_MLX; law++) {
			struct guess g = {.law = (enum law_kind)law, .fast_steps = fast_steps};

			if (!(kinds >> law & 1))
				continue;
			g.byte_reset = s->bytes[corner] / (fast_steps + 1);
			guess_fit(&g, s, s->n);
			if (g.hai_bps > g.ai_bps && is_better(&g, &best))
				best = g;
		}
	}
	return best;
}

/*
 * A value is told if the sum of squares is larger by SURE standard errors, squared, times the mean
 * square, with one that is off by this share. The mean square is at least that of exact arrivals.
 */
#define OFF 0.05
#define SURE 4
#define TELLS (SURE * SURE)
/* Another law or number of steps: the search may not have found the best one of its kind, so its
 * errors count for more. Tuned. */
#define TELLS_STEPS 40
#define TELLS_LAWS 80
#define NOISE 8e-4

static bool
is_near(double a, double b)
{
	return fabs(a - b) <= OFF * fabs(b);
}

/* No timer, or no byte counter, in these units. */
#define NO_TIMER_NS 1e15
/* Error of a right law, in frames: it sends a fluid, and the NIC sends whole frames. */
#define EXACT_FRAMES 0.05
/* Another law is refuted if its sum of squares is this many times that of the best law. */
#define REFUTED 4
/* More points are put together, up to SPAN_POINTS, so that there are about this many spans. */
#define FIRST_SPANS 100u

/* Increases by a timer and a byte counter towards a target. */
struct first_law {
	struct law law;
	double error;
};

static struct first_law
fit_first(struct law from, struct law_data *d, double timer_ns, double byte_reset)
{
	struct first_law f = {.law = from};
	unsigned int fixed = LAW_AI | LAW_HAI | (timer_ns == NO_TIMER_NS ? LAW_TIMER : 0);

	f.law.timer_ns = timer_ns;
	f.law.byte_reset = byte_reset;
	d->timer_from_ns = timer_ns == NO_TIMER_NS ? timer_ns : (1 - GUESS_SHARE) * timer_ns;
	d->timer_to_ns = timer_ns == NO_TIMER_NS ? timer_ns : (1 + GUESS_SHARE) * timer_ns;
	f.error = law_improve(&f.law, d, fixed, ROUNDS);
	return f;
}

/* Spans of the time from the cut to the end of the first increases. */
static void
fill_first(struct law_data *d, const struct curve *c, uint64_t from_ns, uint64_t to_ns,
	   double line_bps)
{
	uint32_t points = (curve_find(c, to_ns) - curve_find(c, from_ns)) / FIRST_SPANS;

	law_data_fill(d, c, from_ns, 0,
		      points < 1             ? 1
		      : points < SPAN_POINTS ? points
					     : SPAN_POINTS,
		      line_bps);
	while (d->n > 0 && d->at_ns[d->n] > (double)(to_ns - c->points[0].at_ns))
		d->n--;
}

/* Bytes that were sent from the cut until a time. */
static double
bytes_until(const struct curve *c, uint64_t cut_ns, uint64_t at_ns)
{
	uint32_t a = curve_find(c, cut_ns), b = curve_find(c, at_ns);

	return b < c->n ? (double)(c->points[b].bytes - c->points[a].bytes) : 0;
}

/* Least error of the laws whose T is more than OFF away from that of the best one. */
static double
least_other(const struct first_law *of, uint32_t n, double timer_ns)
{
	double least = INFINITY;

	for (uint32_t i = 0; i < n; i++)
		if (fabs(of[i].law.timer_ns - timer_ns) > OFF * timer_ns)
			least = fmin(least, of[i].error);
	return least;
}

/* Least error with a T that is wrong by OFF. */
static double
least_off(const struct law *law, struct law_data *d)
{
	double least = INFINITY;

	for (int sign = -1; sign <= 1; sign += 2) {
		struct law other = *law;

		other.timer_ns *= 1 + sign * OFF;
		d->timer_from_ns = d->timer_to_ns = other.timer_ns;
		least = fmin(least, law_improve(&other, d, LAW_TIMER | LAW_AI | LAW_HAI, ROUNDS));
	}
	return least;
}

/*
 * T from steps[first] to steps[n - 1]: each may be the timer's or the byte counter's first one.
 * @return true: t has it, or the byte counter alone fits. Then no T is to be sought in fewer steps,
 *         which more laws fit.
 */
static bool
timer_of_steps(const struct curve *c, const struct curve_step *steps, uint32_t first, uint32_t n,
	       struct law_data *d, struct law from, struct recovery_timer *t)
{
	const uint64_t cut_ns = c->points[0].at_ns + (uint64_t)from.cut_ns;
	struct first_law of[STEPS * STEPS + STEPS], best = {.error = INFINITY};
	uint32_t n_laws = 0;
	double refuted;

	for (uint32_t i = first; i <= n; i++) {
		double timer_ns = i == n ? NO_TIMER_NS : (double)(steps[i].at_ns - cut_ns);

		for (uint32_t j = first; j <= n; j++) {
			if (i == j)
				continue;
			of[n_laws] = fit_first(from, d, timer_ns,
					       j == n ? 0 : bytes_until(c, cut_ns, steps[j].at_ns));
			if (of[n_laws].error < best.error)
				best = of[n_laws];
			n_laws++;
		}
	}
	refuted = REFUTED * fmax(best.error, EXACT_FRAMES * EXACT_FRAMES);
	if (best.error > FITS_FRAMES * FITS_FRAMES)
		return false;
	if (best.law.timer_ns == NO_TIMER_NS)
		return true;
	if (least_other(of, n_laws, best.law.timer_ns) < refuted)
		return false;
	t->ns = best.law.timer_ns;
	t->is_told = least_off(&best.law, d) > refuted;
	return true;
}

#define LEAST_FIRST_STEPS 2u

struct recovery_timer
recovery_timer(const struct curve *c, uint64_t cut_ns, double doubt_ns, double line_bps,
	       double frame_bytes)
{
	struct curve_step steps[STEPS];
	uint32_t n = curve_steps(c, cut_ns, STEP_SHARE, steps, STEPS), first = 0;
	struct recovery_timer t = {0};
	struct law_data *d;
	struct law from = {.kind = LAW_PAPER, .fast_steps = UINT32_MAX, .target_bps = line_bps};
	bool is_found = false;
	double first_ns;

	/* Skip the cut. */
	while (first < n && steps[first].after_bps <= steps[first].before_bps)
		first++;
	if (first == n)
		return t;
	d = malloc(sizeof(*d));
	if (d == NULL)
		return t;
	first_ns = (double)(steps[first].at_ns - cut_ns);
	from.rate_bps = steps[first].before_bps;
	from.cut_ns = (double)cut_ns - (double)c->points[0].at_ns;
	d->cut_from_ns = from.cut_ns - GUESS_SHARE * first_ns;
	d->cut_to_ns = from.cut_ns + GUESS_SHARE * first_ns + doubt_ns;
	d->frame_bytes = frame_bytes;
	/* Later ones may be those of another phase. */
	for (; n >= first + LEAST_FIRST_STEPS && !is_found; n--) {
		fill_first(d, c, cut_ns + (uint64_t)(doubt_ns + 0.2 * first_ns), steps[n - 1].at_ns,
			   line_bps);
		if (d->n >= LEAST_SPANS)
			is_found = timer_of_steps(c, steps, first, n, d, from, &t);
	}
	free(d);
	return t;
}

/* Does the law fit worse with these members as they are, whatever the others? */
static bool
is_worse(struct law other, const struct law_data *d, unsigned int fixed, double error, double times)
{
	double more = law_improve(&other, d, fixed, ROUNDS) - error;

	return more * d->n > times * fmax(error, NOISE * NOISE);
}

static bool
tells(const struct law *law, const struct law_data *d, unsigned int member, double error)
{
	struct law high = *law, low = *law;

	switch (member) {
	case LAW_AI:
		high.ai_bps *= 1 + OFF;
		low.ai_bps *= 1 - OFF;
		break;
	case LAW_HAI:
		high.hai_bps *= 1 + OFF;
		low.hai_bps *= 1 - OFF;
		break;
	default:
		high.byte_reset *= 1 + OFF;
		low.byte_reset *= 1 - OFF;
	}
	return is_worse(high, d, member | LAW_TIMER, error, TELLS) &&
	       is_worse(low, d, member | LAW_TIMER, error, TELLS);
}

/* Other steps begin from another target: that first, so that the events of the byte counter, which
 * were right, stay where they are. */
static void
begin_elsewhere(struct law *law, const struct law_data *d)
{
	law_improve(law, d, LAW_TIMER | LAW_CUT | LAW_HAI | LAW_BYTES, LOOK_ROUNDS);
}

static bool
tells_fast_steps(const struct law *law, const struct law_data *d, double error)
{
	struct law more = *law, less = *law;

	more.fast_steps++;
	less.fast_steps--;
	begin_elsewhere(&more, d);
	begin_elsewhere(&less, d);
	return is_worse(more, d, LAW_TIMER, error, TELLS_STEPS) &&
	       (law->fast_steps == 0 || is_worse(less, d, LAW_TIMER, error, TELLS_STEPS));
}

/* Values of F at which a search begins. */
static const uint32_t fast_begins[] = {0, 1, 2, 3, 5, 8};

/* Laws that may explain a recovery. */
#define MOST_LAWS 64u

struct laws {
	uint32_t n;
	struct law of[MOST_LAWS];
	double error[MOST_LAWS];
};

/*
 * A law is fitted to the first spans, and then to more and more: with a T or B that is off by some
 * percent, events near the end are off by more than one, and least squares do not see the way back.
 */
#define PART 0.7

static void
laws_add(struct laws *laws, const struct law *law, struct law_data *d)
{
	struct law *to = &laws->of[laws->n];
	const uint32_t all = d->n;

	if (laws->n == MOST_LAWS)
		return;
	*to = *law;
	to->ai_bps = fmax(to->ai_bps, 1e4);
	to->hai_bps = fmax(to->hai_bps, to->ai_bps);
	for (double part = pow(PART, floor(log(LEAST_SPANS / (double)all) / log(PART)));
	     part < 0.99; part /= PART) {
		d->n = (uint32_t)(part * all);
		law_improve(to, d, 0, LOOK_ROUNDS);
	}
	d->n = all;
	laws->error[laws->n++] = law_improve(to, d, 0, TRY_ROUNDS);
}

static uint32_t
laws_best(const struct laws *laws)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < laws->n; i++)
		if (laws->error[i] < laws->error[best])
			best = i;
	return best;
}

/*
 * The error has many minima: additive increase may be too small to be seen beside hyper increase,
 * and then looks like fast recovery; with another T steps of R_AI come at other times. So begin at
 * several laws, with increases from the targets of the intervals.
 */
static void
laws_fill(struct laws *laws, const struct law *from, const struct series *s, struct law_data *d,
	  unsigned int kinds)
{
	struct guess plain = best_fast_steps(s);
	struct law law = *from;

	laws->n = 0;
	if (plain.error >= 0) {
		guess_fit(&plain, s, s->n);
		law.fast_steps = plain.fast_steps;
		law.ai_bps = plain.ai_bps;
		for (int kind = LAW_PAPER; kind <= LAW_MLX; kind++) {
			law.kind = (enum law_kind)kind;
			if (kinds >> kind & 1)
				laws_add(laws, &law, d);
		}
	}
	for (unsigned int i = 0; i < ARRAY_LEN(fast_begins); i++) {
		struct guess g = best_corner(s, fast_begins[i], kinds);

		law = *from;
		law.fast_steps = fast_begins[i];
		if (plain.error >= 0 && kinds >> LAW_MLX_TIMER & 1) {
			/* Hyper increase by the timer has one step of R_AI, or none. */
			law.kind = LAW_MLX_TIMER;
			law.ai_bps = plain.ai_bps / 4;
			law.hai_bps = plain.ai_bps;
			laws_add(laws, &law, d);
		}
		if (g.error < 0)
			continue;
		law.kind = g.law;
		law.ai_bps = g.ai_bps;
		law.hai_bps = g.hai_bps;
		law.byte_reset = g.byte_reset;
		laws_add(laws, &law, d);
	}
}

/* A law is looked at further if its error is less than that many times the least one. */
#define WORTHY 2

/* Neighbours of a law: T, the steps, and members that fall together, by these factors. */
static const double timer_factors[] = {0.982,  0.99,  0.994, 0.997, 0.9985,
				       1.0015, 1.003, 1.006, 1.01,  1.018};
static const double byte_factors[] = {0.7,   0.85,  0.93, 0.98, 0.995, 0.999,
				      1.001, 1.005, 1.02, 1.07, 1.15,  1.4};

/* Index of a law with the same values, or laws->n. */
static uint32_t
laws_find(const struct laws *laws, const struct law *law)
{
	uint32_t i = 0;

	while (i < laws->n &&
	       (laws->of[i].kind != law->kind || laws->of[i].fast_steps != law->fast_steps ||
		!is_near(laws->of[i].ai_bps, law->ai_bps) ||
		!is_near(laws->of[i].hai_bps, law->hai_bps) ||
		!is_near(laws->of[i].byte_reset, law->byte_reset)))
		i++;
	return i;
}

static void
laws_keep(struct laws *laws, const struct law *law, double error)
{
	uint32_t to = laws_find(laws, law), worst = 0;

	if (to == laws->n && laws->n < MOST_LAWS) {
		laws->n++;
	} else if (to == laws->n) {
		for (uint32_t i = 1; i < laws->n; i++)
			if (laws->error[i] > laws->error[worst])
				worst = i;
		to = worst;
		if (laws->error[to] < error)
			return;
	} else if (laws->error[to] < error) {
		return;
	}
	laws->of[to] = *law;
	laws->error[to] = error;
}

/* Keep the law that least squares find from here, if it may be one that explains the data. */
static void
laws_try(struct laws *laws, struct law law, const struct law_data *d)
{
	double best = laws->error[laws_best(laws)];
	double error = law_improve(&law, d, LAW_TIMER, LOOK_ROUNDS);
	uint32_t known = laws_find(laws, &law);

	if (error < WORTHY * best && (known == laws->n || error < laws->error[known]))
		error = law_improve(&law, d, 0, TRY_ROUNDS);
	laws_keep(laws, &law, error);
}

/* The same law with another T: increases by the timer are as large, by time. */
static void
try_timers(struct laws *laws, const struct law *from, const struct law_data *d)
{
	for (unsigned int i = 0; i < ARRAY_LEN(timer_factors); i++) {
		struct law law = *from;

		law.timer_ns *= timer_factors[i];
		law.ai_bps *= timer_factors[i];
		if (law.kind == LAW_MLX_TIMER)
			law.hai_bps *= timer_factors[i];
		if (law.timer_ns > d->timer_from_ns && law.timer_ns < d->timer_to_ns)
			laws_try(laws, law, d);
	}
}

/* Hyper increase begins at F times B: with the same begin, and with the same B. */
static void
try_fast_steps(struct laws *laws, const struct law *from, uint32_t fast_steps,
	       const struct law_data *d)
{
	struct law law = *from;

	if (fast_steps == from->fast_steps)
		return;
	law.fast_steps = fast_steps;
	begin_elsewhere(&law, d);
	laws_try(laws, law, d);
	if (from->byte_reset == 0)
		return;
	law = *from;
	law.fast_steps = fast_steps;
	/* Additive increase that is as large as hyper increase may be hyper increase. */
	law.ai_bps = law.hai_bps / 10;
	laws_try(laws, law, d);
	law = *from;
	law.fast_steps = fast_steps;
	law.byte_reset *= (from->fast_steps + 1.0) / (fast_steps + 1.0);
	laws_try(laws, law, d);
	if (from->ai_bps < 0.5 * from->hai_bps)
		return;
	law.byte_reset = from->byte_reset;
	law.ai_bps = from->hai_bps / 10;
	for (int i = 0; i < 4; i++, law.byte_reset /= 2)
		laws_try(laws, law, d);
}

static void
try_steps(struct laws *laws, const struct law *from, const struct law_data *d)
{
	for (int f = -2; f <= 2; f++)
		if ((int)from->fast_steps + f >= 0)
			try_fast_steps(laws, from, (uint32_t)((int)from->fast_steps + f), d);
	for (unsigned int i = 0; i < ARRAY_LEN(fast_begins); i++)
		try_fast_steps(laws, from, fast_begins[i], d);
}

/*
 * A right law leaves differences that do not depend on each other, or cancel out: the mean square
 * of their means over LAW_RUN spans is one LAW_RUN-th or less, within SURE standard errors of so
 * many runs (a mean of n squares has one of sqrt(2 / n)).
 */
#define LEAST_TREND 1e-4

static bool
is_noise(const struct law *law, const struct law_data *d)
{
	double rest, trend = law_trend(law, d, &rest);
	double most = rest / LAW_RUN * (1 + SURE * sqrt(2.0 * LAW_RUN / d->n));

	return trend < fmax(most, LEAST_TREND * LEAST_TREND);
}

/*
 * A byte counter that expires a few times, before hyper increase: each time is a step of R_AI, and
 * least squares do not see how far it is from where it should be. So B is scanned.
 */
#define MOST_EXPIRED 8
#define SCAN 0.98

static void
scan_bytes(struct laws *laws, const struct law *from, const struct law_data *d)
{
	const double sent = d->bytes[d->n] - d->bytes[0];
	struct law best = *from;
	double least = INFINITY;

	for (double bytes = sent; bytes > sent / MOST_EXPIRED; bytes *= SCAN) {
		struct law law = *from;
		double error;

		law.byte_reset = bytes;
		error = law_improve(&law, d, LAW_TIMER | LAW_CUT | LAW_BYTES, 2);
		if (error < least) {
			least = error;
			best = law;
		}
	}
	laws_try(laws, best, d);
}

static void
try_bytes(struct laws *laws, const struct law *from, const struct law_data *d)
{
	if (from->byte_reset == 0 && !is_noise(from, d))
		scan_bytes(laws, from, d);
	for (unsigned int i = 0; from->byte_reset > 0 && i < ARRAY_LEN(byte_factors); i++) {
		struct law law = *from;

		law.byte_reset *= byte_factors[i];
		law.hai_bps *= byte_factors[i];
		laws_try(laws, law, d);
	}
}

static void
try_increases(struct laws *laws, const struct law *from, const struct law_data *d)
{
	static const double factors[] = {0.1, 0.5, 2, 10};

	for (unsigned int i = 0; i < ARRAY_LEN(factors); i++) {
		struct law law = *from;

		law.ai_bps *= factors[i];
		laws_try(laws, law, d);
		law = *from;
		law.hai_bps *= factors[i];
		laws_try(laws, law, d);
	}
}

#define MOST_TIMER_FAST 12u

/*
 * Hyper increase by the timer begins at F times T; that of both begins at F times B, too. So the
 * same begin has another F.
 */
static void
try_other_begins(struct laws *laws, const struct law *from, const struct law_data *d,
		 unsigned int kinds)
{
	enum law_kind kind = from->kind == LAW_MLX ? LAW_MLX_TIMER : LAW_MLX;

	if (from->kind == LAW_PAPER || !(kinds >> kind & 1))
		return;
	for (uint32_t f = 0; f <= MOST_TIMER_FAST; f++) {
		struct law law = *from;

		law.kind = kind;
		law.fast_steps = f;
		if (kind == LAW_MLX) {
			law.ai_bps = law.hai_bps / 10;
			begin_elsewhere(&law, d);
		}
		laws_try(laws, law, d);
	}
}

/*
 * mlx's additive increase alone is its hyper increase by the timer, but for one step; and the laws
 * differ in when F is reached.
 */
static void
try_kinds(struct laws *laws, const struct law *from, const struct law_data *d, unsigned int kinds)
{
	for (int kind = LAW_PAPER; kind <= LAW_MLX_TIMER; kind++)
		for (int f = -1; f <= 1; f++) {
			struct law law = *from, other;

			if (kind == (int)from->kind || !(kinds >> kind & 1) ||
			    (int)from->fast_steps + f < 0)
				continue;
			law.kind = (enum law_kind)kind;
			law.fast_steps = (uint32_t)((int)from->fast_steps + f);
			other = law;
			begin_elsewhere(&other, d);
			laws_try(laws, other, d);
			if (law.kind == LAW_MLX_TIMER)
				law.hai_bps = from->ai_bps;
			else if (from->kind == LAW_MLX_TIMER)
				law.ai_bps = from->hai_bps;
			else
				continue;
			laws_try(laws, law, d);
		}
	try_other_begins(laws, from, d, kinds);
}

#define SEARCHES 6u
/* A search goes on if it has found a law that is better by this share. */
#define BETTER 0.97

/* From the best law on to its neighbours, until none of them is better. */
static void
laws_search(struct laws *laws, const struct law_data *d, unsigned int kinds)
{
	for (unsigned int i = 0; i < SEARCHES; i++) {
		uint32_t best = laws_best(laws);
		struct law from = laws->of[best];
		double before = laws->error[best];

		try_timers(laws, &from, d);
		from = laws->of[laws_best(laws)];
		try_steps(laws, &from, d);
		from = laws->of[laws_best(laws)];
		try_bytes(laws, &from, d);
		try_increases(laws, &from, d);
		try_kinds(laws, &from, d, kinds);
		if (laws->error[laws_best(laws)] > BETTER * before)
			return;
	}
}

#define LEAST_STEPS 4u

/* With more of them in an interval of T only R_HAI / B is seen. */
#define MOST_BYTE_EVENTS 4
/* Times that the byte counter expires in hyper increase, so that B is seen. */
#define LEAST_EXPIRED 2.0

static double
byte_events_by_interval(const struct law *law, const struct law_data *d)
{
	double intervals = (d->at_ns[d->n] - d->at_ns[0]) / law->timer_ns;

	return law->byte_reset > 0 ? (d->bytes[d->n] - d->bytes[0]) / law->byte_reset / intervals
				   : 0;
}

static double
most_misfit(const struct law_data *d, double frame_bytes)
{
	double frames = (d->bytes[d->n] - d->bytes[0]) / d->n / frame_bytes;

	return fmax(FITS_LEAST, fmin(FITS, FITS_IN_SPAN / frames));
}

/* Another law that fits as well takes away what it has otherwise. */
static void
doubt(struct recovery *r, const struct law *law, const struct law *other, const struct law_data *d)
{
	struct law_steps steps;

	law_error(other, d, &steps);
	r->tells_fast_steps &= other->fast_steps == law->fast_steps;
	r->tells_ai &= is_near(other->ai_bps, law->ai_bps);
	r->tells_hai &= steps.hyper > 0 && is_near(other->hai_bps, law->hai_bps);
	r->tells_bytes &= steps.hyper > 0 && is_near(other->byte_reset, law->byte_reset);
}

static bool
is_as_good(double error, double best, const struct law_data *d)
{
	return (error - best) * d->n <= TELLS_LAWS * fmax(best, NOISE * NOISE);
}

/* T at an end of the range that is searched is what the range makes of it. */
#define AT_END 1e-3

static bool
is_at_end(const struct law *law, const struct law_data *d)
{
	return law->timer_ns < (1 + AT_END) * d->timer_from_ns ||
	       law->timer_ns > (1 - AT_END) * d->timer_to_ns;
}

/*
 * A law is believed if it sends what was seen, and no other one does.
 * @return false: r->timer_ns is the end of the range of T, which may go on beyond it.
 */
static bool
believe(struct recovery *r, const struct series *s, const struct curve *c, uint64_t cut_ns,
	double cut_doubt_ns, double timer_share, double line_bps, double frame_bytes,
	unsigned int kinds)
{
	struct law_data *d = malloc(sizeof(*d));
	struct laws laws;
	struct law law = {
		.cut_ns = (double)cut_ns - (double)c->points[0].at_ns,
		.timer_ns = r->timer_ns,
		.rate_bps = s->rate_bps[0],
		.target_bps = fmax(s->target_bps[1], s->rate_bps[0]),
	};
	struct law_steps steps;
	double error;
	uint32_t best;

	if (d == NULL)
		return true;
	law_data_fill(d, c, cut_ns, r->timer_ns / 4, SPAN_POINTS, line_bps);
	d->frame_bytes = 0;
	d->cut_from_ns = law.cut_ns - 0.02 * r->timer_ns;
	d->cut_to_ns = law.cut_ns + 0.02 * r->timer_ns + cut_doubt_ns;
	d->timer_from_ns = (1 - timer_share) * r->timer_ns;
	d->timer_to_ns = (1 + timer_share) * r->timer_ns;
	laws_fill(&laws, &law, s, d, kinds);
	if (laws.n == 0) {
		free(d);
		return true;
	}
	laws_search(&laws, d, kinds);
	best = laws_best(&laws);
	law = laws.of[best];
	error = laws.error[best];
	law_error(&law, d, &steps);
	r->misfit = sqrt(error);
	if (is_at_end(&law, d)) {
		r->timer_ns = law.timer_ns;
		free(d);
		return false;
	}
	r->fits = r->misfit < most_misfit(d, frame_bytes) && is_noise(&law, d);
	if (r->fits) {
		r->timer_ns = law.timer_ns;
		r->fast_steps = law.fast_steps;
		r->ai_bps = law.ai_bps;
		r->hai_bps = law.hai_bps;
		r->byte_reset = law.byte_reset;
		r->hyper = steps.hyper > 0;
		r->tells_fast_steps = tells_fast_steps(&law, d, error);
		r->tells_ai = steps.additive >= LEAST_STEPS && tells(&law, d, LAW_AI, error);
		r->tells_hai = steps.hyper >= LEAST_STEPS && tells(&law, d, LAW_HAI, error);
		r->tells_bytes = law.byte_reset > 0 && r->hyper && tells(&law, d, LAW_BYTES, error);
		if ((d->bytes[d->n] - d->bytes[0]) / law.byte_reset <
		    law.fast_steps + LEAST_EXPIRED)
			r->tells_hai = r->tells_bytes = false;
		if (byte_events_by_interval(&law, d) > MOST_BYTE_EVENTS)
			r->tells_hai = r->tells_bytes = false;
		for (uint32_t i = 0; i < laws.n; i++) {
			if (i == best || laws.error[i] > 9 * fmax(error, FITS * FITS / 4))
				continue;
			laws.error[i] = law_improve(&laws.of[i], d, 0, ROUNDS);
			if (is_as_good(laws.error[i], error, d))
				doubt(r, &law, &laws.of[i], d);
		}
	}
	free(d);
	return true;
}

/* Ranges of T, each around the end of the one before. */
#define RANGES 3u

static struct recovery
fit_around(const struct curve *c, uint64_t cut_ns, double cut_doubt_ns, double timer_ns,
	   bool is_told, double line_bps, double frame_bytes, unsigned int kinds)
{
	struct recovery r = {.timer_ns = timer_ns};
	struct series *s;

	if (r.timer_ns <= 0)
		return r;
	s = malloc(sizeof(*s));
	if (s == NULL)
		return r;
	for (uint32_t i = 0; i < (is_told ? 1 : RANGES); i++) {
		fill(s, c, cut_ns, r.timer_ns, line_bps);
		r.intervals = s->n;
		if (s->n < 6 ||
		    believe(&r, s, c, cut_ns, cut_doubt_ns, is_told ? TIMER_SHARE : GUESS_SHARE,
			    line_bps, frame_bytes, kinds))
			break;
	}
	free(s);
	return r;
}

/* A fit with another T must be worse by that factor. */
#define OTHER_WORSE 1.5
/* T of a fit is this share away from another one that may be right. */
#define OTHER_NEAR 0.01

struct recovery
recovery_fit(const struct curve *c, uint64_t cut_ns, double cut_doubt_ns,
	     const struct recovery_timer *timer, double line_bps, double frame_bytes,
	     unsigned int kinds)
{
	struct recovery r = fit_around(c, cut_ns, cut_doubt_ns, timer->ns, timer->is_told, line_bps,
				       frame_bytes, kinds);
	struct recovery other;

	if (timer->is_told || timer->other_ns <= 0 ||
	    fabs(timer->other_ns - r.timer_ns) < OTHER_NEAR * r.timer_ns)
		return r;
	other = fit_around(c, cut_ns, cut_doubt_ns, timer->other_ns, false, line_bps, frame_bytes,
			   kinds);
	if (r.fits && other.fits && !is_near(r.timer_ns, other.timer_ns) &&
	    fmax(r.misfit, other.misfit) < OTHER_WORSE * fmin(r.misfit, other.misfit))
		r.fits = other.fits = false;
	return other.fits && (!r.fits || other.misfit < r.misfit) ? other : r;
}
