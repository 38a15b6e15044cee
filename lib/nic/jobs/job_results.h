/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of a job, or of those of its ranks that one program knows: per iteration the time from
 * the begin of the first of these ranks to the end of the last one.
 */
#ifndef QUENCH_NIC_JOBS_JOB_RESULTS_H
#define QUENCH_NIC_JOBS_JOB_RESULTS_H

#include "nic/jobs/job_keys.h"
#include "nic/jobs/job_ranks.h"
#include "nic/jobs/job_spread.h"

/* Where a rank runs. */
struct job_member {
	uint32_t rank;
	const struct node *node;
	uint32_t index; /* on the node */
};

struct job_members {
	const struct job_keys *keys;
	const struct job_graph *graph; /* of all ranks */
	const struct job_member *of;   /* in the order of ranks */
	uint32_t n;
	uint64_t link_bps;               /* of the slowest host link */
	const struct job_places *places; /* NULL: the ranks are on no servers */
	bool ipv6;
	uint64_t now_ns; /* not before their last event */
};

struct job_iteration {
	uint64_t begin_ns, end_ns;
	uint32_t last_rank;           /* that ended it; of several the first */
	struct job_spread ranks;      /* of the ranks with operations */
	struct nic_job_counts counts; /* sums over the ranks */
};

struct job_result {
	struct job_iteration *iterations; /* owned: those that all ranks have ended */
	uint32_t ended;
	bool begun; /* a rank has begun an iteration */
	/* completion times of these iterations; 0: none has ended */
	uint64_t mean_ns;
	struct job_spread spread;
	struct job_spread ranks;      /* times of all ranks in all these iterations */
	struct nic_job_counts counts; /* sums over these iterations */
	/*
	 * Time that no network with these host links and servers can undercut: the computation, and
	 * the bytes that the collective moves at least, in frames of mtu_bytes (nccl-tests,
	 * doc/PERFORMANCE.md). 0: of a GOAL file.
	 */
	uint64_t bound_ns;
	/* bytes / mean_ns, and that times the factor of the bus bandwidth. 0: of a GOAL file */
	uint64_t alg_bps, bus_bps;
	uint64_t unknown;    /* messages with a tag that nothing receives */
	uint32_t waits_rank; /* is behind, or waits to begin; JOB_NONE: none */
	char waits_for[96];  /* the operation, or the digest of another rank, that it waits for */
};

/**
 * From any thread: iterations that have ended do not change.
 * @return 0 or -ENOMEM. Release it with job_result_free() in both cases.
 */
int job_result(const struct job_members *of, struct job_result *out);
/** The iteration with the longest completion time, of several the first; one has ended. */
uint32_t job_slowest(const struct job_result *r);
void job_result_free(struct job_result *r);

/** Mean completion time of the first n iterations; 0: fewer have ended, or n is 0. */
uint64_t job_mean_ns(const struct job_result *r, uint32_t n);

#endif
