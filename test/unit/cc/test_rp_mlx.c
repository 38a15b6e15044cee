/* SPDX-License-Identifier: BSD-3-Clause */
/* The worked traces of the mlx profile. */
#include "unit/cc/rp_test.h"

TEST(mlx_single_cnp_cuts_four_slots_later)
{
	struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
	static const struct row rows[] = {
		{3, CNP, 100000, 100000}, /* nothing yet */
		{3 + 4 * US - 1, LOOK, 100000, 100000},
		{3 + 4 * US, LOOK, 51017, 100000}, /* alpha 1003.2 / 1024 */
		{3 + 304 * US - 1, LOOK, 51017, 100000},
		{3 + 304 * US, LOOK, (51017 + 100000) / 2.0, 100000},
	};

	run(&params, rows, ARRAY_LEN(rows), 1);
}

TEST(mlx_cnp_in_every_alpha_slot_keeps_alpha)
{
	struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
	static const struct row rows[] = {
		{0, CNP, 100000, 100000},
		{500, CNP, 100000, 100000},
		{1500, CNP, 100000, 100000},
		{2500, CNP, 100000, 100000},
		{2600, CNP, 100000, 100000}, /* two in one slot are one */
		{3500, CNP, 100000, 100000},
		{4 * US, LOOK, 50049, 100000},
		/* No increase came between: without clamping the target stays. */
		{4500, CNP, 50049, 100000},
		{5500, CNP, 50049, 100000},
		{6500, CNP, 50049, 100000},
		{7500, CNP, 50049, 100000},
		{8 * US, LOOK, 25049, 100000},
		{12 * US, LOOK, 25049, 100000}, /* no CNP in this slot, no cut */
	};

	/* The source's integers keep alpha at 1023 / 1024; it rises by 0.02 / 1024 in four
	 * slots. */
	run(&params, rows, ARRAY_LEN(rows), 2);
	params.rp_dce_tcp_g = 1024;
	run(&params, rows, ARRAY_LEN(rows), 1);
}

TEST(hyper_increase_follows_the_timer_alone_if_asked)
{
	struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
	static const struct row rows[] = {
		{0, CNP, 100000, 100000},
		{4 * US, LOOK, 50000, 100000}, /* alpha 1 */
		{4500, CNP, 50000, 100000},
		{8 * US, LOOK, 25000, 50000},
		{308 * US, LOOK, 37500, 50000},      /* fast */
		{608 * US, LOOK, 43752.5, 50005},    /* additive */
		{908 * US, LOOK, 46903.75, 50055},   /* hyper, with BC = 0 */
		{1208 * US, LOOK, 48504.375, 50105}, /* and again */
	};

	params.rp_dce_tcp_g = params.rp_initial_alpha_value = 1024;
	params.rp_clamp_tgt_rate = true;
	params.rp_hyper_by_timer = true;
	params.rp_byte_reset_bytes = 0;
	run(&params, rows, ARRAY_LEN(rows), 1);
}

/* A trace of Pensando's firmware is left out: it ignores CNPs within 50 us of the last and holds
 * the target at the same time, which is neither of our profiles. */

TEST(target_follows_a_cut_as_the_clamp_knobs_say)
{
	static const struct {
		bool clamp, ati;
		unsigned int t_events, b_events;
		bool moves;
	} rows[] = {
		{true, false, 0, 0, true},   {true, true, 0, 0, true},
		{false, true, 0, 0, false},  {false, true, 1, 0, true},
		{false, true, 0, 1, true},   {false, false, 0, 0, false},
		{false, false, 1, 0, false}, {false, false, 0, 1, true},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
		uint64_t before_bps, now_ns = 4 * US;
		struct point p;

		params.rp_clamp_tgt_rate = rows[i].clamp;
		params.rp_clamp_tgt_rate_ati = rows[i].ati;
		point_start(&p, &params, params.rp_max_rate_bps, 0);
		point_cnp(&p, 0);
		point_look(&p, now_ns); /* the first cut; target 100G either way */
		if (rows[i].t_events > 0)
			now_ns += params.rp_time_reset_us * US;
		point_look(&p, now_ns);
		for (unsigned int b = 0; b < rows[i].b_events; b++)
			point_sent(&p, 2097088, now_ns);
		before_bps = p.cc.rp.current_rate_bps;
		point_cnp(&p, now_ns);
		point_look(&p, now_ns + 4 * US);
		assert_true(p.cc.rp.current_rate_bps < before_bps);
		assert_int_equal(p.cc.rp.target_rate_bps, rows[i].moves ? before_bps : 100 * GBPS);
	}
}

TEST(gd_and_min_dec_fac_bound_a_cut)
{
	static const struct {
		uint8_t gd, min_dec_fac_pct;
		uint64_t want_bps; /* from 100 Gb/s with alpha 1 */
	} rows[] = {
		{11, 50, 50 * GBPS}, {11, 0, 50 * GBPS},    {12, 50, 75 * GBPS},
		{10, 50, 50 * GBPS}, {10, 30, 30 * GBPS},   {10, 0, 1 * MBPS}, /* all: the floor */
		{0, 90, 90 * GBPS},  {11, 100, 100 * GBPS}, {15, 50, 96875 * MBPS},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
		struct point p;

		params.rp_gd = rows[i].gd;
		params.rp_min_dec_fac_pct = rows[i].min_dec_fac_pct;
		params.rp_initial_alpha_value = 1024;
		params.rp_dce_tcp_g = 1024; /* alpha stays */
		point_start(&p, &params, params.rp_max_rate_bps, 0);
		point_cnp(&p, 0);
		assert_int_equal(point_look(&p, 4 * US), rows[i].want_bps);
	}
}

