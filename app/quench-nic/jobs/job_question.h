/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank here asks a peer of another program once a second: whether it is alive. A question
 * that is not answered gives up. In the run, its peer is gone then, or has restarted and knows
 * nothing of the iterations that have begun. Until then it may be late, and is asked again.
 *
 * The begin of the rank alone does not say that the peer can answer: the tries of a question may
 * all be over when a late peer says its digest, but for the wait that follows the last one. So the
 * question is in the run after an answer to the last time it was asked.
 */
#ifndef QUENCH_APP_QUENCH_NIC_JOBS_JOB_QUESTION_H
#define QUENCH_APP_QUENCH_NIC_JOBS_JOB_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/units.h"

/* A question that gave up before it was in the run is asked again at this interval. */
#define JOB_ASK_AGAIN_NS (250 * NS_PER_MS)
/* For so long, it is asked again in vain. */
#define JOB_PATIENCE_NS (20 * NS_PER_SEC)

/* Zero-initialised: asked by the start of the program. */
struct job_question {
	uint64_t asked_ns; /* again; 0: never */
	uint64_t since_ns; /* the rank waits, and it is asked again in vain; 0: it is not */
	uint64_t answers;  /* when it was asked */
	bool begun;        /* the rank had, at the last look */
	bool in_run;       /* giving up is final */
};

struct job_question_seen {
	uint64_t answers;
	bool gave_up;
	bool begun; /* the rank has begun its first iteration */
	bool waits; /* of a job that is started: it has begun, or waits for the peer's digest */
};

/** Forget what is known of the peer: a reset asks the question again. */
void job_question_reset(struct job_question *q, uint64_t answers);
/** @return that the peer is gone, or late for longer than any start waits for it */
bool job_question_is_lost(struct job_question *q, const struct job_question_seen *seen,
			  uint64_t now_ns);
/** After a look: is one that gave up to be asked again? Then the caller may do so: */
bool job_question_is_due(const struct job_question *q, const struct job_question_seen *seen,
			 uint64_t now_ns);
void job_question_asked(struct job_question *q, const struct job_question_seen *seen,
			uint64_t now_ns);
/**
 * Of n questions, few are asked again at a time, and those to peers that are gone may be many: so
 * each has its turn, from number `first` on. Is the turn of a before that of b?
 */
bool job_question_is_before(uint32_t a, uint32_t b, uint32_t first, uint32_t n);

#endif
