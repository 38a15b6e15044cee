/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "unit/cases.h"
#include "unit/refused.h"
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "base/numbers/prng.h"
#include "tm/queue/wred.h"

static struct wred_params
defaults(void)
{
	struct wred_params p;

	memset(&p, 0, sizeof(p));
	assert_int_equal(field_defaults(wred_fields, wred_fields_n, &p), 0);
	return p;
}

static struct wred
curve(uint64_t min_bytes, uint64_t max_bytes, uint32_t pmax_ppm, uint8_t weight)
{
	struct wred_params p = {
		.wred_green_enable = true,
		.ecn = WRED_ECN_ALL,
		.green_min_threshold_bytes = min_bytes,
		.green_max_threshold_bytes = max_bytes,
		.green_drop_probability_ppm = pmax_ppm,
		.wred_weight = weight,
	};
	char why[256];
	struct wred w;

	assert_int_equal(wred_params_check(&p, why, sizeof(why)), 0);
	wred_init(&w, &p);
	return w;
}

TEST(defaults_are_the_paper_at_40g)
{
	struct wred_params p = defaults();
	char why[256];

	assert_int_equal(wred_params_check(&p, why, sizeof(why)), 0);
	assert_int_equal(p.green_min_threshold_bytes, 5000);
	assert_int_equal(p.green_max_threshold_bytes, 200000);
	assert_int_equal(p.green_drop_probability_ppm, 10000);
	assert_int_equal(p.ecn, WRED_ECN_ALL);
	assert_int_equal(p.wred_weight, 0);
	assert_true(p.wred_green_enable);
	assert_false(p.nonect_drop_in_lossless);
}

/* The same number said in SONiC's words (per cent) and in the paper's (a fraction, or with %). */
TEST(thresholds_have_the_names_of_sonic_and_of_the_paper)
{
	static const struct {
		const char *key, *value;
		uint64_t min, max;
		uint32_t ppm;
	} rows[] = {
		{"green_min_threshold", "1048576", 1048576, 0, 0},
		{"green_max_threshold", "2097152", 0, 2097152, 0},
		{"green_drop_probability", "5", 0, 0, 50000},
		{"green_drop_probability", "100", 0, 0, 1000000},
		{"green_drop_probability_ppm", "5", 0, 0, 5},
		{"Kmin", "5KB", 5000, 0, 0},
		{"Kmax", "200KB", 0, 200000, 0},
		{"Pmax", "1%", 0, 0, 10000},
		{"Pmax", "1", 0, 0, 1000000},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct field_alias *alias;
		const struct field *f = field_find(wred_fields, wred_fields_n, rows[i].key, &alias);
		struct wred_params p;
		char expected[128];

		memset(&p, 0, sizeof(p));
		assert_non_null(f);
		assert_int_equal(
			field_parse(f, alias, rows[i].value, &p, expected, sizeof(expected)), 0);
		assert_int_equal(p.green_min_threshold_bytes, rows[i].min);
		assert_int_equal(p.green_max_threshold_bytes, rows[i].max);
		assert_int_equal(p.green_drop_probability_ppm, rows[i].ppm);
	}
}

