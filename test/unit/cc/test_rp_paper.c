/* SPDX-License-Identifier: BSD-3-Clause */
/* The worked traces of the paper profile. */
#include "unit/cc/rp_test.h"

TEST(one_cnp_halves_the_line_rate_and_five_fast_steps_follow)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	static const struct row rows[] = {
		{0, LOOK, 40000, 40000},
		{7, CNP, 20000, 40000},
		{7 + 55 * US - 1, LOOK, 20000, 40000},
		{7 + 55 * US, LOOK, 30000, 40000},
		{7 + 110 * US, LOOK, 35000, 40000},
		{7 + 165 * US, LOOK, 37500, 40000},
		{7 + 220 * US, LOOK, 38750, 40000},
		{7 + 275 * US, LOOK, 39375, 40000},
		/* Additive, but the target is capped at the line rate. */
		{7 + 330 * US, LOOK, 39687.5, 40000},
		{7 + 385 * US, LOOK, 39843.75, 40000},
	};

	run(&params, rows, ARRAY_LEN(rows), 0);
}

TEST(three_cnps_fifty_us_apart_then_additive_increase)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	static const struct row rows[] = {
		{0, CNP, 20000, 40000},
		{50 * US, CNP, 10000, 20000},
		{100 * US, CNP, 5000, 10000},
		{155 * US, LOOK, 7500, 10000},
		{210 * US, LOOK, 8750, 10000},
		{265 * US, LOOK, 9375, 10000},
		{320 * US, LOOK, 9687.5, 10000},
		{375 * US, LOOK, 9843.75, 10000},
		{430 * US, LOOK, 9941.875, 10040},
		{485 * US, LOOK, 10010.9375, 10080},
		{540 * US, LOOK, 10065.46875, 10120},
	};

	run(&params, rows, ARRAY_LEN(rows), 0);
}

TEST(byte_counter_takes_the_same_steps_and_hyper_steps_grow)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	struct point p;
	uint64_t now_ns = 0, target_bps;

	params.rp_threshold = 2;
	point_start(&p, &params, params.rp_max_rate_bps, now_ns);
	for (int i = 0; i < 3; i++)
		point_cnp(&p, now_ns);
	target_bps = 10 * GBPS;
	/* T = 1..4 by the timer: two fast steps, two additive ones. */
	for (uint64_t t = 1; t <= 4; t++) {
		now_ns += params.rp_time_reset_us * US;
		point_look(&p, now_ns);
		target_bps += t > 2 ? 40 * MBPS : 0;
		assert_int_equal(p.cc.rp.target_rate_bps, target_bps);
	}
	/* BC = 1, 2: additive, for min(T, BC) <= F; then i = min(T, BC) - F = 1, 2, 2. */
	for (uint64_t bc = 1; bc <= 5; bc++) {
		static const uint64_t rise_mbps[] = {40, 40, 200, 400, 400};

		point_sent(&p, 9999999, now_ns);
		assert_int_equal(p.cc.rp.target_rate_bps, target_bps);
		point_sent(&p, 1, now_ns);
		target_bps += rise_mbps[bc - 1] * MBPS;
		assert_int_equal(p.cc.rp.target_rate_bps, target_bps);
	}
	assert_int_equal(p.stats.rp_fast_recoveries, 2);
	assert_int_equal(p.stats.rp_additive_increases, 4);
	assert_int_equal(p.stats.rp_hyper_increases, 3);
}

TEST(bytes_beyond_b_count_towards_the_next_event)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	struct point p;

	params.rp_byte_reset_bytes = 1000;
	point_start(&p, &params, params.rp_max_rate_bps, 0);
	point_sent(&p, 900, 0); /* free: not counted */
	point_cnp(&p, 0);
	assert_int_equal(point_sent(&p, 999, 1), 20 * GBPS);
	assert_int_equal(point_sent(&p, 301, 1), 30 * GBPS);
	assert_int_equal(point_sent(&p, 699, 1), 30 * GBPS);
	assert_int_equal(point_sent(&p, 1, 1), 35 * GBPS);
	/* A CNP restarts the count. */
	point_sent(&p, 999, 1);
	assert_int_equal(point_cnp(&p, 1), 17500 * MBPS);
	assert_int_equal(point_sent(&p, 999, 1), 17500 * MBPS);
	/* B = 0 counts nothing. */
	p.params.rp_byte_reset_bytes = 0;
	cc_take_params(&p.node);
	for (int i = 0; i < 100; i++)
		assert_int_equal(point_sent(&p, 1u << 30, 1), 17500 * MBPS);
}

TEST(paper_alpha_halves_after_178_idle_periods)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	struct point p;

	point_start(&p, &params, params.rp_max_rate_bps, 0);
	/* No decay before the first CNP, which finds alpha 1. */
	assert_true(alpha_of(&p, HOUR_NS) == 1.0);
	point_cnp(&p, HOUR_NS);
	for (uint64_t n = 0; n <= 400; n++) {
		double want = pow(255.0 / 256.0, (double)n);

		assert_true(fabs(alpha_of(&p, HOUR_NS + n * 55 * US) - want) < 1e-6);
	}
	assert_true(alpha_of(&p, HOUR_NS + 177 * 55 * US) > 0.5);
	assert_true(alpha_of(&p, HOUR_NS + 178 * 55 * US) < 0.5);
}

TEST(paper_keeps_its_alpha_when_recovery_is_over)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	struct point p;
	double alpha;

	point_start(&p, &params, params.rp_max_rate_bps, 0);
	point_cnp(&p, 0);
	assert_true(rp_limited(&p.cc.rp));
	assert_int_equal(point_look(&p, 50 * NS_PER_MS), 40 * GBPS);
	assert_false(rp_limited(&p.cc.rp));
	assert_int_equal(p.cc.rp.next_event_ns, NEVER_NS);
	assert_int_equal(p.stats.rp_engagements, 1);
	assert_int_equal(p.stats.rp_releases, 1);
	/* The second CNP cuts with the alpha that is left, about 2.8 %, and adds g to it. */
	alpha = alpha_of(&p, 50 * NS_PER_MS);
	assert_true(fabs(alpha - pow(255.0 / 256.0, 909)) < 1e-6);
	assert_true(fabs((double)point_cnp(&p, 50 * NS_PER_MS) - 40e9 * (1 - alpha / 2)) < 100);
	assert_true(fabs(alpha_of(&p, 50 * NS_PER_MS) - (alpha * 255 + 1) / 256) < 1e-6);
}

TEST(cnps_stop_at_the_minimum_rate)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	struct point p;

	point_start(&p, &params, params.rp_max_rate_bps, 0);
	for (uint64_t i = 0; i < 100; i++)
		point_cnp(&p, i * 50 * US);
	assert_int_equal(p.cc.rp.current_rate_bps, 10 * MBPS);
	/* 40 Gb/s halve twelve times before 10 Mb/s: at the minimum nothing is cut. */
	assert_int_equal(p.stats.rp_cuts, 12);
	assert_int_equal(p.stats.rp_cnp_handled, 100);
}

TEST_MAIN()
