/* SPDX-License-Identifier: BSD-3-Clause */
/* Start EAL for a unit test: no hugepages, no devices, no files shared with other processes. */
#ifndef QUENCH_TEST_UNIT_EAL_H
#define QUENCH_TEST_UNIT_EAL_H

#include <stdio.h>
#include <rte_eal.h>
#include <rte_errno.h>

static inline int
eal_start(void)
{
	static char arg[][32] = {
		"test", "--no-huge", "--no-shconf", "--no-pci",          "-m",
		"64",   "-l",        "0",           "--log-level=error", "--no-telemetry"};
	char *argv[sizeof(arg) / sizeof(arg[0])];
	int argc = sizeof(arg) / sizeof(arg[0]);

	for (int i = 0; i < argc; i++)
		argv[i] = arg[i];
	if (rte_eal_init(argc, argv) < 0) {
		fprintf(stderr, "EAL: %s\n", rte_strerror(rte_errno));
		return -1;
	}
	return 0;
}

#endif
