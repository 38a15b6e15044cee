/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/results/slowdown.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"

/* Student's t of 9 degrees of freedom (SLOWDOWN_BATCHES - 1), 95 %, two-sided. */
#define STUDENT_95 2.262
/* Of percents, so that p99.9 is a whole number. */
#define PERMILLE 1000u

static const uint32_t permilles[SLOWDOWN_PERCENTILES] = {500, 950, 990, 999};

struct message {
	uint32_t bytes;
	uint32_t slowdown;
};

struct message_list {
	struct message *list;
	uint32_t n, size;
};

struct slowdowns {
	struct message_list ended;     /* in the order of their ends */
	struct message_list not_ended; /* without slowdown */
	bool backlog_is_cut;
	uint64_t every, seen; /* one of `every` ended messages is kept */
};

struct slowdowns *
slowdowns_create(void)
{
	struct slowdowns *s = calloc(1, sizeof(*s));

	if (s != NULL)
		s->every = 1;
	return s;
}

void
slowdowns_destroy(struct slowdowns *s)
{
	if (s == NULL)
		return;
	free(s->ended.list);
	free(s->not_ended.list);
	free(s);
}

static int
append(struct message_list *l, struct message m)
{
	if (l->n == l->size) {
		uint32_t size = l->size == 0 ? 1024 : 2 * l->size;
		struct message *more = realloc(l->list, size * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		l->list = more;
		l->size = size;
	}
	l->list[l->n++] = m;
	return 0;
}

int
slowdowns_add(struct slowdowns *s, uint32_t bytes, uint64_t took_ns, uint64_t ideal_ns)
{
	uint64_t slowdown = (mul_div(took_ns, 2 * SLOWDOWN_UNIT, ideal_ns) + 1) / 2;

	if (s->seen++ % s->every != 0)
		return 0;
	if (s->ended.n == SLOWDOWN_MAX_KEPT) {
		for (uint32_t i = 0; 2 * i < s->ended.n; i++)
			s->ended.list[i] = s->ended.list[2 * i];
		s->ended.n /= 2;
		s->every *= 2;
	}
	return append(&s->ended,
		      (struct message){bytes, (uint32_t)min_u64(slowdown, SLOWDOWN_NONE - 1)});
}

int
slowdowns_add_not_ended(struct slowdowns *s, uint32_t bytes)
{
	return append(&s->not_ended, (struct message){.bytes = bytes});
}

void
slowdowns_cut_backlog(struct slowdowns *s)
{
	s->backlog_is_cut = true;
}

static int
by_size(const void *a, const void *b)
{
	const struct message *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return (x->slowdown > y->slowdown) - (x->slowdown < y->slowdown);
}

static int
by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Number of the messages, from 1 on, that the percentile of n is: the least that reaches it. */
static uint64_t
rank_of(uint64_t n, uint32_t permille)
{
	return max_u64(1, (n * permille + PERMILLE - 1) / PERMILLE);
}

/* values are sorted; n > 0. */
static uint32_t
percentile(const uint32_t *values, uint64_t n, uint32_t permille)
{
	return values[rank_of(n, permille) - 1];
}

/* Sort values, and set the percentiles of a bucket to theirs. */
static void
fill(struct slowdown_bucket *b, uint32_t *values, uint64_t n, uint64_t every)
{
	/* As many of those that have not ended as a sample of them would have. */
	uint64_t total = n + (b->not_ended + every - 1) / every;
	uint64_t rank = rank_of(total, permilles[SLOWDOWN_P99]);

	qsort(values, n, sizeof(*values), by_value);
	b->messages = n * every;
	for (unsigned int i = 0; i < SLOWDOWN_PERCENTILES; i++)
		b->percentile[i] = n > 0 ? percentile(values, n, permilles[i]) : SLOWDOWN_NONE;
	b->p99_bound = rank <= n ? values[rank - 1] : SLOWDOWN_NONE;
}

static void
set_interval(const struct slowdowns *s, uint32_t *values, struct slowdown_summary *out)
{
	double p99[SLOWDOWN_BATCHES], mean = 0, squares = 0, half;
	uint64_t n = s->ended.n;

	out->has_interval = n >= SLOWDOWN_BATCHES * SLOWDOWN_FEWEST;
	if (!out->has_interval)
		return;
	for (uint64_t i = 0; i < SLOWDOWN_BATCHES; i++) {
		uint64_t first = n * i / SLOWDOWN_BATCHES, end = n * (i + 1) / SLOWDOWN_BATCHES;

		for (uint64_t k = first; k < end; k++)
			values[k - first] = s->ended.list[k].slowdown;
		qsort(values, end - first, sizeof(*values), by_value);
		p99[i] = (double)percentile(values, end - first, permilles[SLOWDOWN_P99]) /
			 SLOWDOWN_UNIT;
		mean += p99[i] / SLOWDOWN_BATCHES;
	}
	for (unsigned int i = 0; i < SLOWDOWN_BATCHES; i++)
		squares += (p99[i] - mean) * (p99[i] - mean);
	half = STUDENT_95 * sqrt(squares / (SLOWDOWN_BATCHES - 1) / SLOWDOWN_BATCHES);
	out->p99_low = mean - half;
	out->p99_high = mean + half;
}

/* Ends of buckets of equally many of the n messages, which are sorted by size. */
static uint32_t
equal_shares(const struct message *sorted, uint64_t n, uint64_t *edges)
{
	uint32_t n_edges = 0;

	for (uint64_t i = 1; i <= SLOWDOWN_SHARES; i++) {
		uint64_t end = (n * i + SLOWDOWN_SHARES - 1) / SLOWDOWN_SHARES;

		if (n * i >= SLOWDOWN_SHARES &&
		    (n_edges == 0 || sorted[end - 1].bytes != edges[n_edges - 1]))
			edges[n_edges++] = sorted[end - 1].bytes;
	}
	return n_edges;
}

static uint64_t
not_ended_in(const struct slowdowns *s, uint64_t from_bytes, uint64_t to_bytes)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->not_ended.n; i++)
		n += s->not_ended.list[i].bytes >= from_bytes &&
		     s->not_ended.list[i].bytes <= to_bytes;
	return n;
}

