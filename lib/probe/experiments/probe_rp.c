/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reaction point of QP 0. All other QPs are held, so that its rate is that of its limiter, and
 * the rate is read from the arrivals: those of a paced QP are exact.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "probe/curve/law.h"
#include "probe/curve/recovery.h"
#include "probe/experiments/probe_experiments.h"

/* Below this share of the rate before, the QP has slowed down. */
#define SLOWER 0.97
/* The rate has recovered. */
#define RECOVERED 0.95
/* CNPs without end have left more than this share of the rate: they have no effect. A host that
 * varies its rate by itself may also be busy with CNPs that it ignores. */
#define DEAF 0.9
#define DEAF_UNSTEADY 0.6
/* They leave less than this share of it, at any parameters in use. */
#define HEARS 0.5
/* The lowest rate is that of the slowest such time. */
#define LOWEST_NS (10 * NS_PER_US)
/* It lasts for the distance of CNPs or more, which must hold that time, and some packets. */
#define MOST_LOWEST_NS (25 * NS_PER_US)
#define LOWEST_GAP_NS 12000.0
#define LOWEST_LASTS_NS 30000.0
/* Without CNPs the rate in every such time is at least that share of the mean. */
#define STEADY_NS (50 * NS_PER_US)
#define STEADY_PACKETS 40.0
#define STEADY 0.9
/* Points of a curve are that far apart or more: limiters send small bursts. */
#define CURVE_BIN_NS 2000u
/* Frames that a QP at line rate has tokens for. */
#define TOKEN_FRAMES 2.2
#define MBIT 1e6
#define GBIT 1e9

/* Mean wire bytes of a frame of QP 0. */
static double
mean_frame_bytes(const struct prober *p)
{
	return (double)p->qps[0].bytes / (double)p->qps[0].packets;
}

/* Rate of QP 0 now: of its last packets, or less if the next one is overdue. */
static double
rate_now(const struct prober *p, uint32_t steps, uint64_t now_ns)
{
	const struct prober_qp *q = &p->qps[0];
	double rate = prober_rate_bps(p, 0, steps), most;

	if (q->packets == 0 || now_ns <= q->last_ns)
		return rate;
	most = mean_frame_bytes(p) * 8e9 / (double)(now_ns - q->last_ns);
	return most < rate ? most : rate;
}

static bool
has_recovered(const struct prober *p, uint64_t now_ns)
{
	return rate_now(p, 32, now_ns) >= RECOVERED * p->line_bps;
}

/* Lines that mean nothing for a NIC that does not react. */
static void
say_no_reaction(struct prober *p, enum findings_line first, enum findings_line last)
{
	for (unsigned int l = first; l <= (unsigned int)last; l++)
		if (p->findings.of[l].verdict == VERDICT_NOT_RUN)
			findings_say(&p->findings, (enum findings_line)l, VERDICT_NO_ANSWER,
				     p->line_bps == 0 ? PROBE_NO_DATA : PROBE_NO_REACTION);
}

/* Cuts and steps cannot be read from a rate that varies by itself. */
static bool
say_unsteady(struct prober *p, enum findings_line first, enum findings_line last)
{
	for (unsigned int l = first; p->unsteady && l <= (unsigned int)last; l++)
		findings_say(&p->findings, (enum findings_line)l, VERDICT_NO_ANSWER,
			     "the rate varies too much without CNPs");
	return p->unsteady;
}

/* Did 100 CNPs change nothing? */
static bool
is_deaf(const struct prober *p)
{
	return p->line_bps == 0 || p->findings.of[LINE_RP_BACK_OFF].verdict == VERDICT_FAULT;
}

/* Does the rate without CNPs vary? On slow links a few packets late are much of STEADY_NS. */
static bool
is_unsteady(const struct prober *p, uint64_t from_ns, uint64_t to_ns)
{
	double packet_ns = mean_frame_bytes(p) * 8e9 / p->line_bps;
	uint64_t window_ns = (uint64_t)(STEADY_PACKETS * packet_ns);

	if (window_ns < STEADY_NS)
		window_ns = STEADY_NS;
	return curve_lowest_bps(&p->curve, window_ns, from_ns, to_ns, NULL) < STEADY * p->line_bps;
}

bool
probe_rp_first(struct prober *p, uint64_t now_ns)
{
	double share;

	PROBER_BEGIN(p);
	prober_only(p, 0, now_ns);
	p->mark = p->qps[0].packets;
	PROBER_WAIT(p, p->qps[0].packets > p->mark + PROBER_RECENT, now_ns + p->params.answer_ns);
	if (p->qps[0].packets <= p->mark + PROBER_RECENT) {
		say_no_reaction(p, LINE_RP_BEFORE, LINE_RP_BEFORE);
		return true;
	}
	do
		PROBER_SLEEP(p, p->params.settle_ns);
	while (!prober_is_quiet(p) && now_ns < p->begin_ns + p->params.answer_ns);
	curve_start(&p->curve, 0);
	p->t_ns = now_ns;
	p->mark = p->qps[0].packets;
	PROBER_SLEEP(p, p->params.settle_ns / 2);
	/* A busy host may send nothing for that long. */
	PROBER_WAIT(p, p->qps[0].packets > p->mark + PROBER_RECENT, now_ns + p->params.answer_ns);
	p->line_bps = curve_rate_bps(&p->curve, p->t_ns, now_ns);
	/* Packets of a peer that lies may take no time, or have no bytes. */
	if (p->line_bps <= 0) {
		say_no_reaction(p, LINE_RP_BEFORE, LINE_RP_BEFORE);
		return true;
	}
	p->unsteady = is_unsteady(p, p->t_ns, now_ns);
	prober_note_late(p, 2 * (uint64_t)curve_jitter_ns(&p->curve, p->line_bps, p->t_ns, now_ns));
	/* Frames of other QPs shift those of QP 0. */
	prober_note_late(p,
			 sub_sat((uint64_t)curve_stray_ns(&p->curve, p->line_bps, p->t_ns, now_ns),
				 2 * prober_frame_ns(p)));
	share = p->line_bps / (double)p->params.link_speed_bps;
	/* Frames that waited somewhere come faster than the link is. */
	if (share > 1.05)
		p->late_ns = max_u64(p->late_ns, p->params.settle_ns / 2);
	findings_set(&p->findings, LINE_RP_BEFORE, share > 0.9 ? VERDICT_OK : VERDICT_DIFFERS,
		     p->line_bps / GBIT, "%.3f Gb/s, %.1f %% of the link", p->line_bps / GBIT,
		     share * 100);
	PROBER_END(p);
}

/* Increases are the timer's if their distances are alike: those of the byte counter follow a rate
 * that rises. */
#define REGULAR 0.01

/* The distance of the last three steps, if all rise and the two distances are alike; else 0. */
static double
regular_ns(const struct curve_step *steps, uint32_t n)
{
	double a, b;

	for (uint32_t k = n - 3; n >= 3 && k < n; k++)
		if (steps[k].after_bps <= steps[k].before_bps)
			return 0;
	if (n < 3)
		return 0;
	a = (double)(steps[n - 2].at_ns - steps[n - 3].at_ns);
	b = (double)(steps[n - 1].at_ns - steps[n - 2].at_ns);
	return fabs(a - b) < REGULAR * b ? (a + b) / 2 : 0;
}

/* The stages of the curve's recovery. */
static void
say_stages(struct prober *p)
{
	struct curve_step steps[5];
	uint32_t n = curve_steps(&p->curve, 0, 0.02, steps, 5), i = 0, at = 0;
	char text[FINDINGS_TEXT];

	while (i < n && steps[i].after_bps >= steps[i].before_bps)
		i++;
	if (i == n)
		return;
	for (uint32_t k = i; k < n && at < sizeof(text) - 40; k++)
		at += (uint32_t)snprintf(text + at, sizeof(text) - at, "%s%.1f %% at %.1f us",
					 k == i ? "" : ", ", steps[k].after_bps * 100 / p->line_bps,
					 (double)(steps[k].at_ns - steps[i].at_ns) / 1e3);
	findings_say(&p->findings, LINE_RP_STAGES, VERDICT_MEASURED, "%s", text);
	p->stages_ns = regular_ns(steps, n);
}

/*
 * Alpha from single CNPs, each after a longer time: alpha used by a cut is 2 (1 - after / before).
 * CNP k comes (2^k - 0.5) units after the one before: in the middle of an interval, even if T is
 * not exact. A unit is T, or less if alpha falls fast. Both rates are those next to the cut, over
 * the longest time without an increase. Then g from CNPs in a row, which leave the timer no time
 * to expire.
 */
