/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL for unit tests: no hugepages, no devices, no files shared between processes. */
#ifndef QUENCH_TEST_EAL_H
#define QUENCH_TEST_EAL_H

#include <stdio.h>
#include <string.h>
#include <rte_eal.h>

/** Start EAL with megabytes of memory. @return 0, or -1 (EAL said why). */
static inline int
test_eal_init(unsigned int megabytes)
{
	static char words[] = "test\0--no-huge\0--no-shconf\0--no-pci\0--no-telemetry\0"
			      "--log-level=error\0-l\0000\0-m";
	char memory[16];
	char *argv[12];
	int argc = 0;

	for (char *w = words; w < words + sizeof(words); w += strlen(w) + 1)
		argv[argc++] = w;
	snprintf(memory, sizeof(memory), "%u", megabytes);
	argv[argc++] = memory;
	argv[argc] = NULL;
	return rte_eal_init(argc, argv) < 0 ? -1 : 0;
}

#endif
