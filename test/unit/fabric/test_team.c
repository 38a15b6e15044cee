/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that work in rounds. */
#include <errno.h>
#include <pthread.h>

#include "unit/cases.h"
#include "unit/eal.h"
#include "fabric/links/team.h"

#define SIZE 5u

struct log {
	uint32_t rounds, left; /* so far, and until the run ends */
	uint32_t done[SIZE];   /* rounds of each member */
	uint32_t out_of_step;  /* members whose last round was not the last of all */
};

static bool
next(void *arg)
{
	struct log *log = arg;

	for (uint32_t i = 0; i < SIZE; i++)
		log->out_of_step += log->done[i] != log->rounds;
	if (log->left == 0)
		return false;
	log->left--;
	log->rounds++;
	return true;
}

/* Plain loads and stores: ThreadSanitizer sees whether rounds are ordered. */
static void
round_of(void *arg, uint32_t member)
{
	struct log *log = arg;

	log->done[member] = log->rounds;
}

static uint64_t
rounds_done(const void *arg)
{
	return ((const struct log *)arg)->rounds;
}

TEST(no_round_begins_before_all_have_ended_the_last)
{
	struct log log = {.left = 2000};
	struct team *team = team_create(
		SIZE, &(struct team_work){
			      .next = next, .round = round_of, .done = rounds_done, .arg = &log});

	assert_non_null(team);
	team_run(team);
	assert_int_equal(log.rounds, 2000);
	assert_int_equal(log.out_of_step, 0);
	team_destroy(team);
}

TEST(a_team_runs_again_and_again)
{
	struct log log = {0};
	struct team *team = team_create(
		SIZE, &(struct team_work){
			      .next = next, .round = round_of, .done = rounds_done, .arg = &log});

	for (uint32_t run = 0; run < 500; run++) {
		log.left = run % 3;
		team_run(team);
		assert_int_equal(log.left, 0);
	}
	assert_int_equal(log.rounds, 499);
	assert_int_equal(log.out_of_step, 0);
	for (uint32_t i = 0; i < SIZE; i++)
		assert_int_equal(log.done[i], log.rounds);
	team_destroy(team);
}

/*
 * A clock that the caller's thread alone reads. It reads it after its work in a round, and after
 * its wait for the other members.
 */
struct timed {
	struct log log;
	pthread_t caller;
	uint32_t together, alone;           /* rounds of member 1 in its own thread, the caller's */
	uint32_t seen_together, seen_alone; /* by the clock */
	uint64_t now_cycles;
	uint64_t wait_cycles, work_cycles, alone_cycles; /* of one wait, one round */
};

static void
timed_round(void *arg, uint32_t member)
{
	struct timed *timed = arg;

	round_of(&timed->log, member);
	if (member == 0)
		timed->together++;
	if (member == 1 && pthread_equal(pthread_self(), timed->caller)) {
		timed->together--;
		timed->alone++;
	}
}

static uint64_t
timed_cycles(void *arg)
{
	struct timed *timed = arg;

	if (timed->alone != timed->seen_alone)
		timed->now_cycles += timed->alone_cycles;
	else if (timed->together != timed->seen_together)
		timed->now_cycles += timed->work_cycles;
	else
		timed->now_cycles += timed->wait_cycles;
	timed->seen_alone = timed->alone;
	timed->seen_together = timed->together;
	return timed->now_cycles;
}

/* Runs of 100 rounds: a time alone goes on in later runs. */
static void
run_timed(struct timed *timed, uint64_t (*cycles)(void *arg), uint32_t runs)
{
	struct team *team = team_create(SIZE, &(struct team_work){.next = next,
								  .round = timed_round,
								  .done = rounds_done,
								  .cycles = cycles,
								  .arg = timed});

	timed->caller = pthread_self();
	for (uint32_t run = 0; run < runs; run++) {
		timed->log.left = 100;
		team_run(team);
	}
	team_destroy(team);
	assert_int_equal(timed->log.rounds, 100 * runs);
	assert_int_equal(timed->log.out_of_step, 0);
	assert_int_equal(timed->together + timed->alone, 100 * runs);
}

#define MILLISECOND (UINT64_C(1) << 21) /* what a team looks back on */

TEST(the_caller_goes_alone_while_the_others_are_slow)
{
	struct timed timed = {
		.wait_cycles = MILLISECOND, .work_cycles = 1000, .alone_cycles = 1000};

	run_timed(&timed, timed_cycles, 1000);
	/* 16778, 33555 and then the rest of the rounds alone, and a round of all before each. */
	assert_int_equal(timed.together, 3);
}

TEST(a_caller_that_is_slower_alone_stays_with_the_others)
{
	struct timed timed = {
		.wait_cycles = MILLISECOND, .work_cycles = 1000, .alone_cycles = 2 * MILLISECOND};

	run_timed(&timed, timed_cycles, 5);
	assert_in_range(timed.alone, 4, 8); /* 8 ms, once */
}

TEST(the_caller_stays_while_the_others_work)
{
	struct timed timed = {.wait_cycles = 1000, .work_cycles = MILLISECOND, .alone_cycles = 1};

	run_timed(&timed, timed_cycles, 5);
	assert_int_equal(timed.alone, 0);
}

TEST(without_a_clock_each_member_runs_its_own_rounds)
{
	struct timed timed = {0};

	run_timed(&timed, NULL, 5);
	assert_int_equal(timed.alone, 0);
}

TEST(a_team_ends_before_its_first_round)
{
	struct log log = {0};

	team_destroy(team_create(
		SIZE, &(struct team_work){
			      .next = next, .round = round_of, .done = rounds_done, .arg = &log}));
	assert_int_equal(log.rounds, 0);
	team_destroy(NULL);
}

/* They leave their lcore numbers to others. */
TEST(teams_come_one_after_the_other)
{
	for (unsigned int i = 0; i < 100; i++) {
		struct log log = {.left = 2};
		struct team *team = team_create(SIZE, &(struct team_work){.next = next,
									  .round = round_of,
									  .done = rounds_done,
									  .arg = &log});

		assert_non_null(team);
		team_run(team);
		assert_int_equal(log.rounds, 2);
		team_destroy(team);
	}
}

/* No system has room for such a stack. */
TEST(a_thread_that_does_not_start_is_an_error)
{
	struct log log = {.left = 2};
	const struct team_work work = {
		.next = next, .round = round_of, .done = rounds_done, .arg = &log};
	pthread_attr_t usual, huge;
	struct team *team;

	assert_int_equal(pthread_getattr_default_np(&usual), 0);
	pthread_attr_init(&huge);
	assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 48), 0);
	assert_int_equal(pthread_setattr_default_np(&huge), 0);
	assert_null(team_create(SIZE, &work));
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(pthread_setattr_default_np(&usual), 0);
	team = team_create(SIZE, &work);
	assert_non_null(team);
	team_run(team);
	assert_int_equal(log.rounds, 2);
	team_destroy(team);
	pthread_attr_destroy(&huge);
	pthread_attr_destroy(&usual);
}

TEST_MAIN(.begin = start_eal)
