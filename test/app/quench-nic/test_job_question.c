/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank asks a peer whether it is alive: when is the peer late, and when is it gone? */
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "quench-nic/jobs/job_question.h"

#define LOOK_NS (10 * NS_PER_MS)
#define TRIES 8
#define END_NS (60 * NS_PER_SEC)

/* A peer that answers tries from up_ns to down_ns, and a QP that asks it. */
static struct world {
	uint64_t up_ns, down_ns;
	uint64_t try_ns;  /* local_ack_timeout */
	uint64_t next_ns; /* the next try, or when the last one is over */
	uint32_t tries;
	struct job_question_seen seen;
	struct job_question q;
} w;

static void
ask(uint64_t now_ns)
{
	w.next_ns = now_ns;
	w.tries = 0;
	w.seen.gave_up = false;
}

static void
run_until(uint64_t now_ns)
{
	while (!w.seen.gave_up && w.next_ns <= now_ns) {
		if (w.tries == TRIES) {
			w.seen.gave_up = true;
		} else if (w.next_ns >= w.up_ns && w.next_ns < w.down_ns) {
			w.seen.answers++;
			w.tries = 0;
			w.next_ns += NS_PER_SEC;
		} else {
			w.tries++;
			w.next_ns += w.try_ns;
		}
	}
}

/* Says its digest as soon as it is up; the rank here begins then. @return when it is given up */
static uint64_t
lost_ns(void)
{
	for (uint64_t now_ns = 0; now_ns < END_NS; now_ns += LOOK_NS) {
		run_until(now_ns);
		w.seen.waits = true;
		w.seen.begun = now_ns > w.up_ns;
		if (job_question_is_lost(&w.q, &w.seen, now_ns))
			return now_ns;
		if (!job_question_is_due(&w.q, &w.seen, now_ns))
			continue;
		job_question_asked(&w.q, &w.seen, now_ns);
		ask(now_ns);
	}
	return UINT64_MAX;
}

static void
start(uint64_t try_ns, uint64_t up_ns, uint64_t down_ns)
{
	memset(&w, 0, sizeof(w));
	w.try_ns = try_ns;
	w.up_ns = up_ns;
	w.down_ns = down_ns;
	ask(0);
}

/* From 8 us, of which all tries pass between two looks, to 67 ms. */
static const uint64_t timeouts[] = {8192, 524288, 1048576, 8388608, 67108864};

TEST(a_peer_may_be_late_by_any_time)
{
	for (unsigned int i = 0; i < ARRAY_LEN(timeouts); i++)
		for (uint64_t up_ns = 0; up_ns < 2 * NS_PER_SEC; up_ns += 3 * NS_PER_MS) {
			start(timeouts[i], up_ns, UINT64_MAX);
			assert_int_equal(lost_ns(), UINT64_MAX);
		}
}

TEST(a_peer_that_does_not_come_is_given_up)
{
	for (unsigned int i = 0; i < ARRAY_LEN(timeouts); i++) {
		uint64_t lost;

		start(timeouts[i], UINT64_MAX, UINT64_MAX);
		lost = lost_ns();
		assert_true(lost >= JOB_PATIENCE_NS);
		assert_true(lost < JOB_PATIENCE_NS + 3 * NS_PER_SEC);
	}
}

/* Also one that goes right after its digest, before it has answered. */
TEST(a_peer_that_goes_in_the_run_is_given_up)
{
	for (unsigned int i = 0; i < ARRAY_LEN(timeouts); i++)
		for (uint64_t up_ns = 0; up_ns < NS_PER_SEC; up_ns += 7 * NS_PER_MS)
			for (uint64_t ns = 0; ns <= 4 * NS_PER_SEC; ns += 97 * NS_PER_MS) {
				uint64_t lost;

				start(timeouts[i], up_ns, up_ns + ns);
				lost = lost_ns();
				assert_true(lost > w.down_ns);
				assert_true(lost <= w.down_ns + JOB_PATIENCE_NS + 3 * NS_PER_SEC);
				/* A question that was answered in the run is asked once more. */
				if (ns > 2 * NS_PER_SEC)
					assert_true(lost <= w.down_ns + 2 * NS_PER_SEC);
			}
}

TEST(patience_begins_when_a_question_is_asked_again)
{
	const struct job_question_seen seen = {.gave_up = true, .waits = true};
	struct job_question q = {0};
	uint64_t now_ns = NS_PER_SEC;

	/* Others have their turn before. */
	assert_false(job_question_is_lost(&q, &seen, now_ns));
	now_ns += 2 * JOB_PATIENCE_NS;
	assert_false(job_question_is_lost(&q, &seen, now_ns));
	assert_true(job_question_is_due(&q, &seen, now_ns));
	job_question_asked(&q, &seen, now_ns);
	assert_false(job_question_is_due(&q, &seen, now_ns));
	assert_false(job_question_is_lost(&q, &seen, now_ns + JOB_PATIENCE_NS - 1));
	assert_true(job_question_is_lost(&q, &seen, now_ns + JOB_PATIENCE_NS));
}

TEST(answers_before_a_reset_do_not_count)
{
	struct job_question_seen seen = {.answers = 3, .begun = true, .waits = true};
	struct job_question q = {0};

	assert_false(job_question_is_lost(&q, &seen, NS_PER_SEC));
	assert_true(q.in_run);
	job_question_reset(&q, seen.answers);
	seen.gave_up = true;
	assert_false(job_question_is_lost(&q, &seen, 2 * NS_PER_SEC));
	assert_false(q.in_run);
}

TEST(a_stopped_job_waits_for_nobody)
{
	struct job_question_seen seen = {.answers = 1, .gave_up = true, .begun = true};
	struct job_question q = {0};

	assert_false(job_question_is_lost(&q, &seen, END_NS));
	/* But one that goes on needs a peer that knows its iterations. */
	assert_false(job_question_is_due(&q, &seen, END_NS));
	seen.waits = true;
	assert_true(job_question_is_lost(&q, &seen, END_NS));
}

/* All of 100 are due always, and one is asked at a time. */
TEST(all_have_their_turn)
{
	uint32_t asked[100] = {0}, n = 100, first = 0;

	for (uint32_t i = 0; i < 3 * n; i++) {
		uint32_t next = 0;

		for (uint32_t f = 1; f < n; f++)
			if (job_question_is_before(f, next, first, n))
				next = f;
		asked[next]++;
		first = (next + 1) % n;
	}
	for (uint32_t f = 0; f < n; f++)
		assert_int_equal(asked[f], 3);
}

TEST_MAIN()
