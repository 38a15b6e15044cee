/* SPDX-License-Identifier: BSD-3-Clause */
/* The distribution of times: of ranks in an iteration, or of completion times. */
#ifndef QUENCH_NIC_JOBS_JOB_SPREAD_H
#define QUENCH_NIC_JOBS_JOB_SPREAD_H

#include <stdint.h>

/* All 0: there are no times. */
struct job_spread {
	uint64_t min_ns, p50_ns, p99_ns, max_ns; /* percentiles by the nearest-rank method */
	uint32_t cv_ppm;   /* coefficient of variation: standard deviation / mean */
	uint32_t jain_ppm; /* (sum x)^2 / (n sum x^2) */
};

/** Of n times below 2^42 ns, which it sorts. */
struct job_spread job_spread_of(uint64_t *times_ns, uint32_t n);

#endif
