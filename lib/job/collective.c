/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/collective.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const collective_words[] = {
	[COLLECTIVE_ALL_REDUCE] = "all_reduce",
	[COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
	[COLLECTIVE_ALL_GATHER] = "all_gather",
	[COLLECTIVE_BROADCAST] = "broadcast",
	[COLLECTIVE_ALL_TO_ALL] = "all_to_all",
	[COLLECTIVE_PIPELINE] = "pipeline",
	[COLLECTIVE_ALL_TO_ALL_V] = "all_to_all_v",
	[COLLECTIVE_ALL_TO_ALL_V_BACK] = "all_to_all_v_back",
	NULL,
};

const char *const collective_algorithm_words[] = {
	[COLLECTIVE_AUTO] = "auto",
	[COLLECTIVE_RING] = "ring",
	[COLLECTIVE_HALVING_DOUBLING] = "halving_doubling",
	[COLLECTIVE_DOUBLE_BINARY_TREE] = "double_binary_tree",
	[COLLECTIVE_PAIRWISE] = "pairwise",
	[COLLECTIVE_LINEAR] = "linear",
	[COLLECTIVE_STAGGERED] = "staggered",
	[COLLECTIVE_HIERARCHICAL] = "hierarchical",
	NULL,
};

/* A part of the array: bytes from `from` on. */
struct part {
	uint64_t from, bytes;
};

/*
 * A graph is built twice. The first time, operations and dependencies are counted only, so that one
 * that is too large is refused before it takes memory.
 */
struct builder {
	const struct collective *c; /* the stage that is added */
	struct job_draft *draft;    /* NULL: count */
	uint32_t *counts;           /* by rank: operations that have been counted */
	uint64_t size;              /* operations and dependencies that have been counted */
	/*
	 * By rank: its first operation of the stage; the operation with which the stage before has
	 * ended; and the computation before the first send. JOB_NONE: none.
	 */
	uint32_t *first, *gate, *entry;
	uint32_t channel, tag; /* the first tag of the stage */
	uint32_t *ended;       /* by rank: operations that have been added */
	int rc;                /* -ENOMEM or -E2BIG: nothing more is added */
};

static int64_t
count(struct builder *b, uint32_t rank)
{
	if (b->counts[rank] == JOB_MAX_OPS || ++b->size > JOB_MAX_SIZE)
		return -E2BIG;
	return b->counts[rank]++;
}

static uint32_t
add(struct builder *b, uint32_t rank, const struct job_step *step)
{
	int64_t op = b->rc < 0          ? 0
		     : b->draft == NULL ? count(b, rank)
					: job_add(b->draft, rank, step);

	/* A message of no bytes, or of too many, is a defect of the caller. */
	assert(op != -EINVAL);
	if (op < 0)
		b->rc = (int)op;
	else
		b->ended[rank] = (uint32_t)op + 1;
	return op < 0 ? 0 : (uint32_t)op;
}

static void
after(struct builder *b, uint32_t rank, uint32_t op, uint32_t before)
{
	if (b->rc < 0 || before == JOB_NONE)
		return;
	if (b->draft != NULL)
		b->rc = job_after(b->draft, rank, op, before, false);
	else if (++b->size > JOB_MAX_SIZE)
		b->rc = -E2BIG;
}

static uint32_t
add_calc(struct builder *b, uint32_t rank, uint64_t ns, uint32_t before)
{
	uint32_t op = add(b, rank, &(struct job_step){.kind = JOB_CALC, .amount = ns});

	after(b, rank, op, before);
	return op;
}

/*
 * Computations of one stream run one after another: sums; joins, which would have to wait behind
 * sums; overheads of messages.
 */
enum stream { SUMS, JOINS, OVERHEADS };

/* An operation that ends when both have ended. */
static uint32_t
add_join(struct builder *b, uint32_t rank, uint32_t one, uint32_t other)
{
	uint32_t op = add(b, rank, &(struct job_step){.kind = JOB_CALC, .stream = JOINS});

	after(b, rank, op, one);
	after(b, rank, op, other);
	return op;
}

/* After `before`, or JOB_NONE, and after the computation of the iteration. */
static uint32_t
add_send(struct builder *b, uint32_t rank, uint32_t to, uint64_t bytes, uint32_t tag,
	 uint32_t before)
{
	const struct job_step send = {.kind = JOB_SEND, .amount = bytes, .peer = to, .tag = tag};
	const struct job_step overhead = {
		.kind = JOB_CALC, .amount = b->c->send_overhead_ns, .stream = OVERHEADS};
	uint32_t op, waits;

	if (overhead.amount == 0) {
		op = waits = add(b, rank, &send);
	} else {
		waits = add(b, rank, &overhead);
		op = add(b, rank, &send);
		after(b, rank, op, waits);
	}
	after(b, rank, waits, before);
	after(b, rank, waits, b->entry[rank]);
	return op;
}

/* Receives are posted from the beginning of the stage on. */
static uint32_t
add_recv(struct builder *b, uint32_t rank, uint32_t from, uint64_t bytes, uint32_t tag)
{
	uint32_t op = add(
		b, rank,
		&(struct job_step){.kind = JOB_RECV, .amount = bytes, .peer = from, .tag = tag});

	after(b, rank, op, b->gate[rank]);
	return op;
}

/* Add the bytes of a received message to the rank's own. @return the operation that ends it. */
static uint32_t
add_reduce(struct builder *b, uint32_t rank, uint32_t recv, uint64_t bytes)
{
	unsigned __int128 ps = (unsigned __int128)bytes * b->c->reduce_ps_per_byte;

	return ps == 0 ? recv : add_calc(b, rank, (uint64_t)((ps + 999) / 1000), recv);
}

/* Part i if a part is divided into n, whose sizes differ by a byte at most. */
static struct part
part_of(struct part whole, uint32_t i, uint32_t n)
{
	uint64_t begin = (uint64_t)((unsigned __int128)whole.bytes * i / n);
	uint64_t end = (uint64_t)((unsigned __int128)whole.bytes * (i + 1) / n);

	return (struct part){whole.from + begin, end - begin};
}

/* Number of messages that carry a part. */
static uint32_t
pieces_of(const struct builder *b, uint64_t bytes)
{
	uint64_t most = b->c->chunk_bytes == 0 ? JOB_MAX_BYTES : b->c->chunk_bytes;

	return (uint32_t)((bytes + most - 1) / most);
}

static uint64_t
piece_bytes(const struct builder *b, uint64_t bytes, uint32_t i)
{
	return part_of((struct part){0, bytes}, i, pieces_of(b, bytes)).bytes;
}

static uint32_t
modulo(int64_t a, uint32_t n)
{
	return (uint32_t)((a % n + n) % n);
}

/* A ring of n ranks: of all; or of the first one and each stride-th after it. */
struct circle {
	uint32_t n, first, stride; /* stride 0: all */
};

/* The rank at a place of the ring. */
static uint32_t
rank_on(const struct builder *b, const struct circle *c, uint32_t place)
{
	uint32_t per_server = b->c->ranks_per_server, in_server;

	if (c->stride > 0)
		return c->first + place * c->stride;
	if (per_server == 0)
		return place;
	in_server = place % per_server;
	return place - in_server + (in_server + b->channel) % per_server;
}

/* Most messages that carry a part of the ring. */
static uint32_t
most_pieces(const struct builder *b, struct part whole, uint32_t n)
{
	return pieces_of(b, part_of(whole, 0, n).bytes + 1);
}

/*
 * Steps from `step` to `end` of a ring of 2 (n - 1) steps, of which the first n - 1 reduce: in step
 * s, place r sends part r - s, which it has received in step s - 1, and receives part r - s - 1.
 *
 * had[i]: the operation with whose end the rank has message i of the part to send; before it is
 * `before`, or JOB_NONE: it had it before the first step.
 * @return number of messages of the last part that it received.
 */
static uint32_t
ring_place(struct builder *b, const struct circle *c, uint32_t place, struct part whole,
	   uint32_t tag, uint32_t step, uint32_t end, uint32_t before, uint32_t *had)
{
	uint32_t n = c->n, rank = rank_on(b, c, place), pieces = 0;
	uint32_t to = rank_on(b, c, (place + 1) % n), from = rank_on(b, c, (place + n - 1) % n);

	for (uint32_t i = 0; i < most_pieces(b, whole, n); i++)
		had[i] = before;
	for (uint32_t s = step; b->rc == 0 && s < end; s++) {
		uint64_t out = part_of(whole, modulo((int64_t)place - s, n), n).bytes;
		uint64_t in = part_of(whole, modulo((int64_t)place - s - 1, n), n).bytes;

		pieces = pieces_of(b, in);
		for (uint32_t i = 0; b->rc == 0 && i < pieces_of(b, out); i++)
			add_send(b, rank, to, piece_bytes(b, out, i), tag, had[i]);
		for (uint32_t i = 0; b->rc == 0 && i < pieces; i++) {
			uint64_t bytes = piece_bytes(b, in, i);

			had[i] = add_recv(b, rank, from, bytes, tag);
			if (s < n - 1)
				had[i] = add_reduce(b, rank, had[i], bytes);
		}
	}
	return pieces;
}

static void
ring(struct builder *b, struct part whole, uint32_t tag, uint32_t step, uint32_t end)
{
	const struct circle all = {.n = b->c->n_ranks};
	uint32_t *had = malloc(most_pieces(b, whole, all.n) * sizeof(*had));

	if (had == NULL) {
		b->rc = -ENOMEM;
		return;
	}
	for (uint32_t place = 0; b->rc == 0 && place < all.n; place++)
		(void)ring_place(b, &all, place, whole, tag, step, end, JOB_NONE, had);
	free(had);
}

/* An operation that ends when all n messages are there. */
static uint32_t
join_all(struct builder *b, uint32_t rank, const uint32_t *had, uint32_t n)
{
	uint32_t last = had[0];

	for (uint32_t i = 1; b->rc == 0 && i < n; i++)
		last = add_join(b, rank, last, had[i]);
	return last;
}

/* Steps of a ring, of which the first waits for `before`. @return the end of the last one. */
static uint32_t
phase(struct builder *b, const struct circle *c, uint32_t place, struct part whole, uint32_t tag,
      uint32_t step, uint32_t end, uint32_t before, uint32_t *had)
{
	uint32_t n = ring_place(b, c, place, whole, tag, step, end, before, had);

	return n == 0 ? before : join_all(b, rank_on(b, c, place), had, n);
}

static void
hierarchical(struct builder *b, struct part whole, uint32_t tag)
{
	uint32_t m = b->c->ranks_per_server, n_servers = b->c->n_ranks / m;
	/* Parts of the rings inside are the largest; they differ by a byte. */
	uint32_t *had = malloc((most_pieces(b, whole, m) + 1ull) * sizeof(*had));

	if (had == NULL) {
		b->rc = -ENOMEM;
		return;
	}
	for (uint32_t rank = 0; b->rc == 0 && rank < b->c->n_ranks; rank++) {
		uint32_t place = rank % m, server = rank / m, reduced, gathered;
		const struct circle inside = {m, server * m, 1}, across = {n_servers, place, m};
		/* The part that the rank has reduced after m - 1 steps. */
		struct part own = part_of(whole, (place + 1) % m, m);

		reduced = phase(b, &inside, place, whole, tag, 0, m - 1, JOB_NONE, had);
		reduced = phase(b, &across, server, own, tag, 0, n_servers - 1, reduced, had);
		gathered = phase(b, &across, server, own, tag, n_servers - 1, 2 * (n_servers - 1),
				 reduced, had);
		/* The others' parts may be there before the sum of its own is. */
		if (n_servers > 1)
			gathered = add_join(b, rank, reduced, gathered);
		phase(b, &inside, place, whole, tag, m - 1, 2 * (m - 1), gathered, had);
	}
	free(had);
}

/* Rank 0 sends all, and each rank passes on what it receives. */
static void
chain(struct builder *b, struct part whole, uint32_t tag)
{
	uint32_t n = b->c->n_ranks;

	for (uint32_t rank = 0; b->rc == 0 && rank < n; rank++) {
		for (uint32_t i = 0; b->rc == 0 && i < pieces_of(b, whole.bytes); i++) {
			uint64_t bytes = piece_bytes(b, whole.bytes, i);
			uint32_t had =
				rank == 0 ? JOB_NONE : add_recv(b, rank, rank - 1, bytes, tag);

			if (b->c->kind == COLLECTIVE_PIPELINE && b->c->compute_ns > 0)
				had = add_calc(b, rank, b->c->compute_ns,
					       had == JOB_NONE ? b->entry[rank] : had);
			if (rank + 1 < n)
				add_send(b, rank, rank + 1, bytes, tag, had);
		}
	}
}

/* An exchange with another rank: both send. @return the end of what is received. */
static uint32_t
exchange(struct builder *b, uint32_t rank, uint32_t with, uint64_t out, uint64_t in, uint32_t tag,
	 bool reduces, uint32_t before)
{
	uint32_t last = before;

	for (uint32_t i = 0; b->rc == 0 && i < pieces_of(b, out); i++)
		add_send(b, rank, with, piece_bytes(b, out, i), tag, before);
	for (uint32_t i = 0; b->rc == 0 && i < pieces_of(b, in); i++) {
		uint64_t bytes = piece_bytes(b, in, i);
		uint32_t had = add_recv(b, rank, with, bytes, tag);

		if (reduces)
			had = add_reduce(b, rank, had, bytes);
		/* Join: an operation that ends when all messages up to this one have arrived. */
		last = i > 0 ? add_join(b, rank, had, last) : had;
	}
	return last;
}

/* The part that a rank keeps after a number of halvings: bit n >> i of it selects the i-th half. */
static struct part
halved(struct part whole, uint32_t n, uint32_t rank, uint32_t halvings)
{
	for (uint32_t i = 1; i <= halvings; i++)
		whole = part_of(whole, rank & n >> i ? 1 : 0, 2);
	return whole;
}

static void
halving_doubling(struct builder *b, struct part whole, uint32_t tag, bool halves, bool doubles)
{
	uint32_t n = b->c->n_ranks, steps = (uint32_t)__builtin_ctz(n);

	for (uint32_t rank = 0; b->rc == 0 && rank < n; rank++) {
		uint32_t had = JOB_NONE;

		for (uint32_t s = 1; halves && s <= steps; s++) {
			uint32_t with = rank ^ n >> s;

			had = exchange(b, rank, with, halved(whole, n, with, s).bytes,
				       halved(whole, n, rank, s).bytes, tag, true, had);
		}
		for (uint32_t s = steps; doubles && s >= 1; s--) {
			uint32_t with = rank ^ n >> s;

			had = exchange(b, rank, with, halved(whole, n, rank, s).bytes,
				       halved(whole, n, with, s).bytes, tag, false, had);
		}
	}
}

/*
 * Parent of place i of n in a binary tree whose leaves are the odd places, and whose root is place
 * 0: clear the lowest bit of i and set the next higher one, or only clear it if there is no such
 * place.
 */
static uint32_t
parent_of(uint32_t i, uint32_t n)
{
	uint32_t bit = i & -i, up = (i ^ bit) | bit << 1;

	if (i == 0)
		return JOB_NONE;
	return up < n ? up : i ^ bit;
}

/* The rank at a place. The second tree is the first one, with all ranks shifted by one if n is odd,
 * or mirrored if n is even. */
static uint32_t
rank_at(uint32_t place, uint32_t n, bool second)
{
	if (!second)
		return place;
	return n % 2 == 1 ? (place + 1) % n : n - 1 - place;
}

#define CHILDREN 3

struct tree_place {
	uint32_t children[CHILDREN], n;
};

static void
tree_piece(struct builder *b, uint32_t rank, uint32_t parent, const struct tree_place *t,
	   uint64_t bytes, uint32_t tag)
{
	uint32_t had = JOB_NONE;

	for (uint32_t k = 0; k < t->n; k++) {
		uint32_t sum =
			add_reduce(b, rank, add_recv(b, rank, t->children[k], bytes, tag), bytes);

		had = k > 0 ? add_join(b, rank, sum, had) : sum;
	}
	if (parent != JOB_NONE) {
		add_send(b, rank, parent, bytes, tag, had);
		had = add_recv(b, rank, parent, bytes, tag + 1);
	}
	for (uint32_t k = 0; k < t->n; k++)
		add_send(b, rank, t->children[k], bytes, tag + 1, had);
}

static void
tree(struct builder *b, struct part whole, uint32_t tag, bool second)
{
	uint32_t n = b->c->n_ranks;
	struct tree_place *t = calloc(n, sizeof(*t)); /* by rank */

	if (t == NULL) {
		b->rc = -ENOMEM;
		return;
	}
	for (uint32_t place = 1; place < n; place++) {
		struct tree_place *up = &t[rank_at(parent_of(place, n), n, second)];

		assert(up->n < CHILDREN);
		up->children[up->n++] = rank_at(place, n, second);
	}
	for (uint32_t place = 0; b->rc == 0 && place < n; place++) {
		uint32_t rank = rank_at(place, n, second), parent = parent_of(place, n);

		if (parent != JOB_NONE)
			parent = rank_at(parent, n, second);
		for (uint32_t i = 0; b->rc == 0 && i < pieces_of(b, whole.bytes); i++)
			tree_piece(b, rank, parent, &t[rank], piece_bytes(b, whole.bytes, i), tag);
	}
	free(t);
}

/* Bytes from a rank to another one, in this channel. */
static uint64_t
pair_bytes(const struct builder *b, struct part whole, uint32_t from, uint32_t to)
{
	const struct collective *c = b->c;
	uint32_t n = c->n_ranks;
	uint64_t bytes;

	if (!collective_has_matrix(c->kind))
		return part_of(whole, to, n).bytes;
	bytes = c->matrix->bytes[c->kind == COLLECTIVE_ALL_TO_ALL_V ? (size_t)from * n + to
								    : (size_t)to * n + from];
	return part_of((struct part){0, bytes}, b->channel, c->channels).bytes;
}

static void
all_to_all(struct builder *b, struct part whole, uint32_t tag)
{
	uint32_t n = b->c->n_ranks;
	int algorithm = b->c->algorithm;

	for (uint32_t rank = 0; b->rc == 0 && rank < n; rank++) {
		uint32_t had = JOB_NONE;

		for (uint32_t k = 1; b->rc == 0 && k < n; k++) {
			/* linear: from rank 0 on, without oneself */
			uint32_t to = (rank + k) % n, from = modulo((int64_t)rank - k, n);
			uint64_t out, in;

			if (algorithm == COLLECTIVE_LINEAR)
				to = from = k - (k <= rank);
			out = pair_bytes(b, whole, rank, to);
			in = pair_bytes(b, whole, from, rank);
			for (uint32_t i = 0; b->rc == 0 && i < pieces_of(b, out); i++)
				add_send(b, rank, to, piece_bytes(b, out, i), tag, had);
			for (uint32_t i = 0; b->rc == 0 && i < pieces_of(b, in); i++) {
				uint32_t recv = add_recv(b, rank, from, piece_bytes(b, in, i), tag);

				if (algorithm == COLLECTIVE_PAIRWISE && i + 1 == pieces_of(b, in))
					had = recv;
			}
		}
	}
}

static void
channel(struct builder *b, struct part whole, uint32_t tag)
{
	const struct collective *c = b->c;
	uint32_t n = c->n_ranks;
	bool reduces = c->kind != COLLECTIVE_ALL_GATHER,
	     gathers = c->kind != COLLECTIVE_REDUCE_SCATTER;

	if (c->kind == COLLECTIVE_BROADCAST || c->kind == COLLECTIVE_PIPELINE) {
		chain(b, whole, tag);
	} else if (c->kind == COLLECTIVE_ALL_TO_ALL || collective_has_matrix(c->kind)) {
		all_to_all(b, whole, tag);
	} else if (c->algorithm == COLLECTIVE_HALVING_DOUBLING) {
		halving_doubling(b, whole, tag, reduces, gathers);
	} else if (c->algorithm == COLLECTIVE_DOUBLE_BINARY_TREE) {
		tree(b, part_of(whole, 0, 2), tag, false);
		tree(b, part_of(whole, 1, 2), tag + 2, true);
	} else if (c->algorithm == COLLECTIVE_HIERARCHICAL) {
		hierarchical(b, whole, tag);
	} else {
		ring(b, whole, tag, reduces ? 0 : n - 1, gathers ? 2 * (n - 1) : n - 1);
	}
}

/* Tags of a channel: two trees with two directions. */
#define TAGS 4

static bool
fits(int kind, int algorithm)
{
	switch (algorithm) {
	case COLLECTIVE_AUTO:
		return true;
	case COLLECTIVE_RING:
		return kind <= COLLECTIVE_BROADCAST || kind == COLLECTIVE_PIPELINE;
	case COLLECTIVE_HALVING_DOUBLING:
		return kind <= COLLECTIVE_ALL_GATHER;
	case COLLECTIVE_DOUBLE_BINARY_TREE:
	case COLLECTIVE_HIERARCHICAL:
		return kind == COLLECTIVE_ALL_REDUCE;
	default:
		return kind == COLLECTIVE_ALL_TO_ALL || collective_has_matrix(kind);
	}
}

/* Least number of messages that the array of a channel is divided into: one for each part. */
static uint64_t
parts_of(const struct collective *c)
{
	if (c->algorithm == COLLECTIVE_DOUBLE_BINARY_TREE)
		return 2;
	return c->kind == COLLECTIVE_BROADCAST || c->kind == COLLECTIVE_PIPELINE ? 1 : c->n_ranks;
}

/* The smallest message has a byte. */
static bool
sizes_fit(const struct collective *c)
{
	return c->bytes / c->channels >= 2 * parts_of(c) && c->bytes <= 1ull << 45;
}

static int
refuse(struct job_fault *fault, const char *expected)
{
	*fault = (struct job_fault){0};
	snprintf(fault->why, sizeof(fault->why), "%s", expected);
	return -EINVAL;
}

static int
too_many(struct job_fault *fault)
{
	return refuse(fault, JOB_SIZE_TEXT ": fewer ranks or channels, or larger chunks");
}

static int
check(const struct collective *c, struct job_fault *fault)
{
	char expected[64];

	if (c->n_ranks < 2)
		return refuse(fault, "2 ranks or more");
	if (c->kind == COLLECTIVE_COMPUTE)
		return 0;
	if (!fits(c->kind, c->algorithm))
		return refuse(
			fault,
			"an algorithm of this collective: all_reduce has ring, halving_doubling, double_binary_tree and hierarchical, "
			"reduce_scatter and all_gather ring and halving_doubling, broadcast and pipeline ring, "
			"all_to_all, all_to_all_v and all_to_all_v_back pairwise, linear and staggered");
	if (collective_has_matrix(c->kind)) {
		if (c->matrix == NULL || c->matrix->n == 0)
			return refuse(fault, "matrix = FILE with the sizes of all_to_all_v");
		snprintf(expected, sizeof(expected), "%u ranks, as many as the matrix has",
			 c->matrix->n);
		return c->matrix->n == c->n_ranks ? 0 : refuse(fault, expected);
	}
	if (c->algorithm == COLLECTIVE_HALVING_DOUBLING && (c->n_ranks & (c->n_ranks - 1)) != 0)
		return refuse(fault, "a power of two of ranks, for halving_doubling");
	if (c->algorithm == COLLECTIVE_HIERARCHICAL && c->ranks_per_server == 0)
		return refuse(fault, "servers, each with as many ranks, for hierarchical");
	if (!sizes_fit(c))
		return refuse(
			fault,
			"bytes of which each message has two or more, after channels and ranks have divided them, and 32 TiB at most");
	/* A part alone takes too many messages. */
	if (c->chunk_bytes > 0 &&
	    c->bytes / c->channels / parts_of(c) / c->chunk_bytes > JOB_MAX_OPS)
		return too_many(fault);
	return 0;
}

/* An operation with whose end the rank has ended the stage. */
static uint32_t
add_gate(struct builder *b, uint32_t rank)
{
	uint32_t end = b->ended[rank], op;

	if (b->first[rank] == end)
		return b->gate[rank];
	op = add(b, rank, &(struct job_step){.kind = JOB_CALC, .stream = JOINS});
	for (uint32_t i = b->first[rank]; b->rc == 0 && i < end; i++)
		after(b, rank, op, i);
	return op;
}

static void
add_stage(struct builder *b)
{
	const struct collective *c = b->c;

	for (uint32_t rank = 0; b->rc == 0 && rank < c->n_ranks; rank++) {
		b->first[rank] = b->ended[rank];
		b->entry[rank] = c->kind == COLLECTIVE_PIPELINE || c->compute_ns == 0
					 ? b->gate[rank]
					 : add_calc(b, rank, c->compute_ns, b->gate[rank]);
	}
	for (b->channel = 0; b->rc == 0 && b->channel < c->channels; b->channel++)
		if (c->kind != COLLECTIVE_COMPUTE)
			channel(b, part_of((struct part){0, c->bytes}, b->channel, c->channels),
				b->tag + TAGS * b->channel);
	b->tag += TAGS * c->channels;
}

static void
add_all(struct builder *b, const struct collective *stages, uint32_t n)
{
	b->tag = 0;
	for (uint32_t rank = 0; b->rc == 0 && rank < stages->n_ranks; rank++) {
		b->gate[rank] = JOB_NONE;
		b->ended[rank] = 0;
	}
	for (uint32_t i = 0; b->rc == 0 && i < n; i++) {
		b->c = &stages[i];
		add_stage(b);
		for (uint32_t rank = 0; i + 1 < n && b->rc == 0 && rank < stages->n_ranks; rank++)
			b->gate[rank] = add_gate(b, rank);
	}
}

int
collective_build(const struct collective *stages, uint32_t n, struct job_graph *out,
		 struct job_fault *fault)
{
	struct builder b = {0};
	uint32_t n_ranks = stages->n_ranks, *memory;

	for (uint32_t i = 0; i < n; i++)
		if (check(&stages[i], fault) < 0)
			return -EINVAL;
	memory = calloc(5 * (size_t)n_ranks, sizeof(*memory));
	if (memory == NULL)
		return -ENOMEM;
	b.first = memory;
	b.gate = memory + n_ranks;
	b.entry = memory + 2 * (size_t)n_ranks;
	b.ended = memory + 3 * (size_t)n_ranks;
	b.counts = memory + 4 * (size_t)n_ranks;
	add_all(&b, stages, n);
	if (b.rc == 0) {
		b.draft = job_draft(n_ranks);
		b.rc = b.draft == NULL ? -ENOMEM : 0;
	}
	add_all(&b, stages, n);
	if (b.rc == 0 && stages->rendezvous_bytes > 0)
		b.rc = job_rendezvous(b.draft, stages->rendezvous_bytes, fault);
	free(memory);
	if (b.rc < 0) {
		job_draft_free(b.draft);
		return b.rc == -E2BIG ? too_many(fault) : b.rc;
	}
	return job_build(b.draft, out);
}

double
collective_load(const struct collective *c, uint32_t rank)
{
	if (c->kind == COLLECTIVE_COMPUTE)
		return 0;
	if (collective_has_matrix(c->kind))
		return (double)matrix_load_of(c->matrix, rank);
	return (double)c->bytes * collective_bus_factor(c->kind, c->n_ranks);
}

double
collective_server_load(const struct collective *c, const struct collective_servers *servers,
		       uint32_t server)
{
	uint32_t first = servers->first[server], end = servers->first[server + 1];
	double n = c->n_ranks, own = end - first;

	if (c->kind == COLLECTIVE_COMPUTE || servers->n == 1)
		return 0;
	if (collective_has_matrix(c->kind))
		return (double)matrix_load_between(c->matrix, first, end);
	switch (c->kind) {
	case COLLECTIVE_ALL_REDUCE:
		return (double)c->bytes * 2 * (servers->n - 1) / servers->n;
	case COLLECTIVE_REDUCE_SCATTER:
	case COLLECTIVE_ALL_GATHER:
		return (double)c->bytes * (n - own) / n;
	case COLLECTIVE_ALL_TO_ALL:
		return (double)c->bytes * own * (n - own) / n;
	default:
		return (double)c->bytes;
	}
}

double
collective_bus_factor(int kind, uint32_t n_ranks)
{
	double n = n_ranks;

	switch (kind) {
	case COLLECTIVE_ALL_REDUCE:
		return 2 * (n - 1) / n;
	case COLLECTIVE_BROADCAST:
	case COLLECTIVE_PIPELINE:
	case COLLECTIVE_ALL_TO_ALL_V:
	case COLLECTIVE_ALL_TO_ALL_V_BACK:
		return 1;
	default:
		return (n - 1) / n;
	}
}
