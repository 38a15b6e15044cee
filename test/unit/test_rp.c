/* SPDX-License-Identifier: BSD-3-Clause */
/* The worked traces of the two profiles, and random runs against an event-by-event reference. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/fixed.h"
#include "base/prng.h"
#include "cc/rp.h"
#include "rp_reference.h"

#define US NS_PER_US
#define HOUR_NS (3600 * NS_PER_SEC)
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

enum event { LOOK, CNP, SENT };

/* Rates in Mb/s, as the sources print them; target 0: not compared. */
struct row {
	uint64_t at_ns;
	enum event event;
	double rate_mbps, target_mbps;
};

static struct rp_params
params_of(enum rp_profile profile, uint64_t max_rate_bps)
{
	struct rp_params params;
	const char *why;

	rp_params_default(&params, profile);
	params.rp_max_rate_bps = max_rate_bps;
	assert_int_equal(rp_params_check(&params, &why), 0);
	return params;
}

static void
run(const struct rp_params *params, const struct row *rows, size_t n, double accept_mbps)
{
	struct rp_stats stats = {0};
	struct rp rp;

	rp_init(&rp, params, params->rp_max_rate_bps, 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t rate_bps = 0;

		switch (rows[i].event) {
		case LOOK:
			rate_bps = rp_update(&rp, params, &stats, rows[i].at_ns);
			break;
		case CNP:
			rate_bps = rp_on_cnp(&rp, params, &stats, rows[i].at_ns);
			break;
		case SENT:
			rate_bps = rp_on_sent(&rp, params, &stats,
					      (uint32_t)params->rp_byte_reset_bytes, rows[i].at_ns);
			break;
		}
		if (fabs((double)rate_bps / 1e6 - rows[i].rate_mbps) > accept_mbps)
			fail_msg("row %zu: rate %.6f, not %.6f Mb/s", i, (double)rate_bps / 1e6,
				 rows[i].rate_mbps);
		if (rows[i].target_mbps > 0 &&
		    fabs((double)rp.target_rate_bps / 1e6 - rows[i].target_mbps) > accept_mbps)
			fail_msg("row %zu: target %.6f, not %.6f Mb/s", i,
				 (double)rp.target_rate_bps / 1e6, rows[i].target_mbps);
	}
}

static double
alpha_of(const struct rp *rp, const struct rp_params *params, uint64_t now_ns)
{
	return (double)rp_alpha_q32(rp, params, now_ns) / (double)Q32_ONE;
}

static void
one_cnp_halves_the_line_rate_and_five_fast_steps_follow(void **state)
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

	(void)state;
	run(&params, rows, LEN(rows), 0);
}

static void
three_cnps_fifty_us_apart_then_additive_increase(void **state)
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

	(void)state;
	run(&params, rows, LEN(rows), 0);
}

static void
byte_counter_takes_the_same_steps_and_hyper_steps_grow(void **state)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	struct rp_stats stats = {0};
	struct rp rp;
	uint64_t now_ns = 0, target_bps;

	(void)state;
	params.rp_threshold = 2;
	rp_init(&rp, &params, params.rp_max_rate_bps, now_ns);
	for (int i = 0; i < 3; i++)
		rp_on_cnp(&rp, &params, &stats, now_ns);
	target_bps = 10 * GBPS;
	/* T = 1..4 by the timer: two fast steps, two additive ones. */
	for (uint64_t t = 1; t <= 4; t++) {
		now_ns += params.rp_time_reset_us * US;
		rp_update(&rp, &params, &stats, now_ns);
		target_bps += t > 2 ? 40 * MBPS : 0;
		assert_int_equal(rp.target_rate_bps, target_bps);
	}
	/* BC = 1, 2: additive, for min(T, BC) <= F; then i = min(T, BC) - F = 1, 2, 2. */
	for (uint64_t bc = 1; bc <= 5; bc++) {
		static const uint64_t rise_mbps[] = {40, 40, 200, 400, 400};

		rp_on_sent(&rp, &params, &stats, 9999999, now_ns);
		assert_int_equal(rp.target_rate_bps, target_bps);
		rp_on_sent(&rp, &params, &stats, 1, now_ns);
		target_bps += rise_mbps[bc - 1] * MBPS;
		assert_int_equal(rp.target_rate_bps, target_bps);
	}
	assert_int_equal(stats.rp_fast_recoveries, 2);
	assert_int_equal(stats.rp_additive_increases, 4);
	assert_int_equal(stats.rp_hyper_increases, 3);
}

