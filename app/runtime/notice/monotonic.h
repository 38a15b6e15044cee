/* SPDX-License-Identifier: BSD-3-Clause */
/* A clock for waits of control threads; the data path has its own (eal/tsc_clock.h). */
#ifndef QUENCH_APP_RUNTIME_NOTICE_MONOTONIC_H
#define QUENCH_APP_RUNTIME_NOTICE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

/** CLOCK_MONOTONIC in ns. */
static inline uint64_t
monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

#endif
