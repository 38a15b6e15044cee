/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress of a rank through its operations. The caller reports what has happened (a message was
 * sent or has arrived, a computation has ended); struct job_actions tells it what begins.
 *
 * Invariants: an operation begins once an iteration, after all that it waits for; nothing is
 * allocated after job_progress_init(); what begins depends on the order of the calls alone.
 *
 * A message that arrives before an operation receives it is kept (eager): it takes 4 bytes for each
 * source and tag, however many arrive.
 */
#ifndef QUENCH_JOB_JOB_PROGRESS_H
#define QUENCH_JOB_JOB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "job/job_graph.h"

/* What a rank begins. The functions must not call back. */
struct job_actions {
	void (*send)(void *arg, uint32_t op);
	/* for ns > 0 nanoseconds */
	void (*calc)(void *arg, uint32_t op, uint64_t ns);
	/* Operations of all kinds, in order; both may be NULL. */
	void (*began)(void *arg, uint32_t op);
	void (*ended)(void *arg, uint32_t op);
};

/* FIFO of operations, linked through job_progress.next. */
struct job_queue {
	uint32_t head, tail; /* JOB_NONE: it is empty */
};

/* Messages of one source and tag. */
struct job_meeting {
	struct job_queue posted; /* operations that wait for a message */
	uint32_t arrived;        /* messages that no operation has received */
};

/* Computations of one stream. */
struct job_stream {
	struct job_queue waiting;
	uint32_t running; /* operation, or JOB_NONE */
};

struct job_progress {
	const struct job_rank *rank;
	const struct job_actions *actions;
	void *arg;
	uint32_t *left; /* by operation: what it still waits for; JOB_BEGUN, JOB_ENDED */
	uint32_t *next; /* by operation: link of the queue in which it is */
	struct job_meeting *meetings; /* by key */
	struct job_stream *streams;
	struct job_queue ready;
	uint32_t n_streams;
	uint32_t n_left;                    /* operations that have not ended in this iteration */
	uint32_t sending, computing, waits; /* operations that have begun, by kind */
};

#define JOB_BEGUN (UINT32_MAX - 1)
#define JOB_ENDED UINT32_MAX

/**
 * @param rank, actions, arg  outlive the progress
 * @return 0 or -ENOMEM: job_progress_free() in both cases.
 */
int job_progress_init(struct job_progress *p, const struct job_rank *rank,
		      const struct job_actions *actions, void *arg);
void job_progress_free(struct job_progress *p);
/** Forget the iteration, and messages that have arrived: as after job_progress_init(). */
void job_progress_forget(struct job_progress *p);

/** Begin an iteration. The one before must have ended; messages that have arrived stay. */
void job_progress_begin(struct job_progress *p);

/** A send or a computation that had begun has ended. */
void job_progress_ended(struct job_progress *p, uint32_t op);
/** A message has arrived, before or during the iteration that receives it. */
void job_progress_arrived(struct job_progress *p, uint32_t key);

/** Has the iteration ended? That of a rank without operations always has. */
static inline bool
job_progress_done(const struct job_progress *p)
{
	return p->n_left == 0;
}

#endif
