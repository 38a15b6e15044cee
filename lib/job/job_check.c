/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/job_check.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* An operation that has begun and ends when its turn comes. */
struct due {
	uint32_t rank, op;
};

struct check {
	const struct job_graph *graph;
	struct job_progress *progress; /* by rank */
	struct due *due;               /* a ring: an operation is in it at most once */
	uint64_t n_ops, head, n;
};

struct of_rank {
	struct check *check;
	uint32_t rank;
};

static void
add_due(void *arg, uint32_t op)
{
	const struct of_rank *of = arg;
	struct check *c = of->check;

	c->due[(c->head + c->n++) % c->n_ops] = (struct due){of->rank, op};
}

static void
calc(void *arg, uint32_t op, uint64_t ns)
{
	(void)ns;
	add_due(arg, op);
}

static const struct job_actions actions = {.send = add_due, .calc = calc};

/* Ends a fault about a ready message: only messages of that size have one. */
#define LARGE ", with rendezvous_bytes or more"

/* A message arrives. @return 0, or -EINVAL: no operation receives it. */
static int
arrive(struct check *c, uint32_t from, uint32_t op, struct job_fault *fault)
{
	const struct job_rank *sender = &c->graph->ranks[from];
	const struct job_op *o = &sender->ops[op];
	uint32_t to = sender->peers[o->peer].rank;
	const struct job_rank *receiver = &c->graph->ranks[to];
	uint32_t peer = job_peer_of(receiver, from);
	uint32_t key = peer == JOB_NONE ? JOB_NONE : job_key_of(receiver, peer, o->tag);
	bool ready = job_op_is_ready(sender, op);
	char text[64];

	if (key == JOB_NONE) {
		fault->line = sender->lines[op];
		snprintf(fault->why, sizeof(fault->why),
			 "rank %u: %s: a %s of that %s and tag at rank %u%s", from,
			 job_op_text(sender, op, text), ready ? "send" : "recv",
			 ready ? "destination" : "source", to, ready ? LARGE : "");
		return -EINVAL;
	}
	job_progress_arrived(&c->progress[to], key);
	return 0;
}

/* Bytes of the messages of one key, sent and received. */
struct sums {
	uint64_t sent, received;
};

/* Add the bytes that a rank sends and receives. at[i]: the sums of rank i, by key. */
static void
add_bytes(const struct check *c, uint32_t rank, struct sums *const *at)
{
	const struct job_rank *r = &c->graph->ranks[rank];

	for (uint32_t i = 0; i < r->n_ops; i++) {
		const struct job_op *o = &r->ops[i];

		if (o->kind == JOB_RECV) {
			at[rank][o->key].received += o->amount;
		} else if (o->kind == JOB_SEND) {
			uint32_t to = r->peers[o->peer].rank;
			const struct job_rank *receiver = &c->graph->ranks[to];

			at[to][job_key_of(receiver, job_peer_of(receiver, rank), o->tag)].sent +=
				o->amount;
		}
	}
}

static int
compare_bytes(const struct check *c, uint32_t rank, const struct sums *sums,
	      struct job_fault *fault)
{
	const struct job_rank *r = &c->graph->ranks[rank];

	for (uint32_t i = 0; i < r->n_ops; i++) {
		const struct sums *s = &sums[r->ops[i].key];
		char text[64];

		if (r->ops[i].kind != JOB_RECV || s->sent == s->received)
			continue;
		fault->line = r->lines[i];
		snprintf(fault->why, sizeof(fault->why),
			 "rank %u: %s: the %" PRIu64
			 " bytes that its source sends with that tag, not %" PRIu64,
			 rank, job_op_text(r, i, text), s->sent, s->received);
		return -EINVAL;
	}
	return 0;
}

/* Are as many bytes sent as received, by source and tag? By now each message has its recv. */
static int
check_bytes(const struct check *c, struct job_fault *fault)
{
	uint32_t n_ranks = c->graph->n_ranks;
	struct sums **at = malloc(n_ranks * sizeof(*at)), *sums;
	uint64_t n = 1;
	int rc = 0;

	for (uint32_t i = 0; i < n_ranks; i++)
		n += c->graph->ranks[i].n_keys;
	sums = calloc(n, sizeof(*sums));
	if (at == NULL || sums == NULL)
		rc = -ENOMEM;
	n = 0;
	for (uint32_t i = 0; rc == 0 && i < n_ranks; i++) {
		at[i] = &sums[n];
		n += c->graph->ranks[i].n_keys;
	}
	for (uint32_t i = 0; rc == 0 && i < n_ranks; i++)
		add_bytes(c, i, at);
	for (uint32_t i = 0; rc == 0 && i < n_ranks; i++)
		rc = compare_bytes(c, i, at[i], fault);
	free(at);
	free(sums);
	return rc;
}

/*
 * All operations that have begun have ended, so each of the others waits for another one of them.
 * From any of them, n_ops steps from an operation to one that it waits for lead into a circle.
 */