#define SERIES 14u
#define IN_ROW 48u
#define LEAST_IN_ROW 6u
#define NOT_IN_ROW 3u
#define ROW_PACKETS 6.0
/* Their distance: about a half of T at most. */
#define ROW_NS 30000.0
#define ROW_SHARE 0.55
#define ROW_BYTES 0.85
#define BEFORE_TIMER 0.95
/* Smaller alphas are not trusted. */
#define LEAST_ALPHA 0.12
/* The rate before a CNP is taken over this share of the distance of CNPs in a row, or of a unit. */
#define BEFORE 0.85
#define BEFORE_IN_UNIT 0.45
/* The distance to the line's rate halves with each T: from 2^40 bit/s to none. */
#define RELEASE_STEPS 44
/* Each shorter unit is this fraction of the one before. */
#define SHORTER 4
#define MOST_ROUNDS 4u

static double
alpha_of(double before_bps, double after_bps)
{
	return before_bps > 0 ? 2 * (1 - after_bps / before_bps) : 0;
}

static double
series_ns(const struct prober *p, uint32_t k)
{
	return ((double)(1u << k) - 0.5) * p->unit_ns;
}

/* A smaller step shifts alpha by less than its noise. */
#define HALVES_ALIKE 0.003
#define ROUGHLY_ALIKE 0.01
/* A window is halved at most this many times, until its rate is constant. */
#define HALVINGS 8
/* Fewest packets of a window in which a step would show, and fewest that have a rate. */
#define STEP_PACKETS 9u
#define RATE_PACKETS 5u

static uint32_t
packets_in(const struct curve *c, uint64_t from_ns, uint64_t to_ns)
{
	return curve_find(c, to_ns + 1) - curve_find(c, from_ns);
}

/* Where a window lies beside a time; the rate may have changed shortly before its end. */
enum window { BEGINS, ENDS, ENDS_AFTER_STEP };

/* The rate in a window that begins, or ends, at a time; 0: it is not constant in any. */
static double
constant_bps(const struct curve *c, uint64_t at_ns, double most_ns, enum window window)
{
	double roughly = 0;

	for (int i = 0; i < HALVINGS && most_ns >= 1; i++, most_ns /= 2) {
		uint64_t from_ns = window == BEGINS ? at_ns : at_ns - (uint64_t)most_ns;
		uint64_t to_ns = from_ns + (uint64_t)most_ns;
		uint32_t n = packets_in(c, from_ns, to_ns);

		if (n >= STEP_PACKETS && curve_is_plateau(c, from_ns, to_ns, HALVES_ALIKE) &&
		    !(window == ENDS_AFTER_STEP &&
		      curve_changes_late(c, from_ns, to_ns, HALVES_ALIKE)))
			return curve_rate_bps(c, from_ns, to_ns);
		/* A frame of another QP shifts a few. */
		if (i == 0 && n >= RATE_PACKETS &&
		    (n < STEP_PACKETS || curve_is_plateau(c, from_ns, to_ns, ROUGHLY_ALIKE)))
			roughly = curve_rate_bps(c, from_ns, to_ns);
		if (n < STEP_PACKETS)
			break;
	}
	return roughly;
}

/* From when on the rate shows the cut of the CNP at p->t_ns. */
static uint64_t
settled_ns(const struct prober *p)
{
	return p->t_ns +
	       (uint64_t)(p->rtt_ns + p->cut_delay_ns + TOKEN_FRAMES * (double)prober_frame_ns(p));
}

/* The rate up to a time, since the CNP before at most. window: it ends. */
static double
rate_before(const struct prober *p, double most_ns, enum window window, uint64_t now_ns)
{
	most_ns = fmin(most_ns, (double)sub_sat(now_ns, settled_ns(p)));
	return constant_bps(&p->curve, now_ns, most_ns, window);
}

/*
 * The rate after the cut of the CNP at p->t_ns. It is the lowest one: tokens saved before the cut
 * may leave first, and increases follow.
 */
static double
rate_after(const struct prober *p, uint64_t now_ns)
{
	uint64_t from_ns = settled_ns(p);
	uint64_t left_ns = sub_sat(now_ns, from_ns);
	double lowest = 0;

	for (unsigned int i = 1; i <= 8; i *= 2) {
		uint64_t begin_ns = from_ns + left_ns * i / 16;
		double bps = constant_bps(&p->curve, begin_ns, (double)sub_sat(now_ns, begin_ns),
					  BEGINS);

		if (bps > 0 && (lowest == 0 || bps < (1 - HALVES_ALIKE) * lowest))
			lowest = bps;
	}
	return lowest;
}

/* Least fall of ln(alpha) from one CNP to the next that says something about its decay. */
#define LEAST_FALL 0.2
/* Time constant of the last fall of alpha in the series; 0: it fell too little. */
static double
last_decay_ns(const struct prober *p)
{
	double fall = log(p->y[p->n - 2] / p->y[p->n - 1]);

	return fall < LEAST_FALL ? 0 : series_ns(p, p->n - 2) / fall;
}

/* A row begins with about this alpha: with a small alpha, the rate stays readable for more cuts. */
#define ROW_ALPHA 0.05

/* Time until alpha is small. */
static double
fall_ns(const struct prober *p)
{
	return fmin(last_decay_ns(p) * log(fmax(p->y[p->n - 1] / ROW_ALPHA, 1)),
		    (double)p->params.curve_ns / 2);
}

/* In the paper's law, a cut comes with its CNP, after the processing time of the NIC. */
#define AT_ONCE_NS 1000

static bool
cuts_at_once(const struct prober *p)
{
	return p->cut_delay_ns < AT_ONCE_NS + TOKEN_FRAMES * (double)prober_frame_ns(p);
}

/* Where alpha falls in slots, CNPs in a row are at least this share of its time constant apart. */
#define ROW_DECAY 0.125

static double
row_ns(const struct prober *p)
{
	double ns = cuts_at_once(p) ? ROW_NS : fmax(ROW_NS, ROW_DECAY * last_decay_ns(p));

	ns = fmin(ns, ROW_SHARE * p->timer.ns);
	/* An increase, which the byte counter brings sooner at more rate, halves the cut. */
	if (p->quiet_ns < BEFORE_TIMER * p->timer.ns)
		ns = fmin(ns, ROW_BYTES * p->quiet_ns * p->quiet_bps / p->line_bps);
	return ns;
}

/* The rate before or after a CNP in a row; it may be disturbed. */
static double
rate_in_row(const struct prober *p, bool before, uint64_t now_ns)
{
	double bps =
		before ? rate_before(p, BEFORE * p->row_ns, ENDS, now_ns) : rate_after(p, now_ns);

	return bps > 0 ? bps
		       : curve_rate_bps(&p->curve, now_ns - (uint64_t)(0.75 * p->row_ns), now_ns);
}

/* An alpha that has fallen below the largest one by this share is that of its own cut. */
#define HAS_FALLEN 0.02

/*
 * The first alpha of a series from which the decay is taken. Those before are too small: tokens of
 * before the very first cut may be in it, and a cut may have a limit (rpg_min_dec_fac). A short
 * series cannot do without them.
 */
static uint32_t
first_of(const struct prober *p)
{
	uint32_t most = 0, i;

	for (i = 1; i < p->n; i++)
		if (p->y[i] > p->y[most])
			most = i;
	for (i = most + 1; i < p->n && p->y[i] > (1 - HAS_FALLEN) * p->y[most];)
		i++;
	return i + 2 <= p->n ? i : 0;
}

/* Logarithm of the decay of alpha over the series, without the g (1 - alpha) that a CNP adds. */
static double
decay_of(const double *y, uint32_t n, double g)
{
	double sum = 0;

	for (uint32_t i = 1; i < n; i++)
		sum += log(y[i] / y[i - 1]) - log(1 + g * (1 / y[i - 1] - 1));
	return -sum;
}

/* Alpha falls by 1 - g at each K since the CNP before: K from the number of these. */
static double
period_ns(const struct prober *p, double periods)
{
	double low = 0, high = 0, k_ns;

	for (uint32_t i = first_of(p); i + 1 < p->n; i++)
		high += series_ns(p, i);
	/* K is above all time over periods + n, and at most all time over periods. */
	low = high / (periods + p->n - first_of(p));
	high = high / (periods > 1 ? periods - 0.5 : 0.5);
	for (int step = 0; step < 50; step++) {
		double n = 0;

		k_ns = (low + high) / 2;
		for (uint32_t i = first_of(p); i + 1 < p->n; i++)
			n += floor(series_ns(p, i) / k_ns);
		if (n > periods)
			low = k_ns;
		else
			high = k_ns;
	}
	return high;
}