static void
bytes_beyond_b_count_towards_the_next_event(void **state)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	struct rp_stats stats = {0};
	struct rp rp;

	(void)state;
	params.rp_byte_reset_bytes = 1000;
	rp_init(&rp, &params, params.rp_max_rate_bps, 0);
	rp_on_sent(&rp, &params, &stats, 900, 0); /* free: not counted */
	rp_on_cnp(&rp, &params, &stats, 0);
	assert_int_equal(rp_on_sent(&rp, &params, &stats, 999, 1), 20 * GBPS);
	assert_int_equal(rp_on_sent(&rp, &params, &stats, 301, 1), 30 * GBPS);
	assert_int_equal(rp_on_sent(&rp, &params, &stats, 699, 1), 30 * GBPS);
	assert_int_equal(rp_on_sent(&rp, &params, &stats, 1, 1), 35 * GBPS);
	/* A CNP starts the count anew. */
	rp_on_sent(&rp, &params, &stats, 999, 1);
	assert_int_equal(rp_on_cnp(&rp, &params, &stats, 1), 17500 * MBPS);
	assert_int_equal(rp_on_sent(&rp, &params, &stats, 999, 1), 17500 * MBPS);
	/* B = 0 counts nothing. */
	params.rp_byte_reset_bytes = 0;
	for (int i = 0; i < 100; i++)
		assert_int_equal(rp_on_sent(&rp, &params, &stats, 1u << 30, 1), 17500 * MBPS);
}

static void
paper_alpha_halves_after_178_idle_periods(void **state)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	struct rp_stats stats = {0};
	struct rp rp;

	(void)state;
	rp_init(&rp, &params, params.rp_max_rate_bps, 0);
	/* No decay before the first CNP, which finds alpha 1. */
	assert_true(alpha_of(&rp, &params, HOUR_NS) == 1.0);
	rp_on_cnp(&rp, &params, &stats, HOUR_NS);
	for (uint64_t n = 0; n <= 400; n++) {
		double want = pow(255.0 / 256.0, (double)n);

		assert_true(fabs(alpha_of(&rp, &params, HOUR_NS + n * 55 * US) - want) < 1e-6);
	}
	assert_true(alpha_of(&rp, &params, HOUR_NS + 177 * 55 * US) > 0.5);
	assert_true(alpha_of(&rp, &params, HOUR_NS + 178 * 55 * US) < 0.5);
	/* Read in one go or step by step, it is the same. */
	rp_catch_up(&rp, &params, &stats, HOUR_NS + 100 * 55 * US);
	assert_true(alpha_of(&rp, &params, HOUR_NS + 178 * 55 * US) < 0.5);
}

static void
paper_keeps_its_alpha_when_recovery_is_over(void **state)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	struct rp_stats stats = {0};
	struct rp rp;
	double alpha;

	(void)state;
	rp_init(&rp, &params, params.rp_max_rate_bps, 0);
	rp_on_cnp(&rp, &params, &stats, 0);
	assert_true(rp_limited(&rp));
	assert_int_equal(rp_update(&rp, &params, &stats, 50 * NS_PER_MS), 40 * GBPS);
	assert_false(rp_limited(&rp));
	assert_int_equal(rp.next_event_ns, NEVER_NS);
	assert_int_equal(stats.rp_engagements, 1);
	assert_int_equal(stats.rp_releases, 1);
	/* The second CNP cuts with the alpha that is left, about 2.8 %, and adds g to it. */
	alpha = alpha_of(&rp, &params, 50 * NS_PER_MS);
	assert_true(fabs(alpha - pow(255.0 / 256.0, 909)) < 1e-6);
	assert_true(fabs((double)rp_on_cnp(&rp, &params, &stats, 50 * NS_PER_MS) -
			 40e9 * (1 - alpha / 2)) < 100);
	assert_true(fabs(alpha_of(&rp, &params, 50 * NS_PER_MS) - (alpha * 255 + 1) / 256) < 1e-6);
}

