/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCTCP beside a model of RFC 8257, with a rate in place of the window: alpha by section 3.3, cuts
 * by 3.4 and 3.5, at most one in a window of data (3.3, and RFC 3168 6.1.2). Its choice: the rate
 * rises at the end of a window in which no reaction is under way.
 */
#include "unit/cc/differential.h"

static struct {
	double g, ai, least;
	double rate, alpha;
	/* packets since the start, in 64 bits */
	uint64_t acked, sent;
	uint64_t window_end; /* of the observation window; valid with observes */
	uint64_t window_acked, window_marked;
	uint64_t recovered_at; /* reduced: until so many are acknowledged */
	bool observes, reduced;
	bool resent; /* the window of the reduction was sent again, by go-back-N */
} t;

static void
draw(struct differential *d)
{
	t.g = diff_draw(d, "dctcp_g", 1, 1024) / 1024;
	t.alpha = diff_draw(d, "dctcp_initial_alpha", 0, 1024) / 1024;
	t.ai = diff_draw(d, "dctcp_ai_rate_bps", 0, 2 * GBPS);
	t.least = diff_draw(d, "dctcp_min_rate_bps", 1, GBPS);
}

static void
start(struct differential *d)
{
	t.rate = fmax((double)d->start_bps, t.least);
	t.acked = t.sent = t.recovered_at = 0;
	t.window_acked = t.window_marked = 0;
	t.observes = t.reduced = t.resent = false;
	diff_expect(d, "start rate", (double)d->bed.cc.head.rate_bps, t.rate, t.rate);
}

/* All packets sent, of which the bed's number is modulo 2^32. */
static void
sent_until(const struct differential *d)
{
	t.sent = t.acked + (uint32_t)(d->next_seq - d->acked_seq);
}

static void
reduce(double share)
{
	if (t.reduced)
		return;
	t.rate = fmax(t.rate * (1 - share / 2), fmin(t.rate, t.least));
	t.reduced = true;
	t.recovered_at = t.sent;
}

static void
compare(struct differential *d, uint32_t did, double rate_before)
{
	double rate = (double)d->bed.cc.head.rate_bps;
	double alpha = (double)bed_view(&d->bed, d->now_ns).alpha_q32 / 4294967296.;

	diff_expect(d, "rate", rate, t.rate - 2, t.rate + 2);
	diff_expect(d, "alpha", alpha, t.alpha - 2e-9, t.alpha + 2e-9);
	/* A cut of less than 1 bit/s is none. */
	if (fabs(rate - rate_before) > 2)
		assert_int_equal((did & CC_DID_CUT) != 0, rate < rate_before);
	t.rate = rate;
	t.alpha = alpha;
}

static void
cnp(struct differential *d, uint32_t did)
{
	double before = t.rate;

	sent_until(d);
	t.window_marked++;
	reduce(t.alpha);
	compare(d, did, before);
}

static void
loss(struct differential *d, enum cc_loss by, uint32_t did)
{
	double before = t.rate;

	(void)by;
	sent_until(d);
	/* A second loss is one of packets sent after the reduction. */
	if (t.resent)
		t.reduced = false;
	t.resent = true;
	reduce(1);
	t.recovered_at = t.window_end = t.sent;
	compare(d, did, before);
}

static void
ack(struct differential *d, const struct cc_ack *a, uint32_t did)
{
	bool reduced_before = t.reduced;
	double before = t.rate, marked;

	t.acked += a->packets;
	sent_until(d);
	if (t.acked > t.recovered_at)
		t.reduced = t.resent = false;
	t.window_acked += a->packets;
	t.window_marked += a->ce_packets;
	if (a->ce_packets > 0)
		reduce(t.alpha);
	if (!t.observes || t.acked >= t.window_end) {
		marked = fmin(1, (double)t.window_marked / (double)t.window_acked);
		t.alpha = (1 - t.g) * t.alpha + t.g * marked;
		if (!reduced_before && !t.reduced)
			t.rate = fmin(t.rate + t.ai, (double)LINE_BPS);
		t.window_end = t.sent;
		t.window_acked = t.window_marked = 0;
		t.observes = true;
	}
	if (t.acked >= t.recovered_at)
		t.reduced = t.resent = false;
	/* A cut and a rise in one ACK never happen. */
	assert_true((did & (CC_DID_CUT | CC_DID_RAISE)) != (CC_DID_CUT | CC_DID_RAISE));
	compare(d, did, before);
}

TEST(dctcp_does_what_rfc_8257_says)
{
	diff_run(&(struct diff_model){.algorithm = CC_DCTCP,
				      .draw = draw,
				      .start = start,
				      .ack = ack,
				      .cnp = cnp,
				      .loss = loss});
}

TEST_MAIN()
