/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that go through relays: who sends what, and that jobs still end. */
#include <stdio.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "job/goal.h"
#include "job/job_check.h"
#include "job/job_relay.h"

/* Servers of 4 ranks, each on its own rail: through the sender's rank on the receiver's rail. */
static uint32_t
by_rail(const void *arg, uint32_t from, uint32_t to)
{
	(void)arg;
	return from / 4 == to / 4 || from % 4 == to % 4 ? JOB_NONE : from / 4 * 4 + to % 4;
}

static struct job_graph
read(const char *text, uint64_t rendezvous_bytes)
{
	struct job_fault fault = {0};
	struct job_graph g;

	if (goal_read(text, strlen(text), rendezvous_bytes, &g, &fault) < 0 ||
	    job_check(&g, &fault) < 0)
		fail_msg("%s", fault.why);
	return g;
}

static uint32_t
n_ops(const struct job_graph *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_ranks; i++)
		n += g->ranks[i].n_ops;
	return n;
}

static uint32_t
sends_of(const struct job_graph *g, uint32_t from, uint32_t to)
{
	uint32_t peer = job_peer_of(&g->ranks[from], to);

	return peer == JOB_NONE ? 0 : g->ranks[from].peers[peer].n_sends;
}

#define IDLE(n) "rank " #n " {\n}\n"

TEST(a_message_goes_through_the_senders_rank_on_the_rail_of_the_receiver)
{
	struct job_graph g =
		read("num_ranks 8\nrank 0 {\na: send 70b to 6 tag 3\nb: send 80b to 6 tag 3\n"
		     "c: send 9b to 4\nd: recv 1b from 6\nd requires a\n}\n" IDLE(1) IDLE(2)
			     IDLE(3) "rank 4 {\nrecv 9b from 0\n}\n" IDLE(
				     5) "rank 6 {\nrecv 70b from 0 tag 3\nrecv 80b from 0 tag 3\n"
					"send 1b to 0\n}\n" IDLE(7),
		     0);
	struct job_fault fault = {0};
	char text[64];

	assert_int_equal(n_ops(&g), 8);
	assert_int_equal(job_relay(&g, by_rail, NULL, &fault), 0);
	/* A recv and a send for each of three messages. */
	assert_int_equal(n_ops(&g), 8 + 6);
	assert_int_equal(sends_of(&g, 0, 6), 0);
	assert_int_equal(sends_of(&g, 0, 2), 2);
	assert_int_equal(sends_of(&g, 2, 6), 2);
	assert_int_equal(sends_of(&g, 0, 4), 1);
	assert_int_equal(sends_of(&g, 6, 4), 1);
	assert_int_equal(sends_of(&g, 4, 0), 1);
	assert_string_equal(job_op_text(&g.ranks[2], 0, text), "recv 70b from 0 tag 1073741826");
	assert_string_equal(job_op_text(&g.ranks[2], 1, text), "send 70b to 6 tag 1073741826");
	assert_int_equal(g.ranks[0].lines[3], 6);
	assert_int_equal(g.ranks[0].waits[3], 1);
	job_graph_free(&g);
}

TEST(a_job_without_such_messages_keeps_its_graph)
{
	struct job_graph g =
		read("num_ranks 2\nrank 0 {\nsend 5b to 1 tag 2000000000\n}\nrank 1 {\n"
		     "recv 5b from 0 tag 2000000000\n}\n",
		     0);
	const struct job_rank *ranks = g.ranks;
	struct job_fault fault = {0};

	assert_int_equal(job_relay(&g, by_rail, NULL, &fault), 0);
	assert_ptr_equal(g.ranks, ranks);
	job_graph_free(&g);
}

TEST(tags_of_relays_are_not_those_of_the_job)
{
	struct job_graph g =
		read("num_ranks 8\nrank 0 {\nsend 5b to 6 tag 1073741825\n}\n" IDLE(1) IDLE(2)
			     IDLE(3) IDLE(4) IDLE(5) "rank 6 {\n"
						     "recv 5b from 0 tag 1073741825\n}\n" IDLE(7),
		     0);
	struct job_fault fault = {0};

	assert_int_equal(job_relay(&g, by_rail, NULL, &fault), -22);
	assert_non_null(strstr(fault.why, "tags below 1073741824"));
	job_graph_free(&g);
}

/* Any job of 12 ranks still ends, with rendezvous, too, and each message has one relay at most. */
TEST(any_job_ends_with_relays)
{
	static char text[20000];
	struct prng rnd;

	prng_seed(&rnd, 37, 0);
	for (unsigned int run = 0; run < 60; run++) {
		static char lines[12][1500];
		uint32_t n_relayed = 0, before;
		struct job_fault fault = {0};
		struct job_graph g;
		size_t n;

		memset(lines, 0, sizeof(lines));
		for (unsigned int i = 0; i < 60; i++) {
			uint32_t from = (uint32_t)prng_below(&rnd, 12),
				 to = (from + 1 + (uint32_t)prng_below(&rnd, 11)) % 12;
			unsigned int bytes = 1 + (unsigned int)prng_below(&rnd, 900),
				     tag = (unsigned int)prng_below(&rnd, 2);

			n = strlen(lines[from]);
			snprintf(lines[from] + n, sizeof(lines[from]) - n,
				 "send %ub to %u tag %u\n", bytes, to, tag);
			n = strlen(lines[to]);
			snprintf(lines[to] + n, sizeof(lines[to]) - n, "recv %ub from %u tag %u\n",
				 bytes, from, tag);
		}
		n = (size_t)snprintf(text, sizeof(text), "num_ranks 12\n");
		for (unsigned int i = 0; i < 12; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "rank %u {\n%s}\n", i,
					      lines[i]);
		g = read(text, run % 3 == 0 ? 400 : 0);
		before = n_ops(&g);
		for (uint32_t rank = 0; rank < 12; rank++)
			for (uint32_t i = 0; i < g.ranks[rank].n_peers; i++)
				if (by_rail(NULL, rank, g.ranks[rank].peers[i].rank) != JOB_NONE)
					n_relayed += g.ranks[rank].peers[i].n_sends;
		assert_int_equal(job_relay(&g, by_rail, NULL, &fault), 0);
		assert_int_equal(n_ops(&g), before + 2 * n_relayed);
		assert_int_equal(job_check(&g, &fault), 0);
		job_graph_free(&g);
	}
}

TEST_MAIN()