struct weight {
	double g, k_ns, decay_ns;
	uint32_t ks; /* paper: whole K between CNPs in a row */
	/* largest errors of g and K, and of the decay, as shares */
	double doubt, decay_doubt;
};

/* Standard errors within which a value is. */
#define SURE 3

/* What least squares find in a row of alphas. */
struct row_fit {
	double g, error; /* its standard error */
	double noise;    /* root mean square of what remains */
};

/*
 * Alphas of CNPs in a row follow alpha' = keep alpha + add, from one that is not known. In mlx's
 * law keep is known, and add is g. In the paper's law a CNP adds g (1 - alpha), and alpha falls by
 * 1 - g after each whole K until the next one.
 */
struct row_law {
	bool is_paper;
	double keep; /* mlx */
	uint32_t ks; /* paper: whole K between CNPs */
};

/* Far above any g in use: a fit that diverges ends there. */
#define MOST_G 0.9

static struct row_fit
fit_row(const double *row, uint32_t n, const struct row_law *law)
{
	struct row_fit fit = {0};
	double first = row[0];

	for (int round = 0; round < 8; round++) {
		double alpha = first, by_first = 1, by_g = 0;
		double aa = 0, ag = 0, gg = 0, ar = 0, gr = 0, rr = 0, d;
		double fall = pow(1 - fit.g, law->ks), keep_by_g = 0, add_by_g = 1;
		double keep = law->keep, add = fit.g;

		if (law->is_paper) {
			keep = fall * (1 - fit.g);
			add = fall * fit.g;
			keep_by_g = -(law->ks + 1.0) * fall;
			add_by_g = fall * (1 - law->ks * fit.g / (1 - fit.g));
		}
		for (uint32_t i = 0; i < n; i++) {
			double rest = row[i] - alpha;

			aa += by_first * by_first;
			ag += by_first * by_g;
			gg += by_g * by_g;
			ar += by_first * rest;
			gr += by_g * rest;
			rr += rest * rest;
			by_g = keep * by_g + keep_by_g * alpha + add_by_g;
			by_first *= keep;
			alpha = keep * alpha + add;
		}
		d = aa * gg - ag * ag;
		fit.noise = sqrt(rr / (n - 2));
		fit.error = fit.noise * sqrt(aa / d);
		first += (ar * gg - gr * ag) / d;
		fit.g += (gr * aa - ar * ag) / d;
		if (!(fit.g < MOST_G))
			fit.g = MOST_G;
	}
	return fit;
}

/* Error of the decay of alpha over the series, as a share: that of an alpha beside its fall. */
static double
decay_error(const struct prober *p, double noise)
{
	double last = p->y[p->n - 1], fall = log(p->y[first_of(p)] / last);

	return fall > 0 ? noise / (last * fall) : INFINITY;
}

/* How far is alpha from what the law makes of the one before, after some time? */
static double
strays(double before, double alpha, const struct weight *w, bool is_paper, double ns)
{
	double most, least;

	if (is_paper) {
		/* Whole K count: up to one less than in the mean. */
		most = least = before + w->g * (1 - before);
		if (ns > 0) {
			least *= exp(-ns / w->decay_ns);
			most = fmin(most, least / (1 - w->g));
		}
	} else {
		most = least = before * exp(-ns / w->decay_ns) + w->g;
	}
	return fmax(fmax(least - alpha, alpha - most), 0);
}

/*
 * The largest error of the decay in the paper's law, as a share: that of the noise of alphas in a
 * row, and of the alpha of the series that is farthest from the law.
 */
static double
decay_doubt(const struct prober *p, const struct weight *w, double noise)
{
	double worst = 0;

	for (uint32_t i = first_of(p); i + 1 < p->n; i++)
		worst = fmax(worst, strays(p->y[i], p->y[i + 1], w, true, series_ns(p, i)));
	return hypot(SURE * decay_error(p, noise), decay_error(p, worst));
}

/*
 * The largest error of g in the paper's law, as a share: that of the noise, and what changes
 * without the first alphas of the row, where the rate is highest and a step of the pacer the
 * largest share of a packet's time.
 */
static double
g_doubt(const double *row, uint32_t n, const struct row_law *law, const struct row_fit *fit)
{
	uint32_t without = n / 4;
	double other =
		n - without < LEAST_IN_ROW ? fit->g : fit_row(row + without, n - without, law).g;

	return hypot(SURE * fit->error, other - fit->g) / fit->g;
}

/* With more whole K between CNPs in a row, alpha is too small to find g. */
#define MOST_KS 8u

/* The paper's law: a cut uses the alpha of before the CNP. */
static struct weight
weigh_paper(const struct prober *p, const double *row)
{
	struct weight best = {0};
	double least = INFINITY;

	for (uint32_t ks = 0; ks <= MOST_KS; ks++) {
		const struct row_law law = {true, 0, ks};
		struct row_fit fit = fit_row(row, p->row_n, &law);
		struct weight w = {.g = fit.g, .ks = ks};

		if (!(w.g > 0 && w.g < MOST_G) || fit.noise >= least)
			continue;
		w.k_ns = period_ns(p, decay_of(p->y + first_of(p), p->n - first_of(p), w.g) /
					      -log(1 - w.g));
		w.decay_ns = w.k_ns / -log(1 - w.g);
		w.decay_doubt = decay_doubt(p, &w, fit.noise);
		w.doubt = hypot(g_doubt(row, p->row_n, &law, &fit), w.decay_doubt);
		/* The K found must lie near as many K as were assumed. */
		if (fabs(p->row_ns / w.k_ns - (ks + 0.5)) > 0.5 + 0.02 * (ks + 1))
			continue;
		/* In slots, too, alpha falls between CNPs. */
		if (ks > 0 && !cuts_at_once(p))
			break;
		least = fit.noise;
		best = w;
	}
	return best;
}

/*
 * A CNP acts on alpha at the end of a slot of K, and its cut comes at the end of a slot of cuts.
 * The share of cuts that come before their CNP acts on alpha, if the phases of the slots are
 * random. Where K divides the slot of cuts, none does: so half of the share is assumed, and the
 * other half is doubt.
 */
static double
before_g(const struct prober *p, double k_ns)
{
	double cut_ns = fmax(p->cut_delay_ns, 1);

	return k_ns < cut_ns ? k_ns / (2 * cut_ns) : 1 - cut_ns / (2 * k_ns);
}

/*
 * mlx's law: alpha decays in each slot, which is shorter than the distance of CNPs in a row, and a
 * cut uses the alpha of after the CNP: alpha' = alpha exp(-distance / decay) + g.
 */
static struct weight
weigh_mlx(const struct prober *p, const double *row)
{
	/* A CNP's cut comes at the end of its slot: after a half of it, on average. */
	const double late_ns = p->cut_delay_ns / 2;
	struct row_fit fit = {0};
	struct weight w = {0};
	double time_ns, keep, missed = 0;

	for (int step = 0; step < 6; step++) {
		double fall = 0;

		/* The first cut came after a whole slot. */
		time_ns = first_of(p) > 0 ? 0 : -late_ns;

		for (uint32_t i = first_of(p); i + 1 < p->n; i++) {
			fall -= log((p->y[i + 1] - w.g) / p->y[i]);
			time_ns += series_ns(p, i);
		}
		w.decay_ns = time_ns / fall;
		keep = exp(-p->row_ns / w.decay_ns);
		fit = fit_row(row, p->row_n, &(struct row_law){false, keep, 0});
		missed = (1 - keep) * before_g(p, -log(1 - w.g) * w.decay_ns) / 2;
		/* Alpha decays until the cut; some cuts come before the g of their CNP. */
		w.g = fit.g * exp(late_ns / w.decay_ns) / (1 - missed);
		if (!(w.g > 0 && w.g < LEAST_ALPHA))
			return (struct weight){0};
	}
	w.k_ns = -log(1 - w.g) * w.decay_ns;
	w.decay_doubt = SURE * decay_error(p, fit.noise) + late_ns / time_ns;
	/* The phases of the slots may not be random. */
	w.doubt = hypot(SURE * fit.error / fit.g, w.decay_doubt) + late_ns / w.decay_ns + missed;
	/* Slots of K, and those of cuts, must be short beside the row's distances. */
	if (w.k_ns > p->row_ns / 6 || p->cut_delay_ns > p->row_ns / 5) {
		if (cuts_at_once(p))
			return (struct weight){0};
		w.doubt = 1;
	}
	return w;
}

