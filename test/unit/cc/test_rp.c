/* SPDX-License-Identifier: BSD-3-Clause */
/* Both profiles: starts, idle time, and random runs against an event-by-event reference. */
#include "unit/cc/rp_test.h"

#include "unit/cc/rp_random.h"
#include "unit/sanitized.h"

TEST(flow_that_starts_below_the_maximum_rises_by_itself)
{
	static const enum rp_profile profiles[] = {RP_PROFILE_PAPER, RP_PROFILE_MLX};

	for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
		struct rp_params params = params_of(profiles[i], 40 * GBPS);
		struct point p;
		uint64_t step_ns = params.rp_time_reset_us * US;
		uint64_t alpha_q32;

		point_start(&p, &params, 10 * GBPS, 0);
		alpha_q32 = rp_alpha_q32(&p.cc.rp, &p.params, 0);
		assert_true(rp_limited(&p.cc.rp));
		assert_int_equal(p.cc.rp.next_event_ns, step_ns);
		point_look(&p, step_ns * params.rp_threshold);
		assert_int_equal(p.cc.rp.current_rate_bps, 10 * GBPS);
		point_look(&p, step_ns * (params.rp_threshold + 1u));
		assert_int_equal(p.cc.rp.current_rate_bps, 10 * GBPS + params.rp_ai_rate_bps / 2);
		point_look(&p, HOUR_NS);
		assert_int_equal(p.cc.rp.current_rate_bps, 40 * GBPS);
		assert_false(rp_limited(&p.cc.rp));
		assert_int_equal(rp_alpha_q32(&p.cc.rp, &p.params, HOUR_NS), alpha_q32);
		/* Outside of [min, max]: clamped. */
		point_start(&p, &params, 1, 0);
		assert_int_equal(p.cc.rp.current_rate_bps, params.rp_min_rate_bps);
		point_start(&p, &params, 100 * GBPS, 0);
		assert_int_equal(p.cc.rp.current_rate_bps, 40 * GBPS);
		assert_int_equal(p.cc.rp.next_event_ns, NEVER_NS);
	}
}

TEST(hours_of_idle_time_are_bounded_work)
{
	static const enum rp_profile profiles[] = {RP_PROFILE_PAPER, RP_PROFILE_MLX};
	struct rp_params params;
	struct point p;
	uint64_t events;

	/* 10^5 hours are 3.6e14 alpha slots: an event loop would outlive the test's time limit. */
	for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
		params = params_of(profiles[i], 400 * GBPS);
		params.rp_time_reset_us = 1;
		params.rp_dce_tcp_rtt_us = 1;
		params.rp_dce_tcp_g = 1023;
		params.rp_ai_rate_bps = 1;
		point_start(&p, &params, params.rp_max_rate_bps, 0);
		for (uint64_t n = 0; n < 20; n++)
			point_cnp(&p, n * 10 * US);
		assert_true(rp_limited(&p.cc.rp));
		assert_int_equal(point_look(&p, 100000 * HOUR_NS), 400 * GBPS);
		assert_false(rp_limited(&p.cc.rp));
		assert_int_equal(p.cc.rp.next_event_ns, NEVER_NS);
	}
	/* 1 bit/s each 55 us for an hour: exactly one step an event. */
	params = params_of(RP_PROFILE_PAPER, 40 * GBPS);
	params.rp_ai_rate_bps = 1;
	point_start(&p, &params, 10 * GBPS, 0);
	point_look(&p, HOUR_NS);
	events = HOUR_NS / (55 * US);
	assert_int_equal(p.stats.rp_fast_recoveries, 5);
	assert_int_equal(p.stats.rp_additive_increases, events - 5);
	assert_int_equal(p.cc.rp.target_rate_bps, 10 * GBPS + events - 5);
	/* The step is 1 and the distance 0 or 1: halves round up. */
	assert_int_equal(p.cc.rp.current_rate_bps, p.cc.rp.target_rate_bps);
	assert_int_equal(p.cc.rp.next_event_ns, (events + 1) * 55 * US);
}

/* Are the states equal after the increases that wait? */
static bool
same_at(const struct point *p, const struct ref *ref, uint64_t now_ns)
{
	struct point copy = *p;

	copy.node.params = &copy.params;
	copy.node.rp_stats = &copy.stats;
	cc_catch_up(&copy.cc, &copy.node, now_ns);
	return rp_same(&copy, ref, now_ns);
}

