/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "unit/cases.h"
#include "job/goal.h"
#include "job/job_progress.h"

#define MOST 64

/* What a rank began, in order. */
struct log {
	uint32_t ops[MOST];
	uint32_t n;
};

static void
note_send(void *arg, uint32_t op)
{
	struct log *log = arg;

	assert_true(log->n < MOST);
	log->ops[log->n++] = op;
}

static void
note_calc(void *arg, uint32_t op, uint64_t ns)
{
	assert_true(ns > 0);
	note_send(arg, op);
}

static const struct job_actions actions = {.send = note_send, .calc = note_calc};

/* Begins and ends of operations, in order: 2 op and 2 op + 1. */
static void
note_begin(void *arg, uint32_t op)
{
	note_send(arg, 2 * op);
}

static void
note_end(void *arg, uint32_t op)
{
	note_send(arg, 2 * op + 1);
}

static void
do_nothing(void *arg, uint32_t op)
{
	(void)arg;
	(void)op;
}

static void
compute_nothing(void *arg, uint32_t op, uint64_t ns)
{
	(void)arg;
	(void)op;
	(void)ns;
}

struct bed {
	struct job_graph graph;
	struct job_progress p;
	struct log log;
};

static void
begin(struct bed *b, const char *text)
{
	struct job_fault fault;

	assert_int_equal(goal_read(text, strlen(text), 0, &b->graph, &fault), 0);
	b->log.n = 0;
	assert_int_equal(job_progress_init(&b->p, &b->graph.ranks[0], &actions, &b->log), 0);
	assert_true(job_progress_done(&b->p));
	job_progress_begin(&b->p);
}

static void
end(struct bed *b)
{
	job_progress_free(&b->p);
	job_graph_free(&b->graph);
}

static void
assert_begun(struct bed *b, uint32_t n, const uint32_t *ops)
{
	assert_int_equal(b->log.n, n);
	if (n > 0)
		assert_memory_equal(b->log.ops, ops, n * sizeof(*ops));
	b->log.n = 0;
}
#define BEGUN(b, ...)                                                                              \
	assert_begun(b, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                      \
		     (uint32_t[]){__VA_ARGS__})
#define NOTHING(b) assert_begun(b, 0, NULL)

TEST(an_operation_begins_when_all_that_it_requires_has_ended)
{
	struct bed b;

	begin(&b,
	      "num_ranks 2 rank 0 { a: calc 5 b: calc 6 cpu 1 c: send 1b to 1 c requires a c requires b } rank 1 { }");
	BEGUN(&b, 0, 1);
	job_progress_ended(&b.p, 1);
	NOTHING(&b);
	job_progress_ended(&b.p, 0);
	BEGUN(&b, 2);
	assert_int_equal(b.p.sending, 1);
	assert_false(job_progress_done(&b.p));
	job_progress_ended(&b.p, 2);
	assert_true(job_progress_done(&b.p));
	/* And once more. */
	job_progress_begin(&b.p);
	BEGUN(&b, 0, 1);
	end(&b);
}

TEST(who_records_hears_of_each_begin_and_each_end)
{
	static const struct job_actions recording = {.send = do_nothing,
						     .calc = compute_nothing,
						     .began = note_begin,
						     .ended = note_end};
	struct bed b;

	begin(&b,
	      "num_ranks 2 rank 0 { a: calc 5 b: recv 1b from 1 c: send 1b to 1 c requires a c requires b calc 0 } rank 1 { }");
	b.log.n = 0;
	b.p.actions = &recording;
	job_progress_ended(&b.p, 0);
	BEGUN(&b, 1, 7);
	job_progress_arrived(&b.p, 0);
	BEGUN(&b, 3, 4);
	job_progress_ended(&b.p, 2);
	BEGUN(&b, 5);
	end(&b);
}

TEST(irequires_waits_for_the_start_alone)
{
	struct bed b;

	begin(&b,
	      "num_ranks 2 rank 0 { a: send 1b to 1 b: send 2b to 1 b irequires a c: recv 1b from 1 d: send 3b to 1 d irequires c } rank 1 { }");
	/* A receive has begun when it waits for its message. */
	BEGUN(&b, 0, 1, 3);
	end(&b);
}

TEST(computations_of_a_stream_take_turns)
{
	struct bed b;

	begin(&b, "num_ranks 1 rank 0 { calc 5 calc 6 calc 7 cpu 9 calc 0 cpu 9 calc 8 }");
	BEGUN(&b, 0, 2);
	assert_int_equal(b.p.computing, 2);
	job_progress_ended(&b.p, 2);
	NOTHING(&b);
	job_progress_ended(&b.p, 0);
	BEGUN(&b, 1);
	job_progress_ended(&b.p, 1);
	BEGUN(&b, 4);
	job_progress_ended(&b.p, 4);
	assert_true(job_progress_done(&b.p));
	end(&b);
}

TEST(messages_meet_receives_of_their_source_and_tag_in_order)
{
	struct bed b;
	uint32_t key7, key8;

	begin(&b,
	      "num_ranks 2 rank 0 { w: calc 1 a: recv 1b from 1 tag 7 b: recv 1b from 1 tag 7 c: recv 1b from 1 tag 8 "
	      "b requires w sa: send 1b to 1 sa requires a sb: send 1b to 1 sb requires b sc: send 1b to 1 sc requires c } rank 1 { }");
	key7 = job_key_of(b.p.rank, 0, 7);
	key8 = job_key_of(b.p.rank, 0, 8);
	assert_int_equal(job_key_of(b.p.rank, 0, 9), JOB_NONE);
	BEGUN(&b, 0);
	assert_int_equal(b.p.waits, 2);
	job_progress_arrived(&b.p, key7);
	BEGUN(&b, 4);
	/* Before its receive is posted. */
	job_progress_arrived(&b.p, key7);
	NOTHING(&b);
	job_progress_arrived(&b.p, key8);
	BEGUN(&b, 6);
	job_progress_ended(&b.p, 0);
	BEGUN(&b, 5);
	assert_int_equal(b.p.waits, 0);
	end(&b);
}

TEST(a_message_of_the_next_iteration_is_kept)
{
	struct bed b;

	begin(&b, "num_ranks 2 rank 0 { recv 1b from 1 } rank 1 { }");
	for (int i = 0; i < 3; i++)
		job_progress_arrived(&b.p, 0);
	assert_true(job_progress_done(&b.p));
	job_progress_begin(&b.p);
	assert_true(job_progress_done(&b.p));
	job_progress_begin(&b.p);
	assert_true(job_progress_done(&b.p));
	job_progress_begin(&b.p);
	assert_false(job_progress_done(&b.p));
	end(&b);
}

TEST_MAIN()
