/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "unit/cases.h"
#include "base/sets/names.h"

/* Looking at each for each would take 2 x 10^10 comparisons: minutes. */
#define MANY 200000u
#define CHARS 16

TEST(names_have_numbers_in_the_order_in_which_they_came)
{
	struct names names = {0};
	char(*text)[CHARS] = calloc(MANY, sizeof(*text));
	char other[CHARS];

	assert_non_null(text);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(text[i], CHARS, "flow %u", i);
		assert_int_equal(names_find(&names, text[i]), NAMES_NONE);
		assert_int_equal(names_add(&names, text[i]), i);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(other, CHARS, "flow %u", i);
		assert_int_equal(names_find(&names, other), i);
		assert_ptr_equal(names.names[i], text[i]);
		snprintf(other, CHARS, "flow %u", MANY + i);
		assert_int_equal(names_find(&names, other), NAMES_NONE);
	}
	names_free(&names);
	assert_int_equal(names_find(&names, text[0]), NAMES_NONE);
	free(text);
}

TEST(the_empty_name_is_a_name)
{
	struct names names = {0};

	assert_int_equal(names_find(&names, ""), NAMES_NONE);
	assert_int_equal(names_add(&names, ""), 0);
	assert_int_equal(names_find(&names, ""), 0);
	names_free(&names);
}

TEST_MAIN()
