/* SPDX-License-Identifier: BSD-3-Clause */
/* Equations 5 to 9 at their ends, and the fixed points that facts of the literature name. */
#include <stdio.h>
#include <string.h>
#include <math.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "fluid/fluid.h"
#include "fluid/fluid_law.h"

static struct rp_params rp;
static struct wred_params wred;

static int
setup(void **state)
{
	(void)state;
	rp_params_default(&rp, RP_PROFILE_PAPER);
	rp.rp_max_rate_bps = 40 * GBPS;
	memset(&wred, 0, sizeof(wred));
	return field_defaults(wred_fields, wred_fields_n, &wred);
}

static void
assert_near(double got, double expected, double share)
{
	if (fabs(got - expected) > share * fabs(expected)) {
		print_error("got %.9g, expected %.9g within %g\n", got, expected, share);
		fail();
	}
}

TEST(marks_are_those_of_wred)
{
	struct prng prng;
	struct wred w;

	prng_seed(&prng, 1, 0);
	for (unsigned int own = 0; own < 2; own++) {
		if (own) {
			wred.ecn_green_min_threshold_bytes = 1000;
			wred.ecn_green_max_threshold_bytes = 90000;
			wred.ecn_green_mark_probability_ppm = 123456;
		}
		wred_init(&w, &wred);
		for (unsigned int i = 0; i < 10000; i++) {
			uint64_t bytes = prng_u32(&prng) % 250000;
			double exact = (double)wred_probability_q32(&w, bytes) / 4294967296.0;

			assert_true(fabs(fluid_mark(&wred, (double)bytes) - exact) < 1e-8);
		}
	}
}

TEST(a_step_marks_nothing_up_to_it_and_all_above)
{
	wred.green_min_threshold_bytes = wred.green_max_threshold_bytes = 40000;
	assert_true(fluid_mark(&wred, 40000) == 0);
	assert_true(fluid_mark(&wred, 40000.5) == 1);
}

TEST(without_marks_timer_and_bytes_raise_and_nothing_cuts)
{
	struct fluid_law law = fluid_law(&rp, 50, 1000);
	struct fluid_events e = fluid_events(&law, 0, 8e9); /* 1e6 packets/s */

	/* Every 55 us, and every 10,000 packets. */
	assert_near(e.increases, 1 / 55e-6 + 100, 1e-9);
	assert_near(e.additive, e.increases, 1e-9);
	assert_true(e.cuts == 0 && e.alpha_goal == 0);
	/* Marks that hardly ever come change this hardly at all: the limit is met from both
	 * sides. */
	assert_near(fluid_events(&law, 1e-10, 8e9).increases, e.increases, 1e-5);
	law.byte_reset_packets = 0;
	assert_near(fluid_events(&law, 0, 8e9).increases, 1 / 55e-6, 1e-9);
}

TEST(with_all_marked_a_cut_each_interval_and_no_rise)
{
	struct fluid_law law = fluid_law(&rp, 50, 1000);
	struct fluid_events e = fluid_events(&law, 1, 8e9);

	assert_near(e.cuts, 1 / 50e-6, 1e-9);
	assert_near(e.alpha_goal, 1, 1e-9);
	assert_true(e.increases == 0 && e.additive == 0);
	/* N = 0: a CNP for each marked packet. */
	law = fluid_law(&rp, 0, 1000);
	assert_near(fluid_events(&law, 0.25, 8e9).cuts, 0.25e6, 1e-9);
}

TEST(events_at_a_share_of_marks_are_those_of_the_equations)
{
	/* p = 0.001, r = 1e6/s: tau r = 50, T r = 55, K r = 55; B beyond reach. */
	struct fluid_law law = fluid_law(&rp, 50, 1000);
	struct fluid_events e = fluid_events(&law, 0.001, 8e9);
	double free55 = pow(0.999, 55);
	double timer = 1e6 * 0.001 / (pow(0.999, -55) - 1);
	double bytes = 1e6 * 0.001 / (pow(0.999, -10000) - 1);

	assert_near(e.cuts, (1 - pow(0.999, 50)) / 50e-6, 1e-9);
	assert_near(e.alpha_goal, 1 - free55, 1e-9);
	assert_near(e.increases, timer + bytes, 1e-9);
	assert_near(e.additive, timer * pow(free55, 5) + bytes * pow(0.999, 50000), 1e-9);
}

