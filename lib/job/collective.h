/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations as graphs. `bytes` is the size that nccl-tests print (doc/PERFORMANCE.md):
 * the largest array of a rank. That is each array of all_reduce, broadcast and pipeline, the input
 * of reduce_scatter, the output of all_gather, and the array that a rank of all_to_all divides
 * among all ranks.
 *
 * Steps of n ranks, with S = bytes:
 * - ring: all_reduce takes 2 (n - 1) steps of S/n, reduce_scatter and all_gather n - 1 each;
 *   broadcast passes S on, from rank 0 to rank n - 1.
 * - halving_doubling (n a power of two): all_reduce sends S/2, S/4, ... S/n to ranks at distances
 *   n/2, n/4, ... 1, and back (Thakur, Rabenseifner, Gropp, "Optimization of Collective
 *   Communication Operations in MPICH", 2005). reduce_scatter is the first half, all_gather the
 *   second.
 * - double_binary_tree: all_reduce over two trees, each with half of the array: up with sums, down
 *   with results. At most one rank is inner in both (Sanders, Speck, Träff,
 *   "Two-tree algorithms for full bandwidth broadcast, reduction and scan", 2009).
 * - hierarchical, of n ranks on M servers with m each: all_reduce takes m - 1 steps of S/m that
 *   reduce inside each server, 2 (M - 1) steps of S/n of a ring across the servers among ranks of
 *   one place in them, and m - 1 steps of S/m inside, which gather.
 * - pairwise: all_to_all in n - 1 steps; in step k, rank r sends to r + k and receives from r - k.
 *   linear: all messages at once, to rank 0 first. staggered: all at once, to r + 1 first.
 * - all_to_all_v: as all_to_all, with the sizes of a matrix; all_to_all_v_back: with those of the
 *   transposed matrix, so each rank gets back as much as it has sent (dispatch and combine of a
 *   mixture of experts).
 * - compute: a computation only, as a stage beside others.
 * - pipeline: rank r receives from r - 1, computes and sends to r + 1.
 *
 * A message larger than chunk_bytes is sent as several. In rings, chains and trees, a rank passes
 * each of them on as soon as it has arrived; in halving_doubling and pairwise, a step waits for all
 * messages of the step before. channels divide the array; each takes all steps with its part. In
 * hierarchical, a phase waits for all messages of the one before.
 *
 * With ranks_per_server, a ring visits all ranks of a server after each other. Channel c begins
 * with the rank of place c in each server, so that channels enter and leave servers by different
 * NICs.
 *
 * Stages follow each other: a rank begins a stage when all its operations of the stage before have
 * ended. Other ranks may still be in that one.
 */
#ifndef QUENCH_JOB_COLLECTIVE_H
#define QUENCH_JOB_COLLECTIVE_H

#include "job/job_graph.h"
#include "job/matrix.h"

enum collective_kind {
	COLLECTIVE_ALL_REDUCE,
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_ALL_GATHER,
	COLLECTIVE_BROADCAST,
	COLLECTIVE_ALL_TO_ALL,
	COLLECTIVE_PIPELINE,
	COLLECTIVE_ALL_TO_ALL_V,
	COLLECTIVE_ALL_TO_ALL_V_BACK,
	COLLECTIVE_COMPUTE, /* of stages; not in collective_words */
};

/* AUTO is staggered for all_to_all and all_to_all_v, and ring for all others. */
enum collective_algorithm {
	COLLECTIVE_AUTO,
	COLLECTIVE_RING,
	COLLECTIVE_HALVING_DOUBLING,
	COLLECTIVE_DOUBLE_BINARY_TREE,
	COLLECTIVE_PAIRWISE,
	COLLECTIVE_LINEAR,
	COLLECTIVE_STAGGERED,
	COLLECTIVE_HIERARCHICAL,
};

extern const char *const collective_words[];
extern const char *const collective_algorithm_words[];

struct collective {
	int kind;      /* enum collective_kind */
	int algorithm; /* enum collective_algorithm */
	uint32_t n_ranks;
	uint32_t ranks_per_server; /* on each server as many, in order; 0: servers do not matter */
	uint64_t bytes;
	uint64_t chunk_bytes; /* 0: messages are not divided */
	uint32_t channels;    /* 1 to 64 */
	uint64_t compute_ns;  /* of each rank before the first step; pipeline: before each send */
	const struct job_matrix *matrix; /* of all_to_all_v; bytes is not used */
	uint64_t reduce_ps_per_byte;
	uint64_t send_overhead_ns; /* of a rank for each message, one after another; 0: none */
	uint64_t rendezvous_bytes; /* as of job_rendezvous(); 0: no message waits for its recv */
};

#define COLLECTIVE_MAX_STAGES 32u

/**
 * @param stages  n > 0 of them, with equal n_ranks, channels and rendezvous_bytes
 * @param out     On success, release it with job_graph_free(). The job ends (job_check()).
 * @return        0; -EINVAL with fault filled in: what was expected; or -ENOMEM.
 */
int collective_build(const struct collective *stages, uint32_t n, struct job_graph *out,
		     struct job_fault *fault);

/** Are the sizes of its messages those of a matrix? */
static inline bool
collective_has_matrix(int kind)
{
	return kind == COLLECTIVE_ALL_TO_ALL_V || kind == COLLECTIVE_ALL_TO_ALL_V_BACK;
}

/* Ranks of a job on servers. */
struct collective_servers {
	uint32_t n;
	const uint32_t *first; /* by server: its first rank; first[n] is the number of ranks */
};

/** Bytes that all links of a server carry at least, in one direction, by any algorithm. */
double collective_server_load(const struct collective *c, const struct collective_servers *servers,
			      uint32_t server);

/** Bytes that a rank's link carries at least, in one direction, by any algorithm. */
double collective_load(const struct collective *c, uint32_t rank);

/**
 * Bus bandwidth = S / t times this factor (nccl-tests, doc/PERFORMANCE.md). Independent of the
 * algorithm.
 */
double collective_bus_factor(int kind, uint32_t n_ranks);

#endif