static void
cnps_stop_at_the_minimum_rate(void **state)
{
	struct rp_params params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	struct rp_stats stats = {0};
	struct rp rp;

	(void)state;
	rp_init(&rp, &params, params.rp_max_rate_bps, 0);
	for (uint64_t i = 0; i < 100; i++)
		rp_on_cnp(&rp, &params, &stats, i * 50 * US);
	assert_int_equal(rp.current_rate_bps, 10 * MBPS);
	assert_int_equal(stats.rp_cuts, 100);
	assert_int_equal(stats.rp_cnp_handled, 100);
}

static void
flow_that_starts_below_the_maximum_rises_by_itself(void **state)
{
	static const enum rp_profile profiles[] = {RP_PROFILE_PAPER, RP_PROFILE_MLX};

	(void)state;
	for (size_t i = 0; i < LEN(profiles); i++) {
		struct rp_params params = params_of(profiles[i], 40 * GBPS);
		struct rp_stats stats = {0};
		struct rp rp;
		uint64_t step_ns = params.rp_time_reset_us * US;
		uint64_t alpha_q32;

		rp_init(&rp, &params, 10 * GBPS, 0);
		alpha_q32 = rp_alpha_q32(&rp, &params, 0);
		assert_true(rp_limited(&rp));
		assert_int_equal(rp.next_event_ns, step_ns);
		rp_update(&rp, &params, &stats, step_ns * params.rp_threshold);
		assert_int_equal(rp.current_rate_bps, 10 * GBPS);
		rp_update(&rp, &params, &stats, step_ns * (params.rp_threshold + 1u));
		assert_int_equal(rp.current_rate_bps, 10 * GBPS + params.rp_ai_rate_bps / 2);
		rp_update(&rp, &params, &stats, HOUR_NS);
		assert_int_equal(rp.current_rate_bps, 40 * GBPS);
		assert_false(rp_limited(&rp));
		assert_int_equal(rp_alpha_q32(&rp, &params, HOUR_NS), alpha_q32);
		/* Outside of [min, max]: clamped. */
		rp_init(&rp, &params, 1, 0);
		assert_int_equal(rp.current_rate_bps, params.rp_min_rate_bps);
		rp_init(&rp, &params, 100 * GBPS, 0);
		assert_int_equal(rp.current_rate_bps, 40 * GBPS);
		assert_int_equal(rp.next_event_ns, NEVER_NS);
	}
}

static void
mlx_single_cnp_cuts_four_slots_later(void **state)
{
	struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
	static const struct row rows[] = {
		{3, CNP, 100000, 100000}, /* nothing yet */
		{3 + 4 * US - 1, LOOK, 100000, 100000},
		{3 + 4 * US, LOOK, 51017, 100000}, /* alpha 1003.2 / 1024 */
		{3 + 304 * US - 1, LOOK, 51017, 100000},
		{3 + 304 * US, LOOK, (51017 + 100000) / 2.0, 100000},
	};

	(void)state;
	run(&params, rows, LEN(rows), 1);
}

static void
mlx_cnp_in_every_alpha_slot_keeps_alpha(void **state)
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

	(void)state;
	/* The source's integers keep alpha at 1023 / 1024; it rises by 0.02 / 1024 in four slots.
	 */
	run(&params, rows, LEN(rows), 2);
	params.rp_dce_tcp_g = 1024;
	run(&params, rows, LEN(rows), 1);
}

/* A trace of Pensando's firmware is left out: it ignores CNPs within 50 us of the last and holds
 * the target at the same time, which is neither of our profiles. */

static void
target_follows_a_cut_as_the_clamp_knobs_say(void **state)
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

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
		struct rp_stats stats = {0};
		uint64_t before_bps, now_ns = 4 * US;
		struct rp rp;

		params.rp_clamp_tgt_rate = rows[i].clamp;
		params.rp_clamp_tgt_rate_ati = rows[i].ati;
		rp_init(&rp, &params, params.rp_max_rate_bps, 0);
		rp_on_cnp(&rp, &params, &stats, 0);
		rp_update(&rp, &params, &stats, now_ns); /* the first cut; target 100G either way */
		if (rows[i].t_events > 0)
			now_ns += params.rp_time_reset_us * US;
		rp_update(&rp, &params, &stats, now_ns);
		for (unsigned int b = 0; b < rows[i].b_events; b++)
			rp_on_sent(&rp, &params, &stats, 2097088, now_ns);
		before_bps = rp.current_rate_bps;
		rp_on_cnp(&rp, &params, &stats, now_ns);
		rp_update(&rp, &params, &stats, now_ns + 4 * US);
		assert_true(rp.current_rate_bps < before_bps);
		assert_int_equal(rp.target_rate_bps, rows[i].moves ? before_bps : 100 * GBPS);
	}
}

