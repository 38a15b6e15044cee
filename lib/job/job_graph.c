/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/job_graph.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct edge {
	uint32_t op, before;
	bool start;
};

struct draft_rank {
	struct job_step *steps;
	struct edge *edges;
	uint32_t n_steps, n_edges, room_steps, room_edges;
};

struct job_draft {
	uint32_t n_ranks;
	uint32_t size; /* steps and edges of all ranks */
	bool rendezvous;
	struct draft_rank ranks[];
};

struct job_draft *
job_draft(uint32_t n_ranks)
{
	struct job_draft *d;

	assert(n_ranks > 0 && n_ranks <= JOB_MAX_RANKS);
	d = calloc(1, sizeof(*d) + n_ranks * sizeof(d->ranks[0]));
	if (d != NULL)
		d->n_ranks = n_ranks;
	return d;
}

static void
forget(struct draft_rank *d)
{
	free(d->steps);
	free(d->edges);
	*d = (struct draft_rank){0};
}

void
job_draft_free(struct job_draft *draft)
{
	if (draft == NULL)
		return;
	for (uint32_t i = 0; i < draft->n_ranks; i++)
		forget(&draft->ranks[i]);
	free(draft);
}

/* Room for one more of n items. @return the array, perhaps moved, or NULL: no memory. */
static void *
grow(void *items, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t wanted = *room == 0 ? 16 : 2 * *room;
	void *moved;

	if (n < *room)
		return items;
	moved = realloc(items, wanted * size);
	if (moved != NULL)
		*room = wanted;
	return moved;
}

int64_t
job_add(struct job_draft *draft, uint32_t rank, const struct job_step *step)
{
	struct draft_rank *r = &draft->ranks[rank];
	struct job_step *steps;

	assert(rank < draft->n_ranks);
	if (step->kind == JOB_CALC ? step->amount > JOB_MAX_NS
				   : step->amount == 0 || step->amount > JOB_MAX_BYTES ||
					     step->peer == rank || step->peer >= draft->n_ranks)
		return -EINVAL;
	if (r->n_steps == JOB_MAX_OPS || draft->size == JOB_MAX_SIZE)
		return -E2BIG;
	steps = grow(r->steps, r->n_steps, &r->room_steps, sizeof(*steps));
	if (steps == NULL)
		return -ENOMEM;
	r->steps = steps;
	r->steps[r->n_steps] = *step;
	draft->size++;
	return r->n_steps++;
}

int
job_after(struct job_draft *draft, uint32_t rank, uint32_t op, uint32_t before, bool start)
{
	struct draft_rank *r = &draft->ranks[rank];
	struct edge *edges;

	assert(op < r->n_steps && before < r->n_steps);
	if (draft->size == JOB_MAX_SIZE)
		return -E2BIG;
	edges = grow(r->edges, r->n_edges, &r->room_edges, sizeof(*edges));
	if (edges == NULL)
		return -ENOMEM;
	r->edges = edges;
	r->edges[r->n_edges++] = (struct edge){op, before, start};
	draft->size++;
	return 0;
}

/*
 * A large send becomes two operations: one that receives the ready message takes its place among
 * the others, and the send waits for that one. waits_for[i]: the first of them; of another
 * operation: i itself.
 */
static int
split_sends(struct job_draft *draft, uint32_t rank, uint64_t bytes, uint32_t *waits_for)
{
	struct draft_rank *r = &draft->ranks[rank];
	uint32_t n_steps = r->n_steps, n_edges = r->n_edges;
	int rc = 0;

	for (uint32_t i = 0; i < n_steps; i++) {
		struct job_step ready = r->steps[i];
		bool large = ready.kind != JOB_CALC && ready.amount >= bytes;
		int64_t op;

		waits_for[i] = i;
		if (!large)
			continue;
		ready.kind = ready.kind == JOB_SEND ? JOB_RECV : JOB_SEND;
		ready.amount = JOB_READY_BYTES;
		ready.tag |= JOB_READY_TAG;
		op = job_add(draft, rank, &ready);
		if (op < 0)
			return (int)op;
		if (ready.kind == JOB_RECV)
			waits_for[i] = (uint32_t)op;
	}
	for (uint32_t i = 0; i < n_edges; i++) {
		struct edge *e = &r->edges[i];

		e->op = waits_for[e->op];
		e->before = e->start ? waits_for[e->before] : e->before;
	}
	for (uint32_t i = 0, ready = n_steps; rc == 0 && i < n_steps; i++) {
		if (r->steps[i].kind == JOB_CALC || r->steps[i].amount < bytes)
			continue;
		rc = r->steps[i].kind == JOB_SEND ? job_after(draft, rank, i, ready, false)
						  : job_after(draft, rank, ready, i, true);
		ready++;
	}
	return rc;
}

