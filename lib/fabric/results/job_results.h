/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion times of a job: per iteration from the first rank's begin to the last rank's end. */
#ifndef QUENCH_FABRIC_RESULTS_JOB_RESULTS_H
#define QUENCH_FABRIC_RESULTS_JOB_RESULTS_H

#include "fabric/net/net.h"
#include "nic/jobs/job_spread.h"

struct job_iteration {
	uint64_t begin_ns, end_ns;
	uint32_t last_rank;           /* that ended it; of several the first */
	struct job_spread ranks;      /* of the ranks with operations */
	struct nic_job_counts counts; /* sums over the ranks */
};

struct job_result {
	const struct job_section *job;
	struct job_iteration *iterations; /* owned: those that all ranks have ended */
	uint32_t ended;
	/* completion times of these iterations; 0: none has ended */
	uint64_t mean_ns;
	struct job_spread spread;
	struct job_spread ranks;      /* times of all ranks in all these iterations */
	struct nic_job_counts counts; /* sums over these iterations */
	/*
	 * Time that no network with these host links can undercut: the computation, and the bytes
	 * that the collective moves at least, in frames of mtu_bytes (nccl-tests,
	 * doc/PERFORMANCE.md). 0: of a GOAL file.
	 */
	uint64_t bound_ns;
	/* bytes / mean_ns, and that times the factor of the bus bandwidth. 0: of a GOAL file */
	uint64_t alg_bps, bus_bps;
	uint64_t unknown;      /* messages with a tag that nothing receives */
	uint32_t stalled_rank; /* has begun an iteration and not ended it; JOB_NONE: none */
	char stalled[96];      /* what it waits for */
};

/** @return 0 or -ENOMEM. Release it with job_result_free() in both cases. */
int job_result(const struct net *net, uint32_t job, struct job_result *out);
/** The iteration with the longest completion time, of several the first; one has ended. */
uint32_t job_slowest(const struct job_result *r);
void job_result_free(struct job_result *r);

#endif
