/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives beside their definitions: bytes that each rank sends, the longest chain of messages
 * (steps), and that they end; for every algorithm, many numbers of ranks, chunks and channels.
 */
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "job/collective.h"
#include "job/job_check.h"

/* Longest chains of messages: a run in which each message takes a time of 1. */
struct chains {
	const struct job_graph *g;
	struct job_progress *p;
	uint32_t (*due)[2]; /* rank, operation; in order of time, as all take the same */
	uint64_t head, n;
};

struct of {
	struct chains *c;
	uint32_t rank;
};

static void
due(void *arg, uint32_t op)
{
	struct of *of = arg;

	of->c->due[of->c->n][0] = of->rank;
	of->c->due[of->c->n++][1] = op;
}

static void
no_calc(void *arg, uint32_t op, uint64_t ns)
{
	(void)arg;
	(void)op;
	(void)ns;
	fail_msg("a computation");
}

static const struct job_actions actions = {.send = due, .calc = no_calc};

/* @return number of rounds until all have ended, if in each all messages that were begun arrive */
static uint32_t
rounds(const struct job_graph *g)
{
	struct chains c = {.g = g};
	struct of *of = calloc(g->n_ranks, sizeof(*of));
	uint32_t n = 0;
	uint64_t all = 1;

	for (uint32_t i = 0; i < g->n_ranks; i++)
		all += g->ranks[i].n_ops;
	c.p = calloc(g->n_ranks, sizeof(*c.p));
	c.due = calloc(all, sizeof(*c.due));
	for (uint32_t i = 0; i < g->n_ranks; i++) {
		of[i] = (struct of){&c, i};
		assert_int_equal(job_progress_init(&c.p[i], &g->ranks[i], &actions, &of[i]), 0);
		job_progress_begin(&c.p[i]);
	}
	while (c.head < c.n) {
		n++;
		for (uint64_t end = c.n; c.head < end; c.head++) {
			uint32_t rank = c.due[c.head][0], op = c.due[c.head][1];
			const struct job_rank *r = &g->ranks[rank];
			uint32_t to = r->peers[r->ops[op].peer].rank;
			const struct job_rank *at = &g->ranks[to];

			job_progress_arrived(&c.p[to],
					     job_key_of(at, job_peer_of(at, rank), r->ops[op].tag));
			job_progress_ended(&c.p[rank], op);
		}
	}
	for (uint32_t i = 0; i < g->n_ranks; i++) {
		assert_true(job_progress_done(&c.p[i]));
		job_progress_free(&c.p[i]);
	}
	free(c.p);
	free(c.due);
	free(of);
	return n;
}

static uint64_t
sent_bytes(const struct job_graph *g, uint32_t rank)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->ranks[rank].n_ops; i++)
		if (g->ranks[rank].ops[i].kind == JOB_SEND)
			sum += g->ranks[rank].ops[i].amount;
	return sum;
}

static uint32_t
log2_of(uint32_t n)
{
	return (uint32_t)__builtin_ctz(n);
}

/* Steps by definition; 0: not compared. */
static uint32_t
steps(const struct collective *c)
{
	uint32_t n = c->n_ranks;
	bool twice = c->kind == COLLECTIVE_ALL_REDUCE;

	switch (c->algorithm) {
	case COLLECTIVE_HALVING_DOUBLING:
		return (twice ? 2 : 1) * log2_of(n);
	case COLLECTIVE_DOUBLE_BINARY_TREE:
		return 0;
	case COLLECTIVE_LINEAR:
	case COLLECTIVE_STAGGERED:
		return 1;
	default:
		return (twice ? 2 : 1) * (n - 1);
	}
}

/* Bytes that a rank sends by definition, on average over the ranks. */
static double
mean_bytes(const struct collective *c)
{
	double n = c->n_ranks, bytes = (double)c->bytes;

	switch (c->kind) {
	case COLLECTIVE_ALL_REDUCE:
		return 2 * bytes * (n - 1) / n;
	case COLLECTIVE_BROADCAST:
	case COLLECTIVE_PIPELINE:
		return bytes * (n - 1) / n;
	default:
		return bytes * (n - 1) / n;
	}
}

