/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test program: its cases, in the order of the file, and a last line that runs them.
 *
 *	TEST(first_cnp_starts_from_line_rate)
 *	{
 *		assert_int_equal(...);
 *	}
 *
 *	TEST_MAIN(.before_each = setup)
 *
 * A case can not be left out of a list, as there is none.
 */
#ifndef QUENCH_TEST_UNIT_CASES_H
#define QUENCH_TEST_UNIT_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* What surrounds the cases: cmocka's fixtures, each of which returns 0. All may be absent. */
struct test_program {
	const char *file;
	CMFixtureFunction begin, end;
	/* For cases that have no fixtures of their own. */
	CMFixtureFunction before_each, after_each;
};

/** Add a case; line is its place in the file. */
void test_add(int line, const struct CMUnitTest *test);

/** Run all cases; returns the exit code of the program. */
int test_run(const struct test_program *program);

/* Define a case. Fixtures hand it what they made in cmocka's *state. */
#define TEST(case_name) TEST_WITH(case_name, NULL, NULL)

/* Define a case with fixtures of its own. */
#define TEST_WITH(case_name, before, after)                                                        \
	static void case_name(void **state);                                                       \
	__attribute__((constructor)) static void case_name##_add(void)                             \
	{                                                                                          \
		test_add(__LINE__,                                                                 \
			 &(struct CMUnitTest){#case_name, case_name, before, after, NULL});        \
	}                                                                                          \
	static void case_name(__attribute__((unused)) void **state)

/* Define main(). Arguments are members of struct test_program, or none. */
#define TEST_MAIN(...)                                                                             \
	int main(void)                                                                             \
	{                                                                                          \
		return test_run(&(struct test_program){.file = __FILE__, __VA_ARGS__});            \
	}

#endif
