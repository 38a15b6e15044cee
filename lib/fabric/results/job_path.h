/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The critical path of a job's iteration: from its last end backwards, each operation follows the
 * one that it waited for, to the begin of the iteration. A rank may have begun the iteration later
 * than others, because it had not ended the one before: then the path goes on in that one.
 *
 * Invariant (tested): the parts follow each other without a gap, so their times add up to the
 * completion time.
 */
#ifndef QUENCH_FABRIC_RESULTS_JOB_PATH_H
#define QUENCH_FABRIC_RESULTS_JOB_PATH_H

#include "fabric/net/net.h"

enum job_path_kind {
	JOB_PATH_COMPUTE,
	JOB_PATH_MESSAGE, /* from the begin of a send to the end of its recv, at another rank */
	JOB_PATH_INSIDE,  /* the same, at another rank of one server, or until the send has ended */
	JOB_PATH_SEND,    /* from the begin of a send until it is acknowledged */
	JOB_PATH_KINDS
};

extern const char *const job_path_words[];

struct job_path_part {
	uint64_t from_ns, to_ns;
	/* Of a message: the begin of its send. It is before from_ns if that is in an earlier
	 * iteration. */
	uint64_t begin_ns;
	enum job_path_kind kind;
	uint32_t iteration; /* from 0 */
	uint32_t rank;      /* that ended the operation */
	uint32_t op;
	uint32_t from_rank, send; /* of a message or a send: the sender's operation */
};

struct job_path {
	struct job_path_part *parts; /* owned: in order of time */
	uint32_t n;
};

/* Operations of all iterations of all jobs whose times a run may record: 128 MB. */
#define JOB_PATH_MOST_OPS (1ull << 22)

/** Would the operations of all jobs of a scenario exceed JOB_PATH_MOST_OPS? */
bool job_path_too_many(const struct scenario *s);

/**
 * The path of an iteration that has ended, of a job that was recorded (net_job_record()).
 * @return 0 or -ENOMEM. Release it with job_path_free() in both cases.
 */
int job_path_find(const struct net *net, uint32_t job, const struct job_iteration *iteration,
		  uint32_t number, struct job_path *out);
void job_path_free(struct job_path *path);

#endif
