/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GOAL texts: each is refused with what was expected, or is a graph; and a graph that passes the
 * check ends when its operations are played in another order than that of the check.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "job/goal.h"
#include "job/job_check.h"

#define MOST_RANKS 64u

struct play {
	const struct job_graph *g;
	struct job_progress *p;
	uint32_t (*due)[2]; /* rank, operation: the last one is the next, unlike in the check */
	uint64_t n;
};

struct of {
	struct play *play;
	uint32_t rank;
};

static void
due(void *arg, uint32_t op)
{
	struct of *of = arg;

	of->play->due[of->play->n][0] = of->rank;
	of->play->due[of->play->n++][1] = op;
}

static void
calc(void *arg, uint32_t op, uint64_t ns)
{
	FUZZ_CHECK(ns > 0);
	due(arg, op);
}

static const struct job_actions actions = {.send = due, .calc = calc};

static void
play(const struct job_graph *g)
{
	struct of of[MOST_RANKS];
	struct play play = {.g = g};
	uint64_t n = 1;

	for (uint32_t i = 0; i < g->n_ranks; i++)
		n += g->ranks[i].n_ops;
	play.p = calloc(g->n_ranks, sizeof(*play.p));
	play.due = malloc(n * sizeof(*play.due));
	for (uint32_t i = 0; i < g->n_ranks; i++) {
		of[i] = (struct of){&play, i};
		FUZZ_CHECK(job_progress_init(&play.p[i], &g->ranks[i], &actions, &of[i]) == 0);
		job_progress_begin(&play.p[i]);
	}
	while (play.n > 0) {
		uint32_t rank = play.due[--play.n][0], op = play.due[play.n][1];
		const struct job_rank *r = &g->ranks[rank];

		if (r->ops[op].kind == JOB_SEND) {
			uint32_t to = r->peers[r->ops[op].peer].rank;

			job_progress_arrived(&play.p[to],
					     job_key_of(&g->ranks[to],
							job_peer_of(&g->ranks[to], rank),
							r->ops[op].tag));
		}
		job_progress_ended(&play.p[rank], op);
	}
	for (uint32_t i = 0; i < g->n_ranks; i++) {
		FUZZ_CHECK(job_progress_done(&play.p[i]));
		job_progress_free(&play.p[i]);
	}
	free(play.p);
	free(play.due);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct job_fault fault = {0};
	struct job_graph g;
	int rc = goal_read((const char *)data, len, len % 2 * 100, &g, &fault);

	if (rc < 0) {
		FUZZ_CHECK(fault.why[0] != '\0' && fault.line > 0);
		return 0;
	}
	if (g.n_ranks <= MOST_RANKS) {
		fault = (struct job_fault){0};
		rc = job_check(&g, &fault);
		if (rc == 0)
			play(&g);
		else
			FUZZ_CHECK(fault.why[0] != '\0');
	}
	job_graph_free(&g);
	return 0;
}