int
job_rendezvous(struct job_draft *draft, uint64_t bytes, struct job_fault *fault)
{
	int rc = 0;

	draft->rendezvous = true;
	for (uint32_t rank = 0; rc == 0 && rank < draft->n_ranks; rank++) {
		const struct draft_rank *r = &draft->ranks[rank];
		uint32_t *waits_for = malloc((r->n_steps + 1) * sizeof(*waits_for));

		for (uint32_t i = 0; i < r->n_steps; i++) {
			if (r->steps[i].kind == JOB_CALC || r->steps[i].tag < JOB_READY_TAG)
				continue;
			*fault = (struct job_fault){.line = r->steps[i].line};
			snprintf(fault->why, sizeof(fault->why),
				 "a tag below 2147483648 with rendezvous_bytes, not %u",
				 r->steps[i].tag);
			free(waits_for);
			return -EINVAL;
		}
		rc = waits_for == NULL ? -ENOMEM : split_sends(draft, rank, bytes, waits_for);
		free(waits_for);
	}
	return rc;
}

static int
compare_keys(const void *a, const void *b)
{
	const struct job_key *x = a, *y = b;

	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	return (x->tag > y->tag) - (x->tag < y->tag);
}

/* Sort n keys and drop those that occur twice. @return how many are left. */
static uint32_t
sort_unique(struct job_key *keys, uint32_t n)
{
	uint32_t kept = 0;

	if (n > 0)
		qsort(keys, n, sizeof(*keys), compare_keys);
	for (uint32_t i = 0; i < n; i++)
		if (kept == 0 || compare_keys(&keys[kept - 1], &keys[i]) != 0)
			keys[kept++] = keys[i];
	return kept;
}

/* The ranks that this one exchanges messages with. @return 0 or -ENOMEM. */
static int
build_peers(const struct draft_rank *d, struct job_rank *r)
{
	struct job_key *ranks = malloc((d->n_steps + 1) * sizeof(*ranks));
	uint32_t n = 0;

	if (ranks == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->n_steps; i++)
		if (d->steps[i].kind != JOB_CALC)
			ranks[n++] = (struct job_key){.peer = d->steps[i].peer};
	r->n_peers = sort_unique(ranks, n);
	r->peers = calloc(r->n_peers + 1, sizeof(*r->peers));
	for (uint32_t i = 0; r->peers != NULL && i < r->n_peers; i++)
		r->peers[i].rank = ranks[i].peer;
	free(ranks);
	return r->peers == NULL ? -ENOMEM : 0;
}

static int
build_keys(const struct draft_rank *d, struct job_rank *r)
{
	uint32_t n = 0;

	r->keys = malloc((d->n_steps + 1) * sizeof(*r->keys));
	if (r->keys == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->n_steps; i++)
		if (d->steps[i].kind == JOB_RECV)
			r->keys[n++] =
				(struct job_key){job_peer_of(r, d->steps[i].peer), d->steps[i].tag};
	r->n_keys = sort_unique(r->keys, n);
	return 0;
}

static void
build_op(struct job_rank *r, uint32_t op, const struct job_step *step)
{
	struct job_op *out = &r->ops[op];
	struct job_peer *peer;

	*out = (struct job_op){.amount = step->amount, .kind = step->kind, .stream = step->stream};
	r->lines[op] = step->line;
	if (step->kind == JOB_CALC)
		return;
	out->peer = job_peer_of(r, step->peer);
	peer = &r->peers[out->peer];
	if (step->kind == JOB_SEND) {
		out->tag = step->tag;
		peer->n_sends++;
	} else {
		out->key = job_key_of(r, out->peer, step->tag);
		peer->n_recvs++;
	}
}

/* Place of an edge in `first`: with the start or the end of the operation waited for. */
static uint32_t
slot(const struct edge *e)
{
	return 2 * e->before + (e->start ? 0 : 1);
}

static void
build_edges(const struct draft_rank *d, struct job_rank *r)
{
	for (uint32_t i = 0; i < d->n_edges; i++) {
		r->first[slot(&d->edges[i]) + 1]++;
		r->waits[d->edges[i].op]++;
	}
	for (uint32_t i = 0; i < 2 * r->n_ops; i++)
		r->first[i + 1] += r->first[i];
	/* first[slot + 1] is the end of a slot's part. Fill the parts from the back: it becomes the
	 * begin. */
	for (uint32_t i = d->n_edges; i-- > 0;)
		r->wakes[--r->first[slot(&d->edges[i]) + 1]] = d->edges[i].op;
	for (uint32_t i = 0; i < 2 * r->n_ops; i++)
		r->first[i] = r->first[i + 1];
	r->first[2 * r->n_ops] = d->n_edges;
}

static int
build_rank(const struct draft_rank *d, struct job_rank *r)
{
	r->n_ops = d->n_steps;
	r->ops = malloc((r->n_ops + 1) * sizeof(*r->ops));
	r->lines = malloc((r->n_ops + 1) * sizeof(*r->lines));
	r->waits = calloc(r->n_ops + 1, sizeof(*r->waits));
	r->first = calloc(2 * (size_t)r->n_ops + 2, sizeof(*r->first));
	r->wakes = malloc((d->n_edges + 1) * sizeof(*r->wakes));
	if (r->ops == NULL || r->lines == NULL || r->waits == NULL || r->first == NULL ||
	    r->wakes == NULL || build_peers(d, r) < 0 || build_keys(d, r) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->n_ops; i++)
		build_op(r, i, &d->steps[i]);
	build_edges(d, r);
	return 0;
}

