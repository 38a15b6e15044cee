/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that work in rounds. */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

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
	struct log log = {.left = 20000};
	struct team *team = team_create(
		SIZE, &(struct team_work){
			      .next = next, .round = round_of, .done = rounds_done, .arg = &log});

	assert_non_null(team);
	team_run(team);
	assert_int_equal(log.rounds, 20000);
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

/* Member 1 is slow in its own thread, as if another program had its core. */
struct slow {
	struct log log;
	pthread_t caller;
	uint32_t rounds_of_caller; /* of member 1 */
};

static void
slow_round(void *arg, uint32_t member)
{
	struct slow *slow = arg;
	bool is_caller = pthread_equal(pthread_self(), slow->caller);

	round_of(&slow->log, member);
	if (member == 1 && is_caller)
		slow->rounds_of_caller++;
	else if (member == 1)
		usleep(2000);
}

TEST(the_caller_goes_alone_while_the_others_are_slow)
{
	struct slow slow = {.caller = pthread_self()};
	struct team *team = team_create(SIZE, &(struct team_work){.next = next,
								  .round = slow_round,
								  .done = rounds_done,
								  .arg = &slow});

	/* A time alone goes on in later runs. */
	for (uint32_t run = 0; run < 1000; run++) {
		slow.log.left = 100;
		team_run(team);
	}
	team_destroy(team);
	assert_int_equal(slow.log.rounds, 100000);
	assert_int_equal(slow.log.out_of_step, 0);
	assert_in_range(slow.rounds_of_caller, 90000, 100000);
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
