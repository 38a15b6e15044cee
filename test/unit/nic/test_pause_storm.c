/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "base/numbers/units.h"
#include "nic/host/pause_storm.h"

static const struct pause_storm_params params = {.minor_ns = 85, .critical_ns = 100};

TEST(warning_then_error_once_for_each_time)
{
	static const struct {
		uint64_t at_ns;
		unsigned int warnings, errors;
		uint64_t next_ns;
	} rows[] = {
		{1000, 0, 0, 1085}, {1084, 0, 0, 1085},     {1085, 1, 0, 1100},
		{1099, 1, 0, 1100}, {1100, 1, 1, NEVER_NS}, {5000, 1, 1, NEVER_NS},
	};
	struct pause_storm s = {0};
	struct pause_storm_stats stats = {0};

	assert_int_equal(pause_storm_next_ns(&s, &params), NEVER_NS);
	pause_storm_begin(&s, 3, 1000);
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t stopped = pause_storm_check(&s, &params, &stats, rows[i].at_ns);

		assert_int_equal(stopped, rows[i].at_ns == 1100 ? 1 << 3 : 0);
		assert_int_equal(stats.tx_pause_storm_warning_events, rows[i].warnings);
		assert_int_equal(stats.tx_pause_storm_error_events, rows[i].errors);
		assert_int_equal(pause_storm_next_ns(&s, &params), rows[i].next_ns);
	}
	assert_int_equal(s.disabled, 1 << 3);
	pause_storm_end(&s, 3);
	assert_int_equal(s.disabled, 0);
	pause_storm_begin(&s, 3, 6000);
	assert_int_equal(pause_storm_check(&s, &params, &stats, 7000), 1 << 3);
	assert_int_equal(stats.tx_pause_storm_warning_events, 2);
	assert_int_equal(stats.tx_pause_storm_error_events, 2);
}

TEST(zero_switches_either_off)
{
	const struct pause_storm_params warns = {.minor_ns = 85}, stops = {.critical_ns = 100};
	struct pause_storm_stats stats = {0};
	struct pause_storm s = {0};

	pause_storm_begin(&s, 0, 0);
	assert_int_equal(pause_storm_check(&s, &warns, &stats, 1ull << 40), 0);
	assert_int_equal(pause_storm_next_ns(&s, &warns), NEVER_NS);
	assert_int_equal(stats.tx_pause_storm_warning_events, 1);
	assert_int_equal(pause_storm_check(&s, &stops, &stats, 1ull << 40), 1);
	assert_int_equal(stats.tx_pause_storm_error_events, 1);
}

/* Priorities are held and let go at random; the watch is asked when it says so. */
TEST(none_is_held_beyond_the_critical_watermark)
{
	struct pause_storm s = {0};
	struct pause_storm_stats stats = {0};
	uint64_t since_ns[8] = {0}, now_ns = 0;
	struct prng r;

	prng_seed(&r, 11, 0);
	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t until_ns = now_ns + prng_below(&r, 40), next_ns;
		uint8_t prio = (uint8_t)prng_below(&r, 8), bit = (uint8_t)(1u << prio);

		while ((next_ns = pause_storm_next_ns(&s, &params)) <= until_ns) {
			uint8_t held = s.paused, stopped;

			assert_true(next_ns >= now_ns);
			now_ns = next_ns;
			stopped = pause_storm_check(&s, &params, &stats, now_ns);
			for (uint8_t p = 0; p < 8; p++)
				assert_int_equal(stopped >> p & 1,
						 (held >> p & 1) && now_ns - since_ns[p] >= 100);
		}
		now_ns = until_ns;
		if (s.paused & bit || s.disabled & bit) {
			pause_storm_end(&s, prio);
		} else {
			pause_storm_begin(&s, prio, now_ns);
			since_ns[prio] = now_ns;
		}
	}
	assert_true(stats.tx_pause_storm_error_events > 1000);
	assert_true(stats.tx_pause_storm_warning_events > stats.tx_pause_storm_error_events);
}

TEST_MAIN()
