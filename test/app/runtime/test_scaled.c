/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "base/numbers/array.h"
#include "runtime/notice/scaled.h"

TEST(numbers_have_three_digits_and_a_prefix_that_grows)
{
	static const struct {
		double value;
		const char *unit, *text;
	} rows[] = {
		{0, "pps", "0 pps"},        {999, "pps", "999 pps"},
		{999.4, "b/s", "999 b/s"},  {999.6, "b/s", "1.00 kb/s"},
		{4728, "pps", "4.73 kpps"}, {9994.9, "pps", "9.99 kpps"},
		{9996, "pps", "10.0 kpps"}, {99949, "pps", "99.9 kpps"},
		{99960, "pps", "100 kpps"}, {999499, "B", "999 kB"},
		{999500, "B", "1.00 MB"},   {39.1e9, "b/s", "39.1 Gb/s"},
		{1e18, "", "1000P"},
	};
	char text[SCALED_CHARS];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(scaled(text, rows[i].value, rows[i].unit), rows[i].text);
	assert_string_equal(scaled_count(text, 55924480), "55.9M");
	/* The largest counter fits. */
	assert_string_equal(scaled_count(text, UINT64_MAX), "18447P");
}

TEST(times_have_units_of_thousands)
{
	char text[SCALED_CHARS];

	assert_string_equal(scaled_time(text, 0), "0 ns");
	assert_string_equal(scaled_time(text, 8831), "8.83 us");
	assert_string_equal(scaled_time(text, 90701800), "90.7 ms");
	assert_string_equal(scaled_time(text, 1250000000), "1.25 s");
	assert_string_equal(scaled_time(text, 3600ull * 1000000000), "3600 s");
}

TEST_MAIN()
