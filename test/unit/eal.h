/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL for unit tests: no hugepages, no devices, no files shared between processes. */
#ifndef QUENCH_TEST_UNIT_EAL_H
#define QUENCH_TEST_UNIT_EAL_H

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "runtime/eal/eal_start.h"

/**
 * Start EAL with megabytes of memory. The caller, and the threads that it makes, may run on the
 * CPUs of before: EAL would put them all on one, where none runs beside another.
 *
 * @return 0, or -1 (EAL said why).
 */
static inline int
test_eal_init(unsigned int megabytes)
{
	static char words[] = "test\0--no-huge\0--no-shconf\0--no-pci\0--no-telemetry\0"
			      "--log-level=error\0-l\0000\0-m";
	char memory[16];
	char *argv[12];
	int argc = 0;
	cpu_set_t cpus;

	for (char *w = words; w < words + sizeof(words); w += strlen(w) + 1)
		argv[argc++] = w;
	snprintf(memory, sizeof(memory), "%u", megabytes);
	argv[argc++] = memory;
	argv[argc] = NULL;
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || eal_init(argc, argv) < 0)
		return -1;
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

/** Fixture: start EAL with as much memory as the largest test uses. The rest costs nothing. */
static inline int
start_eal(void **state)
{
	(void)state;
	return test_eal_init(256);
}

#endif
