/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/job_relay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "job/job_check.h"

struct relaying {
	const struct job_graph *graph;
	job_relay_fn relay;
	const void *arg;
	struct job_draft *draft;
	uint32_t *first_key; /* by rank: number of its first key among those of all ranks */
};

static uint32_t
relay_of(const struct relaying *r, uint32_t from, uint32_t to)
{
	return r->relay(r->arg, from, to);
}

static bool
has_relays(const struct relaying *r)
{
	for (uint32_t rank = 0; rank < r->graph->n_ranks; rank++)
		for (uint32_t i = 0; i < r->graph->ranks[rank].n_peers; i++) {
			const struct job_peer *peer = &r->graph->ranks[rank].peers[i];

			if (peer->n_sends > 0 && relay_of(r, rank, peer->rank) != JOB_NONE)
				return true;
		}
	return false;
}

static int
check_tags(const struct relaying *r, struct job_fault *fault)
{
	for (uint32_t rank = 0; rank < r->graph->n_ranks; rank++) {
		const struct job_rank *of = &r->graph->ranks[rank];

		for (uint32_t i = 0; i < of->n_keys; i++)
			if ((of->keys[i].tag & ~JOB_READY_TAG) >= JOB_RELAY_TAG) {
				*fault = (struct job_fault){0};
				snprintf(fault->why, sizeof(fault->why),
					 "tags below %u with messages through other ranks, not %u",
					 JOB_RELAY_TAG, of->keys[i].tag & ~JOB_READY_TAG);
				return -EINVAL;
			}
	}
	return 0;
}

/* Tag of the messages from a rank to the key of another one. */
static uint32_t
relay_tag(const struct relaying *r, uint32_t to, uint32_t key)
{
	uint32_t tag = r->graph->ranks[to].keys[key].tag;

	return (tag & JOB_READY_TAG) | JOB_RELAY_TAG | (r->first_key[to] + key);
}

/* The send or recv of a rank, with its relay in place of its peer. */
static void
redirect(const struct relaying *r, uint32_t rank, const struct job_op *op, struct job_step *step)
{
	const struct job_graph *g = r->graph;
	uint32_t peer = g->ranks[rank].peers[op->peer].rank, key, relay;
	bool sends = op->kind == JOB_SEND;
	uint32_t from = sends ? rank : peer, to = sends ? peer : rank;

	relay = relay_of(r, from, to);
	step->peer = peer;
	step->tag = sends ? op->tag : g->ranks[rank].keys[op->key].tag;
	if (relay == JOB_NONE)
		return;
	key = sends ? job_key_of(&g->ranks[to], job_peer_of(&g->ranks[to], from), op->tag)
		    : op->key;
	step->peer = relay;
	step->tag = relay_tag(r, to, key);
}

static int
add_own(const struct relaying *r, uint32_t rank)
{
	const struct job_rank *of = &r->graph->ranks[rank];
	int64_t rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < of->n_ops; i++) {
		const struct job_op *op = &of->ops[i];
		struct job_step step = {.kind = op->kind,
					.amount = op->amount,
					.stream = op->stream,
					.line = of->lines[i]};

		if (op->kind != JOB_CALC)
			redirect(r, rank, op, &step);
		rc = job_add(r->draft, rank, &step);
	}
	for (uint32_t i = 0; rc >= 0 && i < of->n_ops; i++)
		for (uint32_t k = of->first[2 * i]; rc >= 0 && k < of->first[2 * i + 2]; k++)
			rc = job_after(r->draft, rank, of->wakes[k], i, k < of->first[2 * i + 1]);
	return rc < 0 ? (int)rc : 0;
}

/* The relay of a send receives the message and sends it on. */
static int
add_relay(const struct relaying *r, uint32_t rank, const struct job_op *op)
{
	uint32_t to = r->graph->ranks[rank].peers[op->peer].rank, relay = relay_of(r, rank, to);
	struct job_step step = {.kind = op->kind, .amount = op->amount};
	int64_t recv, send;

	if (relay == JOB_NONE)
		return 0;
	redirect(r, rank, op, &step);
	step.kind = JOB_RECV;
	step.peer = rank;
	recv = job_add(r->draft, relay, &step);
	step.kind = JOB_SEND;
	step.peer = to;
	send = recv < 0 ? recv : job_add(r->draft, relay, &step);
	return send < 0 ? (int)send
			: job_after(r->draft, relay, (uint32_t)send, (uint32_t)recv, false);
}

static int
add_all(const struct relaying *r)
{
	int rc = 0;

	for (uint32_t rank = 0; rc == 0 && rank < r->graph->n_ranks; rank++)
		rc = add_own(r, rank);
	for (uint32_t rank = 0; rc == 0 && rank < r->graph->n_ranks; rank++) {
		const struct job_rank *of = &r->graph->ranks[rank];

		for (uint32_t i = 0; rc == 0 && i < of->n_ops; i++)
			if (of->ops[i].kind == JOB_SEND)
				rc = add_relay(r, rank, &of->ops[i]);
	}
	return rc;
}

/* @return as job_relay(). */
static int
build(struct relaying *r, struct job_graph *out)
{
	const struct job_graph *g = r->graph;
	uint32_t n_keys = 0;
	int rc;

	r->first_key = malloc(g->n_ranks * sizeof(*r->first_key));
	r->draft = job_draft(g->n_ranks);
	for (uint32_t rank = 0; r->first_key != NULL && rank < g->n_ranks; rank++) {
		r->first_key[rank] = n_keys;
		n_keys += g->ranks[rank].n_keys;
	}
	rc = r->first_key == NULL || r->draft == NULL ? -ENOMEM : add_all(r);
	free(r->first_key);
	if (rc < 0) {
		job_draft_free(r->draft);
		return rc;
	}
	rc = job_build(r->draft, out);
	for (uint32_t rank = 0; rc == 0 && rank < g->n_ranks; rank++)
		out->ranks[rank].rendezvous = g->ranks[rank].rendezvous;
	return rc;
}

int
job_relay(struct job_graph *graph, job_relay_fn relay, const void *arg, struct job_fault *fault)
{
	struct relaying r = {.graph = graph, .relay = relay, .arg = arg};
	struct job_graph relayed;
	int rc;

	if (!has_relays(&r))
		return 0;
	if (check_tags(&r, fault) < 0)
		return -EINVAL;
	rc = build(&r, &relayed);
	if (rc < 0)
		return rc;
	rc = job_check(&relayed, fault);
	if (rc < 0) {
		job_graph_free(&relayed);
		return rc;
	}
	job_graph_free(graph);
	*graph = relayed;
	return 0;
}