static void
gd_and_min_dec_fac_bound_a_cut(void **state)
{
	static const struct {
		uint8_t gd, min_dec_fac_pct;
		uint64_t want_bps; /* from 100 Gb/s with alpha 1 */
	} rows[] = {
		{11, 50, 50 * GBPS}, {11, 0, 50 * GBPS},    {12, 50, 75 * GBPS},
		{10, 50, 50 * GBPS}, {10, 30, 30 * GBPS},   {10, 0, 1 * MBPS}, /* all: the floor */
		{0, 90, 90 * GBPS},  {11, 100, 100 * GBPS}, {15, 50, 96875 * MBPS},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
		struct rp_stats stats = {0};
		struct rp rp;

		params.rp_gd = rows[i].gd;
		params.rp_min_dec_fac_pct = rows[i].min_dec_fac_pct;
		params.rp_initial_alpha_value = 1024;
		params.rp_dce_tcp_g = 1024; /* alpha stays */
		rp_init(&rp, &params, params.rp_max_rate_bps, 0);
		rp_on_cnp(&rp, &params, &stats, 0);
		assert_int_equal(rp_update(&rp, &params, &stats, 4 * US), rows[i].want_bps);
	}
}

static void
first_cnp_may_set_a_rate_but_never_raises_it(void **state)
{
	static const struct {
		uint64_t start_bps, override_bps, want_bps;
	} rows[] = {
		{100 * GBPS, 0, 100 * GBPS},
		{100 * GBPS, 85 * GBPS, 85 * GBPS},
		{10 * GBPS, 85 * GBPS, 10 * GBPS},
		{100 * GBPS, 1, 1 * MBPS},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
		struct rp_stats stats = {0};
		struct rp rp;

		params.rp_rate_to_set_on_first_cnp_bps = rows[i].override_bps;
		rp_init(&rp, &params, rows[i].start_bps, 0);
		assert_int_equal(rp_on_cnp(&rp, &params, &stats, 0), rows[i].want_bps);
		assert_int_equal(rp.target_rate_bps, rows[i].want_bps);
		/* The first cut still comes one monitor period later; a second CNP sets nothing. */
		assert_int_equal(rp.next_event_ns, 4 * US);
		assert_int_equal(rp_on_cnp(&rp, &params, &stats, 1), rows[i].want_bps);
		assert_int_equal(stats.rp_cuts, 0);
	}
}

static void
mlx_hyper_step_is_constant(void **state)
{
	struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
	/*
	 * Pair k is a timer event that finds T = BC = k and a byte event that finds T = k + 1. F =
	 * 1: fast while both are 0, hyper once both are above 1.
	 */
	static const uint64_t rise_mbps[] = {0 + 5, 5 + 5, 50 + 50, 50 + 50, 50 + 50};
	struct rp_stats stats = {0};
	uint64_t now_ns, target_bps;
	struct rp rp;

	(void)state;
	params.rp_clamp_tgt_rate = true;
	rp_init(&rp, &params, params.rp_max_rate_bps, 0);
	for (uint64_t slot = 0; slot < 3; slot++)
		rp_on_cnp(&rp, &params, &stats, slot * 4 * US);
	now_ns = 12 * US;
	rp_update(&rp, &params, &stats, now_ns);
	assert_int_equal(stats.rp_cuts, 3);
	target_bps = rp.target_rate_bps;
	for (size_t k = 0; k < LEN(rise_mbps); k++) {
		now_ns += 300 * US;
		rp_update(&rp, &params, &stats, now_ns);
		rp_on_sent(&rp, &params, &stats, 2097088, now_ns);
		target_bps += rise_mbps[k] * MBPS;
		assert_int_equal(rp.target_rate_bps, target_bps);
	}
}

