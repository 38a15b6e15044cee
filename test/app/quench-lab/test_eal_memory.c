/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL's memory is anonymous, and only while EAL starts memfd_create() fails. */
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unit/cases.h"
#include "quench-lab/eal_memory.h"

TEST(eal_gets_no_file_for_its_memory)
{
	eal_memory_private(true);
	assert_int_equal(memfd_create("nohuge", 0), -1);
	assert_int_equal(errno, ENOSYS);
	eal_memory_private(false);
}

TEST(others_get_theirs)
{
	int fd = memfd_create("other", 0);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	close(fd);
}

/* A shared library finds the program's function before that of the C library. */
TEST(libraries_use_the_function_of_the_program)
{
	int (*found)(const char *, unsigned int);

	*(void **)&found = dlsym(RTLD_DEFAULT, "memfd_create");
	assert_true(found == memfd_create);
}

TEST_MAIN()