static void
check(const struct collective *c)
{
	struct job_fault fault = {0};
	struct job_graph g;
	double sum = 0;
	uint32_t n = c->n_ranks;

	if (c->algorithm == COLLECTIVE_HALVING_DOUBLING && (n & (n - 1)) != 0)
		return;
	if (collective_build(c, 1, &g, &fault) < 0)
		fail_msg("%s %s of %u: %s", collective_words[c->kind],
			 collective_algorithm_words[c->algorithm], n, fault.why);
	if (job_check(&g, &fault) < 0)
		fail_msg("%s %s of %u: %s", collective_words[c->kind],
			 collective_algorithm_words[c->algorithm], n, fault.why);
	for (uint32_t i = 0; i < n; i++)
		sum += (double)sent_bytes(&g, i);
	/* Parts differ by a byte. */
	assert_true(sum / n <= mean_bytes(c) * 1.001 + 1 && sum / n >= mean_bytes(c) * 0.999 - 1);
	if (c->chunk_bytes == 0 && steps(c) > 0)
		assert_int_equal(rounds(&g), steps(c));
	job_graph_free(&g);
}

static const struct {
	int kind, algorithm;
} all[] = {
	{COLLECTIVE_ALL_REDUCE, COLLECTIVE_RING},
	{COLLECTIVE_ALL_REDUCE, COLLECTIVE_HALVING_DOUBLING},
	{COLLECTIVE_ALL_REDUCE, COLLECTIVE_DOUBLE_BINARY_TREE},
	{COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_RING},
	{COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_HALVING_DOUBLING},
	{COLLECTIVE_ALL_GATHER, COLLECTIVE_RING},
	{COLLECTIVE_ALL_GATHER, COLLECTIVE_HALVING_DOUBLING},
	{COLLECTIVE_BROADCAST, COLLECTIVE_RING},
	{COLLECTIVE_ALL_TO_ALL, COLLECTIVE_PAIRWISE},
	{COLLECTIVE_ALL_TO_ALL, COLLECTIVE_LINEAR},
	{COLLECTIVE_ALL_TO_ALL, COLLECTIVE_STAGGERED},
	{COLLECTIVE_PIPELINE, COLLECTIVE_RING},
};

TEST(bytes_and_steps_are_those_of_the_definitions)
{
	static const uint32_t ranks[] = {2, 3, 4, 5, 7, 8, 13, 16, 31, 32, 64};
	static const uint64_t chunks[] = {0, 1000, 65536};

	for (size_t a = 0; a < ARRAY_LEN(all); a++)
		for (size_t r = 0; r < ARRAY_LEN(ranks); r++)
			for (size_t k = 0; k < ARRAY_LEN(chunks); k++)
				for (uint32_t channels = 1; channels <= 3; channels += 2)
					check(&(struct collective){.kind = all[a].kind,
								   .algorithm = all[a].algorithm,
								   .n_ranks = ranks[r],
								   .bytes = 100003,
								   .chunk_bytes = chunks[k],
								   .channels = channels});
}

/* Ranks of a server follow each other in each channel's ring, which leaves it by another rank. */
TEST(rings_keep_ranks_of_a_server_together)
{
	struct collective c = {
		.n_ranks = 12, .ranks_per_server = 4, .bytes = 120000, .channels = 4};
	struct job_fault fault;
	struct job_graph g;
	uint32_t leaves[4] = {0};

	assert_int_equal(collective_build(&c, 1, &g, &fault), 0);
	assert_int_equal(job_check(&g, &fault), 0);
	for (uint32_t rank = 0; rank < 12; rank++)
		for (uint32_t i = 0; i < g.ranks[rank].n_peers; i++) {
			const struct job_peer *peer = &g.ranks[rank].peers[i];

			if (peer->n_sends == 0 || peer->rank / 4 == rank / 4)
				continue;
			assert_int_equal(peer->rank / 4, (rank / 4 + 1) % 3);
			assert_int_equal(peer->rank % 4, (rank + 1) % 4);
			leaves[rank % 4]++;
		}
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(leaves[i], 3);
	job_graph_free(&g);
}

