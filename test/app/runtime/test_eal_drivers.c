/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of DPDK's drivers a program loads. A process starts EAL once: each start is a child's. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rte_eal.h>
#include <rte_lcore.h>

#include "base/numbers/array.h"
#include "base/threads/cores.h"
#include "unit/cases.h"
#include "runtime/eal/eal_start.h"

#define STARTS 1
#define HAS_NULL 2
#define HAS_OTHERS 4

static bool
is_loaded(const char *library)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	bool found = false;

	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps) != NULL)
		found = strstr(line, library) != NULL;
	fclose(maps);
	return found;
}

static void
run_child(int argc, char **argv)
{
	unsigned int cpus = usable_cores();
	int came = eal_init(argc, argv) >= 0 ? STARTS : 0;
	char command[256];

	came |= is_loaded("librte_net_null") ? HAS_NULL : 0;
	came |= is_loaded("librte_net_tap") ? HAS_OTHERS : 0;
	/* What EAL leaves for other processes. */
	snprintf(command, sizeof(command), "rm -rf '%s'", rte_eal_get_runtime_dir());
	if ((came & STARTS) != 0 && system(command) != 0)
		came = -1;
	/* EAL is spared questions for CPUs that are not there, and for no others. */
	if (rte_lcore_count() != cpus || rte_socket_count() == 0)
		came = -1;
	_exit(came);
}

/* @return what came of a start with these options besides the usual ones. */
static int
start_with(const char *shared, const char *first, const char *second, const char *third)
{
	static char program[] = "test_eal_drivers";
	static char words[][20] = {"--no-huge", "--no-telemetry", "-m", "16", "--log-level=error"};
	char *argv[ARRAY_LEN(words) + 6] = {program, strdup(shared), strdup(first), strdup(second),
					    strdup(third)};
	pid_t pid;
	int argc = 5, status;

	for (unsigned int i = 0; i < ARRAY_LEN(words); i++)
		argv[argc++] = words[i];
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		run_child(argc, argv);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (int i = 1; i < 5; i++)
		free(argv[i]);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int
start(const char *first, const char *second, const char *third)
{
	return start_with("--no-shconf", first, second, third);
}

TEST(the_drivers_of_the_devices_are_loaded)
{
	assert_int_equal(start("--no-pci", "--vdev", "net_null0"), STARTS | HAS_NULL);
	assert_int_equal(start("--vdev=net_null12,size=64", "--no-pci", "--iova-mode=va"),
			 STARTS | HAS_NULL);
	assert_int_equal(start("--no-pci", "--iova-mode=va", "--no-hpet"), STARTS);
}

TEST(all_are_loaded_for_options_that_are_not_understood)
{
	/* EAL takes the beginning of an option for the whole. */
	assert_int_equal(start("--no-pc", "--vdev", "net_null0"), STARTS | HAS_NULL | HAS_OTHERS);
	assert_int_equal(start("--no-pci", "--vde", "net_null0"), STARTS | HAS_NULL | HAS_OTHERS);
	assert_int_equal(start("--no-pci", "-a", "net_null0"), STARTS | HAS_NULL | HAS_OTHERS);
	assert_int_equal(start("--no-pci", "--mbuf-pool-ops-name", "stack"),
			 STARTS | HAS_NULL | HAS_OTHERS);
	assert_int_equal(start("--no-pci", "--vdev", "net_failsafe0,dev(net_null1)"),
			 STARTS | HAS_NULL | HAS_OTHERS);
}

/* dpdk-dumpcap may attach, and has all. */
TEST(all_are_loaded_where_memory_is_shared)
{
	char prefix[48];

	snprintf(prefix, sizeof(prefix), "--file-prefix=eal-drivers-%d", (int)getpid());
	assert_int_equal(start_with(prefix, "--no-pci", "--vdev", "net_null0"),
			 STARTS | HAS_NULL | HAS_OTHERS);
}

TEST(a_driver_that_is_not_there_is_for_eal_to_refuse)
{
	assert_int_equal(start("--no-pci", "--vdev", "net_nowhere0"), HAS_NULL | HAS_OTHERS);
	assert_int_equal(start("--no-pci", "--vdev", "../net_null0"), HAS_NULL | HAS_OTHERS);
}

/* The question by which EAL learns that it has a plugin folder is answered truly at other times. */
TEST(libraries_ask_the_function_of_the_program)
{
	void *(*found)(const char *, int), *handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	*(void **)&found = dlsym(RTLD_DEFAULT, "dlopen");
	assert_true(found == dlopen);
	assert_non_null(handle);
	dlclose(handle);
}

/* A shared library finds the program's function before that of the C library. */
TEST(files_are_asked_for_as_ever)
{
	int (*found)(const char *, int);

	*(void **)&found = dlsym(RTLD_DEFAULT, "access");
	assert_true(found == access);
	assert_int_equal(access("/sys/devices/system/node/none", F_OK), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(access("/", R_OK), 0);
}

TEST_MAIN()
