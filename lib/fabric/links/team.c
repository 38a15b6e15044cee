/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/links/team.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "base/numbers/fixed.h"
#include "base/threads/lines.h"

/*
 * Limits of a member's wait for the others: first it keeps its core, then it lets other threads use
 * the core, then it sleeps. In a balanced round, members end within a few microseconds of each
 * other.
 */
#define PAUSES 5000u
#define YIELDS 200u

/*
 * A team looks back about once per millisecond. If member 0 has mostly waited, the cores are busy
 * with other programs, or rounds are too short to share. Member 0 then runs the rounds of all
 * members alone, unless that has been slower; each time for twice as long. Time decides only which
 * thread runs a round, and so has no effect on results.
 */
#define LOOK_CYCLES (UINT64_C(1) << 21)
#define FIRST_ALONE_CYCLES (8 * LOOK_CYCLES)
#define LONGEST_ALONE_CYCLES (512 * LOOK_CYCLES)

enum decision {
	ROUND,
	ALONE, /* member 0 runs rounds alone; the others wait for the next decision */
	PAUSE, /* no round is left until the next team_run() */
	END,
};

/* How fast rounds are. */
struct pace {
	uint64_t done, cycles;
};

struct member {
	struct team *team;
	pthread_t thread;
	uint32_t number;
	uint32_t decisions; /* number of decisions that this member has awaited */
};

struct team {
	struct team_work work;
	uint32_t size;
	bool ends;
	/* Member 0 writes these, and the decision reads goes_alone, after all have arrived. */
	bool goes_alone;        /* from the next decision on */
	struct pace together;   /* since the last look */
	uint64_t waited_cycles; /* of these, by member 0 */
	uint64_t looked_done;   /* work.done() at the last look */
	struct pace alone;      /* the last time; cycles 0: not yet */
	uint64_t left_cycles;   /* member 0 runs rounds alone for this time */
	uint64_t next_alone_cycles;
	/*
	 * By number & 1. Two suffice: decision n + 2 is made only after all members have read
	 * decision n.
	 */
	enum decision decision[2];
	struct member *members;
	uint32_t arrived __attribute__((aligned(LINES_APART)));
	uint32_t sleepers;
	uint32_t decisions __attribute__((aligned(LINES_APART)));
};

/* Without a clock, time stands still, and the team never looks back. */
static uint64_t
cycles(const struct team *t)
{
	return t->work.cycles == NULL ? 0 : t->work.cycles(t->work.arg);
}

static void
sleep_until(struct team *t, uint32_t decision)
{
	__atomic_fetch_add(&t->sleepers, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&t->decisions, __ATOMIC_SEQ_CST) != decision)
		syscall(SYS_futex, &t->decisions, FUTEX_WAIT_PRIVATE, decision - 1, NULL, NULL, 0);
	__atomic_fetch_sub(&t->sleepers, 1, __ATOMIC_SEQ_CST);
}

static void
wait_for(struct team *t, uint32_t decision)
{
	for (uint32_t i = 0; i < PAUSES + YIELDS; i++) {
		if (__atomic_load_n(&t->decisions, __ATOMIC_ACQUIRE) == decision)
			return;
		if (i < PAUSES)
			rte_pause();
		else
			sched_yield();
	}
	sleep_until(t, decision);
}

