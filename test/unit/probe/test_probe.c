/* SPDX-License-Identifier: BSD-3-Clause */
/* The report on quench's own NIC: it finds the parameters again, within 5 %. */
#include <math.h>

#include "unit/probe/probe_bed.h"

static struct bed bed;

static void
bed_paper(struct bed *b)
{
	bed_init(b);
}

static void
bed_mlx(struct bed *b)
{
	bed_init(b);
	rp_params_default(&b->nic.rp, RP_PROFILE_MLX);
}

/* Is the line's value within 5 % of what the NIC has? */
static void
expect(const struct bed *b, enum findings_line line, double expected)
{
	const struct finding *f = bed_finding(b, line);

	if (!f->has_value || fabs(f->value - expected) > 0.05 * expected) {
		bed_print(b);
		fail_msg("%s: %s, expected %g", findings_questions[line].id, f->text, expected);
	}
}

static void
expect_text(const struct bed *b, enum findings_line line, const char *expected)
{
	const struct finding *f = bed_finding(b, line);

	if (strstr(f->text, expected) == NULL) {
		bed_print(b);
		fail_msg("%s: %s, expected %s", findings_questions[line].id, f->text, expected);
	}
}

/* Run, and compare every parameter with that of the NIC. hyper: its recovery reaches that stage. */
static void
expect_found(struct bed *b, bool hyper)
{
	static const char *const scopes[] = {"by QP", "by IP pair", "by port"};
	const struct rp_params *rp = &b->nic.rp;
	const struct np_params *np = &b->nic.np;

	bed_create(b);
	bed_run(b);
	if (getenv("SHOW"))
		bed_print(b);
	expect(b, LINE_RP_TIMER, rp->rp_time_reset_us);
	expect(b, LINE_RP_FAST_STEPS, rp->rp_threshold);
	expect(b, LINE_RP_AI, (double)rp->rp_ai_rate_bps / 1e6);
	expect(b, LINE_RP_FLOOR, (double)rp->rp_min_rate_bps / 1e6);
	expect(b, LINE_RP_ALPHA, rp->rp_initial_alpha_value / 1024.0);
	expect(b, LINE_RP_DECAY, rp->rp_dce_tcp_rtt_us / -log(rp->rp_dce_tcp_g / 1024.0));
	expect(b, LINE_RP_G, 1 - rp->rp_dce_tcp_g / 1024.0);
	expect(b, LINE_RP_K, rp->rp_dce_tcp_rtt_us);
	if (hyper) {
		expect(b, LINE_RP_HAI, (double)rp->rp_hai_rate_bps / 1e6);
		expect(b, LINE_RP_BYTES, (double)rp->rp_byte_reset_bytes / 1e3);
	} else {
		expect_text(b, LINE_RP_HAI, "not seen");
	}
	/* From the time-out to four times that (IBTA 9.7.6.1.3). */
	assert_in_range(bed_finding(b, LINE_TR_LAST)->value * 1e3, 4096, 4 * 4096);
	expect_text(b, LINE_TR_LAST_FROM, "the lost one");
	expect(b, LINE_NP_INTERVAL_QP, np->np_min_time_between_cnps_us);
	expect(b, LINE_NP_DSCP, np->np_cnp_dscp);
	expect_text(b, LINE_NP_SCOPE, scopes[np->np_cnp_moderation]);
	expect_text(b, LINE_NP_ECN, np->np_cnp_ecn == ECN_ECT0 ? "ECT(0)" : "ECT(1)");
	bed_destroy(b);
}

TEST(finds_the_defaults_of_the_paper)
{
	bed_paper(&bed);
	expect_found(&bed, false);
}

TEST(finds_the_defaults_of_connectx)
{
	bed_mlx(&bed);
	bed.nic.np.np_min_time_between_cnps_us = 4;
	expect_found(&bed, true);
}

TEST(finds_a_small_byte_counter)
{
	bed_paper(&bed);
	bed.nic.rp.rp_byte_reset_bytes = 500 * 1000;
	expect_found(&bed, true);
}

TEST(finds_a_fast_link)
{
	bed_paper(&bed);
	bed.nic.link_speed_bps = bed.probe.link_speed_bps = 40 * GBPS;
	bed.nic.rp.rp_byte_reset_bytes = 1000 * 1000;
	bed.nic.rp.rp_threshold = 3;
	bed.nic.np.np_cnp_moderation = NP_PER_IP_PAIR;
	expect_found(&bed, true);
}

TEST(finds_a_slow_timer)
{
	bed_paper(&bed);
	bed.nic.rp.rp_time_reset_us = 150;
	bed.nic.rp.rp_ai_rate_bps = 100 * MBPS;
	bed.nic.rp.rp_byte_reset_bytes = 0;
	bed.nic.np.np_min_time_between_cnps_us = 30;
	expect_found(&bed, false);
}

TEST(finds_a_large_g)
{
	bed_paper(&bed);
	bed.nic.rp.rp_dce_tcp_g = 960;
	/* Without hyper increase a few steps more or less are not seen. */
	bed.nic.rp.rp_threshold = 4;
	bed.nic.np.np_cnp_dscp = 46;
	expect_found(&bed, false);
}

TEST(finds_a_high_floor)
{
	bed_paper(&bed);
	bed.nic.rp.rp_min_rate_bps = 100 * MBPS;
	bed.nic.rp.rp_ai_rate_bps = 80 * MBPS;
	bed.nic.rp.rp_threshold = 8;
	bed.nic.np.np_cnp_moderation = NP_PER_PORT;
	expect_found(&bed, false);
}

TEST(finds_a_long_k)
{
	bed_paper(&bed);
	bed.nic.rp.rp_dce_tcp_rtt_us = 120;
	bed.nic.rp.rp_dce_tcp_g = 1000;
	bed.nic.np.np_min_time_between_cnps_us = 100;
	expect_found(&bed, false);
}

TEST(finds_a_low_first_alpha)
{
	bed_paper(&bed);
	bed.nic.rp.rp_initial_alpha_value = 700;
	bed.nic.np.np_cnp_ecn = ECN_ECT1;
	expect_found(&bed, false);
}

TEST(finds_connectx_at_100_gbps)
{
	bed_mlx(&bed);
	bed.nic.link_speed_bps = bed.probe.link_speed_bps = 100 * GBPS;
	bed.nic.rp.rp_ai_rate_bps = 50 * MBPS;
	bed.nic.rp.rp_hai_rate_bps = 500 * MBPS;
	bed.nic.np.np_min_time_between_cnps_us = 10;
	expect_found(&bed, true);
}

TEST_MAIN(.begin = start_eal)
