/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-nic/jobs/job_question.h"

#include "base/numbers/fixed.h"

void
job_question_reset(struct job_question *q, uint64_t answers)
{
	*q = (struct job_question){.asked_ns = q->asked_ns, .answers = answers};
}

bool
job_question_is_lost(struct job_question *q, const struct job_question_seen *seen, uint64_t now_ns)
{
	bool answered = seen->answers != q->answers;

	q->in_run = seen->begun && (q->in_run || answered);
	/* At the begin, the peer has just said its digest. */
	if (!seen->waits || answered || seen->begun != q->begun)
		q->since_ns = 0;
	q->begun = seen->begun;
	if (!seen->gave_up || !seen->waits)
		return false;
	return q->in_run || (q->since_ns > 0 && now_ns >= q->since_ns + JOB_PATIENCE_NS);
}

bool
job_question_is_due(const struct job_question *q, const struct job_question_seen *seen,
		    uint64_t now_ns)
{
	return seen->gave_up && !q->in_run && now_ns >= q->asked_ns + JOB_ASK_AGAIN_NS;
}

void
job_question_asked(struct job_question *q, const struct job_question_seen *seen, uint64_t now_ns)
{
	q->asked_ns = now_ns;
	q->answers = seen->answers;
	if (seen->waits && q->since_ns == 0)
		q->since_ns = max_u64(now_ns, 1);
}

bool
job_question_is_before(uint32_t a, uint32_t b, uint32_t first, uint32_t n)
{
	return (a + n - first) % n < (b + n - first) % n;
}