/* The last member to arrive decides for all. */
static void
decide(struct team *t, uint32_t number)
{
	enum decision *decision = &t->decision[number & 1];

	if (t->ends)
		*decision = END;
	else if (t->goes_alone)
		*decision = ALONE;
	else
		*decision = t->work.next(t->work.arg) ? ROUND : PAUSE;
	__atomic_store_n(&t->arrived, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&t->decisions, number, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&t->sleepers, __ATOMIC_SEQ_CST) > 0)
		syscall(SYS_futex, &t->decisions, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Wait until all members have arrived. @return the decision about the next round. */
static enum decision
arrive(struct member *m)
{
	struct team *t = m->team;
	uint32_t number = ++m->decisions;

	if (__atomic_add_fetch(&t->arrived, 1, __ATOMIC_ACQ_REL) == t->size)
		decide(t, number);
	else
		wait_for(t, number);
	return t->decision[number & 1];
}

static void *
run_member(void *arg)
{
	struct member *m = arg;
	struct team *t = m->team;
	enum decision decision;

	/*
	 * An lcore number gives the thread its own caches in packet pools. Without one it also
	 * works.
	 */
	(void)rte_thread_register();
	while ((decision = arrive(m)) != END)
		if (decision == ROUND)
			t->work.round(t->work.arg, m->number);
	rte_thread_unregister();
	return NULL;
}

static bool
is_slower(const struct pace *a, const struct pace *b)
{
	return (unsigned __int128)a->done * b->cycles < (unsigned __int128)b->done * a->cycles;
}

/* Call before member 0 arrives, when it has worked in a round of all. */
static void
look_back(struct team *t)
{
	bool waits = 2 * t->waited_cycles > t->together.cycles;

	if (t->together.cycles < LOOK_CYCLES)
		return;
	t->together.done = t->work.done(t->work.arg) - t->looked_done;
	t->looked_done += t->together.done;
	t->goes_alone = waits && (t->alone.cycles == 0 || is_slower(&t->together, &t->alone));
	if (!t->goes_alone)
		t->next_alone_cycles = FIRST_ALONE_CYCLES;
	t->together.cycles = t->waited_cycles = 0;
}

static void
go_alone(struct team *t)
{
	t->goes_alone = false;
	t->alone = (struct pace){0};
	t->left_cycles = t->next_alone_cycles;
	t->next_alone_cycles = min_u64(2 * t->left_cycles, LONGEST_ALONE_CYCLES);
}

/* While the other members wait. @return false: no round is left. */
static bool
run_alone(struct team *t)
{
	uint64_t start_cycles = cycles(t), spent_cycles = 0, done = t->work.done(t->work.arg);
	bool is_left = true;

	while (spent_cycles < t->left_cycles && (is_left = t->work.next(t->work.arg))) {
		for (uint32_t i = 0; i < t->size; i++)
			t->work.round(t->work.arg, i);
		spent_cycles = cycles(t) - start_cycles;
	}
	t->left_cycles -= min_u64(spent_cycles, t->left_cycles);
	t->looked_done = t->work.done(t->work.arg);
	t->alone.done += t->looked_done - done;
	t->alone.cycles += spent_cycles;
	return is_left;
}

void
team_run(struct team *t)
{
	/* The others wait, so a time alone goes on. */
	while (run_alone(t)) {
		uint64_t arrived_cycles = cycles(t), began_cycles;
		enum decision decision;

		while ((decision = arrive(&t->members[0])) == ROUND) {
			began_cycles = cycles(t);
			t->work.round(t->work.arg, 0);
			t->waited_cycles += began_cycles - arrived_cycles;
			t->together.cycles -= arrived_cycles;
			arrived_cycles = cycles(t);
			t->together.cycles += arrived_cycles;
			look_back(t);
		}
		if (decision == PAUSE)
			return;
		go_alone(t);
	}
}

/*
 * Start a member's thread, with all signals blocked, so that the caller's thread gets them.
 * @return 0 or an errno.
 */
static int
start(struct member *m)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&m->thread, NULL, run_member, m);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* End the members that run, [0, running), and free the team. */
static void
end(struct team *t, uint32_t running)
{
	t->ends = true;
	__atomic_add_fetch(&t->arrived, t->size - running, __ATOMIC_ACQ_REL);
	arrive(&t->members[0]);
	for (uint32_t i = 1; i < running; i++)
		pthread_join(t->members[i].thread, NULL);
	free(t->members);
	free(t);
}

struct team *
team_create(uint32_t size, const struct team_work *work)
{
	struct team *t = aligned_alloc(LINES_APART, sizeof(*t));

	if (t == NULL)
		return NULL;
	*t = (struct team){.work = *work, .size = size, .next_alone_cycles = FIRST_ALONE_CYCLES};
	t->members = calloc(size, sizeof(*t->members));
	if (t->members == NULL) {
		free(t);
		return NULL;
	}
	for (uint32_t i = 0; i < size; i++)
		t->members[i] = (struct member){.team = t, .number = i};
	for (uint32_t i = 1; i < size; i++) {
		int rc = start(&t->members[i]);

		if (rc != 0) {
			end(t, i);
			errno = rc;
			return NULL;
		}
	}
	return t;
}

void
team_destroy(struct team *t)
{
	if (t != NULL)
		end(t, t->size);
}