TEST(curve_is_exact_at_its_ends)
{
	static const struct {
		uint64_t min, max;
		uint32_t ppm;
	} rows[] = {
		{5000, 200000, 10000},        {100000, 400000, 200000},    {0, 1, 1000000},
		{0, WRED_MAX_BYTES, 1},       {150000, 3000000, 70000},    {7, 1048583, 1000000},
		{0, WRED_MAX_BYTES, 1000000}, {0, WRED_MAX_BYTES, 333333}, {3, 200000, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct wred w = curve(rows[i].min, rows[i].max, rows[i].ppm, 0);
		uint64_t pmax = mul_div(rows[i].ppm, Q32_ONE, 1000000);

		assert_int_equal(wred_probability_q32(&w, 0), 0);
		assert_int_equal(wred_probability_q32(&w, rows[i].min), 0);
		assert_int_equal(wred_probability_q32(&w, rows[i].max), pmax);
		assert_int_equal(wred_probability_q32(&w, rows[i].max + 1), Q32_ONE);
		assert_int_equal(wred_probability_q32(&w, UINT64_MAX), Q32_ONE);
		/* Halfway, and never falling. */
		assert_true(llabs((long long)(wred_probability_q32(&w, (rows[i].min + rows[i].max) /
									       2) -
					      pmax / 2)) <=
			    (long long)(pmax / (rows[i].max - rows[i].min) + 1));
		for (uint64_t q = rows[i].min, step = (rows[i].max - rows[i].min) / 100 + 1,
			      last = 0;
		     q <= rows[i].max; q += step) {
			assert_true(wred_probability_q32(&w, q) >= last);
			last = wred_probability_q32(&w, q);
		}
	}
}

TEST(equal_thresholds_are_a_step)
{
	struct wred w = curve(65000, 65000, 10000, 0);

	assert_false(wred_hit(&w, 65000, 0));
	assert_true(wred_hit(&w, 65001, UINT32_MAX));
}

TEST(the_ends_of_probability_are_certain)
{
	struct wred never = curve(1000, 2000, 0, 0), always = curve(1000, 2000, 1000000, 0);

	assert_false(wred_hit(&never, 2000, 0));
	assert_true(wred_hit(&never, 2001, UINT32_MAX));
	assert_true(wred_hit(&always, 2000, UINT32_MAX));
	assert_false(wred_hit(&always, 1000, 0));
	/* At half the probability the draw decides, to the bit. */
	assert_true(wred_hit(&always, 1500, (1u << 31) - 1));
	assert_false(wred_hit(&always, 1500, 1u << 31));
}

TEST(a_profile_switched_off_never_hits)
{
	struct wred_params p = defaults();
	struct wred w;

	p.wred_green_enable = false;
	wred_init(&w, &p);
	assert_false(wred_hit(&w, 10000000, 0));
}

/* Mark rate in bins over the curve; each bin's count within 4.5 sigma, and chi-square over all of
 * them. */
TEST(marks_come_at_the_rate_of_the_curve)
{
	const uint64_t seed = 42;
	const unsigned int bins = 40, draws = 50000;
	struct wred w = curve(100000, 400000, 200000, 0);
	double chi2 = 0;
	struct prng r;

	prng_seed(&r, seed, 0);
	for (unsigned int b = 0; b < bins; b++) {
		uint64_t q = 100000 + (2 * b + 1) * 300000ull / (2 * bins);
		double p = 0.2 * (double)(q - 100000) / 300000, want = p * draws, off;
		unsigned int hits = 0;

		for (unsigned int i = 0; i < draws; i++)
			hits += wred_hit(&w, q, prng_u32(&r));
		off = ((double)hits - want) * ((double)hits - want) / (want * (1 - p));
		if (off > 4.5 * 4.5)
			fail_msg("seed %lu: %u marks at %lu bytes, not %f", (unsigned long)seed,
				 hits, (unsigned long)q, want);
		chi2 += off;
	}
	/* 40 degrees of freedom: mean 40, deviation 8.9 */
	assert_true(chi2 > 10 && chi2 < 80);
}

/* RED's count spreads marks evenly; independent draws have geometric runs: variance (1 - p) /
 * p^2. */
TEST(runs_between_marks_are_geometric)
{
	struct wred w = curve(0, 1000, 100000, 0);
	double sum = 0, squares = 0, mean;
	unsigned int n = 0, run = 0;
	struct prng r;

	prng_seed(&r, 9, 0);
	while (n < 50000) {
		run++;
		if (!wred_hit(&w, 1000, prng_u32(&r)))
			continue;
		sum += run;
		squares += (double)run * run;
		run = 0;
		n++;
	}
	mean = sum / n;
	assert_true(mean > 9.8 && mean < 10.2);
	assert_true(squares / n - mean * mean > 86 && squares / n - mean * mean < 94);
}

TEST(weight_averages_over_packets)
{
	for (uint8_t weight = 1; weight <= 15; weight++) {
		struct wred w = curve(50000, 50000, 0, weight);
		double average = 0;

		/* avg = avg (1 - 2^-w) + q 2^-w from 0 towards 100000, and down again. */
		for (int i = 0; i < 12 << weight; i++) {
			uint64_t q = i < 6 << weight ? 100000 : 0;

			average += ((double)q - average) / (1 << weight);
			if (average < 49990 || average > 50010)
				assert_int_equal(wred_hit(&w, q, 0), average > 50000);
			else
				wred_hit(&w, q, 0);
			assert_true((double)w.average_q16 / 65536 > average - 1 &&
				    (double)w.average_q16 / 65536 < average + 1);
		}
	}
}

TEST(the_average_reaches_a_steady_queue)
{
	struct wred w = curve(0, 1, 0, 15);

	for (int i = 0; i < 1000000; i++)
		wred_hit(&w, 70000, 0);
	assert_true(w.average_q16 >> 16 >= 69999);
	for (int i = 0; i < 1000000; i++)
		wred_hit(&w, 0, 0);
	assert_int_equal(w.average_q16 >> 16, 0);
}

/* As if small frames had left an empty queue (Floyd and Jacobson 1993, figure 2). */
TEST(an_idle_queue_ages_its_average_as_small_frames_would)
{
	for (uint8_t weight = 1; weight <= 15; weight++) {
		/* 84 bytes at 672 Mb/s are 1000 ns. */
		for (uint64_t frames = 0; frames < 100000; frames = frames * 3 / 2 + 1) {
			struct wred w = curve(0, 1, 0, weight);
			double average = 1e6 * pow(1 - 1 / (double)(1 << weight), (double)frames);

			w.average_q16 = 1000000ull << 16;
			w.idle_since_ns = 5000;
			wred_age(&w, 672 * MBPS, 5000 + frames * 1000 + 999);
			assert_true((double)w.average_q16 / 65536 <= average * (1 + 1e-9));
			assert_true((double)w.average_q16 / 65536 >= average - 0.01);
			assert_int_equal(w.idle_since_ns, 5000 + frames * 1000 + 999);
		}
	}
}

TEST(any_average_is_gone_after_a_bounded_time)
{
	struct wred w = curve(0, 1, 0, 15);

	w.average_q16 = UINT64_MAX >> 1;
	wred_age(&w, 672 * MBPS, (64ull << 15) * 1000);
	assert_int_equal(w.average_q16, 0);
	w.average_q16 = 1ull << 40;
	w.idle_since_ns = 0;
	wred_age(&w, 1600 * GBPS, UINT64_MAX);
	assert_int_equal(w.average_q16, 0);
	/* A time before is no time. */
	w.average_q16 = 7;
	wred_age(&w, 1600 * GBPS, 1);
	assert_int_equal(w.average_q16, 7);
	assert_true(w.idle_since_ns == UINT64_MAX);
}

TEST(refusals_name_the_key)
{
	struct wred_params p = defaults();
	char why[256];

	p.green_min_threshold_bytes = 200001;
	assert_refused(wred_params_check, &p, "green_min_threshold_bytes");
	p.green_min_threshold_bytes = 200000;
	assert_int_equal(wred_params_check(&p, why, sizeof(why)), 0);
	p.green_max_threshold_bytes = WRED_MAX_BYTES + 1;
	assert_int_equal(wred_params_check(&p, why, sizeof(why)), -EINVAL);
	p = defaults();
	p.green_drop_probability_ppm = 1000001;
	assert_refused(wred_params_check, &p, "green_drop_probability_ppm");
	p = defaults();
	p.wred_weight = 16;
	assert_refused(wred_params_check, &p, "wred_weight");
}

TEST_MAIN()
