/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swift beside a model of algorithm 1 of Kumar et al., SIGCOMM 2020: TargetDelay(), and what an
 * ACK, a retransmit timeout and fast recovery do, for the fabric's delay. Choices of ours: only
 * ACKs with a sample change the window, by all packets acknowledged since the last one; a window
 * above one packet is not paced.
 */
#include "unit/cc/differential.h"

static struct {
	double base, hop_scale, hops, fs_range, fs_min, fs_max, ai, beta, max_mdf, least, most;
	double cwnd, rtt, acked;
	double threshold, timeouts; /* RETX_RESET_THRESHOLD, retransmit_cnt */
	double error;               /* of cwnd: smaller than what is visible */
	uint64_t last_cut_ns;
} s;

static void
draw(struct differential *d)
{
	s.base = diff_draw(d, "swift_base_target_ns", 500, 200000);
	s.hop_scale = diff_draw(d, "swift_hop_scale_ns", 0, 5000);
	s.hops = diff_draw(d, "swift_hops", 0, 255);
	s.fs_range = diff_draw(d, "swift_fs_range_ns", 0, 500000);
	s.fs_min = diff_draw(d, "swift_fs_min_cwnd_ppm", 1000, 1000000) / 1e6;
	s.fs_max = diff_draw(d, "swift_fs_max_cwnd", 2, 1000);
	s.ai = diff_draw(d, "swift_ai_ppm", 1000, 10000000) / 1e6;
	s.beta = diff_draw(d, "swift_beta_ppm", 0, 1000000) / 1e6;
	s.max_mdf = diff_draw(d, "swift_max_mdf_ppm", 0, 900000) / 1e6;
	s.least = diff_draw(d, "swift_min_cwnd_ppm", 1000, 1000000) / 1e6;
	s.most = diff_draw(d, "swift_max_cwnd", 2, 100000);
	s.threshold = diff_draw(d, "swift_retx_reset_threshold", 1, 255);
}

/* The window, compared and taken over; slack in packets. */
static void
take_cwnd(struct differential *d, double cwnd, double slack)
{
	const struct cc_head *head = &d->bed.cc.head;
	double trip = s.rtt > 0 ? s.rtt : s.base, low, high, pace;

	slack += s.error;
	s.cwnd = fmin(fmax(cwnd, s.least), s.most);
	/* The smallest window is a multiple of 2^-20. */
	low = fmin(fmax(cwnd - slack, s.least - 1e-6), s.most);
	high = fmin(fmax(cwnd + slack, s.least), s.most);
	diff_expect(d, "window", head->window_bytes, floor(fmax(low, 1) * PACKET_BYTES) - 1,
		    floor(fmax(high, 1) * PACKET_BYTES) + 1);
	s.error = fmin(slack, 1. / PACKET_BYTES);
	if (high < 1 || (low < 1 && head->rate_bps < LINE_BPS)) {
		pace = 8e9 * PACKET_BYTES / trip;
		diff_expect(d, "rate", (double)head->rate_bps,
			    fmin(fmax(1, low * pace), (double)LINE_BPS) - 2,
			    fmin(fmax(1, high * pace), (double)LINE_BPS) + 2);
		if (head->rate_bps == LINE_BPS)
			return;
		s.error = fmin(slack, 1 / pace);
		s.cwnd = fmin(fmax(s.cwnd, (double)head->rate_bps / pace),
			      ((double)head->rate_bps + 1) / pace);
	} else {
		diff_expect(d, "rate", (double)head->rate_bps, (double)LINE_BPS, (double)LINE_BPS);
		if (s.cwnd >= 1)
			s.cwnd = fmin(fmax(s.cwnd, (double)head->window_bytes / PACKET_BYTES),
				      ((double)head->window_bytes + 1) / PACKET_BYTES);
	}
}

static void
start(struct differential *d)
{
	s.rtt = s.acked = s.timeouts = s.error = 0;
	s.last_cut_ns = 0;
	take_cwnd(d, (double)d->start_bps * s.base / 8e9 / PACKET_BYTES, 1e-5);
}

static double
target_ns(void)
{
	double alpha = s.fs_range / (1 / sqrt(s.fs_min) - 1 / sqrt(s.fs_max));
	double term = alpha / sqrt(s.cwnd) - alpha / sqrt(s.fs_max);

	return s.base + s.hops * s.hop_scale + fmax(0, fmin(term, s.fs_range));
}

/* Multiply the window by a factor, once in a round trip. */
static void
decrease(struct differential *d, double factor, double slack)
{
	bool barred = s.last_cut_ns > 0 && (double)(d->now_ns - s.last_cut_ns) < s.rtt;

	if (barred)
		take_cwnd(d, s.cwnd, 2e-6);
	else
		take_cwnd(d, s.cwnd * fmax(factor, 1 - s.max_mdf), slack * s.cwnd + 4e-6);
}

static void
ack(struct differential *d, const struct cc_ack *a, uint32_t did)
{
	double target, before = s.cwnd, slack_ns;

	s.timeouts = 0;
	s.acked += a->packets;
	assert_int_equal((did & CC_DID_RTT) != 0, a->rtt_ns > 0);
	if (a->rtt_ns == 0)
		return;
	s.rtt = (double)a->rtt_ns;
	target = target_ns();
	/* The algorithm's inverse roots are in steps of 2^-16, and fs_min in steps of 2^-20. */
	slack_ns = 2 + s.fs_range * (5. / 65536 / (1 / sqrt(s.fs_min) - 1 / sqrt(s.fs_max)) +
				     1e-6 / s.fs_min);
	if (fabs(s.rtt - target) < slack_ns ? (did & CC_DID_RAISE) == 0 : s.rtt >= target)
		decrease(d, 1 - s.beta * fmax(0, s.rtt - target) / s.rtt,
			 s.beta * slack_ns / s.rtt + 3e-6);
	else
		take_cwnd(d, s.cwnd + s.ai * s.acked / fmax(1, s.cwnd),
			  2e-6 + 2e-6 * s.ai * s.acked);
	if (did & CC_DID_CUT)
		s.last_cut_ns = max_u64(d->now_ns, 1);
	else if (s.cwnd < before * 0.9999 - 1e-5)
		diff_expect(d, "window without a cut", s.cwnd, before, before);
	s.acked = 0;
}

static void
loss(struct differential *d, enum cc_loss by, uint32_t did)
{
	s.timeouts = by == CC_LOSS_TIMEOUT ? s.timeouts + 1 : 0;
	if (s.timeouts >= s.threshold)
		take_cwnd(d, s.least, 1e-6);
	else
		decrease(d, 1 - s.max_mdf, 3e-6);
	if (did & CC_DID_CUT)
		s.last_cut_ns = max_u64(d->now_ns, 1);
}

TEST(swift_does_what_its_paper_says)
{
	diff_run(&(struct diff_model){
		.algorithm = CC_SWIFT, .draw = draw, .start = start, .ack = ack, .loss = loss});
}

TEST_MAIN()