static void
mlx_frees_the_limiter_and_the_next_cnp_is_a_first_one(void **state)
{
	struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
	struct rp_stats stats = {0};
	struct rp rp;
	uint64_t now_ns = 4 * US, events = 0;

	(void)state;
	rp_init(&rp, &params, params.rp_max_rate_bps, 0);
	assert_false(rp_limited(&rp));
	rp_on_cnp(&rp, &params, &stats, 0);
	rp_update(&rp, &params, &stats, now_ns);
	/* The distance to the target halves each time and ends at zero because halves round up. */
	for (; rp_limited(&rp); events++) {
		assert_true(events < 40);
		now_ns += 300 * US;
		assert_int_equal(rp.next_event_ns, now_ns);
		rp_update(&rp, &params, &stats, now_ns);
	}
	assert_int_equal(events, 36); /* 48.98 Gb/s < 2^36 bit/s */
	assert_int_equal(rp.current_rate_bps, 100 * GBPS);
	assert_int_equal(stats.rp_engagements, 1);
	assert_int_equal(stats.rp_releases, 1);
	assert_int_equal(rp.next_event_ns, NEVER_NS);
	rp_on_cnp(&rp, &params, &stats, now_ns + 77);
	assert_int_equal(stats.rp_engagements, 2);
	assert_int_equal(rp_alpha_q32(&rp, &params, now_ns + 77), 1023ull << 22);
	rp_update(&rp, &params, &stats, now_ns + 77 + 4 * US);
	assert_true(fabs((double)rp.current_rate_bps / 1e6 - 51017) < 1);
}

static void
mlx_alpha_neither_sticks_below_one_nor_above_zero(void **state)
{
	struct rp_params params = params_of(RP_PROFILE_MLX, 100 * GBPS);
	struct rp_stats stats = {0};
	struct rp rp;

	(void)state;
	/* With 10 bits it would be 0 after 466 slots; it is 0.102. */
	rp_init(&rp, &params, params.rp_max_rate_bps, 0);
	rp_on_cnp(&rp, &params, &stats, 0);
	assert_true(fabs(alpha_of(&rp, &params, 466 * US) -
			 1023.0 / 1024 * pow(1019.0 / 1024, 466)) < 1e-5);
	assert_int_equal(rp_alpha_q32(&rp, &params, 6000 * US), 0);
	/* With 10 bits and a CNP in every slot it would stick at 820 / 1024; it reaches one. */
	params.rp_initial_alpha_value = 0;
	rp_init(&rp, &params, params.rp_max_rate_bps, 0);
	for (uint64_t slot = 0; slot < 8000; slot++)
		rp_on_cnp(&rp, &params, &stats, slot * US + 1);
	assert_true(alpha_of(&rp, &params, 7999 * US + 1) == 1.0);
}

static void
hours_of_idle_time_are_bounded_work(void **state)
{
	static const enum rp_profile profiles[] = {RP_PROFILE_PAPER, RP_PROFILE_MLX};
	struct rp_params params;
	struct rp_stats stats;
	struct rp rp;
	uint64_t events;

	(void)state;
	/* 10^5 hours are 3.6e14 alpha slots: an event loop would outlive the test's time limit. */
	for (size_t i = 0; i < LEN(profiles); i++) {
		params = params_of(profiles[i], 400 * GBPS);
		params.rp_time_reset_us = 1;
		params.rp_dce_tcp_rtt_us = 1;
		params.rp_dce_tcp_g = 1023;
		params.rp_ai_rate_bps = 1;
		stats = (struct rp_stats){0};
		rp_init(&rp, &params, params.rp_max_rate_bps, 0);
		for (uint64_t n = 0; n < 20; n++)
			rp_on_cnp(&rp, &params, &stats, n * 10 * US);
		assert_true(rp_limited(&rp));
		assert_int_equal(rp_update(&rp, &params, &stats, 100000 * HOUR_NS), 400 * GBPS);
		assert_false(rp_limited(&rp));
		assert_int_equal(rp.next_event_ns, NEVER_NS);
	}
	/* 1 bit/s each 55 us for an hour: exactly one step an event. */
	params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	params.rp_ai_rate_bps = 1;
	stats = (struct rp_stats){0};
	rp_init(&rp, &params, 10 * GBPS, 0);
	rp_update(&rp, &params, &stats, HOUR_NS);
	events = HOUR_NS / (55 * US);
	assert_int_equal(stats.rp_fast_recoveries, 5);
	assert_int_equal(stats.rp_additive_increases, events - 5);
	assert_int_equal(rp.target_rate_bps, 10 * GBPS + events - 5);
	/* The step is 1 and the distance 0 or 1: halves round up. */
	assert_int_equal(rp.current_rate_bps, rp.target_rate_bps);
	assert_int_equal(rp.next_event_ns, (events + 1) * 55 * US);
}

