/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/results/job_path.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"

const char *const job_path_words[] = {"compute", "message", "inside", "send"};

/* What an operation waits for: the start or the end of another one. */
struct cause {
	uint32_t op;
	bool start;
};

/* A send by its receiver and tag, in the order of begins. */
struct sent {
	uint64_t to; /* index of the peer << 32 | tag */
	uint32_t order, op;
};

/* A rank: what its operations wait for; and of one iteration how its messages meet. */
struct rank_view {
	uint32_t *first; /* by operation: index in causes; NULL: not built yet */
	struct cause *causes;
	uint32_t *by_begin; /* operations in the order of their begins */
	uint32_t *number;   /* by receiving operation: among those of its source and tag */
	struct sent *sends; /* in order */
	uint32_t n_sends;
	uint32_t indexed; /* the iteration */
};

struct walk {
	const struct net *net;
	const struct job_graph *graph;
	uint32_t job;
	struct rank_view *ranks;
	struct job_path *out;
	uint32_t room;
	/* where the walk is: an operation, whose end or begin is at to_ns */
	uint32_t rank, iteration, op;
	uint64_t to_ns, begin_ns; /* begin_ns: of the iteration */
};

static const struct nic_job_op *
ops_of(const struct walk *w, uint32_t rank)
{
	return net_job_ops(w->net, w->job, rank, w->iteration);
}

static struct job_path_part *
add(struct walk *w, enum job_path_kind kind, uint64_t from_ns)
{
	struct job_path *p = w->out;
	struct job_path_part *part;

	if (p->n == w->room) {
		uint32_t room = w->room == 0 ? 64 : 2 * w->room;
		struct job_path_part *more = realloc(p->parts, room * sizeof(*more));

		if (more == NULL)
			return NULL;
		p->parts = more;
		w->room = room;
	}
	part = &p->parts[p->n++];
	*part = (struct job_path_part){
		.from_ns = max_u64(from_ns, w->begin_ns),
		.to_ns = w->to_ns,
		.begin_ns = from_ns,
		.kind = kind,
		.iteration = w->iteration,
		.rank = w->rank,
		.op = w->op,
		.from_rank = w->rank,
		.send = w->op,
	};
	w->to_ns = part->from_ns;
	return part;
}

static int
build(const struct job_rank *rank, struct rank_view *v)
{
	uint32_t n = rank->n_ops, n_wakes = n > 0 ? rank->first[2 * n] : 0;

	v->first = calloc(n + 2, sizeof(*v->first));
	v->causes = malloc((n_wakes + 1) * sizeof(*v->causes));
	v->by_begin = malloc((n + 1) * sizeof(*v->by_begin));
	v->number = malloc((n + 1) * sizeof(*v->number));
	v->sends = malloc((n + 1) * sizeof(*v->sends));
	v->indexed = JOB_NONE;
	if (v->first == NULL || v->causes == NULL || v->by_begin == NULL || v->number == NULL ||
	    v->sends == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_wakes; i++)
		v->first[rank->wakes[i] + 2]++;
	for (uint32_t i = 0; i < n; i++)
		v->first[i + 2] += v->first[i + 1];
	/* first[op + 1] is the next free place of op, and in the end that of the next one. */
	for (uint32_t op = 0; op < n; op++)
		for (uint32_t i = rank->first[2 * op]; i < rank->first[2 * op + 2]; i++)
			v->causes[v->first[rank->wakes[i] + 1]++] =
				(struct cause){op, i < rank->first[2 * op + 1]};
	return 0;
}

