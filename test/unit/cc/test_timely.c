/* SPDX-License-Identifier: BSD-3-Clause */
/* TIMELY: worked numbers with D_minRTT 20 us, T_low 50 us, T_high 500 us, delta 10 Mb/s, beta
 * 0.8. */
#include <string.h>

#include "unit/cases.h"
#include "cc/timely.h"

#define LINE_BPS (40 * GBPS)
#define US NS_PER_US

static struct timely_params params;
static struct timely_stats stats;
static struct timely t;

static int
setup(void **state)
{
	(void)state;
	memset(&stats, 0, sizeof(stats));
	assert_int_equal(field_defaults(timely_fields, timely_fields_n, &params), 0);
	timely_init(&t, &params, 10 * GBPS, LINE_BPS);
	return 0;
}

static uint64_t
sample(uint64_t rtt_ns)
{
	uint64_t before_bps = t.rate_bps;
	uint32_t did = timely_on_rtt(&t, &params, &stats, rtt_ns, LINE_BPS);

	assert_int_equal(did & CC_DID_RTT, CC_DID_RTT);
	assert_int_equal((did & CC_DID_CUT) != 0, t.rate_bps < before_bps);
	assert_int_equal((did & CC_DID_HYPER) != 0,
			 t.rate_bps > before_bps + params.timely_ai_rate_bps);
	assert_int_equal((did & (CC_DID_RAISE | CC_DID_HYPER)) != 0, t.rate_bps > before_bps);
	assert_int_equal(t.rtt_ns, rtt_ns);
	return t.rate_bps;
}

TEST(low_rises_high_falls_whatever_the_gradient)
{
	assert_int_equal(sample(10 * US), 10010 * MBPS);
	assert_int_equal(sample(49 * US), 10020 * MBPS);
	/* beta (1 - 500 / 1000) = 0.4 */
	assert_int_equal(sample(1000 * US), 6012 * MBPS);
	/* Falling, and still too high: 0.8 x (1 - 640/1024 [500/800]) = 0.3. */
	assert_int_equal(sample(800 * US), 4208400000ull);
	assert_int_equal(stats.timely_below_low, 2);
	assert_int_equal(stats.timely_above_high, 2);
	assert_int_equal(stats.timely_samples, 4);
	assert_int_equal(stats.timely_increases, 2);
	assert_int_equal(stats.timely_cuts, 2);
}

TEST(within_the_band_the_gradient_decides)
{
	/* No difference yet: a gradient of 0. */
	assert_int_equal(sample(100 * US), 10010 * MBPS);
	/* 16 us more, of which 0.875: 14 us / 20 us = 0.7; as n/1024: 716. 0.8 x that of 10.01G. */
	assert_int_equal(sample(116 * US), 10010 * MBPS - 10010 * MBPS * 8 * 716 / 10240);
	/* rtt_diff = 14/8 - 0.875 x 16 = -12.25 us: up. */
	assert_int_equal(sample(100 * US), 10020 * MBPS - 10010 * MBPS * 8 * 716 / 10240);
}

TEST(gradient_above_one_takes_beta)
{
	sample(100 * US);
	assert_int_equal(sample(400 * US), 2002 * MBPS);
}

TEST(fifth_good_sample_in_a_row_rises_five_steps)
{
	static const uint64_t want_mbps[] = {10, 20, 30, 40, 90, 140};

	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(sample((100 - i) * US), 10 * GBPS + want_mbps[i] * MBPS);
	/* One bad sample, and the count begins anew. */
	sample(200 * US);
	sample(100 * US);
	assert_int_equal(t.good_samples, 1);
}

TEST(rates_end_at_floor_and_line)
{
	for (unsigned int i = 0; i < 100; i++)
		sample(100 * NS_PER_MS);
	assert_int_equal(t.rate_bps, 10 * MBPS);
	for (unsigned int i = 0; i < 4000; i++)
		sample(10 * US);
	assert_int_equal(t.rate_bps, LINE_BPS);
}

TEST(bad_parameters_name_their_key)
{
	char why[256];

	assert_int_equal(timely_params_check(&params, why, sizeof(why)), 0);
	params.timely_t_low_ns = params.timely_t_high_ns;
	assert_true(timely_params_check(&params, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "timely_t_low_ns"));
}

TEST_MAIN(.before_each = setup)
