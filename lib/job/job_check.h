/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does a job end? A run of its graph without time: each message arrives at once, each computation
 * takes none. Which operations end does not depend on the order of their ends, so a job that ends
 * here ends on any network that loses no message, and one that does not never will.
 */
#ifndef QUENCH_JOB_JOB_CHECK_H
#define QUENCH_JOB_JOB_CHECK_H

#include "job/job_graph.h"
#include "job/job_progress.h"

/**
 * @return 0; -EINVAL with fault filled in: operations wait for each other in a circle, nobody sends
 *         what one receives, nobody receives what one sends, or a message is larger or smaller than
 *         what receives it; or -ENOMEM.
 */
int job_check(const struct job_graph *graph, struct job_fault *fault);

/** Why an operation that has begun has not ended. */
void job_op_why(const struct job_rank *rank, uint32_t op, char *why, unsigned int why_size);

#endif
