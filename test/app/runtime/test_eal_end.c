/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a program whose DPDK memory others share: it comes, whatever they left behind. */
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rte_eal.h>
#include <rte_eal_memconfig.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "runtime/eal/eal_end.h"

#define CODE 3

static void
live_and_end(bool lock)
{
	static char args[][20] = {"test_eal_end", "--no-huge",        "--no-shconf",
				  "--no-pci",     "--no-telemetry",   "-m",
				  "16",           "--log-level=error"};
	char *argv[ARRAY_LEN(args)];
	int argc = 0;

	for (; argc < (int)(ARRAY_LEN(args)); argc++)
		argv[argc] = args[argc];
	if (rte_eal_init(argc, argv) < 0)
		_exit(99);
	/* As one that died holds it. */
	if (lock)
		rte_mcfg_mem_write_lock();
	eal_quiet(CODE);
	eal_end();
	_exit(0);
}

/* @return the exit code of a program, or -1 for one that was killed. */
static int
run(bool lock)
{
	pid_t pid = fork();
	int status = 0;

	assert_true(pid >= 0);
	if (pid == 0)
		live_and_end(lock);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(a_program_ends)
{
	assert_int_equal(run(false), 0);
}

TEST(a_lock_of_a_dead_process_does_not_keep_it)
{
	assert_int_equal(run(true), CODE);
}

TEST_MAIN()
