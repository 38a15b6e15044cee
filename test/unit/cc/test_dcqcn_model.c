/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN beside a model of Zhu et al., SIGCOMM 2015, section 3.1, equations 1 to 4 and figure 7
 * (paper profile), with choices of ours: F steps of fast recovery, hyper increase by
 * (min(T, BC) - F) x R_HAI, and half of the distance to the target rounded down. test_rp.c compares
 * both profiles, bit for bit, with a reference that steps through every event.
 */
#include "unit/cc/differential.h"

#define MOST_STAGES UINT16_MAX

static struct {
	double g, ai, hai, least;
	uint64_t f, k_ns, t_ns, b_bytes;
	double rate, target, alpha;
	uint64_t time_stage, byte_stage, bytes;
	uint64_t alpha_ns, increase_ns; /* of the next timer event; NEVER_NS: none */
} t;

static void
draw(struct differential *d)
{
	t.g = 1 - diff_draw(d, "rp_dce_tcp_g", 0, 1024) / 1024;
	t.alpha = diff_draw(d, "rp_initial_alpha_value", 0, 1024) / 1024;
	t.k_ns = (uint64_t)diff_draw(d, "rp_dce_tcp_rtt_us", 1, 10000) * NS_PER_US;
	t.t_ns = (uint64_t)diff_draw(d, "rp_time_reset_us", 1, 10000) * NS_PER_US;
	t.b_bytes = (uint64_t)diff_draw(d, "rp_byte_reset_bytes", 0, 20000000);
	t.f = (uint64_t)diff_draw(d, "rp_threshold", 0, 31);
	t.ai = diff_draw(d, "rp_ai_rate_bps", 100 * MBPS, GBPS);
	t.hai = diff_draw(d, "rp_hai_rate_bps", 0, GBPS);
	t.least = diff_draw(d, "rp_min_rate_bps", 1, GBPS);
}

static bool
is_free(void)
{
	return t.rate >= (double)LINE_BPS;
}

/* Figure 7. */
static void
increase(void)
{
	uint64_t most = max_u64(t.time_stage, t.byte_stage);
	uint64_t least = min_u64(t.time_stage, t.byte_stage);

	if (least > t.f)
		t.target += (double)(least - t.f) * t.hai;
	else if (most > t.f)
		t.target += t.ai;
	t.target = fmin(t.target, (double)LINE_BPS);
	t.rate = t.target - floor((t.target - t.rate) / 2);
	if (is_free())
		t.increase_ns = NEVER_NS;
}

/* The timers up to now. */
static void
run(uint64_t now_ns)
{
	while (t.increase_ns <= now_ns) {
		t.increase_ns += t.t_ns;
		t.time_stage += t.time_stage < MOST_STAGES;
		increase();
	}
	if (t.alpha_ns <= now_ns) {
		uint64_t n = (now_ns - t.alpha_ns) / t.k_ns + 1;

		t.alpha *= pow(1 - t.g, (double)n);
		t.alpha_ns += n * t.k_ns;
	}
}

static void
compare(struct differential *d)
{
	struct cc_view v = bed_view(&d->bed, d->now_ns);
	double alpha = (double)v.alpha_q32 / 4294967296.;

	diff_expect(d, "rate", (double)v.rate_bps, t.rate * (1 - 1e-6) - 2,
		    t.rate * (1 + 1e-6) + 2);
	diff_expect(d, "target", (double)v.target_rate_bps, t.target * (1 - 1e-6) - 2,
		    t.target * (1 + 1e-6) + 2);
	/* It is rounded towards 0 by up to 2^-31 in each of 1 / g steps. */
	diff_expect(d, "alpha", alpha, t.alpha - 1e-6, t.alpha + 1e-6);
	if (v.limited && !is_free()) {
		diff_expect(d, "T", v.time_stage, (double)t.time_stage, (double)t.time_stage);
		diff_expect(d, "BC", v.byte_stage, (double)t.byte_stage, (double)t.byte_stage);
	}
	t.rate = (double)v.rate_bps;
	t.target = (double)v.target_rate_bps;
	t.alpha = alpha;
}

static void
start(struct differential *d)
{
	t.rate = t.target = fmax((double)d->start_bps, t.least);
	t.time_stage = t.byte_stage = t.bytes = 0;
	t.alpha_ns = NEVER_NS;
	/* The bed starts a flow at time 0. */
	t.increase_ns = is_free() ? NEVER_NS : t.t_ns;
	diff_expect(d, "start rate", (double)d->bed.cc.head.rate_bps, t.rate, t.rate);
}

static void
sent(struct differential *d, uint32_t bytes, uint32_t did)
{
	(void)did;
	run(d->now_ns);
	if (!is_free() && t.b_bytes > 0) {
		t.bytes += bytes;
		if (t.bytes >= t.b_bytes) {
			t.bytes %= t.b_bytes;
			t.byte_stage += t.byte_stage < MOST_STAGES;
			increase();
		}
	}
	compare(d);
}

static void
cnp(struct differential *d, uint32_t did)
{
	double before = t.rate;

	run(d->now_ns);
	t.target = t.rate;
	t.rate = fmax(t.rate * (1 - t.alpha / 2), t.least);
	t.alpha = (1 - t.g) * t.alpha + t.g;
	t.alpha_ns = d->now_ns + t.k_ns;
	t.increase_ns = is_free() ? NEVER_NS : d->now_ns + t.t_ns;
	t.time_stage = t.byte_stage = t.bytes = 0;
	assert_true((did & CC_DID_CNP) != 0);
	if (t.rate < before - 2)
		assert_true((did & CC_DID_CUT) != 0);
	compare(d);
}

TEST(dcqcn_does_what_its_paper_says)
{
	diff_run(&(struct diff_model){
		.algorithm = CC_DCQCN, .draw = draw, .start = start, .cnp = cnp, .sent = sent});
}

TEST_MAIN()