int
job_build(struct job_draft *draft, struct job_graph *out)
{
	int rc = 0;

	*out = (struct job_graph){.ranks = calloc(draft->n_ranks, sizeof(*out->ranks)),
				  .n_ranks = draft->n_ranks,
				  .n_users = malloc(sizeof(*out->n_users))};
	if (out->n_users != NULL)
		*out->n_users = 1;
	if (out->ranks == NULL || out->n_users == NULL)
		rc = -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < draft->n_ranks; i++) {
		rc = build_rank(&draft->ranks[i], &out->ranks[i]);
		out->ranks[i].rendezvous = draft->rendezvous;
		/* At once, so that large graphs are not held twice. */
		forget(&draft->ranks[i]);
	}
	job_draft_free(draft);
	if (rc < 0)
		job_graph_free(out);
	return rc;
}

struct job_graph
job_graph_share(const struct job_graph *graph)
{
	++*graph->n_users;
	return *graph;
}

void
job_graph_free(struct job_graph *graph)
{
	bool last = graph->n_users == NULL || --*graph->n_users == 0;

	for (uint32_t i = 0; last && graph->ranks != NULL && i < graph->n_ranks; i++) {
		struct job_rank *r = &graph->ranks[i];

		free(r->ops);
		free(r->lines);
		free(r->waits);
		free(r->first);
		free(r->wakes);
		free(r->peers);
		free(r->keys);
	}
	if (last) {
		free(graph->ranks);
		free(graph->n_users);
	}
	*graph = (struct job_graph){0};
}

/* A step of splitmix64 (Vigna), from the digest so far and the value. */
uint64_t
job_digest_add(uint64_t digest, uint64_t value)
{
	uint64_t z = (digest ^ value) + 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static uint64_t
mix_rank(uint64_t digest, const struct job_rank *rank)
{
	digest = job_digest_add(digest, rank->n_ops);
	for (uint32_t i = 0; i < rank->n_ops; i++) {
		const struct job_op *op = &rank->ops[i];
		uint64_t peer = op->kind == JOB_CALC ? 0 : rank->peers[op->peer].rank;
		uint64_t tag = op->kind == JOB_CALC   ? 0
			       : op->kind == JOB_SEND ? op->tag
						      : rank->keys[op->key].tag;

		digest = job_digest_add(digest, op->amount | (uint64_t)op->kind << 46 |
							(uint64_t)op->stream << 48);
		digest = job_digest_add(digest, peer << 32 | tag);
		digest = job_digest_add(digest, (uint64_t)rank->first[2 * i] << 32 |
							rank->first[2 * i + 1]);
	}
	for (uint32_t i = 0; rank->n_ops > 0 && i < rank->first[2 * rank->n_ops]; i++)
		digest = job_digest_add(digest, rank->wakes[i]);
	return digest;
}

uint64_t
job_graph_digest(const struct job_graph *graph)
{
	uint64_t digest = job_digest_add(0, graph->n_ranks);

	for (uint32_t rank = 0; rank < graph->n_ranks; rank++)
		digest = mix_rank(digest, &graph->ranks[rank]);
	return digest;
}

uint32_t
job_peer_of(const struct job_rank *rank, uint32_t peer_rank)
{
	uint32_t low = 0, high = rank->n_peers;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (rank->peers[middle].rank < peer_rank)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rank->n_peers && rank->peers[low].rank == peer_rank ? low : JOB_NONE;
}

uint32_t
job_key_of(const struct job_rank *rank, uint32_t peer, uint32_t tag)
{
	const struct job_key wanted = {peer, tag};
	uint32_t low = 0, high = rank->n_keys;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (compare_keys(&rank->keys[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rank->n_keys && compare_keys(&rank->keys[low], &wanted) == 0 ? low : JOB_NONE;
}

static uint32_t
tag_of(const struct job_rank *rank, const struct job_op *o)
{
	return o->kind == JOB_SEND ? o->tag : rank->keys[o->key].tag;
}

bool
job_op_is_ready(const struct job_rank *rank, uint32_t op)
{
	const struct job_op *o = &rank->ops[op];

	return rank->rendezvous && o->kind != JOB_CALC && tag_of(rank, o) & JOB_READY_TAG;
}

const char *
job_op_text(const struct job_rank *rank, uint32_t op, char text[64])
{
	const struct job_op *o = &rank->ops[op];
	bool sends = o->kind == JOB_SEND;

	if (o->kind == JOB_CALC)
		snprintf(text, 64, "calc %" PRIu64, (uint64_t)o->amount);
	else if (job_op_is_ready(rank, op))
		snprintf(text, 64, "%s %u tag %u", sends ? "ready for a send of" : "send to",
			 rank->peers[o->peer].rank, tag_of(rank, o) & ~JOB_READY_TAG);
	else
		snprintf(text, 64, "%s %" PRIu64 "b %s %u tag %u", sends ? "send" : "recv",
			 (uint64_t)o->amount, sends ? "to" : "from", rank->peers[o->peer].rank,
			 tag_of(rank, o));
	return text;
}
