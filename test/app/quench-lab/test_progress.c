/* SPDX-License-Identifier: BSD-3-Clause */
/* What the line says on a terminal while the lab runs. */
#include "unit/cases.h"
#include "base/numbers/units.h"
#include "quench-lab/progress.h"

static void
assert_says(const struct progress_state *s, const char *expected)
{
	char line[PROGRESS_CHARS];

	progress_line(line, s);
	assert_string_equal(line, expected);
}

TEST(a_line_has_time_speed_and_what_is_left)
{
	/* A quarter in 50 s: three more take 150. */
	assert_says(&(struct progress_state){.now_ns = 25 * NS_PER_MS,
					     .duration_ns = 100 * NS_PER_MS,
					     .packet_hops = 400000000,
					     .wall_seconds = 50},
		    "[######                  ]  25 %  25.0 of 100.0 ms  8.00 M hops/s  0.0005 x "
		    "real time  ETA 2 min 30 s");
	assert_says(&(struct progress_state){.now_ns = NS_PER_SEC,
					     .duration_ns = 2 * NS_PER_SEC,
					     .packet_hops = 1,
					     .wall_seconds = 7500},
		    "[############            ]  50 %  1000.0 of 2000.0 ms  0.00 M hops/s  "
		    "0.000133 x real time  ETA 2 h 05 min");
}

TEST(the_last_line_says_how_long_it_took)
{
	assert_says(&(struct progress_state){.now_ns = 20 * NS_PER_MS,
					     .duration_ns = 20 * NS_PER_MS,
					     .packet_hops = 3000000,
					     .wall_seconds = 2},
		    "[########################] 100 %  20.0 of 20.0 ms  1.50 M hops/s  0.01 x real "
		    "time  in 2 s");
}

TEST(nothing_done_and_an_endless_run_fit_the_line)
{
	assert_says(&(struct progress_state){.duration_ns = NS_PER_MS},
		    "[                        ]   0 %  0.0 of 1.0 ms  ETA 0 s");
	assert_says(
		&(struct progress_state){.now_ns = 1,
					 .duration_ns = 3600 * NS_PER_SEC,
					 .packet_hops = UINT32_MAX,
					 .wall_seconds = 1},
		"[                        ]   0 %  0.0 of 3600000.0 ms  4294.97 M hops/s  1e-09 "
		"x real time  ETA 277 h 46 min");
}

TEST_MAIN()
