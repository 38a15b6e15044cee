/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/decimal.h"

TEST(is_digits_in_the_range_and_nothing_else)
{
	static const struct {
		const char *text;
		uint64_t min, max;
		bool accepted;
		uint64_t value;
	} rows[] = {
		{"0", 0, 0, true, 0},
		{"007", 7, 7, true, 7},
		{"18446744073709551615", 0, UINT64_MAX, true, UINT64_MAX},
		{"18446744073709551616", 0, UINT64_MAX, false, 0},
		{"1", 2, 3, false, 0},
		{"4", 2, 3, false, 0},
		{"", 0, 9, false, 0},
		{"-1", 0, UINT64_MAX, false, 0},
		{"+1", 0, 9, false, 0},
		{" 1", 0, 9, false, 0},
		{"1 ", 0, 9, false, 0},
		{"1k", 0, 9, false, 0},
		{"0x1", 0, 9, false, 0},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t value = 99;

		assert_int_equal(decimal_parse(rows[i].text, rows[i].min, rows[i].max, &value),
				 rows[i].accepted);
		assert_int_equal(value, rows[i].accepted ? rows[i].value : 99);
	}
}

TEST_MAIN()
