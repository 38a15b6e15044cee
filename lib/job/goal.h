/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GOAL, the Group Operation Assembly Language of LogGOPSim (Hoefler, Schneider, Lumsdaine, HPDC
 * 2010), which htsim and ATLAHS read, too: a job as text.
 *
 *	num_ranks 2
 *	rank 0 {
 *	l0: calc 5000
 *	l1: send 8192b to 1 tag 0
 *	l1 requires l0
 *	}
 *	rank 1 {
 *	l2: recv 8192b from 0 tag 0
 *	}
 *
 * calc is in nanoseconds, and its `cpu N` is its stream. `cpu N` and `nic N` of a send or recv name
 * resources of LogGOPSim's model, and have no effect. Comments begin with "//" or "#" and end with
 * the line, or are as in C. The wildcards -1 of a source or a tag are refused.
 */
#ifndef QUENCH_JOB_GOAL_H
#define QUENCH_JOB_GOAL_H

#include <stddef.h>
#include <stdio.h>

#include "job/job_graph.h"

/**
 * Read a job. The graph has not been checked (job_check()).
 * @param rendezvous_bytes  As of job_rendezvous(); 0: no message waits for its recv.
 * @param out               On success, release it with job_graph_free().
 * @return                  0; -EINVAL with fault filled in; or -ENOMEM.
 */
int goal_read(const char *text, size_t n, uint64_t rendezvous_bytes, struct job_graph *out,
	      struct job_fault *fault);

/**
 * Write a job as text, without the ready messages of job_rendezvous(): goal_read() makes the same
 * graph of it. Operation 5 of a rank has the label l5.
 */
void goal_write(FILE *out, const struct job_graph *graph);

#endif
