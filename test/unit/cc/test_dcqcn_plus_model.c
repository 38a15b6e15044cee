/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reaction point of DCQCN+ beside a model of its equations (doc/equations.md): DCQCN's cut and
 * alpha, a timer of lambda intervals of CNPs, and steps that are a share of the rate or of the
 * line. The model runs each event of the timer until the rate is that of the line.
 */
#include "unit/cc/differential.h"

#define LINE ((double)LINE_BPS)

static double g, least, interval_ns, lambda;
static uint64_t f;

/* One QP. */
struct model {
	bool is_high; /* where rounding decides whether alpha is above 0.1: it is */
	double rate, target, alpha;
	uint64_t s, next_ns, period_ns;
};

/* One of the two is right. */
static struct model m[2];

static void
draw(struct differential *d)
{
	g = diff_draw(d, "dcqcn_plus_g", 1, 1024) / 1024;
	interval_ns = diff_draw(d, "dcqcn_plus_interval_ns", 1000, 10 * NS_PER_MS);
	lambda = diff_draw(d, "dcqcn_plus_timer", 1, 16);
	f = (uint64_t)diff_draw(d, "dcqcn_plus_threshold", 0, 31);
	least = diff_draw(d, "dcqcn_plus_min_rate_bps", MBPS, GBPS);
}

static void
set_period(struct model *t, double told_ns)
{
	double packet_ns = floor(PACKET_BYTES * 8e9 / t->rate);

	t->period_ns = (uint64_t)(lambda * fmax(interval_ns, fmax(told_ns, packet_ns)));
}

static double
step(const struct model *t)
{
	if (t->s <= f)
		return 0;
	if (t->s > 4 * f)
		return fmin(t->rate, (double)(t->s - 4 * f) * LINE / 100);
	if (fabs(t->alpha - 0.1) < 2e-6 ? t->is_high : t->alpha > 0.1)
		return fmin(t->rate / 5, LINE / 50);
	return fmin(t->rate / 10, LINE / 100);
}

static void
run(struct model *t, uint64_t now_ns)
{
	while (t->next_ns <= now_ns && t->rate < LINE) {
		t->alpha *= 1 - g;
		t->s++;
		t->target = fmin(t->target + step(t), LINE);
		t->rate = t->target - floor((t->target - t->rate) / 2);
		t->next_ns += t->period_ns;
	}
	if (t->next_ns <= now_ns) {
		uint64_t n = (now_ns - t->next_ns) / t->period_ns + 1;

		t->alpha *= pow(1 - g, (double)n);
		t->next_ns += n * t->period_ns;
	}
}

static void
expect_near(const struct differential *d, const char *what, double is, double model,
	    double least_gap)
{
	double gap = fmax(least_gap, model * 1e-5);

	diff_expect(d, what, is, model - gap, model + gap);
}

static void
compare(struct differential *d)
{
	struct cc_view v = bed_view(&d->bed, d->now_ns);
	uint64_t next_ns = d->bed.cc.head.next_event_ns;
	double alpha = (double)v.alpha_q32 / 4294967296.;
	struct model *t =
		&m[fabs((double)v.rate_bps - m[0].rate) > fabs((double)v.rate_bps - m[1].rate)];

	/* Up to 2 b/s are lost in each event, and grow in the next ones. */
	expect_near(d, "rate", (double)v.rate_bps, t->rate, 4);
	expect_near(d, "target", (double)v.target_rate_bps, t->target, 4);
	/* It is rounded towards 0 by up to 2^-31 in each of 1 / g steps. */
	diff_expect(d, "alpha", alpha, t->alpha - 1e-6, t->alpha + 1e-6);
	if (v.rate_bps < LINE_BPS) {
		double gap_ns = fmax((double)t->period_ns * 1e-5, 2 * lambda);

		diff_expect(d, "T", (double)v.time_stage, fmin((double)t->s, UINT16_MAX),
			    fmin((double)t->s, UINT16_MAX));
		diff_expect(d, "wait", (double)(next_ns - d->now_ns),
			    (double)(t->next_ns - d->now_ns) - gap_ns,
			    (double)(t->next_ns - d->now_ns) + gap_ns);
		if (t->s == 0)
			t->period_ns += next_ns - t->next_ns;
		t->next_ns = next_ns;
	} else {
		assert_true(next_ns == NEVER_NS);
	}
	t->rate = (double)v.rate_bps;
	t->target = (double)v.target_rate_bps;
	t->alpha = alpha;
	m[0] = m[1] = *t;
	m[1].is_high = !t->is_high;
}

static void
start(struct differential *d)
{
	struct model *t = m;

	*t = (struct model){.alpha = 1};
	t->rate = t->target = fmax((double)d->start_bps, least);
	set_period(t, 0);
	/* The bed starts a flow at time 0. */
	t->next_ns = t->rate < LINE ? t->period_ns : NEVER_NS;
	assert_int_equal(d->bed.cc.head.next_event_ns, t->next_ns);
	m[1] = *t;
	m[1].is_high = true;
}

static void
sent(struct differential *d, uint32_t bytes, uint32_t did)
{
	(void)bytes;
	(void)did;
	for (int i = 0; i < 2; i++)
		run(&m[i], d->now_ns);
	compare(d);
}

static void
cnp(struct differential *d, uint32_t did)
{
	for (int i = 0; i < 2; i++) {
		struct model *t = &m[i];

		run(t, d->now_ns);
		set_period(t, (double)d->cnp.value);
		t->target = t->rate;
		t->rate = fmax(t->rate * (1 - t->alpha / 2), least);
		t->alpha = (1 - g) * t->alpha + g;
		t->next_ns = d->now_ns + t->period_ns;
		t->s = 0;
	}
	assert_true((did & CC_DID_CNP) != 0);
	assert_true(m[0].rate > m[0].target - 2 || (did & CC_DID_CUT) != 0);
	compare(d);
}

TEST(dcqcn_plus_does_what_its_equations_say)
{
	diff_run(&(struct diff_model){.algorithm = CC_DCQCN_PLUS,
				      .draw = draw,
				      .start = start,
				      .cnp = cnp,
				      .sent = sent});
}

TEST_MAIN()
