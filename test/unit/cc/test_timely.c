/* SPDX-License-Identifier: BSD-3-Clause */
/* TIMELY: worked numbers with D_minRTT 20 us, T_low 50 us, T_high 500 us, delta 10 Mb/s, beta
 * 0.8. */
#include "unit/cc/cc_bed.h"

#define US NS_PER_US

static struct cc_bed bed;

static int
setup(void **state)
{
	(void)state;
	bed_init(&bed, CC_TIMELY);
	bed_start(&bed, 10 * GBPS);
	return 0;
}

static uint64_t
sample(uint64_t rtt_ns)
{
	const struct cc_ack ack = {.packets = 1, .rtt_ns = rtt_ns};
	uint64_t before_bps = bed.cc.head.rate_bps;
	uint32_t did = cc_on_ack(&bed.cc, &bed.node, &ack, 0);
	uint64_t rate_bps = bed.cc.head.rate_bps;

	assert_int_equal(did & CC_DID_RTT, CC_DID_RTT);
	assert_int_equal((did & CC_DID_CUT) != 0, rate_bps < before_bps);
	assert_int_equal((did & CC_DID_HYPER) != 0, rate_bps > before_bps + 10 * MBPS);
	assert_int_equal((did & (CC_DID_RAISE | CC_DID_HYPER)) != 0, rate_bps > before_bps);
	assert_int_equal(bed_view(&bed, 0).rtt_ns, rtt_ns);
	return rate_bps;
}

TEST(low_rises_high_falls_whatever_the_gradient)
{
	assert_int_equal(sample(10 * US), 10010 * MBPS);
	assert_int_equal(sample(49 * US), 10020 * MBPS);
	/* beta (1 - 500 / 1000) = 0.4 */
	assert_int_equal(sample(1000 * US), 6012 * MBPS);
	/* Falling, and still too high: 0.8 x (1 - 640/1024 [500/800]) = 0.3. */
	assert_int_equal(sample(800 * US), 4208400000ull);
	assert_int_equal(bed_count(&bed, "timely_below_low"), 2);
	assert_int_equal(bed_count(&bed, "timely_above_high"), 2);
	assert_int_equal(bed_count(&bed, "timely_samples"), 4);
	assert_int_equal(bed_count(&bed, "timely_increases"), 2);
	assert_int_equal(bed_count(&bed, "timely_cuts"), 2);
}

TEST(within_the_band_the_gradient_decides)
{
	/* No difference yet: a gradient of 0. */
	assert_int_equal(sample(100 * US), 10010 * MBPS);
	/* 16 us more, of which 0.875: 14 us / 20 us = 0.7; 0.8 x that of 10.01G. */
	assert_in_range(sample(116 * US), 4404400000, 4404420000);
	/* rtt_diff = 14/8 - 0.875 x 16 = -12.25 us: up. */
	assert_in_range(sample(100 * US), 4414400000, 4414420000);
}

TEST(gradient_above_one_takes_beta)
{
	sample(100 * US);
	assert_int_equal(sample(400 * US), 2002 * MBPS);
}

TEST(fifth_good_sample_in_a_row_rises_five_steps)
{
	static const uint64_t want_mbps[] = {10, 20, 30, 40, 90, 140};
	uint64_t before_bps;

	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(sample((100 - i) * US), 10 * GBPS + want_mbps[i] * MBPS);
	/* One bad sample, and the count begins anew. */
	sample(200 * US);
	before_bps = sample(100 * US);
	assert_int_equal(sample(90 * US), before_bps + 10 * MBPS);
}

TEST(rates_end_at_floor_and_line)
{
	for (unsigned int i = 0; i < 100; i++)
		sample(100 * NS_PER_MS);
	assert_int_equal(bed.cc.head.rate_bps, 10 * MBPS);
	for (unsigned int i = 0; i < 4000; i++)
		sample(10 * US);
	assert_int_equal(bed.cc.head.rate_bps, LINE_BPS);
}

TEST(bad_parameters_name_their_key)
{
	char why[256];

	assert_int_equal(bed_check(&bed, why, sizeof(why)), 0);
	bed_set(&bed, "T_low", "500us");
	assert_true(bed_check(&bed, why, sizeof(why)) < 0);
	assert_non_null(strstr(why, "timely_t_low_ns"));
}

TEST_MAIN(.before_each = setup)
