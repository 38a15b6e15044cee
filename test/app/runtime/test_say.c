/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of events are bounded, and what is left out is counted. */
#include "unit/cases.h"
#include "runtime/notice/say.h"

#define S 1000000000ull

TEST(ten_lines_pass_in_a_second_and_the_rest_is_counted)
{
	struct say_limit l = {0};
	unsigned int passed = 0;

	for (unsigned int i = 0; i < 1000; i++)
		passed += say_limit_passes(&l, 5 * S + i * (S / 1000));
	assert_int_equal(passed, SAY_EVENTS_PER_S);
	assert_int_equal(l.suppressed, 1000 - SAY_EVENTS_PER_S);
}

TEST(the_next_second_begins_anew)
{
	struct say_limit l = {0};

	for (unsigned int i = 0; i < 2 * SAY_EVENTS_PER_S; i++)
		say_limit_passes(&l, 0);
	assert_false(say_limit_passes(&l, S - 1));
	assert_true(say_limit_passes(&l, S));
	/* Whoever says the line says this, and takes it back. */
	assert_int_equal(l.suppressed, SAY_EVENTS_PER_S + 1);
}

TEST(an_event_does_not_use_up_anothers_lines)
{
	static const char *const names[] = {"a", "b", "c"};
	uint64_t before = say_suppressed();

	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int n = 0; n < 5; n++)
			say_event(false, names[i], "line %u;", n);
	assert_int_equal(say_suppressed(), before);
	assert_int_equal(say_end(0), 0);
}

TEST_MAIN()
