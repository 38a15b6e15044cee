/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL's sleeps at start-up are cut short, and no others. */
#include <dlfcn.h>
#include <errno.h>
#include <time.h>

#include "unit/cases.h"
#include "quench-lab/eal_clock.h"

/* Without eal_clock_hurry(), this test does not end. */
TEST(a_long_sleep_is_cut_short_while_eal_starts)
{
	const struct timespec hour = {.tv_sec = 3600};

	eal_clock_hurry(true);
	assert_int_equal(nanosleep(&hour, NULL), 0);
	eal_clock_hurry(false);
}

TEST(other_sleeps_are_as_the_system_has_them)
{
	const struct timespec none = {0}, wrong = {.tv_nsec = -1};

	assert_int_equal(nanosleep(&none, NULL), 0);
	assert_int_equal(nanosleep(&wrong, NULL), -1);
	assert_int_equal(errno, EINVAL);
}

/* A shared library finds the program's function before that of the C library. */
TEST(libraries_use_the_function_of_the_program)
{
	int (*found)(const struct timespec *, struct timespec *);

	*(void **)&found = dlsym(RTLD_DEFAULT, "nanosleep");
	assert_true(found == nanosleep);
}

TEST_MAIN()
