/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TIMELY beside a model of algorithm 1 of Mittal et al., SIGCOMM 2015, with two choices of ours: a
 * gradient above 1 counts as 1, and samples outside the band end a row of good ones.
 */
#include "unit/cc/differential.h"

static struct {
	double t_low, t_high, min_rtt, delta, beta, weight, hai, least;
	double rate, rtt, rtt_diff;
	uint64_t increases;
	unsigned int good;
	bool has_rtt;
} t;

static void
draw(struct differential *d)
{
	t.t_low = diff_draw(d, "timely_t_low_ns", 0, 200000);
	t.t_high = diff_draw(d, "timely_t_high_ns", (uint64_t)t.t_low + 1, NS_PER_MS);
	t.min_rtt = diff_draw(d, "timely_min_rtt_ns", 1, 200000);
	t.delta = diff_draw(d, "timely_ai_rate_bps", 0, GBPS);
	t.beta = diff_draw(d, "timely_beta_ppm", 0, 1000000) / 1e6;
	t.weight = diff_draw(d, "timely_ewma_ppm", 1000, 1000000) / 1e6;
	t.hai = diff_draw(d, "timely_hai_threshold", 1, 255);
	t.least = diff_draw(d, "timely_min_rate_bps", 1, GBPS);
}

static void
start(struct differential *d)
{
	t.rate = fmax((double)d->start_bps, t.least);
	t.rtt_diff = 0;
	t.has_rtt = false;
	t.good = 0;
	t.increases = 0;
	diff_expect(d, "start rate", (double)d->bed.cc.head.rate_bps, t.rate, t.rate);
}

/* The rate of which a decrease takes this share. */
static double
fallen(double share)
{
	return fmax(t.rate * (1 - t.beta * share), fmin(t.least, t.rate));
}

static void
ack(struct differential *d, const struct cc_ack *a, uint32_t did)
{
	double rate = (double)d->bed.cc.head.rate_bps, rtt = (double)a->rtt_ns;
	/* Of the average, in steps of 2^-20 ns, and of a share, in steps of 2^-20. */
	double slack_ns = 2e-6 / t.weight, low, high;
	bool hears = a->rtt_ns > 0, rises;

	assert_int_equal((did & CC_DID_RTT) != 0, hears);
	if (!hears) {
		diff_expect(d, "rate without a sample", rate, t.rate, t.rate);
		return;
	}
	if (t.has_rtt)
		t.rtt_diff = (1 - t.weight) * t.rtt_diff + t.weight * (rtt - t.rtt);
	t.has_rtt = true;
	t.rtt = rtt;
	if (rtt > t.t_high) {
		t.good = 0;
		low = high = fallen(1 - t.t_high / rtt);
	} else if (rtt < t.t_low) {
		t.good = 0;
		low = high = fmin(t.rate + t.delta, (double)LINE_BPS);
	} else {
		rises = t.rtt_diff <= 0;
		if (fabs(t.rtt_diff) <= slack_ns)
			rises = bed_count(&d->bed, "timely_increases") > t.increases;
		t.good = rises ? t.good + 1 : 0;
		low = fallen(fmin(1, (t.rtt_diff + slack_ns) / t.min_rtt));
		high = fallen(fmin(1, fmax(0, t.rtt_diff - slack_ns) / t.min_rtt));
		if (rises)
			low = high = fmin(t.rate + t.delta * (t.good >= t.hai ? 5 : 1),
					  (double)LINE_BPS);
	}
	diff_expect(d, "rate", rate, low - t.rate * 2e-6 - 2, high + t.rate * 2e-6 + 2);
	t.rate = rate;
	t.increases = bed_count(&d->bed, "timely_increases");
}

static void
loss(struct differential *d, enum cc_loss by, uint32_t did)
{
	(void)by;
	(void)did;
	diff_expect(d, "rate after a loss", (double)d->bed.cc.head.rate_bps, t.rate, t.rate);
}

TEST(timely_does_what_its_paper_says)
{
	diff_run(&(struct diff_model){
		.algorithm = CC_TIMELY, .draw = draw, .start = start, .ack = ack, .loss = loss});
}

TEST_MAIN()