/* A law fits if each alpha follows from the one before within this share. */
#define ALPHA_FITS 0.06
#define FALLS_ALIKE 0.08
#define LEAST_FIRST 0.5
#define ALPHA_NOISE 0.006
/* g and K are known if their error is less than this share. */
#define WEIGHED 0.05
/* A first cut by all but a half may be the most that a cut may be (rpg_min_dec_fac). */
#define MOST_FIRST 0.995

typedef struct weight (*weigh_fn)(const struct prober *p, const double *row);

/* Is alpha what the law makes of the one before, after some time? */
static bool
follows(double before, double alpha, const struct weight *w, bool is_paper, double ns, double noise)
{
	return strays(before, alpha, w, is_paper, ns) < fmax(noise, ALPHA_FITS * alpha);
}

/* Do the falls from one alpha to the next one have one time constant? One fall must be large. */
static bool
falls_alike(const struct prober *p, const struct weight *w)
{
	for (uint32_t i = 0; p->n > 2 && i + 1 < p->n; i++) {
		double fall = -log((p->y[i + 1] - w->g) / p->y[i]);

		if (fall > LEAST_FALL &&
		    fabs(series_ns(p, i) / fall / w->decay_ns - 1) > FALLS_ALIKE)
			return false;
	}
	return p->n > 2 || (p->y[0] > LEAST_FIRST && p->y[0] < MOST_FIRST);
}