/* Of M servers with m ranks: 2 (m - 1) steps of S/m inside, 2 (M - 1) of S/n across. */
TEST(hierarchical_has_the_steps_of_its_phases)
{
	for (uint32_t m = 1; m <= 8; m++)
		for (uint32_t servers = 1; servers <= 5; servers++)
			for (uint64_t chunk = 0; chunk <= 1000; chunk += 500)
				for (uint32_t channels = 1; channels <= 2; channels++) {
					struct collective c = {.algorithm = COLLECTIVE_HIERARCHICAL,
							       .n_ranks = m * servers,
							       .ranks_per_server = m,
							       .bytes = 100003,
							       .chunk_bytes = chunk,
							       .channels = channels,
							       .reduce_ps_per_byte = chunk / 10};
					double bytes =
						2.0 * c.bytes *
						((m - 1.0) / m + (servers - 1.0) / c.n_ranks);
					struct job_fault fault = {0};
					struct job_graph g;

					if (c.n_ranks < 2)
						continue;
					assert_int_equal(collective_build(&c, 1, &g, &fault), 0);
					assert_int_equal(job_check(&g, &fault), 0);
					if (chunk == 0)
						assert_int_equal(rounds(&g),
								 2 * (m - 1) + 2 * (servers - 1));
					for (uint32_t i = 0; i < c.n_ranks; i++)
						assert_true(fabs((double)sent_bytes(&g, i) -
								 bytes) < 4.0 * c.n_ranks);
					job_graph_free(&g);
				}
}

/* In each tree a leaf is at most two logarithms from the root, and a rank sends at most twice its
 * half to children and once to its parent. */
TEST(no_rank_of_two_trees_sends_much_more_than_twice_the_array)
{
	for (uint32_t n = 2; n <= 64; n++) {
		struct collective c = {.algorithm = COLLECTIVE_DOUBLE_BINARY_TREE,
				       .n_ranks = n,
				       .bytes = 1000000,
				       .channels = 1};
		struct job_fault fault;
		struct job_graph g;
		uint32_t depth = 1;

		while (1u << depth < n)
			depth++;
		assert_int_equal(collective_build(&c, 1, &g, &fault), 0);
		assert_true(rounds(&g) <= 2 * (depth + 1));
		for (uint32_t i = 0; i < n; i++)
			assert_true(sent_bytes(&g, i) <= 2 * c.bytes + 2);
		job_graph_free(&g);
	}
}

TEST(computations_stand_before_sends)
{
	struct collective c = {.n_ranks = 4,
			       .bytes = 4000,
			       .channels = 1,
			       .compute_ns = 500,
			       .reduce_ps_per_byte = 100};
	struct job_fault fault;
	struct job_graph g;
	uint64_t sum = 0;

	assert_int_equal(collective_build(&c, 1, &g, &fault), 0);
	for (uint32_t i = 0; i < g.ranks[2].n_ops; i++)
		if (g.ranks[2].ops[i].kind == JOB_CALC)
			sum += g.ranks[2].ops[i].amount;
	/* Once 500 ns, and three times 1000 bytes of 0.1 ns. */
	assert_int_equal(sum, 500 + 3 * 100);
	job_graph_free(&g);
}

/* Number of operations that wait for the end of this one, and are of this kind. */
static uint32_t
wakes_of_kind(const struct job_rank *r, uint32_t op, enum job_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = r->first[2 * op + 1]; i < r->first[2 * op + 2]; i++)
		n += r->ops[r->wakes[i]].kind == kind;
	return n;
}