/* Random knobs; scale stretches all periods so that long idle times are few events for the
 * reference. */
static struct rp_params
random_params(struct prng *rnd, enum rp_profile profile, uint32_t scale)
{
	static const uint16_t weights[] = {1019, 1020, 1023, 1024};
	struct rp_params p = params_of(profile, 40 * GBPS);
	const char *why;

	if (prng_below(rnd, 4) == 0)
		return p;
	p.rp_clamp_tgt_rate = prng_below(rnd, 2);
	p.rp_clamp_tgt_rate_ati = prng_below(rnd, 2);
	p.rp_threshold = (uint8_t)prng_below(rnd, prng_below(rnd, 4) ? 4 : 32);
	p.rp_gd = (uint8_t)(8 + prng_below(rnd, 6));
	p.rp_min_dec_fac_pct = (uint8_t)prng_below(rnd, 101);
	p.rp_dce_tcp_g = prng_below(rnd, 3) ? weights[prng_below(rnd, LEN(weights))]
					    : (uint16_t)prng_below(rnd, 1025);
	p.rp_initial_alpha_value = (uint16_t)prng_below(rnd, 1025);
	p.rp_dce_tcp_rtt_us = (uint32_t)(1 + prng_below(rnd, 60)) * scale;
	p.rp_rate_reduce_monitor_period_us = (uint32_t)(1 + prng_below(rnd, 40)) * scale;
	p.rp_time_reset_us = (uint32_t)(1 + prng_below(rnd, 100)) * scale;
	p.rp_byte_reset_bytes =
		prng_below(rnd, 5) ? prng_below(rnd, 1ull << prng_below(rnd, 24)) : 0;
	p.rp_ai_rate_bps = prng_below(rnd, 1ull << prng_below(rnd, 31));
	p.rp_hai_rate_bps = prng_below(rnd, 1ull << prng_below(rnd, 31));
	p.rp_min_rate_bps = 1 + prng_below(rnd, 1ull << prng_below(rnd, 30));
	p.rp_max_rate_bps = p.rp_min_rate_bps + prng_below(rnd, 1ull << prng_below(rnd, 40));
	p.rp_rate_to_set_on_first_cnp_bps =
		prng_below(rnd, 3) ? 0 : prng_below(rnd, p.rp_max_rate_bps + 1);
	assert_int_equal(rp_params_check(&p, &why), 0);
	return p;
}

static bool
same(const struct rp *rp, const struct rp_params *params, const struct rp_stats *stats,
     const struct ref *ref, uint64_t now_ns)
{
	if (rp->current_rate_bps != ref->rate || rp->target_rate_bps != ref->target ||
	    rp_alpha_q32(rp, params, now_ns) != ref->alpha << 1)
		return false;
	if (memcmp(stats, &ref->stats, sizeof(*stats)) != 0)
		return false;
	/* Once a QP is free, nobody reads its stages. */
	return !rp_limited(rp) ||
	       (rp->time_stage == ref->t && rp->byte_stage == ref->bc &&
		(params->rp_byte_reset_bytes == 0 || rp->byte_count == ref->bytes));
}

