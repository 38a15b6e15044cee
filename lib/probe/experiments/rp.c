/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reaction point of QP 0. All other QPs are held, so that its rate is that of its limiter, and
 * the rate is read from the arrivals: those of a paced QP are exact.
 */
#include <math.h>
#include <stdio.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "probe/curve/recovery.h"
#include "probe/experiments/kinds.h"

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
/* Without CNPs the rate in every such time is at least that share of the mean. */
#define STEADY_NS (50 * NS_PER_US)
#define STEADY_PACKETS 40.0
#define STEADY 0.9
/* Points of a curve are that far apart or more: limiters send small bursts. */
#define CURVE_BIN_NS 2000u
#define MBIT 1e6
#define GBIT 1e9

/* Rate of QP 0 now: of its last packets, or less if the next one is overdue. */
static double
rate_now(const struct prober *p, uint32_t steps, uint64_t now_ns)
{
	const struct prober_qp *q = &p->qps[0];
	double rate = prober_rate_bps(p, 0, steps), most;

	if (q->packets == 0 || now_ns <= q->last_ns)
		return rate;
	most = (double)q->bytes / (double)q->packets * 8e9 / (double)(now_ns - q->last_ns);
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
	const struct prober_qp *q = &p->qps[0];
	double packet_ns = (double)q->bytes / (double)q->packets * 8e9 / p->line_bps;
	uint64_t window_ns = (uint64_t)(STEADY_PACKETS * packet_ns);

	if (window_ns < STEADY_NS)
		window_ns = STEADY_NS;
	return curve_lowest_bps(&p->curve, window_ns, from_ns, to_ns) < STEADY * p->line_bps;
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
	p->unsteady = is_unsteady(p, p->t_ns, now_ns);
	share = p->line_bps / (double)p->params.link_speed_bps;
	/* Frames that waited somewhere come faster than the link is. */
	if (share > 1.05)
		p->late_ns = max_u64(p->late_ns, p->params.settle_ns / 2);
	findings_set(&p->findings, LINE_RP_BEFORE, share > 0.9 ? VERDICT_OK : VERDICT_DIFFERS,
		     p->line_bps / GBIT, "%.3f Gb/s, %.1f %% of the link", p->line_bps / GBIT,
		     share * 100);
	PROBER_END(p);
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
}

/*
 * Alpha from single CNPs, each after a longer time: alpha used by a cut is 2 (1 - after / before).
 * CNP k comes (2^k - 0.05) T after the one before, and both rates are read in the second half of
 * an interval of the timer: the rate is constant there, and tokens that a QP at line rate had saved
 * have left. Then g from CNPs in a row, which leave the timer no time to expire.
 */
#define SERIES 14u
#define IN_ROW 16u
/* Their distance: less than K, and than a half of T. */
#define ROW_NS 30000.0
#define ROW_SHARE 0.55
/* Smaller alphas are not trusted. */
#define LEAST_ALPHA 0.12
/* The second half of an interval. */
#define HALF_SHARE 0.4

static double
alpha_of(double before_bps, double after_bps)
{
	return before_bps > 0 ? 2 * (1 - after_bps / before_bps) : 0;
}

static double
row_ns(const struct prober *p)
{
	return ROW_SHARE * p->timer_ns < ROW_NS ? ROW_SHARE * p->timer_ns : ROW_NS;
}

static double
series_ns(const struct prober *p, uint32_t k)
{
	return ((double)(1u << k) - 0.05) * p->timer_ns;
}

