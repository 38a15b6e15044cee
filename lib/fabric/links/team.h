/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that work in rounds: the caller's thread is member 0.
 *
 * Invariant: no member begins a round before all have ended the previous one, and next() runs
 * between rounds, while no member works. So members may read, without locks, whatever others wrote
 * in earlier rounds. Between calls of team_run() the caller may change everything.
 */
#ifndef QUENCH_FABRIC_LINKS_TEAM_H
#define QUENCH_FABRIC_LINKS_TEAM_H

#include <stdbool.h>
#include <stdint.h>

struct team_work {
	/* Called by one of the members before each round. @return false: no round is left. */
	bool (*next)(void *arg);
	void (*round)(void *arg, uint32_t member);
	/* Work of all members before the last next(), since the start, in any unit. */
	uint64_t (*done)(const void *arg);
	/*
	 * A clock of a few GHz, which member 0 alone reads. It decides which thread runs a round,
	 * and has no effect on results. NULL: each member runs its own rounds.
	 */
	uint64_t (*cycles)(void *arg);
	void *arg;
};

struct team;

/**
 * Start size - 1 threads; needs a running EAL.
 *
 * @return  owned by the caller, or NULL with errno: ENOMEM or EAGAIN.
 */
struct team *team_create(uint32_t size, const struct team_work *work);
/** End the threads. NULL is allowed. */
void team_destroy(struct team *team);

/**
 * Run rounds until next() returns false. If the members mostly wait for each other, because other
 * programs use the cores or because rounds are too short, the caller's thread runs the rounds of
 * all members for some time, if that is faster. Needs a clock.
 */
void team_run(struct team *team);

#endif