TEST(a_cut_keeps_what_its_limit_says)
{
	struct fluid_law law;

	law = fluid_law(&rp, 50, 1000);
	assert_near(fluid_cut(&law, 0.5), 0.25, 1e-12);
	rp.rp_gd = 10;
	rp.rp_min_dec_fac_pct = 60;
	law = fluid_law(&rp, 50, 1000);
	assert_near(fluid_cut(&law, 0.3), 0.3, 1e-12);
	assert_near(fluid_cut(&law, 1), 0.4, 1e-12);
}

static struct fluid_point
point_of(uint32_t n, double wire_bytes, struct fluid_class_point *class)
{
	const struct fluid_class_params c = {
		.hosts = n,
		.qps = 1,
		.wire_bytes = wire_bytes,
		.frame_bytes = wire_bytes - 20,
		.n_hops = 1,
		.max_rate_bps = 40 * GBPS,
		.cap_bps = 40 * GBPS,
	};
	const struct fluid_queue_params queue = {40 * GBPS, &wred, false};
	const struct fluid_hop hop = {0};
	const struct fluid_params p = {
		.rp = rp,
		.np_min_time_between_cnps_us = 50,
		.n_uplinks = 1,
		.n_queues = 1,
		.n_classes = 1,
		.n_hops = 1,
		.uplink_rates_bps = &c.max_rate_bps,
		.queues = &queue,
		.classes = &c,
		.hops = &hop,
	};
	struct fluid_point point;

	assert_int_equal(fluid_fixed_point(&p, &point, class), 0);
	return point;
}

/* 40G, the paper's parameters; the first row of each size to the digits that are printed there. */
TEST(fixed_points_are_the_worked_ones)
{
	static const struct {
		uint32_t n;
		double wire_bytes, mark, queue_bytes, alpha, half_digit;
	} table[] = {
		{2, 1106, 0.86e-3, 21.8e3, 0, 0.006},
		{4, 1106, 2.09e-3, 45.7e3, 0, 0.003},
		{8, 1106, 5.03e-3, 103.1e3, 0, 0.001},
		{10, 1106, 6.67e-3, 135.0e3, 0, 0.001},
		{12, 1106, 8.39e-3, 168.5e3, 0, 0.001},
		{2, 1000, 7.77e-4, 20.2e3, 0.101, 0.005},
		{4, 1000, 1.89e-3, 41.8e3, 0.122, 0.005},
		{8, 1000, 4.55e-3, 93.8e3, 0.145, 0.004},
		{10, 1000, 6.03e-3, 122.6e3, 0.153, 0.004},
		{12, 1000, 7.59e-3, 152.9e3, 0.160, 0.004},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct fluid_class_point class;
		struct fluid_point point = point_of(table[i].n, table[i].wire_bytes, &class);

		print_message("N %2u, %4.0f B: p* %.4g, queue %.2f KB, alpha %.4f, R_C %.4f Gb/s\n",
			      table[i].n, table[i].wire_bytes, point.mark, point.queue_bytes / 1e3,
			      class.alpha, class.rate_bps / 1e9);
		assert_true(point.interior);
		assert_near(point.mark, table[i].mark, table[i].half_digit);
		assert_near(point.queue_bytes, table[i].queue_bytes, table[i].half_digit);
		assert_near(class.rate_bps, 40e9 / table[i].n, 1e-6);
		if (table[i].alpha > 0)
			assert_near(class.alpha, table[i].alpha, table[i].half_digit);
	}
}

/* CoNEXT'16: p* near cbrt(R_AI N^2 / (tau' C^2) (1/B + N / (T C))^2), C in packets/s. */
TEST(fixed_point_is_near_the_closed_form_for_few_flows)
{
	double c = 40e9 / 8000, n = 2;
	double inner = 1 / 10000.0 + n / (55e-6 * c);
	double approx = cbrt(40e6 / 8000 * n * n / (55e-6 * c * c) * inner * inner);

	assert_near(approx, 9.25e-4, 0.001);
	assert_near(point_of(2, 1000, NULL).mark, approx, 0.2);
}

TEST(more_flows_than_the_slope_can_hold_have_no_interior_point)
{
	struct fluid_point point = point_of(16, 1000, NULL);

	assert_false(point.interior);
	assert_near(point.mark, 1.09e-2, 0.005);
	assert_near(point.queue_bytes, 200e3, 1e-9);
}

TEST(a_flow_alone_needs_no_mark)
{
	struct fluid_class_point class;
	struct fluid_point point = point_of(1, 1106, &class);

	assert_true(point.mark == 0 && point.queue_bytes == 0 && !point.interior);
	assert_near(class.rate_bps, 40e9, 1e-9);
}

TEST_MAIN(.before_each = setup)