TEST(each_send_waits_for_an_overhead_of_its_own)
{
	static const struct collective cases[] = {
		{.kind = COLLECTIVE_ALL_REDUCE},
		{.kind = COLLECTIVE_ALL_REDUCE, .algorithm = COLLECTIVE_HALVING_DOUBLING},
		{.kind = COLLECTIVE_ALL_REDUCE, .algorithm = COLLECTIVE_DOUBLE_BINARY_TREE},
		{.kind = COLLECTIVE_ALL_TO_ALL, .algorithm = COLLECTIVE_PAIRWISE},
		{.kind = COLLECTIVE_BROADCAST, .chunk_bytes = 1000},
	};

	for (uint32_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct collective c = cases[i];
		struct job_fault fault;
		struct job_graph g;

		c.n_ranks = 8;
		c.bytes = 8000;
		c.channels = 2;
		c.compute_ns = 5;
		c.send_overhead_ns = 700;
		assert_int_equal(collective_build(&c, 1, &g, &fault), 0);
		assert_int_equal(job_check(&g, &fault), 0);
		for (uint32_t rank = 0; rank < c.n_ranks; rank++) {
			const struct job_rank *r = &g.ranks[rank];
			uint32_t sends = 0, overheads = 0;

			for (uint32_t op = 0; op < r->n_ops; op++) {
				sends += r->ops[op].kind == JOB_SEND;
				if (r->ops[op].kind != JOB_CALC || r->ops[op].amount != 700)
					continue;
				overheads++;
				assert_int_equal(wakes_of_kind(r, op, JOB_SEND), 1);
			}
			assert_int_equal(overheads, sends);
			for (uint32_t op = 0; op < r->n_ops; op++)
				if (r->ops[op].kind == JOB_SEND)
					assert_int_equal(r->waits[op], 1);
		}
		job_graph_free(&g);
	}
}

static void
count_send(void *arg, uint32_t op)
{
	(void)op;
	(*(uint32_t *)arg)++;
}

static void
ignore_calc(void *arg, uint32_t op, uint64_t ns)
{
	(void)arg;
	(void)op;
	(void)ns;
}

/* A rank that still computes passes nothing on, whatever has arrived. */
TEST(no_rank_sends_before_it_has_computed)
{
	static const struct job_actions counts = {.send = count_send, .calc = ignore_calc};

	for (size_t a = 0; a < ARRAY_LEN(all); a++) {
		struct collective c = {.kind = all[a].kind,
				       .algorithm = all[a].algorithm,
				       .n_ranks = 8,
				       .bytes = 80000,
				       .chunk_bytes = 3000,
				       .channels = 2,
				       .compute_ns = 500};
		struct job_fault fault;
		struct job_graph g;

		assert_int_equal(collective_build(&c, 1, &g, &fault), 0);
		for (uint32_t rank = 0; rank < 8; rank++) {
			const struct job_rank *r = &g.ranks[rank];
			struct job_progress p;
			uint32_t sent = 0;

			assert_int_equal(job_progress_init(&p, r, &counts, &sent), 0);
			job_progress_begin(&p);
			for (uint32_t i = 0; i < r->n_ops; i++)
				if (r->ops[i].kind == JOB_RECV)
					job_progress_arrived(&p, r->ops[i].key);
			assert_int_equal(sent, 0);
			job_progress_free(&p);
		}
		job_graph_free(&g);
	}
}

/* No stage of a rank begins before the one before has ended there. */
TEST(stages_follow_each_other)
{
	static uint64_t bytes[] = {0, 100, 0, 50, 0, 7, 9, 0, 0};
	const struct job_matrix matrix = {bytes, 3};
	struct collective stages[4] = {
		{.kind = COLLECTIVE_COMPUTE, .compute_ns = 50},
		{.kind = COLLECTIVE_ALL_TO_ALL_V, .algorithm = COLLECTIVE_PAIRWISE},
		{.kind = COLLECTIVE_ALL_TO_ALL_V_BACK, .algorithm = COLLECTIVE_LINEAR},
		{.kind = COLLECTIVE_ALL_REDUCE, .bytes = 3000, .compute_ns = 7},
	};
	static const uint64_t sent[] = {100 + 59 + 4000, 57 + 100 + 4000, 9 + 7 + 4000};
	struct job_fault fault;
	struct job_graph g;

	for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
		stages[i].n_ranks = 3;
		stages[i].channels = 1;
		stages[i].matrix = &matrix;
		stages[i].rendezvous_bytes = 60;
	}
	assert_int_equal(collective_build(stages, ARRAY_LEN(stages), &g, &fault), 0);
	assert_int_equal(job_check(&g, &fault), 0);
	for (uint32_t rank = 0; rank < 3; rank++) {
		const struct job_rank *r = &g.ranks[rank];
		uint64_t sum = 0;

		for (uint32_t i = 0; i < r->n_ops; i++)
			sum += r->ops[i].kind == JOB_SEND && !job_op_is_ready(r, i)
				       ? r->ops[i].amount
				       : 0;
		assert_int_equal(sum, sent[rank]);
		/* Only the first computation may begin; all else waits, through others, for it. */
		for (uint32_t i = 1; i < r->n_ops; i++)
			assert_true(r->waits[i] > 0);
	}
	assert_true(collective_load(&stages[1], 0) == 100 && collective_load(&stages[1], 2) == 9);
	job_graph_free(&g);
}