static uint32_t
in_circle(const struct job_progress *p)
{
	const struct job_rank *r = p->rank;
	uint32_t *before = calloc(r->n_ops, sizeof(*before)), op = JOB_NONE;

	for (uint32_t i = 0; i < r->n_ops; i++) {
		if (p->left[i] >= JOB_BEGUN)
			continue;
		op = op == JOB_NONE ? i : op;
		for (uint32_t k = r->first[2 * i]; before != NULL && k < r->first[2 * i + 2]; k++)
			before[r->wakes[k]] = i;
	}
	for (uint32_t i = 0; before != NULL && i < r->n_ops; i++)
		op = before[op];
	free(before);
	return op;
}

void
job_op_why(const struct job_rank *rank, uint32_t op, char *why, unsigned int why_size)
{
	char text[64];

	if (rank->ops[op].kind == JOB_RECV)
		snprintf(why, why_size, "%s waits for its %s", job_op_text(rank, op, text),
			 job_op_is_ready(rank, op) ? "recv" : "message");
	else
		snprintf(why, why_size, "%s has not ended", job_op_text(rank, op, text));
}

/* The operation that the rest waits for, and why. */
static uint32_t
stalled(const struct job_progress *p, char *why, unsigned int why_size)
{
	const struct job_rank *r = p->rank;
	char text[64];
	uint32_t op;

	assert(!job_progress_done(p));
	for (op = 0; op < r->n_ops && p->left[op] != JOB_BEGUN; op++)
		;
	if (op == r->n_ops) {
		op = in_circle(p);
		snprintf(why, why_size, "%s waits for an operation that waits for it",
			 job_op_text(r, op, text));
	} else {
		job_op_why(r, op, why, why_size);
	}
	return op;
}

/* Nothing more can happen: has each rank ended, and was each message received? */
static int
check_end(const struct check *c, struct job_fault *fault)
{
	for (uint32_t i = 0; i < c->graph->n_ranks; i++) {
		const struct job_rank *r = &c->graph->ranks[i];
		const struct job_progress *p = &c->progress[i];
		bool ready;

		if (!job_progress_done(p)) {
			char why[128];
			uint32_t op = stalled(p, why, sizeof(why));

			fault->line = r->lines[op];
			snprintf(fault->why, sizeof(fault->why), "rank %u: %s", i, why);
			return -EINVAL;
		}
		for (uint32_t k = 0; k < r->n_keys; k++) {
			if (p->meetings[k].arrived == 0)
				continue;
			ready = r->rendezvous && r->keys[k].tag & JOB_READY_TAG;
			fault->line = 0;
			snprintf(
				fault->why, sizeof(fault->why),
				ready ? "rank %u: a send for each recv of rank %u with tag %u" LARGE
					", of which %u wait forever"
				      : "rank %u: a recv for each message from rank %u with tag %u, of which %u are never received",
				i, r->peers[r->keys[k].peer].rank,
				r->keys[k].tag & ~(ready ? JOB_READY_TAG : 0),
				p->meetings[k].arrived);
			return -EINVAL;
		}
	}
	return 0;
}

static int
run(struct check *c, struct job_fault *fault)
{
	for (uint32_t i = 0; i < c->graph->n_ranks; i++)
		job_progress_begin(&c->progress[i]);
	while (c->n > 0) {
		struct due d = c->due[c->head];

		c->head = (c->head + 1) % c->n_ops;
		c->n--;
		if (c->graph->ranks[d.rank].ops[d.op].kind == JOB_SEND &&
		    arrive(c, d.rank, d.op, fault) < 0)
			return -EINVAL;
		job_progress_ended(&c->progress[d.rank], d.op);
	}
	return check_end(c, fault);
}

int
job_check(const struct job_graph *graph, struct job_fault *fault)
{
	struct check c = {.graph = graph, .n_ops = 1};
	struct of_rank *of = calloc(graph->n_ranks, sizeof(*of));
	int rc = 0;

	for (uint32_t i = 0; i < graph->n_ranks; i++)
		c.n_ops += graph->ranks[i].n_ops;
	c.progress = calloc(graph->n_ranks, sizeof(*c.progress));
	c.due = malloc(c.n_ops * sizeof(*c.due));
	if (of == NULL || c.progress == NULL || c.due == NULL)
		rc = -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < graph->n_ranks; i++) {
		of[i] = (struct of_rank){&c, i};
		rc = job_progress_init(&c.progress[i], &graph->ranks[i], &actions, &of[i]);
	}
	if (rc == 0)
		rc = run(&c, fault);
	if (rc == 0)
		rc = check_bytes(&c, fault);
	for (uint32_t i = 0; c.progress != NULL && i < graph->n_ranks; i++)
		job_progress_free(&c.progress[i]);
	free(c.progress);
	free(c.due);
	free(of);
	return rc;
}