static bool
fits(const struct prober *p, const double *row, const struct weight *w, bool is_paper)
{
	uint32_t strange = 0;

	if (!is_paper && !falls_alike(p, w))
		return false;
	for (uint32_t i = 0; i + 1 < p->n; i++)
		if (!follows(p->y[i], p->y[i + 1], w, is_paper, series_ns(p, i), 0))
			return false;
	/* One that is too small to be measured must still follow: a cut may have had a limit. */
	if (!is_paper && p->n == 2 && p->last_alpha > -1 &&
	    !follows(p->y[p->n - 1], p->last_alpha, w, is_paper, series_ns(p, p->n - 1),
		     2 * ALPHA_NOISE))
		return false;
	for (uint32_t i = 0; i + 1 < p->row_n; i++)
		strange += !follows(row[i], row[i + 1], w, is_paper,
				    is_paper && w->ks == 0 ? 0 : p->row_ns, ALPHA_NOISE);
	/* Tokens of before may be in the first one, and a frame of another QP in any. */
	return strange <= 2 + p->row_n / 16;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* An alpha is an outlier if it is this many times as far from what is expected as the median is. */
#define OUTLIER 6
#define LEAST_OUTLIER 0.008
#define NEAR 5u

static double
median_of(const double *of, uint32_t n)
{
	double sorted[IN_ROW];

	memcpy(sorted, of, n * sizeof(*of));
	qsort(sorted, n, sizeof(*sorted), compare);
	return sorted[n / 2];
}

/* The alpha that the medians of its neighbours and of their differences predict. */
static double
expected_in_row(const double *row, uint32_t n, uint32_t i)
{
	uint32_t from = i < NEAR / 2 ? 0 : i + NEAR / 2 >= n ? n - NEAR : i - NEAR / 2;
	double steps[NEAR - 1];

	for (uint32_t k = 0; k < NEAR - 1; k++)
		steps[k] = row[from + k + 1] - row[from + k];
	return median_of(row + from, NEAR) +
	       ((double)i - (double)(from + NEAR / 2)) * median_of(steps, NEAR - 1);
}

/* Another QP that sends for a moment takes a share of the link. */
static void
smooth(double *row, uint32_t n)
{
	double expected[IN_ROW], far[IN_ROW], most;

	if (n < NEAR)
		return;
	for (uint32_t i = 0; i < n; i++) {
		expected[i] = expected_in_row(row, n, i);
		far[i] = fabs(row[i] - expected[i]);
	}
	most = OUTLIER * median_of(far, n) + LEAST_OUTLIER;
	for (uint32_t i = 0; i < n; i++)
		if (far[i] > most)
			row[i] = expected[i];
}

/* The law that fits; all is 0 if none does. */
static struct weight
weigh(struct prober *p, double *row)
{
	static const weigh_fn laws[] = {weigh_mlx, weigh_paper};

	p->kinds = (1u << LAW_KINDS) - 1;
	if (p->row_n < LEAST_IN_ROW)
		return (struct weight){0};
	smooth(row, p->row_n);
	for (unsigned int i = 0; i < ARRAY_LEN(laws); i++) {
		struct weight w = laws[i](p, row);

		/* An alpha that does not fall tells nothing. */
		if (w.g == 0 || w.decay_doubt > 1 || !fits(p, row, &w, laws[i] == weigh_paper))
			continue;
		/* It tells whose law it is. */
		p->kinds = laws[i] == weigh_paper ? 1u << LAW_PAPER
						  : 1u << LAW_MLX | 1u << LAW_MLX_TIMER;
		return w;
	}
	return (struct weight){0};
}

/*
 * A plateau of three points shows. The byte counter's become shorter with each increase, so that
 * up to four in less time than this may have come unseen, and the one that shows be the fifth.
 */
#define FIRST_SHOWS_NS (9.0 * CURVE_BIN_NS)

/* Alpha at the first CNP: in slots it falls until the cut. */
static void
say_first_alpha(struct prober *p, const struct weight *w)
{
	double fall = exp(p->cut_delay_ns / w->decay_ns), alpha = p->first_alpha * fall;

	if (p->quiet_ns < FIRST_SHOWS_NS)
		findings_say(&p->findings, LINE_RP_ALPHA, VERDICT_NOT_MEASURED,
			     "a cut to %.1f %% or less: the rate rises within %.1f us",
			     100 - p->first_alpha * 50, p->quiet_ns / 1e3);
	else if (fall > 1.2 || alpha > 1.05)
		findings_say(&p->findings, LINE_RP_ALPHA, VERDICT_NOT_MEASURED,
			     "a cut to %.1f %%, %.1f us after the CNP", 100 - p->first_alpha * 50,
			     p->cut_delay_ns / 1e3);
	else
		findings_set(&p->findings, LINE_RP_ALPHA, VERDICT_MEASURED, fmin(alpha, 1),
			     "%.3f: a cut to %.1f %%", fmin(alpha, 1), 100 - p->first_alpha * 50);
}

static void
say_alpha(struct prober *p)
{
	struct weight w = weigh(p, p->y + SERIES);
	struct findings *f = &p->findings;

	if (!(w.decay_ns > 0)) {
		for (unsigned int l = LINE_RP_DECAY; l <= LINE_RP_K; l++)
			findings_say(f, (enum findings_line)l, VERDICT_NOT_MEASURED,
				     "no law fits the cuts: alpha from %.3f to %.3f", p->y[0],
				     p->y[p->n - 1]);
		findings_say(f, LINE_RP_ALPHA, VERDICT_NOT_MEASURED,
			     "a cut to %.1f %%, but later cuts do not fit it",
			     100 - p->first_alpha * 50);
		return;
	}
	say_first_alpha(p, &w);
	if (w.decay_doubt > WEIGHED)
		findings_say(f, LINE_RP_DECAY, VERDICT_NOT_MEASURED,
			     "about %.0f us, within %.0f %%", w.decay_ns / 1e3,
			     w.decay_doubt * 100);
	else
		findings_set(f, LINE_RP_DECAY, VERDICT_MEASURED, w.decay_ns / 1e3,
			     "%.1f us: alpha fell from %.3f to %.3f", w.decay_ns / 1e3, p->y[0],
			     p->y[p->n - 1]);
	if (w.doubt > WEIGHED) {
		findings_say(f, LINE_RP_G, VERDICT_NOT_MEASURED, "about %.4f, within %.0f %%", w.g,
			     w.doubt * 100);
		findings_say(f, LINE_RP_K, VERDICT_NOT_MEASURED, "about %.1f us, within %.0f %%",
			     w.k_ns / 1e3, w.doubt * 100);
		return;
	}
	findings_set(f, LINE_RP_G, VERDICT_MEASURED, w.g,
		     "%.5f: dce_tcp_g = %.0f, the weight of the old alpha in 1/1024", w.g,
		     1024 * (1 - w.g));
	findings_set(f, LINE_RP_K, VERDICT_MEASURED, w.k_ns / 1e3, "%.2f us", w.k_ns / 1e3);
}

/* Rates are read over that time. */
static uint64_t
lowest_ns(const struct prober *p)
{
	return max_u64(LOWEST_NS, p->late_ns * 40);
}

/* A rate that lasts is the lowest one over twice the time, too, within this share. */
#define LASTS 0.02

/* Held QPs that send for a moment may take more of the link than this share. */
#define OTHERS_TOOK 0.01

/* The lowest rate since from_ns. It is seen only if it lasts for some packets. */
static void
say_lowest(struct prober *p, enum findings_line line, double bps, double before_bps,
	   uint64_t from_ns, uint64_t now_ns)
{
	double gap_ns = mean_frame_bytes(p) * 8e9 / bps;
	double others = 0, longer_bps;

	(void)curve_lowest_bps(&p->curve, lowest_ns(p), from_ns, now_ns, &others);
	longer_bps = curve_lowest_bps(&p->curve, 2 * lowest_ns(p), from_ns, now_ns, NULL);
	if (others > OTHERS_TOOK)
		findings_say(&p->findings, line, VERDICT_NOT_MEASURED,
			     "at least %.4f Gb/s: other QPs took %.0f %% of the link", bps / GBIT,
			     others * 100);
	else if (gap_ns > LOWEST_GAP_NS || lowest_ns(p) > MOST_LOWEST_NS ||
		 p->first_ns < LOWEST_LASTS_NS || longer_bps > (1 + LASTS) * bps)
		findings_say(&p->findings, line, VERDICT_NOT_MEASURED,
			     "at most %.4f Gb/s, %.2f %% of the rate before: too short for a rate",
			     bps / GBIT, bps * 100 / before_bps);
	else
		findings_set(&p->findings, line, VERDICT_MEASURED, bps / GBIT,
			     "%.4f Gb/s, %.2f %% of the %.3f Gb/s before", bps / GBIT,
			     bps * 100 / before_bps, before_bps / GBIT);
}

/* A plateau that is near 95 % of the rate may be above or below it. */
#define NEARLY 0.007

static void
say_recovered(struct prober *p, uint64_t now_ns)
{
	uint64_t cut_ns = p->t_ns + (uint64_t)p->rtt_ns + (uint64_t)p->cut_delay_ns + CURVE_BIN_NS;
	uint64_t low_ns = curve_reaches_ns(&p->curve, (RECOVERED - NEARLY) * p->line_bps, cut_ns);
	uint64_t high_ns = curve_reaches_ns(&p->curve, (RECOVERED + NEARLY) * p->line_bps, cut_ns);
	double low_us = ((double)(low_ns - p->t_ns) - p->rtt_ns) / 1e3;
	double high_us = ((double)(high_ns - p->t_ns) - p->rtt_ns) / 1e3;

	if (low_ns == 0) {
		findings_say(&p->findings, LINE_RP_RECOVERY, VERDICT_NOT_MEASURED,
			     "not within %.1f us", (double)(now_ns - p->t_ns) / 1e3);
		return;
	}
	if (high_ns == 0)
		high_us = ((double)(now_ns - p->t_ns) - p->rtt_ns) / 1e3;
	/* Rates over so short a time must be exact. */
	if (low_us * 1e3 < 40 * CURVE_BIN_NS || (double)p->late_ns > 4 * NEARLY * CURVE_BIN_NS)
		findings_say(&p->findings, LINE_RP_RECOVERY, VERDICT_NOT_MEASURED, "about %.1f us",
			     low_us);
	else if (high_us - low_us > 0.04 * low_us || (double)p->late_ns > 30 * low_us)
		findings_say(&p->findings, LINE_RP_RECOVERY, VERDICT_NOT_MEASURED,
			     "between %.1f and %.1f us", low_us, high_us);
	else
		findings_set(&p->findings, LINE_RP_RECOVERY, VERDICT_MEASURED,
			     (low_us + high_us) / 2, "%.1f us", (low_us + high_us) / 2);
}

/* Time from the first CNP to its cut beside the round trip: the slot of cuts, in mlx's law. */
static double
cut_delay_ns(const struct prober *p, uint64_t cut_ns, double after_ns)
{
	double at_ns = curve_change_ns(&p->curve, p->curve.points[0].at_ns, cut_ns,
				       cut_ns + (uint64_t)(0.4 * after_ns),
				       cut_ns + (uint64_t)(0.9 * after_ns));

	double after_bps = curve_rate_bps(&p->curve, cut_ns + (uint64_t)(0.4 * after_ns),
					  cut_ns + (uint64_t)(0.9 * after_ns));
	/* The bytes of these frames leave at the rate of before, whatever the one after it is. */
	double tokens_ns =
		TOKEN_FRAMES * (double)prober_frame_ns(p) * p->line_bps / (p->line_bps - after_bps);

	return fmax(at_ns - (double)cut_ns - tokens_ns, 0);
}

/* A timer expires as late at any rate, a byte counter earlier at a higher one. */
#define SAME_TIME 0.04
#define OTHER_RATE 1.5

/* Is the first increase after a cut that of the timer? */
static void
take_first(struct prober *p, const struct recovery_first *first, uint64_t cut_ns)
{
	double doubt_ns = p->cut_delay_ns + TOKEN_FRAMES * (double)prober_frame_ns(p);

	if (first->after_ns == 0)
		return;
	if (p->quiet_ns == 0) {
		p->quiet_ns = first->after_ns;
		p->quiet_bps = first->rate_bps;
	}
	p->timer = recovery_timer(&p->curve, cut_ns, doubt_ns, p->line_bps, mean_frame_bytes(p));
	/* Two cuts tell more than a fit to one, whose time is in doubt. */
	if (p->other_ns > 0 && p->other_bps > OTHER_RATE * first->rate_bps &&
	    fabs(first->after_ns / p->other_ns - 1) < SAME_TIME &&
	    fabs(p->timer.ns / p->other_ns - 1) > SAME_TIME)
		p->timer = (struct recovery_timer){.ns = p->other_ns};
	p->timer.other_ns = first->after_ns;
	p->other_ns = first->after_ns;
	p->other_bps = first->rate_bps;
}

/* The first CNP: its cut, and the recovery. */
static bool
say_first(struct prober *p, uint64_t now_ns)
{
	double lowest = curve_lowest_bps(&p->curve, lowest_ns(p), p->t_ns, now_ns, NULL);
	uint64_t cut_ns = p->t_ns + (uint64_t)p->rtt_ns;
	struct recovery_first first;

	if (lowest > SLOWER * p->line_bps)
		return false;
	p->cuts = true;
	first = recovery_first_increase(&p->curve, cut_ns, false);
	p->first_ns = first.after_ns;
	say_lowest(p, LINE_RP_AFTER_1, lowest, p->line_bps, p->t_ns, now_ns);
	say_stages(p);
	/* The line of the rate after the cut shows when that was. */
	if (first.after_ns > 0)
		p->cut_delay_ns = cut_delay_ns(p, cut_ns, first.after_ns);
	say_recovered(p, now_ns);
	if (first.after_ns == 0)
		return false;
	cut_ns += (uint64_t)p->cut_delay_ns;
	first = recovery_first_increase(&p->curve, cut_ns, false);
	p->first_alpha = alpha_of(
		p->line_bps, curve_rate_bps(&p->curve, cut_ns + (uint64_t)(0.55 * first.after_ns),
					    cut_ns + (uint64_t)(0.95 * first.after_ns)));
	take_first(p, &first, cut_ns);
	return true;
}

/* Until a CNP shows, beside the round trip and the delay of its cut. */
#define LAST_CNP_NS (50 * NS_PER_US)

#define DEPTHS 5u
#define DEPTH_CNPS 2000u
#define DEPTH_NS (4 * NS_PER_MS)
#define NO_TIMER "T is not known: increases come at irregular times"

bool
probe_rp_alpha(struct prober *p, uint64_t now_ns)
{
	struct recovery_first first;

	if (p->line_bps == 0) {
		say_no_reaction(p, LINE_RP_DECAY, LINE_RP_K);
		return true;
	}
	if (say_unsteady(p, LINE_RP_DECAY, LINE_RP_K))
		return true;
	PROBER_BEGIN(p);
	curve_start(&p->curve, CURVE_BIN_NS);
	PROBER_SLEEP(p, 50 * NS_PER_US);
	p->t_ns = now_ns;
	prober_send_cnp(p, 0, 0, now_ns);
	PROBER_SLEEP(p, 100 * NS_PER_US);
	/* Is it a step above 95 %, or a plateau there? Or did it catch up with another QP? */
	do {
		PROBER_WAIT(p, has_recovered(p, now_ns), p->t_ns + p->params.curve_ns);
		PROBER_SLEEP(p, (now_ns - p->t_ns) / 16 + 20 * CURVE_BIN_NS);
	} while (!has_recovered(p, now_ns) && now_ns < p->t_ns + p->params.curve_ns);
	if (!say_first(p, now_ns))
		return true;
	/* The byte counter may be faster than the timer: at lower rates it is not. */
	for (p->j = 0; p->timer.ns == 0 && p->j < DEPTHS; p->j++) {
		PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
		for (p->i = 0; p->i < DEPTH_CNPS; p->i++) {
			if (rate_now(p, 2, now_ns) <= p->line_bps / (4u << 2 * p->j))
				break;
			prober_send_cnp(p, 0, 0, now_ns);
			PROBER_SLEEP(p, 5 * NS_PER_US);
		}
		curve_start(&p->curve, 0);
		p->t_ns = now_ns;
		PROBER_SLEEP(p, DEPTH_NS);
		first = recovery_first_increase(
			&p->curve, p->t_ns - 5 * NS_PER_US + (uint64_t)p->rtt_ns, true);
		take_first(p, &first, p->t_ns - 5 * NS_PER_US + (uint64_t)p->rtt_ns);
	}
	if (p->timer.ns == 0) {
		for (unsigned int l = LINE_RP_DECAY; l <= LINE_RP_K; l++)
			findings_say(&p->findings, (enum findings_line)l, VERDICT_NOT_MEASURED,
				     NO_TIMER);
		findings_say(&p->findings, LINE_RP_ALPHA, VERDICT_NOT_MEASURED,
			     "a cut to %.1f %%; " NO_TIMER, 100 - p->first_alpha * 50);
		return true;
	}
	p->unit_ns = p->timer.ns;
	p->j = 0;
again:
	/* Alpha may have fallen; a limiter that has been released sets it anew. */
	PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
	if (p->j > 0)
		PROBER_SLEEP(p, (uint64_t)(RELEASE_STEPS * p->timer.ns));
	curve_start(&p->curve, 0);
	PROBER_SLEEP(p, (uint64_t)p->unit_ns);
	p->n = 0;
	p->last_alpha = -1;
	for (p->i = 0; p->i < SERIES; p->i++) {
		/* After a long time, an increase may come just before the CNP. */
		p->a = rate_before(p, BEFORE_IN_UNIT * p->unit_ns, ENDS_AFTER_STEP, now_ns);
		prober_send_cnp(p, 0, 0, now_ns);
		p->t_ns = now_ns;
		PROBER_WAIT(p, false, p->t_ns + (uint64_t)series_ns(p, 0));
		p->b = rate_after(p, now_ns);
		if (p->a == 0 || p->b == 0)
			break;
		p->b = alpha_of(p->a, p->b);
		if (p->b < LEAST_ALPHA && p->b > -2 * ALPHA_NOISE)
			p->last_alpha = p->b;
		if (p->b < LEAST_ALPHA || (p->n > 0 && p->b > 1.5 * p->y[p->n - 1]))
			break;
		p->y[p->n++] = p->b;
		if (now_ns - p->begin_ns > 2 * p->params.curve_ns)
			break;
		PROBER_WAIT(p, false,
			    p->t_ns + (uint64_t)series_ns(p, p->i) - (uint64_t)p->unit_ns);
		if (p->i > 0)
			curve_start(&p->curve, 0);
		PROBER_WAIT(p, false, p->t_ns + (uint64_t)series_ns(p, p->i));
	}
	if (p->n < 2 && p->j++ < MOST_ROUNDS) {
		if (p->n == 1 && p->last_alpha > -1)
			p->unit_ns /= SHORTER;
		goto again;
	}
	if (p->n < 2) {
		/* The last CNP belongs to this experiment. */
		PROBER_SLEEP(p, (uint64_t)(p->rtt_ns + p->cut_delay_ns) + LAST_CNP_NS);
		for (unsigned int l = LINE_RP_DECAY; l <= LINE_RP_K; l++)
			findings_say(
				&p->findings, (enum findings_line)l, VERDICT_NOT_MEASURED,
				"alpha does not fall from CNP to CNP: the rate is back before");
		findings_say(&p->findings, LINE_RP_ALPHA, VERDICT_NOT_MEASURED,
			     "a cut to %.1f %%, and no other one to compare it with",
			     100 - p->first_alpha * 50);
		return true;
	}
	PROBER_SLEEP(p, (uint64_t)fmax(2.9 * p->timer.ns, fall_ns(p)));
	curve_start(&p->curve, 0);
	PROBER_SLEEP(p, (uint64_t)p->timer.ns);
	p->row_ns = row_ns(p);
	p->row_n = 0;
	/* The first one only brings the QP below line rate, the next two take its tokens. */
	for (p->i = 0; p->i < IN_ROW + NOT_IN_ROW; p->i++) {
		p->a = rate_in_row(p, true, now_ns);
		prober_send_cnp(p, 0, 0, now_ns);
		p->t_ns = now_ns;
		PROBER_SLEEP(p, (uint64_t)(p->i == 0 ? 0.95 * p->timer.ns : p->row_ns));
		p->b = rate_in_row(p, false, now_ns);
		if (p->i < NOT_IN_ROW)
			continue;
		/* Too slow to be read. */
		if (p->b * p->row_ns < ROW_PACKETS * 8e9 * wire_bytes(p->params.mtu_bytes))
			break;
		p->y[SERIES + p->row_n++] = alpha_of(p->a, p->b);
	}
	say_alpha(p);
	PROBER_END(p);
}

/* Bursts of CNPs at 50 us, N of the paper. */
static const struct {
	enum findings_line line;
	uint32_t cnps;
} bursts[] = {{LINE_RP_AFTER_2, 2}, {LINE_RP_AFTER_10, 10}, {LINE_RP_AFTER_100, 100}};

bool
probe_rp_many(struct prober *p, uint64_t now_ns)
{
	if (p->line_bps == 0) {
		say_no_reaction(p, LINE_RP_AFTER_1, LINE_RP_STAGES);
		return true;
	}
	say_unsteady(p, LINE_RP_AFTER_1, LINE_RP_AFTER_1);
	say_unsteady(p, LINE_RP_ALPHA, LINE_RP_STAGES);
	PROBER_BEGIN(p);
	for (p->j = 0; p->j < ARRAY_LEN(bursts); p->j++) {
		PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
		p->a = prober_rate_bps(p, 0, 32);
		curve_start(&p->curve, 0);
		p->t_ns = now_ns;
		for (p->i = 0; p->i < bursts[p->j].cnps; p->i++) {
			prober_send_cnp(p, 0, 0, now_ns);
			PROBER_SLEEP(p, 50 * NS_PER_US);
		}
		/* The cut of the last one may come at the end of a slot. */
		PROBER_SLEEP(p, (uint64_t)p->cut_delay_ns);
		p->mark = p->qps[0].packets;
		PROBER_WAIT(p, p->qps[0].packets > p->mark + 4, now_ns + p->params.answer_ns / 4);
		p->b = curve_lowest_bps(&p->curve, lowest_ns(p), p->t_ns, now_ns, NULL);
		if (p->a > 0 && p->b > 0)
			say_lowest(p, bursts[p->j].line, p->b, p->a, p->t_ns, now_ns);
		else
			findings_say(&p->findings, bursts[p->j].line, VERDICT_NOT_MEASURED,
				     "too few packets for a rate");
	}
	PROBER_END(p);
}

/* N of the paper; and a distance in which no NIC recovers, for one that seems not to react. */
#define CNP_GAP_NS (50 * NS_PER_US)
#define DENSE_GAP_NS (2 * NS_PER_US)
#define BACK_OFF_ROUNDS 3u
/* Frames may be late by this share of the time over which a rate is taken. */
#define BACK_OFF_LATE 0.1
/* Else it is taken over a longer time. */
#define BACK_OFF_LONGER 4u

/* CNPs seem to change nothing. A cut may be too short to be seen where frames are late. */
static bool
may_recover_between(const struct prober *p)
{
	return p->a > 0 && p->b > DEAF_UNSTEADY * p->a && !p->cuts && p->cnp_gap_ns == CNP_GAP_NS;
}

static void
say_back_off(struct prober *p)
{
	double share = p->b / p->a;

	if (p->late_ns > BACK_OFF_LATE * (double)p->back_off_ns)
		findings_say(&p->findings, LINE_RP_BACK_OFF, VERDICT_NOT_MEASURED,
			     "frames were up to %.0f ms late; the rate is taken over %.0f ms",
			     (double)p->late_ns / 1e6, (double)p->back_off_ns / 1e6);
	else if (share < HEARS && p->cnp_gap_ns == CNP_GAP_NS)
		findings_say(&p->findings, LINE_RP_BACK_OFF, VERDICT_OK, "CNPs slow the QP down");
	else if (share < HEARS)
		findings_say(&p->findings, LINE_RP_BACK_OFF, VERDICT_DIFFERS,
			     "a CNP each 50 us leaves the rate, one each %u us does not: it "
			     "recovers as fast",
			     (unsigned int)(p->cnp_gap_ns / NS_PER_US));
	else if (share > DEAF && p->cuts)
		findings_say(&p->findings, LINE_RP_BACK_OFF, VERDICT_DIFFERS,
			     "a CNP each %u us leaves %.0f %% of the rate: it recovers as fast",
			     (unsigned int)(p->cnp_gap_ns / NS_PER_US), fmin(share, 1) * 100);
	else if (share > (p->unsteady ? DEAF_UNSTEADY : DEAF))
		findings_say(&p->findings, LINE_RP_BACK_OFF, VERDICT_FAULT,
			     "no back-off, %.0f %% of the rate is left: no DCQCN, or CNPs are "
			     "ignored",
			     fmin(share, 1) * 100);
	else
		findings_say(&p->findings, LINE_RP_BACK_OFF,
			     p->unsteady ? VERDICT_NOT_MEASURED : VERDICT_DIFFERS,
			     "CNPs slow the QP down to %.1f %%%s", share * 100,
			     p->unsteady ? ", but its rate varies without CNPs" : "");
}

/*
 * The mean under CNPs without end: neither late frames nor a rate that varies hide their effect. It
 * is compared with the mean under CNPs with a wrong ICRC, which cost a slow host as much.
 */
bool
probe_rp_back_off(struct prober *p, uint64_t now_ns)
{
	if (p->line_bps == 0) {
		say_no_reaction(p, LINE_RP_BACK_OFF, LINE_RP_BACK_OFF);
		return true;
	}
	PROBER_BEGIN(p);
	p->back_off_ns = max_u64(100 * CNP_GAP_NS, 20 * p->late_ns);
	if (p->unsteady || p->back_off_ns > p->params.answer_ns / 8)
		p->back_off_ns = p->params.answer_ns / 8;
	/* Nothing that was measured before is used here. */
	p->t2_ns = p->late_ns;
	p->late_ns = 0;
	p->cnp_gap_ns = CNP_GAP_NS;
again:
	p->a = p->b = 0;
	for (p->j = 0; p->j < 2 * BACK_OFF_ROUNDS; p->j++) {
		PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
		p->n = p->j % 2 == 0 ? PROBER_BAD_ICRC : 0;
		/* A quarter of the time to slow down. */
		for (p->t_ns = now_ns; now_ns < p->t_ns + p->back_off_ns / 4;) {
			prober_send_cnp(p, 0, p->n, now_ns);
			PROBER_SLEEP(p, p->cnp_gap_ns);
		}
		p->mark = p->qps[0].bytes;
		for (p->t_ns = now_ns; now_ns < p->t_ns + p->back_off_ns;) {
			prober_send_cnp(p, 0, p->n, now_ns);
			PROBER_SLEEP(p, p->cnp_gap_ns);
		}
		*(p->n != 0 ? &p->a : &p->b) +=
			(double)(p->qps[0].bytes - p->mark) / (double)(now_ns - p->t_ns);
		/* Nothing hides what one round shows. */
		if (p->j == 1 && p->b < HEARS * p->a && !p->unsteady)
			break;
	}
	if (p->late_ns > BACK_OFF_LATE * (double)p->back_off_ns &&
	    p->back_off_ns < p->params.answer_ns / 4) {
		p->back_off_ns *= BACK_OFF_LONGER;
		if (now_ns + 8 * p->back_off_ns < p->end_ns)
			goto again;
	}
	if (may_recover_between(p)) {
		p->cnp_gap_ns = DENSE_GAP_NS;
		goto again;
	}
	if (p->a > 0)
		say_back_off(p);
	p->late_ns = max_u64(p->late_ns, p->t2_ns);
	if (is_deaf(p)) {
		findings_say_all(&p->findings, LINE_RP_AFTER_1, LINE_RP_AFTER_100,
				 VERDICT_NO_ANSWER, PROBE_NO_REACTION);
		findings_say_all(&p->findings, LINE_RP_ALPHA, LINE_RP_FLOOR, VERDICT_NO_ANSWER,
				 PROBE_NO_REACTION);
	}
	PROBER_END(p);
}

/* Rate to descend to: two dozen packets in each interval of the timer. */
static double
low_rate(const struct prober *p)
{
	double goal = p->line_bps / 16;

	if (p->timer.ns > 0)
		goal = 24 * mean_frame_bytes(p) * 8e9 / p->timer.ns;
	if (goal > p->line_bps / 4)
		goal = p->line_bps / 4;
	return goal < p->line_bps / 128 ? p->line_bps / 128 : goal;
}

/* Two values of T contradict each other if they differ by more. */
#define CONTRADICTS 0.03

/* A parameter of the recovery, if no other value fits as well. */
static void
say_told(struct prober *p, enum findings_line line, bool is_told, double value, const char *format)
{
	char text[32];

	snprintf(text, sizeof(text), format, value);
	if (is_told)
		findings_set(&p->findings, line, VERDICT_MEASURED, value, "%s", text);
	else
		findings_say(&p->findings, line, VERDICT_NOT_MEASURED,
			     "about %s: other values fit the recovery as well", text);
}

static void
say_recovery(struct prober *p)
{
	struct recovery r = recovery_fit(&p->curve, p->t_ns + (uint64_t)p->rtt_ns, p->cut_delay_ns,
					 &p->timer, p->line_bps, mean_frame_bytes(p), p->kinds);
	struct findings *f = &p->findings;

	if (r.timer_ns <= 0) {
		for (unsigned int l = LINE_RP_TIMER; l <= LINE_RP_HAI; l++)
			findings_say(f, (enum findings_line)l, VERDICT_NOT_MEASURED, NO_TIMER);
		return;
	}
	for (unsigned int l = LINE_RP_TIMER; !r.fits && l <= LINE_RP_HAI; l++) {
		if (r.misfit == 0)
			findings_say(f, (enum findings_line)l, VERDICT_NOT_MEASURED,
				     "a recovery in %u intervals of T tells too little",
				     r.intervals);
		else
			findings_say(
				f, (enum findings_line)l, VERDICT_NOT_MEASURED,
				"no law fits the recovery: %.1f %% off, over %u intervals of T",
				100 * r.misfit, r.intervals);
	}
	if (!r.fits && p->timer.is_told)
		findings_set(f, LINE_RP_TIMER, VERDICT_MEASURED, p->timer.ns / 1e3,
			     "%.2f us, from the first increases after a cut", p->timer.ns / 1e3);
	if (!r.fits)
		return;
	if (p->stages_ns > 0 && fabs(r.timer_ns / p->stages_ns - 1) > CONTRADICTS) {
		for (unsigned int l = LINE_RP_TIMER; l <= LINE_RP_HAI; l++)
			findings_say(f, (enum findings_line)l, VERDICT_NOT_MEASURED,
				     "a long recovery has a T of %.2f us, but the first increases "
				     "came %.2f us apart",
				     r.timer_ns / 1e3, p->stages_ns / 1e3);
		return;
	}
	p->timer.ns = r.timer_ns;
	findings_set(f, LINE_RP_TIMER, VERDICT_MEASURED, r.timer_ns / 1e3, "%.2f us",
		     r.timer_ns / 1e3);
	say_told(p, LINE_RP_FAST_STEPS, r.tells_fast_steps, r.fast_steps, "%.0f");
	say_told(p, LINE_RP_AI, r.tells_ai, r.ai_bps / MBIT, "%.2f Mb/s");
	if (!r.hyper) {
		findings_say_all(f, LINE_RP_BYTES, LINE_RP_HAI, VERDICT_NOT_MEASURED,
				 "not seen: no hyper increase before the end of the recovery");
		return;
	}
	say_told(p, LINE_RP_BYTES, r.tells_bytes, r.byte_reset / 1e3, "%.1f KB");
	say_told(p, LINE_RP_HAI, r.tells_hai, r.hai_bps / MBIT, "%.2f Mb/s");
}

/* Rounds of CNPs to bring the target down: it follows the rate only after an increase (mlx). */
#define ROUNDS 12u
#define MOST_CNPS 400u

bool
probe_rp_recovery(struct prober *p, uint64_t now_ns)
{
	if (is_deaf(p)) {
		say_no_reaction(p, LINE_RP_TIMER, LINE_RP_HAI);
		return true;
	}
	if (p->kinds == 0)
		p->kinds = (1u << LAW_KINDS) - 1;
	if (say_unsteady(p, LINE_RP_TIMER, LINE_RP_HAI))
		return true;
	PROBER_BEGIN(p);
	PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
	for (p->j = 0; p->j < ROUNDS; p->j++) {
		for (p->i = 0; p->i < MOST_CNPS; p->i++) {
			/* A curve begins with a cut: at least one. */
			if (p->i > 0 && rate_now(p, 2, now_ns) <= low_rate(p))
				break;
			p->t_ns = now_ns;
			prober_send_cnp(p, 0, 0, now_ns);
			PROBER_SLEEP(p, 10 * NS_PER_US);
		}
		curve_start(&p->curve, CURVE_BIN_NS);
		p->mark = p->qps[0].packets;
		PROBER_WAIT(p, p->qps[0].packets > p->mark + 3, now_ns + p->params.answer_ns / 4);
		p->a = prober_rate_bps(p, 0, 2);
		PROBER_WAIT(p, prober_rate_bps(p, 0, 2) > 1.2 * p->a,
			    now_ns + p->params.curve_ns / 4);
		p->mark = p->qps[0].packets;
		PROBER_WAIT(p, p->qps[0].packets > p->mark + 3, now_ns + p->params.answer_ns / 4);
		if (prober_rate_bps(p, 0, 2) < 1.8 * p->a)
			break;
	}
	PROBER_WAIT(p, has_recovered(p, now_ns), p->t_ns + p->params.curve_ns);
	say_recovery(p);
	PROBER_END(p);
}

/* Distance of the CNPs that bring the rate down: no cut is missed, and no timer expires. */
#define FLOOR_GAP_NS (5 * NS_PER_US)
/* A rate that neither falls nor rises for that time, and for some packets, is the lowest one. */
#define FLOOR_NS (8 * NS_PER_MS)
#define FLOOR_PACKETS 5u
#define FLOOR_SHARE 0.01
#define FLOOR_STEP_NS 50000.0
#define FLOOR_WINDOW_NS (200 * NS_PER_MS)

/* The rate over the last FLOOR_NS and FLOOR_PACKETS, if all distances in it are alike; else 0. */
static double
steady_bps(const struct prober *p, uint64_t now_ns)
{
	const struct curve *c = &p->curve;
	uint32_t first = curve_find(c, now_ns - FLOOR_NS);
	double rate, stray_ns, gap_ns;

	if (c->n < FLOOR_PACKETS || now_ns < c->points[0].at_ns + FLOOR_NS)
		return 0;
	if (first > c->n - FLOOR_PACKETS)
		first = c->n - FLOOR_PACKETS;
	rate = curve_rate_bps(c, c->points[first].at_ns, now_ns);
	if (rate == 0)
		return 0;
	gap_ns = (double)(c->points[c->n - 1].at_ns - c->points[first].at_ns) / (c->n - 1 - first);
	stray_ns = curve_stray_ns(c, rate, c->points[first].at_ns, now_ns);
	/* A drift bends the curve; at high rates a step of it is seen as well. */
	return stray_ns < FLOOR_SHARE * fmax(gap_ns, FLOOR_STEP_NS) + 2 * (double)prober_frame_ns(p)
		       ? rate
		       : 0;
}

bool
probe_rp_floor(struct prober *p, uint64_t now_ns)
{
	if (is_deaf(p)) {
		say_no_reaction(p, LINE_RP_FLOOR, LINE_RP_FLOOR);
		return true;
	}
	PROBER_BEGIN(p);
	PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
	for (p->t_ns = now_ns, p->b = 0; p->b == 0 && now_ns - p->t_ns < 2 * p->params.answer_ns;) {
		/* Points over some distances of CNPs: a cut between them is seen. */
		curve_start(&p->curve, 0);
		for (p->t2_ns = now_ns; p->b == 0 && now_ns - p->t2_ns < FLOOR_WINDOW_NS &&
					!curve_is_full(&p->curve);) {
			prober_send_cnp(p, 0, 0, now_ns);
			PROBER_SLEEP(p, FLOOR_GAP_NS);
			if (now_ns - p->t2_ns > FLOOR_NS)
				p->b = steady_bps(p, now_ns);
		}
		if (p->curve.n == 0)
			break;
	}
	if (p->b > p->line_bps / 2)
		findings_say(&p->findings, LINE_RP_FLOOR, VERDICT_NOT_MEASURED,
			     "CNPs bring the rate down to %.3f Gb/s only", p->b / GBIT);
	else if (p->b > 0)
		findings_set(&p->findings, LINE_RP_FLOOR, VERDICT_MEASURED, p->b / MBIT,
			     "%.3f Mb/s", p->b / MBIT);
	else
		findings_say(&p->findings, LINE_RP_FLOOR, VERDICT_NOT_MEASURED,
			     "the rate is not steady after %.0f ms of CNPs",
			     (double)(now_ns - p->t_ns) / 1e6);
	PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
	PROBER_END(p);
}

#define OTHERS_ROUNDS 3u
/* Less than this percentage of its rate before is a slower QP. */
#define OTHERS_LEAST 90.0

/*
 * p->y: bytes of the second QP in some windows without CNPs to QP 0, and then in as many with them;
 * and bytes of QP 0 in the same windows. A rate also varies by itself: the QP is slower if it never
 * sends as much as it sent at least before. And it sends less if QP 0 sends more, which may still
 * recover from the experiment before.
 */
static void
say_others(struct prober *p)
{
	double before = 0, with = 0, gain = 0, least = INFINITY, most = 0, share;

	for (uint32_t i = 0; i < OTHERS_ROUNDS; i++) {
		before += p->y[i];
		with += p->y[OTHERS_ROUNDS + i];
		gain += p->y[3 * OTHERS_ROUNDS + i] - p->y[2 * OTHERS_ROUNDS + i];
		least = fmin(least, p->y[i]);
		most = fmax(most, p->y[OTHERS_ROUNDS + i]);
	}
	share = with * 100 / before;
	if (share > OTHERS_LEAST)
		findings_set(&p->findings, LINE_RP_OTHERS, VERDICT_OK, share,
			     "%.1f %%: it is not slowed down", share);
	else if (most * 100 > OTHERS_LEAST * least)
		findings_say(&p->findings, LINE_RP_OTHERS, VERDICT_NOT_MEASURED,
			     "%.1f %%, but its rate varies without CNPs, too", share);
	else if ((with + gain) * 100 > OTHERS_LEAST * before)
		findings_say(&p->findings, LINE_RP_OTHERS, VERDICT_NOT_MEASURED,
			     "%.1f %%, but the first QP took what the second one lost", share);
	else
		findings_set(&p->findings, LINE_RP_OTHERS, VERDICT_FAULT, share,
			     "%.1f %%: CNPs to one QP slow down another", share);
}

bool
probe_rp_others(struct prober *p, uint64_t now_ns)
{
	if (p->params.qp_count < 2) {
		findings_say(&p->findings, LINE_RP_OTHERS, VERDICT_NOT_RUN, "qp_count is 1");
		return true;
	}
	if (is_deaf(p)) {
		say_no_reaction(p, LINE_RP_OTHERS, LINE_RP_OTHERS);
		return true;
	}
	PROBER_BEGIN(p);
	/* From the lowest rate: that may take longer than the experiment before has waited. */
	PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
	prober_set_mode(p, 1, PROBER_ANSWER, now_ns);
	PROBER_SLEEP(p, 2 * p->params.settle_ns);
	for (p->j = 0; p->j < 2 * OTHERS_ROUNDS; p->j++) {
		for (p->i = 0; p->j >= OTHERS_ROUNDS && p->i < 10; p->i++) {
			prober_send_cnp(p, 0, 0, now_ns);
			PROBER_SLEEP(p, 10 * NS_PER_US);
		}
		p->mark = p->qps[1].bytes;
		p->a = (double)p->qps[0].bytes;
		PROBER_SLEEP(p, p->params.settle_ns);
		p->y[p->j] = (double)(p->qps[1].bytes - p->mark);
		p->y[2 * OTHERS_ROUNDS + p->j] = (double)p->qps[0].bytes - p->a;
		if (p->y[0] == 0)
			break;
	}
	prober_only(p, 0, now_ns);
	if (p->j < 2 * OTHERS_ROUNDS)
		findings_say(&p->findings, LINE_RP_OTHERS, VERDICT_NO_ANSWER,
			     "the NIC sends nothing on its second QP");
	else
		say_others(p);
	PROBER_END(p);
}
