/* SPDX-License-Identifier: BSD-3-Clause */
/* Departures against their due times, and what a gap of the clock takes out of the account. */
#include <string.h>

#include "unit/cases.h"
#include "runtime/poll/pace_meter.h"

static struct pace_meter p;

static int
setup(void **state)
{
	(void)state;
	memset(&p, 0, sizeof(p));
	return 0;
}

TEST(lateness_is_departure_less_due_time)
{
	pace_meter_round(&p, 1000);
	pace_meter_departure(&p, 1000, 1000);
	pace_meter_departure(&p, 1000, 3000);
	pace_meter_departure(&p, 1000, 3001);
	pace_meter_departure(&p, 0, 3001);
	assert_int_equal(p.late_ns.count, 3);
	assert_int_equal(p.close, 2);
	assert_int_equal(p.unknown, 1);
	assert_int_equal(p.late_ns.max, 2001);
}

TEST(frames_due_before_the_end_of_a_gap_are_excluded)
{
	pace_meter_round(&p, 1000);
	pace_meter_round(&p, 1000 + PACE_GAP_NS);
	assert_int_equal(p.gaps, 0);
	pace_meter_round(&p, 50000);
	assert_int_equal(p.gaps, 1);
	assert_int_equal(p.gap_ns, 49000 - PACE_GAP_NS);
	pace_meter_departure(&p, 900, 50100);   /* was late already */
	pace_meter_departure(&p, 20000, 50100); /* due in the gap */
	pace_meter_departure(&p, 50000, 50100); /* due after it */
	assert_int_equal(p.excluded, 2);
	assert_int_equal(p.late_ns.count, 1);
	assert_int_equal(p.late_ns.max, 100);
}

TEST(lcores_are_added_up)
{
	struct pace_meter q = {0};

	for (uint64_t t = 1; t <= 100; t++) {
		pace_meter_departure(t % 2 ? &p : &q, 1, 1 + t * 100);
	}
	pace_meter_add(&p, &q);
	assert_int_equal(p.late_ns.count, 100);
	assert_int_equal(p.close, 20);
	assert_int_equal(p.late_ns.max, 10000);
	assert_in_range(hist_quantile(&p.late_ns, 50), 5000, 5000 + 5000 / 128);
}

TEST_MAIN(.before_each = setup)
