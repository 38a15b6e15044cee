/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --explain "job NAME [ITERATION]": why did an iteration take its time? A first run finds its
 * critical path (fabric/results/job_path.h). A second, equal run observes the frames of the
 * messages on it, from the sender's link to the receiver.
 *
 * Each nanosecond of the path has one cause. Until the last packet of a message leaves its host,
 * the cause is what the host's link did; after that, where the packet was.
 *
 * Invariant (tested): the times by cause of a part add up to its time, and those of all parts to
 * the completion time.
 */
#ifndef QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_JOB_H
#define QUENCH_APP_QUENCH_LAB_RECORDING_EXPLAIN_JOB_H

#include <stdio.h>

#include "base/field/walk.h"
#include "fabric/results/job_path.h"
#include "fabric/results/ways.h"
#include "quench-lab/recording/recording.h"

struct explain_job;

/** Parse "job NAME [ITERATION]". @return false; with `say`, after an error line. */
bool explain_job_named(const char *text, const struct scenario *s, bool say, uint32_t *job,
		       uint32_t *iteration);

/**
 * After the first run: keep the path of an iteration, or with JOB_NONE of the slowest one. All
 * ranks call it together, those but rank 0 without a result (NULL).
 * @return owned by the caller, or NULL after an error line.
 */
struct explain_job *explain_job_create(const struct net *net, const struct job_result *result,
				       uint32_t job, uint32_t iteration);
void explain_job_free(struct explain_job *x);

/** Before the second run. @return 0, or -errno after an error line. */
int explain_job_observe(struct explain_job *x, struct net *net, struct recordings *recordings);
/**
 * After it, all ranks together; rank 0 gets the causes.
 * @return 0, or -ENOMEM after an error line.
 */
int explain_job_solve(struct explain_job *x);

/** In about 30 lines, or with a line for each part. */
void explain_job_print(FILE *out, const struct explain_job *x, bool all);
/** The same for results.json: explained_job; x is NULL with names_only. */
void explain_job_walk(struct walk *w, const struct explain_job *x);

#endif