static void
one_random_run(enum rp_profile profile, uint64_t seed)
{
	struct rp_stats stats = {0};
	struct rp_params params;
	struct prng rnd;
	struct ref ref;
	struct rp rp;
	uint32_t scale, cnp_one_in;
	uint64_t now_ns, start_bps;

	prng_seed(&rnd, seed, profile);
	scale = prng_below(&rnd, 4) == 0 ? 1000 : 1;
	cnp_one_in = 1 + (uint32_t)prng_below(&rnd, 40);
	params = random_params(&rnd, profile, scale);
	now_ns = prng_below(&rnd, HOUR_NS);
	start_bps = prng_below(&rnd, 2) ? params.rp_max_rate_bps
					: prng_below(&rnd, params.rp_max_rate_bps + 1);
	rp_init(&rp, &params, start_bps, now_ns);
	ref_init(&ref, &params, start_bps, now_ns);
	for (unsigned int step = 0; step < 600; step++) {
		uint64_t rate_bps, was_bps = rp.current_rate_bps, next_ns = rp.next_event_ns;
		uint32_t bytes = 84 + (uint32_t)prng_below(&rnd, 9000);

		switch (prng_below(&rnd, 8)) {
		case 0: /* exactly when a timer fires */
			if (next_ns != NEVER_NS)
				now_ns = max_u64(now_ns, next_ns - prng_below(&rnd, 2));
			break;
		case 1:
			break;
		case 2:
			if (prng_below(&rnd, 10) == 0)
				now_ns += prng_below(&rnd, 50 * NS_PER_MS) * scale;
			break;
		default:
			now_ns += prng_below(&rnd, 1ull << prng_below(&rnd, 20)) * scale;
		}
		if (prng_below(&rnd, cnp_one_in) == 0) {
			rate_bps = rp_on_cnp(&rp, &params, &stats, now_ns);
			ref_cnp(&ref, now_ns);
		} else if (prng_below(&rnd, 3) != 0) {
			rate_bps = rp_on_sent(&rp, &params, &stats, bytes, now_ns);
			ref_sent(&ref, bytes, now_ns);
		} else {
			rate_bps = rp_update(&rp, &params, &stats, now_ns);
			ref_run(&ref, now_ns);
			if (now_ns < next_ns && rate_bps != was_bps)
				fail_msg("early event, profile %d seed %llu step %u", profile,
					 (unsigned long long)seed, step);
		}
		if (rate_bps != ref.rate || !same(&rp, &params, &stats, &ref, now_ns))
			fail_msg("differs from the reference, profile %d seed %llu step %u",
				 profile, (unsigned long long)seed, step);
		if (rate_bps < params.rp_min_rate_bps || rp.target_rate_bps < rate_bps ||
		    params.rp_max_rate_bps < rp.target_rate_bps || rp.next_event_ns <= now_ns)
			fail_msg("invariant, profile %d seed %llu step %u", profile,
				 (unsigned long long)seed, step);
	}
}

static void
paper_equals_the_event_by_event_reference(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++)
		one_random_run(RP_PROFILE_PAPER, seed);
}

static void
mlx_equals_the_event_by_event_reference(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 500; seed++)
		one_random_run(RP_PROFILE_MLX, seed);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_cnp_halves_the_line_rate_and_five_fast_steps_follow),
		cmocka_unit_test(three_cnps_fifty_us_apart_then_additive_increase),
		cmocka_unit_test(byte_counter_takes_the_same_steps_and_hyper_steps_grow),
		cmocka_unit_test(bytes_beyond_b_count_towards_the_next_event),
		cmocka_unit_test(paper_alpha_halves_after_178_idle_periods),
		cmocka_unit_test(paper_keeps_its_alpha_when_recovery_is_over),
		cmocka_unit_test(cnps_stop_at_the_minimum_rate),
		cmocka_unit_test(flow_that_starts_below_the_maximum_rises_by_itself),
		cmocka_unit_test(mlx_single_cnp_cuts_four_slots_later),
		cmocka_unit_test(mlx_cnp_in_every_alpha_slot_keeps_alpha),
		cmocka_unit_test(target_follows_a_cut_as_the_clamp_knobs_say),
		cmocka_unit_test(gd_and_min_dec_fac_bound_a_cut),
		cmocka_unit_test(first_cnp_may_set_a_rate_but_never_raises_it),
		cmocka_unit_test(mlx_hyper_step_is_constant),
		cmocka_unit_test(mlx_frees_the_limiter_and_the_next_cnp_is_a_first_one),
		cmocka_unit_test(mlx_alpha_neither_sticks_below_one_nor_above_zero),
		cmocka_unit_test(hours_of_idle_time_are_bounded_work),
		cmocka_unit_test(paper_equals_the_event_by_event_reference),
		cmocka_unit_test(mlx_equals_the_event_by_event_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