/* @param rests  Increases are told to wait, at random. */
static void
one_random_run(enum rp_profile profile, uint64_t seed, bool rests)
{
	struct rp_params params;
	struct prng rnd;
	struct ref ref;
	struct point p;
	uint32_t scale, cnp_one_in;
	uint64_t now_ns, start_bps;

	prng_seed(&rnd, seed, profile);
	scale = prng_below(&rnd, 4) == 0 ? 1000 : 1;
	cnp_one_in = 1 + (uint32_t)prng_below(&rnd, 40);
	params = rp_random_params(&rnd, profile, scale);
	now_ns = prng_below(&rnd, HOUR_NS);
	start_bps = prng_below(&rnd, 2) ? params.rp_max_rate_bps
					: prng_below(&rnd, params.rp_max_rate_bps + 1);
	point_start(&p, &params, start_bps, now_ns);
	ref_init(&ref, &params, start_bps, now_ns);
	for (unsigned int step = 0; step < 600; step++) {
		uint64_t rate_bps, next_ns = p.cc.head.next_event_ns;
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
			rate_bps = point_cnp(&p, now_ns);
			ref_cnp(&ref, now_ns);
		} else if (prng_below(&rnd, 3) != 0) {
			rate_bps = point_sent(&p, bytes, now_ns);
			ref_sent(&ref, bytes, now_ns);
		} else {
			rate_bps = point_look(&p, now_ns);
			ref_run(&ref, now_ns);
		}
		if (rests ? !same_at(&p, &ref, now_ns)
			  : rate_bps != ref.rate || !rp_same(&p, &ref, now_ns))
			fail_msg("differs from the reference, profile %d seed %llu step %u",
				 profile, (unsigned long long)seed, step);
		if (!p.honest)
			fail_msg(
				"counted something else than it said, profile %d seed %llu step %u",
				profile, (unsigned long long)seed, step);
		if (rate_bps < params.rp_min_rate_bps || p.cc.rp.target_rate_bps < rate_bps ||
		    params.rp_max_rate_bps < p.cc.rp.target_rate_bps ||
		    p.cc.rp.next_event_ns <= now_ns)
			fail_msg("invariant, profile %d seed %llu step %u", profile,
				 (unsigned long long)seed, step);
		if (rests && prng_below(&rnd, 2) == 0)
			cc_rest(&p.cc, &p.node, now_ns + 1 + prng_below(&rnd, 1ull << 25) * scale);
	}
}

/* The numbers are judged without sanitizers; these look at the arithmetic of fewer. */
#define SEEDS (SANITIZED ? 100u : 500u)

TEST(paper_equals_the_event_by_event_reference)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		one_random_run(RP_PROFILE_PAPER, seed, false);
}

TEST(mlx_equals_the_event_by_event_reference)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		one_random_run(RP_PROFILE_MLX, seed, false);
}

TEST(increases_that_waited_end_as_in_the_event_by_event_reference)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		one_random_run(RP_PROFILE_PAPER, seed, true);
		one_random_run(RP_PROFILE_MLX, seed, true);
	}
}

/* Two reaction points get the same CNPs; for one of them, some of the time is left out. */
static void
one_run_with_time_left_out(enum rp_profile profile, uint64_t seed)
{
	struct rp_params params = params_of(profile, 40 * GBPS);
	uint64_t now_ns = 0, left_out_ns = 0;
	struct point waits, passes;
	struct prng rnd;

	prng_seed(&rnd, seed, 0);
	point_start(&waits, &params, 40 * GBPS, 0);
	point_start(&passes, &params, 40 * GBPS, 0);
	for (int step = 0; step < 60; step++) {
		uint64_t ns = 1 + prng_below(&rnd, 1ull << (1 + prng_below(&rnd, 24)));

		now_ns += ns;
		if (prng_below(&rnd, 2) == 0) {
			cc_pass(&passes.cc, &passes.node, ns, now_ns - ns - left_out_ns);
			left_out_ns += ns;
		}
		if (prng_below(&rnd, 3) == 0) {
			point_cnp(&waits, now_ns);
			point_cnp(&passes, now_ns - left_out_ns);
		}
		point_look(&waits, now_ns);
		point_look(&passes, now_ns - left_out_ns);
		if (waits.cc.head.rate_bps != passes.cc.head.rate_bps ||
		    waits.cc.rp.target_rate_bps != passes.cc.rp.target_rate_bps ||
		    rp_alpha_q32(&waits.cc.rp, &params, now_ns) !=
			    rp_alpha_q32(&passes.cc.rp, &params, now_ns - left_out_ns))
			fail_msg("differs, profile %d seed %llu step %d", profile,
				 (unsigned long long)seed, step);
	}
}

TEST(time_that_is_left_out_passes)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		one_run_with_time_left_out(RP_PROFILE_PAPER, seed);
		one_run_with_time_left_out(RP_PROFILE_MLX, seed);
	}
}

TEST(increases_wait_and_cuts_do_not)
{
	struct rp_params params = params_of(RP_PROFILE_MLX, 40 * GBPS);
	uint64_t period_ns = params.rp_time_reset_us * US, cut_ns;
	struct point p;

	point_start(&p, &params, 10 * GBPS, 0);
	cc_rest(&p.cc, &p.node, 100 * period_ns);
	assert_int_equal(p.cc.head.next_event_ns, 100 * period_ns);
	point_look(&p, 50 * period_ns);
	assert_int_equal(p.stats.rp_fast_recoveries, 0);
	point_cnp(&p, 60 * period_ns);
	assert_int_equal(p.stats.rp_fast_recoveries, params.rp_threshold);
	assert_int_equal(p.stats.rp_additive_increases + p.stats.rp_fast_recoveries, 60);
	cut_ns = 60 * period_ns + params.rp_rate_reduce_monitor_period_us * US;
	cc_rest(&p.cc, &p.node, 100 * period_ns);
	assert_int_equal(p.cc.head.next_event_ns, cut_ns);
	point_look(&p, cut_ns);
	assert_int_equal(p.stats.rp_cuts, 1);
}

TEST_MAIN()
