/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL's sleeps at start-up are cut short, and no others; it loads no plugins. */
#include <dlfcn.h>
#include <errno.h>
#include <time.h>

#include "unit/cases.h"
#include "quench-lab/eal_start.h"

/* Without eal_start_short(), this test does not end. */
TEST(a_long_sleep_is_cut_short_while_eal_starts)
{
	const struct timespec hour = {.tv_sec = 3600};

	eal_start_short(true);
	assert_int_equal(nanosleep(&hour, NULL), 0);
	eal_start_short(false);
}

TEST(other_sleeps_are_as_the_system_has_them)
{
	const struct timespec none = {0}, wrong = {.tv_nsec = -1};

	assert_int_equal(nanosleep(&none, NULL), 0);
	assert_int_equal(nanosleep(&wrong, NULL), -1);
	assert_int_equal(errno, EINVAL);
}

/* The question by which EAL learns that it has a plugin folder. */
TEST(no_library_is_loaded_while_eal_starts)
{
	static const char loaded[] = "libc.so.6";
	void *handle;

	eal_start_short(true);
	assert_null(dlopen(loaded, RTLD_LAZY | RTLD_NOLOAD));
	eal_start_short(false);
	handle = dlopen(loaded, RTLD_LAZY | RTLD_NOLOAD);
	assert_non_null(handle);
	dlclose(handle);
}

/* A shared library finds the program's functions before those of the C library. */
TEST(libraries_use_the_functions_of_the_program)
{
	int (*sleeps)(const struct timespec *, struct timespec *);
	void *(*loads)(const char *, int);

	*(void **)&sleeps = dlsym(RTLD_DEFAULT, "nanosleep");
	*(void **)&loads = dlsym(RTLD_DEFAULT, "dlopen");
	assert_true(sleeps == nanosleep);
	assert_true(loads == dlopen);
}

TEST_MAIN()