/* The bucket up to an edge, and all before it are done. @return end of its messages in sorted. */
static uint64_t
add_bucket(const struct slowdowns *s, const struct message *sorted, uint64_t first, uint64_t edge,
	   uint32_t *values, struct slowdown_summary *out)
{
	struct slowdown_bucket *b = &out->buckets[out->n_buckets++];
	uint64_t end = first;

	b->from_bytes = out->n_buckets > 1 ? b[-1].to_bytes + 1 : 0;
	b->to_bytes = edge;
	b->not_ended = not_ended_in(s, b->from_bytes, edge);
	for (; end < s->ended.n && sorted[end].bytes <= edge; end++)
		values[end - first] = sorted[end].slowdown;
	fill(b, values, end - first, s->every);
	return end;
}

static uint64_t
largest_bytes(const struct slowdowns *s)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < s->ended.n; i++)
		bytes = max_u64(bytes, s->ended.list[i].bytes);
	for (uint32_t i = 0; i < s->not_ended.n; i++)
		bytes = max_u64(bytes, s->not_ended.list[i].bytes);
	return bytes;
}

static void
set_buckets(const struct slowdowns *s, const struct message *sorted, const uint64_t *edges,
	    uint32_t n_edges, uint32_t *values, struct slowdown_summary *out)
{
	uint64_t own[SLOWDOWN_SHARES], largest = out->all.to_bytes, first = 0;

	if (n_edges == 0) {
		n_edges = equal_shares(sorted, s->ended.n, own);
		edges = own;
		if (n_edges > 0)
			own[n_edges - 1] = largest;
	}
	for (uint32_t i = 0; i < n_edges; i++)
		first = add_bucket(s, sorted, first, edges[i], values, out);
	if (n_edges > 0 && edges[n_edges - 1] < largest)
		add_bucket(s, sorted, first, largest, values, out);
}

int
slowdowns_summary(const struct slowdowns *s, const uint64_t *edges, uint32_t n_edges,
		  struct slowdown_summary *out)
{
	uint32_t n = s->ended.n;
	struct message *sorted = malloc((n + 1ul) * sizeof(*sorted));
	uint32_t *values = malloc((n + 1ul) * sizeof(*values));

	*out = (struct slowdown_summary){.every = s->every, .backlog_is_cut = s->backlog_is_cut};
	if (sorted == NULL || values == NULL) {
		free(sorted);
		free(values);
		return -ENOMEM;
	}
	if (n > 0)
		memcpy(sorted, s->ended.list, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_size);
	out->all.to_bytes = largest_bytes(s);
	out->all.not_ended = s->not_ended.n;
	for (uint32_t i = 0; i < n; i++)
		values[i] = sorted[i].slowdown;
	fill(&out->all, values, n, s->every);
	set_interval(s, values, out);
	set_buckets(s, sorted, edges, n_edges, values, out);
	free(sorted);
	free(values);
	return 0;
}
