/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"

#define MOST_CASES 128

static struct CMUnitTest tests[MOST_CASES];
static int lines[MOST_CASES];
static unsigned int n_tests;

/* Constructors of a file run in any order: the compiler's. */
void
test_add(int line, const struct CMUnitTest *test)
{
	unsigned int i = n_tests++;

	if (i == MOST_CASES) {
		fprintf(stderr, "%s: more than %d cases\n", test->name, MOST_CASES);
		abort();
	}
	for (; i > 0 && lines[i - 1] > line; i--) {
		lines[i] = lines[i - 1];
		tests[i] = tests[i - 1];
	}
	lines[i] = line;
	tests[i] = *test;
}

int
test_run(const struct test_program *program)
{
	const char *slash = strrchr(program->file, '/');

	for (unsigned int i = 0; i < n_tests; i++) {
		struct CMUnitTest *t = &tests[i];

		if (t->setup_func != NULL || t->teardown_func != NULL)
			continue;
		t->setup_func = program->before_each;
		t->teardown_func = program->after_each;
	}
	/* cmocka passes over the empty rest of the array. */
	return cmocka_run_group_tests_name(slash == NULL ? program->file : slash + 1, tests,
					   program->begin, program->end);
}