TEST(first_cnp_may_set_a_rate_but_never_raises_it)
{
	static const struct {
		uint64_t start_bps, override_bps, want_bps;
	} rows[] = {
		{100 * GBPS, 0, 100 * GBPS},
		{100 * GBPS, 85 * GBPS, 85 * GBPS},
		{10 * GBPS, 85 * GBPS, 10 * GBPS},
		{100 * GBPS, 1, 1 * MBPS},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
		struct point p;

		params.rp_rate_to_set_on_first_cnp_bps = rows[i].override_bps;
		point_start(&p, &params, rows[i].start_bps, 0);
		assert_int_equal(point_cnp(&p, 0), rows[i].want_bps);
		assert_int_equal(p.cc.rp.target_rate_bps, rows[i].want_bps);
		/* The first cut still comes one monitor period later; a second CNP sets nothing. */
		assert_int_equal(p.cc.rp.next_event_ns, 4 * US);
		assert_int_equal(point_cnp(&p, 1), rows[i].want_bps);
		assert_int_equal(p.stats.rp_cuts, 0);
	}
}

TEST(mlx_hyper_step_is_constant)
{
	struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
	/*
	 * Pair k is a timer event that finds T = BC = k and a byte event that finds T = k + 1. F =
	 * 1: fast while both are 0, hyper once both are above 1.
	 */
	static const uint64_t rise_mbps[] = {0 + 5, 5 + 5, 50 + 50, 50 + 50, 50 + 50};
	uint64_t now_ns, target_bps;
	struct point p;

	params.rp_clamp_tgt_rate = true;
	point_start(&p, &params, params.rp_max_rate_bps, 0);
	for (uint64_t slot = 0; slot < 3; slot++)
		point_cnp(&p, slot * 4 * US);
	now_ns = 12 * US;
	point_look(&p, now_ns);
	assert_int_equal(p.stats.rp_cuts, 3);
	target_bps = p.cc.rp.target_rate_bps;
	for (size_t k = 0; k < ARRAY_LEN(rise_mbps); k++) {
		now_ns += 300 * US;
		point_look(&p, now_ns);
		point_sent(&p, 2097088, now_ns);
		target_bps += rise_mbps[k] * MBPS;
		assert_int_equal(p.cc.rp.target_rate_bps, target_bps);
	}
}

TEST(mlx_frees_the_limiter_and_the_next_cnp_is_a_first_one)
{
	struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
	struct point p;
	uint64_t now_ns = 4 * US, events = 0;

	point_start(&p, &params, params.rp_max_rate_bps, 0);
	assert_false(rp_limited(&p.cc.rp));
	point_cnp(&p, 0);
	point_look(&p, now_ns);
	/* The distance to the target halves each time and ends at zero because halves round up. */
	for (; rp_limited(&p.cc.rp); events++) {
		assert_true(events < 40);
		now_ns += 300 * US;
		assert_int_equal(p.cc.rp.next_event_ns, now_ns);
		point_look(&p, now_ns);
	}
	assert_int_equal(events, 36); /* 48.98 Gb/s < 2^36 bit/s */
	assert_int_equal(p.cc.rp.current_rate_bps, 100 * GBPS);
	assert_int_equal(p.stats.rp_engagements, 1);
	assert_int_equal(p.stats.rp_releases, 1);
	assert_int_equal(p.cc.rp.next_event_ns, NEVER_NS);
	point_cnp(&p, now_ns + 77);
	assert_int_equal(p.stats.rp_engagements, 2);
	assert_int_equal(rp_alpha_q32(&p.cc.rp, &p.params, now_ns + 77), 1023ull << 22);
	point_look(&p, now_ns + 77 + 4 * US);
	assert_true(fabs((double)p.cc.rp.current_rate_bps / 1e6 - 51017) < 1);
}

TEST(mlx_alpha_neither_sticks_below_one_nor_above_zero)
{
	struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
	struct point p;

	/* With 10 bits it would be 0 after 466 slots; it is 0.102. */
	point_start(&p, &params, params.rp_max_rate_bps, 0);
	point_cnp(&p, 0);
	assert_true(fabs(alpha_of(&p, 466 * US) - 1023.0 / 1024 * pow(1019.0 / 1024, 466)) < 1e-5);
	assert_int_equal(rp_alpha_q32(&p.cc.rp, &p.params, 6000 * US), 0);
	/* With 10 bits and a CNP in every slot it would stick at 820 / 1024; it reaches one. */
	params.rp_initial_alpha_value = 0;
	point_start(&p, &params, params.rp_max_rate_bps, 0);
	for (uint64_t slot = 0; slot < 8000; slot++)
		point_cnp(&p, slot * US + 1);
	assert_true(alpha_of(&p, 7999 * US + 1) == 1.0);
}

TEST_MAIN()
