/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef QUENCH_BASE_THREADS_CORES_H
#define QUENCH_BASE_THREADS_CORES_H

#include <sched.h>
#include <stdint.h>

/** Number of cores that the process may use; 1 if the system cannot tell. Needs _GNU_SOURCE. */
static inline uint32_t
usable_cores(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? (uint32_t)CPU_COUNT(&cpus) : 1;
}

#endif