static int
by_receiver(const void *a, const void *b)
{
	const struct sent *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* @return 0 or -ENOMEM. */
static int
index_iteration(const struct job_rank *rank, const struct nic_job_op *ops, struct rank_view *v)
{
	uint32_t *seen = calloc(rank->n_keys + 1, sizeof(*seen));

	if (seen == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < rank->n_ops; i++)
		v->by_begin[ops[i].order] = i;
	v->n_sends = 0;
	for (uint32_t i = 0; i < rank->n_ops; i++) {
		const struct job_op *op = &rank->ops[v->by_begin[i]];

		if (op->kind == JOB_RECV)
			v->number[v->by_begin[i]] = seen[op->key]++;
		else if (op->kind == JOB_SEND)
			v->sends[v->n_sends++] = (struct sent){(uint64_t)op->peer << 32 | op->tag,
							       i, v->by_begin[i]};
	}
	qsort(v->sends, v->n_sends, sizeof(*v->sends), by_receiver);
	free(seen);
	return 0;
}

/* @return NULL: no memory. */
static const struct rank_view *
view_of(const struct walk *w, uint32_t rank)
{
	const struct job_rank *r = &w->graph->ranks[rank];
	struct rank_view *v = &w->ranks[rank];

	if (v->first == NULL && build(r, v) < 0)
		return NULL;
	if (v->indexed != w->iteration && index_iteration(r, ops_of(w, rank), v) < 0)
		return NULL;
	v->indexed = w->iteration;
	return v;
}

/* The operation that ended at this time; of several the one that began last. */
static uint32_t
last_to_end(const struct walk *w, uint64_t end_ns)
{
	const struct nic_job_op *ops = ops_of(w, w->rank);
	uint32_t best = JOB_NONE;

	for (uint32_t i = 0; i < w->graph->ranks[w->rank].n_ops; i++)
		if (ops[i].end_ns == end_ns && (best == JOB_NONE || ops[i].order > ops[best].order))
			best = i;
	assert(best != JOB_NONE);
	return best;
}

/* The computation before this one in its stream, which ended when this one began to run. */
static uint32_t
before_in_stream(const struct walk *w, const struct rank_view *v, uint32_t op)
{
	const struct job_op *ops = w->graph->ranks[w->rank].ops;
	uint32_t i = ops_of(w, w->rank)[op].order;

	do {
		assert(i > 0);
		i--;
	} while (ops[v->by_begin[i]].kind != JOB_CALC ||
		 ops[v->by_begin[i]].stream != ops[op].stream);
	return v->by_begin[i];
}

/*
 * The send whose message an operation received: messages of a source and tag meet the operations
 * that receive them in the order in which they began. @return 0 or -ENOMEM.
 */
static int
find_sender(const struct walk *w, const struct rank_view *v, uint32_t *sender, uint32_t *send)
{
	const struct job_rank *to = &w->graph->ranks[w->rank], *from;
	const struct job_key *key = &to->keys[to->ops[w->op].key];
	uint32_t low = 0, number = v->number[w->op];
	uint64_t wanted;

	*sender = to->peers[key->peer].rank;
	from = &w->graph->ranks[*sender];
	wanted = (uint64_t)job_peer_of(from, w->rank) << 32 | key->tag;
	v = view_of(w, *sender);
	if (v == NULL)
		return -ENOMEM;
	for (uint32_t end = v->n_sends; low < end;) {
		uint32_t middle = low + (end - low) / 2;

		if (v->sends[middle].to < wanted)
			low = middle + 1;
		else
			end = middle;
	}
	*send = v->sends[low + number].op;
	return 0;
}

/* The rank had begun the iteration when it ended the one before. @return false: that is the begin.
 */
static bool
go_to_earlier(struct walk *w)
{
	if (w->to_ns <= w->begin_ns || w->iteration == 0)
		return false;
	w->iteration--;
	w->op = last_to_end(w, w->to_ns);
	return true;
}

/* From the begin of an operation to the end that it waited for. @return 1, 0: the begin, -ENOMEM.
 */
static int
go_to_cause(struct walk *w)
{
	for (;;) {
		const struct nic_job_op *ops = ops_of(w, w->rank);
		const struct rank_view *v = view_of(w, w->rank);
		bool starts = false, found = false;

		if (v == NULL)
			return -ENOMEM;
		for (uint32_t i = v->first[w->op]; !found && i < v->first[w->op + 1]; i++) {
			const struct cause *c = &v->causes[i];

			if ((c->start ? ops[c->op].begin_ns : ops[c->op].end_ns) != w->to_ns)
				continue;
			found = true;
			starts = c->start;
			w->op = c->op;
		}
		if (!found)
			return go_to_earlier(w);
		if (!starts)
			return 1;
	}
}

/* Is it a send to a rank of the same server, or a recv from one? */
static bool
is_inside(const struct walk *w, const struct job_op *op)
{
	const struct scenario *s = net_scenario(w->net);
	const struct job_rank *rank = &w->graph->ranks[w->rank];
	uint32_t peer = op->kind == JOB_SEND ? op->peer : rank->keys[op->key].peer;

	return scenario_is_inside(s, &s->jobs[w->job], w->rank, rank->peers[peer].rank);
}

/* One step, from the end of an operation. @return as go_to_cause(). */
static int
step(struct walk *w)
{
	const struct job_op *op = &w->graph->ranks[w->rank].ops[w->op];
	const struct nic_job_op *at = &ops_of(w, w->rank)[w->op];
	const struct rank_view *v = view_of(w, w->rank);
	uint32_t sender, send;
	struct job_path_part *part;

	if (v == NULL)
		return -ENOMEM;
	if (w->to_ns <= w->begin_ns)
		return 0;
	switch (op->kind) {
	case JOB_CALC:
		if (op->amount > 0 && add(w, JOB_PATH_COMPUTE, at->run_ns) == NULL)
			return -ENOMEM;
		if (w->to_ns <= w->begin_ns)
			return 0;
		if (w->to_ns <= at->begin_ns)
			break;
		w->op = before_in_stream(w, v, w->op);
		return 1;
	case JOB_SEND:
		if (at->end_ns > at->begin_ns &&
		    add(w, is_inside(w, op) ? JOB_PATH_INSIDE : JOB_PATH_SEND, at->begin_ns) ==
			    NULL)
			return -ENOMEM;
		break;
	default:
		if (at->end_ns == at->begin_ns)
			break;
		if (find_sender(w, v, &sender, &send) < 0)
			return -ENOMEM;
		part = add(w, is_inside(w, op) ? JOB_PATH_INSIDE : JOB_PATH_MESSAGE,
			   ops_of(w, sender)[send].begin_ns);
		if (part == NULL)
			return -ENOMEM;
		part->from_rank = sender;
		part->send = send;
		w->rank = sender;
		w->op = send;
	}
	return go_to_cause(w);
}

static void
reverse(struct job_path *p)
{
	for (uint32_t i = 0; i < p->n / 2; i++) {
		struct job_path_part swapped = p->parts[i];

		p->parts[i] = p->parts[p->n - 1 - i];
		p->parts[p->n - 1 - i] = swapped;
	}
}

int
job_path_find(const struct net *net, uint32_t job, const struct job_iteration *iteration,
	      uint32_t number, struct job_path *out)
{
	const struct job_graph *graph = &net_scenario(net)->jobs[job].graph;
	struct walk w = {
		.net = net,
		.graph = graph,
		.job = job,
		.ranks = calloc(graph->n_ranks, sizeof(*w.ranks)),
		.out = out,
		.rank = iteration->last_rank,
		.iteration = number,
		.to_ns = iteration->end_ns,
		.begin_ns = iteration->begin_ns,
	};
	int rc = w.ranks != NULL ? 1 : -ENOMEM;

	*out = (struct job_path){0};
	if (rc == 1 && w.to_ns > w.begin_ns)
		w.op = last_to_end(&w, w.to_ns);
	while (rc == 1)
		rc = step(&w);
	for (uint32_t i = 0; w.ranks != NULL && i < graph->n_ranks; i++) {
		free(w.ranks[i].first);
		free(w.ranks[i].causes);
		free(w.ranks[i].by_begin);
		free(w.ranks[i].number);
		free(w.ranks[i].sends);
	}
	free(w.ranks);
	reverse(out);
	return rc;
}

void
job_path_free(struct job_path *path)
{
	free(path->parts);
}

bool
job_path_too_many(const struct scenario *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->n_jobs; i++)
		for (uint32_t rank = 0; rank < s->jobs[i].graph.n_ranks; rank++)
			n += (uint64_t)s->jobs[i].iterations * s->jobs[i].graph.ranks[rank].n_ops;
	return n > JOB_PATH_MOST_OPS;
}
