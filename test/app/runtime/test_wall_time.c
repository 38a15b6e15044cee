/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "runtime/notice/wall_time.h"

TEST(a_time_of_day_is_utc_to_the_microsecond)
{
	static const struct {
		uint64_t unix_ns;
		const char *text;
	} cases[] = {
		{0, "1970-01-01T00:00:00.000000Z"},
		{951782400 * NS_PER_SEC - 1, "2000-02-28T23:59:59.999999Z"},
		{951782400 * NS_PER_SEC, "2000-02-29T00:00:00.000000Z"},
		{1795976432123456789, "2026-11-29T18:20:32.123456Z"},
	};
	char text[WALL_TIME_CHARS];

	for (unsigned int i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(wall_time(cases[i].unix_ns, text), cases[i].text);
}

TEST(an_event_is_as_long_before_now_by_either_clock)
{
	char before[WALL_TIME_CHARS], at[WALL_TIME_CHARS], after[WALL_TIME_CHARS];

	wall_time(wall_now_ns() - 3600 * NS_PER_SEC, before);
	wall_time_of(100 * NS_PER_SEC, 3700 * NS_PER_SEC, at);
	wall_time(wall_now_ns() - 3600 * NS_PER_SEC, after);
	/* Texts of one length are in the order of their times. */
	assert_true(strcmp(before, at) <= 0 && strcmp(at, after) <= 0);
}

TEST_MAIN()
