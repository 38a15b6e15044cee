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

TEST(no_round_begins_before_all_have_ended_the_last)
{
	struct log log = {.left = 20000};
	struct team *team = team_create(
		SIZE, &(struct team_work){.next = next, .round = round_of, .arg = &log});

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
		SIZE, &(struct team_work){.next = next, .round = round_of, .arg = &log});

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

TEST(a_team_ends_before_its_first_round)
{
	struct log log = {0};

	team_destroy(team_create(
		SIZE, &(struct team_work){.next = next, .round = round_of, .arg = &log}));
	assert_int_equal(log.rounds, 0);
	team_destroy(NULL);
}

/* They leave their lcore numbers to others. */
TEST(teams_come_one_after_the_other)
{
	for (unsigned int i = 0; i < 100; i++) {
		struct log log = {.left = 2};
		struct team *team = team_create(
			SIZE, &(struct team_work){.next = next, .round = round_of, .arg = &log});

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
	const struct team_work work = {.next = next, .round = round_of, .arg = &log};
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