TEST(what_has_no_sense_is_refused)
{
	static const struct {
		struct collective c;
		const char *why;
	} rows[] = {
		{{.n_ranks = 1, .bytes = 1000, .channels = 1}, "2 ranks or more"},
		{{.n_ranks = 6,
		  .bytes = 1000,
		  .channels = 1,
		  .algorithm = COLLECTIVE_HALVING_DOUBLING},
		 "a power of two"},
		{{.n_ranks = 4, .bytes = 1000, .channels = 1, .algorithm = COLLECTIVE_PAIRWISE},
		 "an algorithm of this collective"},
		{{.n_ranks = 4,
		  .bytes = 1000,
		  .channels = 1,
		  .kind = COLLECTIVE_ALL_TO_ALL,
		  .algorithm = COLLECTIVE_RING},
		 "an algorithm of this collective"},
		{{.n_ranks = 4, .bytes = 1000, .channels = 1, .algorithm = COLLECTIVE_HIERARCHICAL},
		 "servers, each with as many ranks"},
		{{.n_ranks = 4, .bytes = 7, .channels = 1}, "two or more"},
		{{.n_ranks = 4, .bytes = 100, .channels = 64}, "two or more"},
		{{.n_ranks = 4, .bytes = (1ull << 45) + 1, .channels = 1}, "32 TiB at most"},
		{{.n_ranks = 4, .bytes = 1ull << 45, .channels = 1, .chunk_bytes = 1000},
		 "a million operations"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job_fault fault = {0};
		struct job_graph g;

		assert_int_equal(collective_build(&rows[i].c, 1, &g, &fault), -22);
		if (strstr(fault.why, rows[i].why) == NULL)
			fail_msg("row %zu: \"%s\"", i, fault.why);
	}
}

TEST(bytes_inside_a_server_are_no_load_of_its_links)
{
	static const uint32_t first[] = {0, 2, 3, 6};
	const struct collective_servers servers = {3, first};
	struct collective c = {.n_ranks = 6, .bytes = 600, .channels = 1};
	uint64_t sizes[36] = {0};
	const struct job_matrix matrix = {sizes, 6};

	assert_true(collective_server_load(&c, &servers, 0) == 800);
	c.kind = COLLECTIVE_ALL_GATHER;
	assert_true(collective_server_load(&c, &servers, 2) == 300);
	c.kind = COLLECTIVE_ALL_TO_ALL;
	assert_true(collective_server_load(&c, &servers, 0) == 800);
	assert_true(collective_server_load(&c, &servers, 2) == 900);
	c.kind = COLLECTIVE_BROADCAST;
	assert_true(collective_server_load(&c, &servers, 1) == 600);
	c.kind = COLLECTIVE_ALL_TO_ALL_V;
	c.matrix = &matrix;
	sizes[0 * 6 + 1] = 50; /* inside the first */
	sizes[1 * 6 + 4] = 7;
	sizes[5 * 6 + 0] = 9;
	assert_true(collective_server_load(&c, &servers, 0) == 9);
	assert_true(collective_server_load(&c, &servers, 1) == 0);
}

TEST(bus_bandwidth_is_that_of_nccl_tests)
{
	assert_true(collective_bus_factor(COLLECTIVE_ALL_REDUCE, 4) == 1.5);
	assert_true(collective_bus_factor(COLLECTIVE_ALL_TO_ALL, 4) == 0.75);
	assert_true(collective_bus_factor(COLLECTIVE_ALL_GATHER, 2) == 0.5);
	assert_true(collective_bus_factor(COLLECTIVE_BROADCAST, 9) == 1);
}

TEST_MAIN()