/* Rate at the end of a share of T. */
static double
rate_behind(const struct prober *p, double share, uint64_t now_ns)
{
	return curve_rate_bps(&p->curve, now_ns - (uint64_t)(share * p->timer_ns), now_ns);
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

	for (uint32_t i = 0; i + 1 < p->n; i++)
		high += series_ns(p, i);
	/* K is above all time over periods + n, and at most all time over periods. */
	low = high / (periods + p->n);
	high = high / (periods > 1 ? periods - 0.5 : 0.5);
	for (int step = 0; step < 50; step++) {
		double n = 0;

		k_ns = (low + high) / 2;
		for (uint32_t i = 0; i + 1 < p->n; i++)
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
};

/*
 * The paper's law: a cut uses the alpha of before the CNP, and alpha does not decay between CNPs in
 * a row, whose distance is less than K. So 1 - alpha falls by 1 - g with each.
 */
static struct weight
weigh_paper(const struct prober *p, const double *row)
{
	double x[IN_ROW], ln[IN_ROW];
	struct weight w = {0};

	for (uint32_t i = 0; i < IN_ROW; i++) {
		x[i] = i;
		ln[i] = log(1 - (row[i] < 0.999 ? row[i] : 0.999));
	}
	w.g = 1 - exp(recovery_slope(x, ln, IN_ROW));
	if (w.g > 0 && w.g < 1) {
		w.k_ns = period_ns(p, decay_of(p->y, p->n, w.g) / -log(1 - w.g));
		w.decay_ns = w.k_ns / -log(1 - w.g);
	}
	return w;
}

/*
 * mlx's law: alpha decays in each slot, which is shorter than the distance of CNPs in a row, and a
 * cut uses the alpha of after the CNP: alpha' = alpha exp(-distance / decay) + g.
 */
static struct weight
weigh_mlx(const struct prober *p, const double *row)
{
	struct weight w = {0};

	for (int step = 0; step < 6; step++) {
		double fall = 0, time_ns = 0, sum = 0;

		for (uint32_t i = 0; i + 1 < p->n; i++) {
			fall -= log((p->y[i + 1] - w.g) / p->y[i]);
			time_ns += series_ns(p, i);
		}
		w.decay_ns = time_ns / fall;
		for (uint32_t i = 0; i + 1 < IN_ROW; i++)
			sum += row[i + 1] - row[i] * exp(-row_ns(p) / w.decay_ns);
		w.g = sum / (IN_ROW - 1);
		if (!(w.g > 0 && w.g < LEAST_ALPHA))
			return (struct weight){0};
	}
	w.k_ns = -log(1 - w.g) * w.decay_ns;
	return w;
}

static struct weight
weigh(const struct prober *p, const double *row)
{
	struct weight w = weigh_paper(p, row);

	return w.k_ns > row_ns(p) ? w : weigh_mlx(p, row);
}

static void
say_alpha(struct prober *p)
{
	struct weight w = weigh(p, p->y + SERIES);
	struct findings *f = &p->findings;
	if (!(w.decay_ns > 0))
		return;
	findings_set(f, LINE_RP_DECAY, VERDICT_MEASURED, w.decay_ns / 1e3,
		     "%.1f us: alpha fell from %.3f to %.3f", w.decay_ns / 1e3, p->y[0],
		     p->y[p->n - 1]);
	if (!(w.g > 0 && w.g < 1))
		return;
	findings_set(f, LINE_RP_G, VERDICT_MEASURED, w.g,
		     "%.5f: dce_tcp_g = %.0f, the weight of the old alpha in 1/1024", w.g,
		     1024 * (1 - w.g));
	findings_set(f, LINE_RP_K, VERDICT_MEASURED, w.k_ns / 1e3, "%.2f us", w.k_ns / 1e3);
}

/* The first CNP: its cut, and the recovery. */
static bool
say_first(struct prober *p, uint64_t now_ns)
{
	double lowest = curve_lowest_bps(&p->curve, LOWEST_NS, p->t_ns, now_ns), alpha;
	uint64_t cut_ns = p->t_ns + (uint64_t)p->rtt_ns;

	if (lowest > SLOWER * p->line_bps)
		return false;
	findings_set(&p->findings, LINE_RP_AFTER_1, VERDICT_MEASURED, lowest / GBIT,
		     "%.3f Gb/s, %.1f %% of the rate before", lowest / GBIT,
		     lowest * 100 / p->line_bps);
	if (has_recovered(p, now_ns))
		findings_set(&p->findings, LINE_RP_RECOVERY, VERDICT_MEASURED,
			     (double)(now_ns - p->t_ns) / 1e3, "%.1f us",
			     (double)(now_ns - p->t_ns) / 1e3);
	say_stages(p);
	p->timer_ns = recovery_timer_ns(&p->curve, cut_ns);
	if (p->timer_ns == 0)
		return false;
	alpha = alpha_of(p->line_bps,
			 curve_rate_bps(&p->curve, cut_ns + (uint64_t)(0.55 * p->timer_ns),
					cut_ns + (uint64_t)(0.95 * p->timer_ns)));
	findings_set(&p->findings, LINE_RP_ALPHA, VERDICT_MEASURED, alpha, "%.3f: a cut to %.1f %%",
		     alpha, 100 - alpha * 50);
	return true;
}

bool
probe_rp_alpha(struct prober *p, uint64_t now_ns)
{
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
	PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
	if (!say_first(p, now_ns))
		return true;
	/* Alpha may have fallen; a limiter that has been released sets it anew. */
	p->j = 0;
again:
	curve_start(&p->curve, 0);
	PROBER_SLEEP(p, (uint64_t)p->timer_ns);
	p->n = 0;
	for (p->i = 0; p->i < SERIES; p->i++) {
		p->a = rate_behind(p, HALF_SHARE, now_ns);
		prober_send_cnp(p, 0, 0, now_ns);
		p->t_ns = now_ns;
		PROBER_WAIT(p, false, p->t_ns + (uint64_t)series_ns(p, 0));
		p->b = alpha_of(p->a, rate_behind(p, HALF_SHARE, now_ns));
		if (p->b < LEAST_ALPHA || (p->n > 0 && p->b > 1.5 * p->y[p->n - 1]))
			break;
		p->y[p->n++] = p->b;
		if (now_ns - p->begin_ns > 2 * p->params.curve_ns)
			break;
		PROBER_WAIT(p, false,
			    p->t_ns + (uint64_t)series_ns(p, p->i) - (uint64_t)p->timer_ns);
		if (p->i > 0)
			curve_start(&p->curve, 0);
		PROBER_WAIT(p, false, p->t_ns + (uint64_t)series_ns(p, p->i));
	}
	if (p->n < 2 && p->j++ == 0) {
		PROBER_SLEEP(p, (uint64_t)(40 * p->timer_ns));
		goto again;
	}
	if (p->n < 2)
		return true;
	curve_start(&p->curve, 0);
	PROBER_SLEEP(p, (uint64_t)(3.9 * p->timer_ns));
	p->a = 0;
	/* The first one only brings the QP below line rate. */
	for (p->i = 0; p->i <= IN_ROW; p->i++) {
		prober_send_cnp(p, 0, 0, now_ns);
		PROBER_SLEEP(p, (uint64_t)(p->i == 0 ? 0.95 * p->timer_ns : row_ns(p)));
		p->b = curve_rate_bps(&p->curve, now_ns - (uint64_t)(0.75 * row_ns(p)), now_ns);
		if (p->i > 0)
			p->y[SERIES + p->i - 1] = alpha_of(p->a, p->b);
		p->a = p->b;
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
		p->mark = p->qps[0].packets;
		PROBER_WAIT(p, p->qps[0].packets > p->mark + 4, now_ns + p->params.answer_ns / 4);
		p->b = curve_lowest_bps(&p->curve, LOWEST_NS, p->t_ns, now_ns);
		findings_set(&p->findings, bursts[p->j].line, VERDICT_MEASURED, p->b / GBIT,
			     "%.4f Gb/s, %.2f %% of the %.3f Gb/s before", p->b / GBIT,
			     p->a > 0 ? p->b * 100 / p->a : 0, p->a / GBIT);
	}
	PROBER_END(p);
}

#define CNP_GAP_NS (50 * NS_PER_US)
#define BACK_OFF_ROUNDS 3u
/* Frames may be late by this share of the time over which a rate is taken. */
#define BACK_OFF_LATE 0.5

static void
say_back_off(struct prober *p)
{
	double share = p->b / p->a;

	if (p->late_ns > BACK_OFF_LATE * (double)p->back_off_ns)
		findings_say(&p->findings, LINE_RP_BACK_OFF, VERDICT_NOT_MEASURED,
			     "frames were up to %.0f ms late; the rate is taken over %.0f ms",
			     (double)p->late_ns / 1e6, (double)p->back_off_ns / 1e6);
	else if (share < HEARS)
		findings_say(&p->findings, LINE_RP_BACK_OFF, VERDICT_OK, "CNPs slow the QP down");
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
	p->a = p->b = 0;
	for (p->j = 0; p->j < 2 * BACK_OFF_ROUNDS; p->j++) {
		PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
		p->n = p->j % 2 == 0 ? PROBER_BAD_ICRC : 0;
		/* A quarter of the time to slow down. */
		for (p->t_ns = now_ns; now_ns < p->t_ns + p->back_off_ns / 4;) {
			prober_send_cnp(p, 0, p->n, now_ns);
			PROBER_SLEEP(p, CNP_GAP_NS);
		}
		p->mark = p->qps[0].bytes;
		for (p->t_ns = now_ns; now_ns < p->t_ns + p->back_off_ns;) {
			prober_send_cnp(p, 0, p->n, now_ns);
			PROBER_SLEEP(p, CNP_GAP_NS);
		}
		*(p->n != 0 ? &p->a : &p->b) +=
			(double)(p->qps[0].bytes - p->mark) / (double)(now_ns - p->t_ns);
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
	const struct prober_qp *q = &p->qps[0];
	double goal = p->line_bps / 16;

	if (p->timer_ns > 0)
		goal = 24 * (double)q->bytes / (double)q->packets * 8e9 / p->timer_ns;
	if (goal > p->line_bps / 4)
		goal = p->line_bps / 4;
	return goal < p->line_bps / 128 ? p->line_bps / 128 : goal;
}

static void
say_recovery(struct prober *p)
{
	struct recovery r =
		recovery_fit(&p->curve, p->t_ns + (uint64_t)p->rtt_ns, p->timer_ns, p->line_bps);
	struct findings *f = &p->findings;
	enum findings_verdict verdict = VERDICT_MEASURED;

	if (r.timer_ns <= 0)
		return;
	p->timer_ns = r.timer_ns;
	findings_set(f, LINE_RP_TIMER, verdict, r.timer_ns / 1e3, "%.2f us", r.timer_ns / 1e3);
	if (!r.known)
		return;
	findings_set(f, LINE_RP_FAST_STEPS, verdict, r.fast_steps, "%u", r.fast_steps);
	findings_set(f, LINE_RP_AI, verdict, r.ai_bps / MBIT, "%.2f Mb/s, over %u intervals of T",
		     r.ai_bps / MBIT, r.intervals);
	if (!r.hyper) {
		findings_say(f, LINE_RP_BYTES, verdict,
			     "not seen: no hyper increase before the end of the recovery");
		findings_say(f, LINE_RP_HAI, verdict,
			     "not seen: no hyper increase before the end of the recovery");
		return;
	}
	findings_set(f, LINE_RP_BYTES, verdict, r.byte_reset / 1e3, "%.1f KB", r.byte_reset / 1e3);
	findings_set(f, LINE_RP_HAI, verdict, r.hai_bps / MBIT, "%.2f Mb/s", r.hai_bps / MBIT);
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
	if (say_unsteady(p, LINE_RP_TIMER, LINE_RP_HAI))
		return true;
	PROBER_BEGIN(p);
	PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
	for (p->j = 0; p->j < ROUNDS; p->j++) {
		for (p->i = 0; p->i < MOST_CNPS; p->i++) {
			if (rate_now(p, 2, now_ns) <= low_rate(p))
				break;
			prober_send_cnp(p, 0, 0, now_ns);
			PROBER_SLEEP(p, 10 * NS_PER_US);
		}
		curve_start(&p->curve, CURVE_BIN_NS);
		p->t_ns = now_ns;
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

/* The last distances are equal within 3 %: the rate neither falls nor rises. */
static bool
is_steady(const struct prober *p)
{
	double all = prober_rate_bps(p, 0, 5), last = prober_rate_bps(p, 0, 1);
	double some = prober_rate_bps(p, 0, 2);

	return last > 0.97 * all && last < 1.03 * all && some > 0.97 * all && some < 1.03 * all;
}

bool
probe_rp_floor(struct prober *p, uint64_t now_ns)
{
	if (is_deaf(p)) {
		say_no_reaction(p, LINE_RP_FLOOR, LINE_RP_FLOOR);
		return true;
	}
	PROBER_BEGIN(p);
	/* So many that no cut is missed, and the timer never expires. */
	for (p->i = 0; p->i < 200; p->i++) {
		prober_send_cnp(p, 0, 0, now_ns);
		PROBER_SLEEP(p, 5 * NS_PER_US);
	}
	p->mark = p->qps[0].packets;
	p->t_ns = now_ns;
	while (now_ns - p->t_ns < p->params.answer_ns / 2 &&
	       (p->qps[0].packets < p->mark + 7 || !is_steady(p))) {
		prober_send_cnp(p, 0, 0, now_ns);
		PROBER_SLEEP(p, 5 * NS_PER_US);
	}
	if (p->qps[0].packets >= p->mark + 7 && is_steady(p))
		findings_set(&p->findings, LINE_RP_FLOOR, VERDICT_MEASURED,
			     prober_rate_bps(p, 0, 5) / MBIT, "%.3f Mb/s",
			     prober_rate_bps(p, 0, 5) / MBIT);
	PROBER_WAIT(p, has_recovered(p, now_ns), now_ns + p->params.curve_ns);
	PROBER_END(p);
}

bool
probe_rp_others(struct prober *p, uint64_t now_ns)
{
	double share;

	if (p->params.qp_count < 2) {
		findings_say(&p->findings, LINE_RP_OTHERS, VERDICT_NOT_RUN, "qp_count is 1");
		return true;
	}
	if (is_deaf(p)) {
		say_no_reaction(p, LINE_RP_OTHERS, LINE_RP_OTHERS);
		return true;
	}
	PROBER_BEGIN(p);
	prober_set_mode(p, 1, PROBER_ANSWER, now_ns);
	PROBER_SLEEP(p, 2 * p->params.settle_ns);
	p->mark = p->qps[1].bytes;
	PROBER_SLEEP(p, p->params.settle_ns);
	p->a = (double)(p->qps[1].bytes - p->mark);
	for (p->i = 0; p->i < 10; p->i++) {
		prober_send_cnp(p, 0, 0, now_ns);
		PROBER_SLEEP(p, 10 * NS_PER_US);
	}
	p->mark = p->qps[1].bytes;
	PROBER_SLEEP(p, p->params.settle_ns);
	p->b = (double)(p->qps[1].bytes - p->mark);
	prober_only(p, 0, now_ns);
	if (p->a == 0) {
		findings_say(&p->findings, LINE_RP_OTHERS, VERDICT_NO_ANSWER,
			     "the NIC sends nothing on its second QP");
		return true;
	}
	share = p->b * 100 / p->a;
	findings_set(&p->findings, LINE_RP_OTHERS, share > 90 ? VERDICT_OK : VERDICT_FAULT, share,
		     share > 90 ? "%.1f %%: it is not slowed down"
				: "%.1f %%: CNPs to one QP slow down another",
		     share);
	PROBER_END(p);
}
