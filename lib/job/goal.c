/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/goal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct word {
	const char *at;
	size_t n; /* 0: the end of the text */
	uint32_t line;
};

struct label {
	struct word word;
	uint32_t op;
};

/* A requires B, or irequires. */
struct demand {
	struct word op, before;
	bool start;
};

/* Labels and demands of a rank. */
struct rank_text {
	struct label *labels;
	struct demand *demands;
	uint32_t n_labels, n_demands, room_labels, room_demands;
};

struct reader {
	const char *at, *end;
	uint32_t line;
	struct word next; /* the word to be read */
	struct job_draft *draft;
	uint32_t n_ranks, rank;
	bool *seen; /* by rank */
	struct rank_text text;
	struct job_fault *fault;
};

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Skip white space and comments. A comment without an end stays. */
static void
skip(struct reader *r)
{
	while (r->at < r->end) {
		size_t left = (size_t)(r->end - r->at);

		if (*r->at == '\n') {
			r->line++;
		} else if (*r->at == '#' || (left > 1 && memcmp(r->at, "//", 2) == 0)) {
			const char *end = memchr(r->at, '\n', left);

			r->at = end == NULL ? r->end : end;
			continue;
		} else if (left > 1 && memcmp(r->at, "/*", 2) == 0) {
			const char *end = memmem(r->at + 2, left - 2, "*/", 2);

			if (end == NULL)
				return;
			for (; r->at < end + 2; r->at++)
				r->line += *r->at == '\n';
			continue;
		} else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r') {
			return;
		}
		r->at++;
	}
}

/* The next word: a name, a number with an optional minus, an open comment, or another character. */
static void
advance(struct reader *r)
{
	const char *from;

	skip(r);
	from = r->at;
	if (r->at < r->end && is_letter(*r->at)) {
		while (r->at < r->end && (is_letter(*r->at) || is_digit(*r->at)))
			r->at++;
	} else if (r->end - r->at > 1 && memcmp(r->at, "/*", 2) == 0) {
		r->at += 2;
	} else if (r->at < r->end) {
		r->at++;
		while (is_digit(r->at[-1]) || *from == '-') {
			if (r->at == r->end || !is_digit(*r->at))
				break;
			r->at++;
		}
	}
	r->next = (struct word){from, (size_t)(r->at - from), r->line};
}

static int
refuse_at(struct reader *r, const struct word *w, const char *expected)
{
	r->fault->line = w->line;
	if (w->n == 0)
		snprintf(r->fault->why, sizeof(r->fault->why), "%s, not the end of the file",
			 expected);
	else if (w->n == 1 && (*w->at < ' ' || *w->at > '~'))
		/* A terminal or JSON may not take it. */
		snprintf(r->fault->why, sizeof(r->fault->why), "%s, not the byte 0x%02x", expected,
			 (uint8_t)*w->at);
	else
		snprintf(r->fault->why, sizeof(r->fault->why), "%s, not \"%.*s\"", expected,
			 (int)(w->n < 40 ? w->n : 40), w->at);
	return -EINVAL;
}

static int
refuse(struct reader *r, const char *expected)
{
	return refuse_at(r, &r->next, expected);
}

static bool
is(const struct word *w, const char *text)
{
	return w->n == strlen(text) && memcmp(w->at, text, w->n) == 0;
}

/* Read this word, if it is the next one. */
static bool
take(struct reader *r, const char *text)
{
	if (!is(&r->next, text))
		return false;
	advance(r);
	return true;
}

static int
expect(struct reader *r, const char *text)
{
	char expected[32];

	if (take(r, text))
		return 0;
	snprintf(expected, sizeof(expected), "\"%s\"", text);
	return refuse(r, expected);
}

/* Read a number up to max. */
static int
number(struct reader *r, uint64_t max, const char *what, uint64_t *out)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "%s from 0 to %llu", what, (unsigned long long)max);
	if (is(&r->next, "-1"))
		return refuse(r, "a source and a tag, since wildcards do not exist here");
	*out = 0;
	for (size_t i = 0; i < r->next.n; i++) {
		unsigned int digit = (unsigned char)r->next.at[i] - (unsigned int)'0';

		if (digit > 9 || digit > max || *out > (max - digit) / 10)
			return refuse(r, expected);
		*out = 10 * *out + digit;
	}
	if (r->next.n == 0)
		return refuse(r, expected);
	advance(r);
	return 0;
}

/* Room for one more. @return the array, perhaps moved, or NULL: no memory. */
static void *
room_for(void *items, uint32_t n, uint32_t *room, size_t size)
{
	void *moved;

	if (n < *room)
		return items;
	moved = realloc(items, (2 * (size_t)*room + 16) * size);
	if (moved != NULL)
		*room = 2 * *room + 16;
	return moved;
}

static int
add_label(struct reader *r, const struct word *w, uint32_t op)
{
	struct rank_text *t = &r->text;
	struct label *moved = room_for(t->labels, t->n_labels, &t->room_labels, sizeof(*t->labels));

	if (moved == NULL)
		return -ENOMEM;
	t->labels = moved;
	t->labels[t->n_labels++] = (struct label){*w, op};
	return 0;
}

static int
add_demand(struct reader *r, const struct demand *d)
{
	struct rank_text *t = &r->text;
	struct demand *moved;

	if (t->n_demands == UINT32_MAX / 2)
		return -ENOMEM;
	moved = room_for(t->demands, t->n_demands, &t->room_demands, sizeof(*t->demands));
	if (moved == NULL)
		return -ENOMEM;
	t->demands = moved;
	t->demands[t->n_demands++] = *d;
	return 0;
}

static int
read_calc(struct reader *r, struct job_step *step)
{
	uint64_t stream = 0;

	if (number(r, JOB_MAX_NS, "nanoseconds", &step->amount) < 0 ||
	    (take(r, "cpu") && number(r, JOB_STREAMS - 1, "a cpu", &stream) < 0))
		return -EINVAL;
	step->stream = (uint8_t)stream;
	return 0;
}

/* send and recv: "8192b to 1 tag 0 cpu 0 nic 0" */
static int
read_message(struct reader *r, struct job_step *step)
{
	struct word bytes = r->next;
	uint64_t peer, tag = 0, ignored;

	if (number(r, JOB_MAX_BYTES, "bytes", &step->amount) < 0 || expect(r, "b") < 0 ||
	    expect(r, step->kind == JOB_SEND ? "to" : "from") < 0)
		return -EINVAL;
	if (step->amount == 0)
		return refuse_at(r, &bytes, "a message of 1 byte or more");
	bytes = r->next;
	if (number(r, r->n_ranks - 1, "a rank", &peer) < 0 ||
	    (take(r, "tag") && number(r, UINT64_MAX, "a tag", &tag) < 0) ||
	    (take(r, "cpu") && number(r, JOB_STREAMS - 1, "a cpu", &ignored) < 0) ||
	    (take(r, "nic") && number(r, 255, "a nic", &ignored) < 0))
		return -EINVAL;
	if (peer == r->rank)
		return refuse_at(r, &bytes, "another rank than its own");
	step->peer = (uint32_t)peer;
	step->tag = (uint32_t)tag; /* as LogGOPSim */
	return 0;
}

static int
refuse_size(struct reader *r, uint32_t line)
{
	r->fault->line = line;
	snprintf(r->fault->why, sizeof(r->fault->why), "%s", JOB_SIZE_TEXT);
	return -EINVAL;
}

/* An operation; label.n is 0 if it has none. */
static int
read_op(struct reader *r, const struct word *label)
{
	struct job_step step = {.line = r->next.line};
	int64_t op;

	if (take(r, "calc")) {
		step.kind = JOB_CALC;
		if (read_calc(r, &step) < 0)
			return -EINVAL;
	} else if (is(&r->next, "send") || is(&r->next, "recv")) {
		step.kind = is(&r->next, "send") ? JOB_SEND : JOB_RECV;
		advance(r);
		if (read_message(r, &step) < 0)
			return -EINVAL;
	} else {
		return refuse(r, "calc, send or recv");
	}
	op = job_add(r->draft, r->rank, &step);
	if (op == -E2BIG)
		return refuse_size(r, step.line);
	if (op < 0)
		return (int)op;
	return label->n > 0 ? add_label(r, label, (uint32_t)op) : 0;
}

/* What stands between the braces of a rank. */
static int
read_statement(struct reader *r)
{
	struct demand d = {.op = r->next};

	if (!is_letter(*r->next.at) || is(&r->next, "calc") || is(&r->next, "send") ||
	    is(&r->next, "recv"))
		return read_op(r, &(struct word){0});
	advance(r);
	if (take(r, ":"))
		return read_op(r, &d.op);
	if (!is(&r->next, "requires") && !is(&r->next, "irequires"))
		return refuse(r, "\":\", requires or irequires after a label");
	d.start = is(&r->next, "irequires");
	advance(r);
	d.before = r->next;
	if (r->next.n == 0 || !is_letter(*r->next.at))
		return refuse(r, "a label");
	advance(r);
	return add_demand(r, &d);
}

static int
compare_words(const struct word *a, const struct word *b)
{
	size_t n = a->n < b->n ? a->n : b->n;
	int order = memcmp(a->at, b->at, n);

	return order != 0 ? order : (a->n > b->n) - (a->n < b->n);
}

static int
compare_labels(const void *a, const void *b)
{
	return compare_words(&((const struct label *)a)->word, &((const struct label *)b)->word);
}

/* The operation of this label. @return 0 or -EINVAL. */
static int
find(struct reader *r, const struct word *w, uint32_t *op)
{
	const struct label wanted = {.word = *w};
	const struct label *found = NULL;

	if (r->text.n_labels > 0)
		found = bsearch(&wanted, r->text.labels, r->text.n_labels, sizeof(wanted),
				compare_labels);
	if (found == NULL)
		return refuse_at(r, w, "a label of this rank");
	*op = found->op;
	return 0;
}

/* The rank's text has ended: its labels are known. */
static int
end_rank(struct reader *r)
{
	struct rank_text *t = &r->text;
	int rc = 0;

	if (t->n_labels > 0)
		qsort(t->labels, t->n_labels, sizeof(*t->labels), compare_labels);
	for (uint32_t i = 1; i < t->n_labels; i++)
		if (compare_labels(&t->labels[i - 1], &t->labels[i]) == 0)
			return refuse_at(r, &t->labels[i].word, "each label once in a rank");
	for (uint32_t i = 0; rc == 0 && i < t->n_demands; i++) {
		const struct demand *d = &t->demands[i];
		uint32_t op, before;

		if (find(r, &d->op, &op) < 0 || find(r, &d->before, &before) < 0)
			return -EINVAL;
		rc = job_after(r->draft, r->rank, op, before, d->start);
		if (rc == -E2BIG)
			rc = refuse_size(r, d->op.line);
	}
	t->n_labels = t->n_demands = 0;
	return rc;
}

static int
read_rank(struct reader *r)
{
	struct word word = r->next;
	uint64_t rank;
	int rc = 0;

	if (expect(r, "rank") < 0)
		return -EINVAL;
	word = r->next;
	if (number(r, r->n_ranks - 1, "a rank", &rank) < 0)
		return -EINVAL;
	if (r->seen[rank])
		return refuse_at(r, &word, "each rank once");
	r->seen[rank] = true;
	r->rank = (uint32_t)rank;
	if (expect(r, "{") < 0)
		return -EINVAL;
	while (rc == 0 && !is(&r->next, "}"))
		rc = r->next.n == 0 ? refuse(r, "\"}\" at the end of a rank") : read_statement(r);
	if (rc < 0)
		return rc;
	advance(r);
	return end_rank(r);
}

static int
read_all(struct reader *r)
{
	struct word word;
	uint64_t n;
	int rc = 0;

	advance(r);
	if (expect(r, "num_ranks") < 0)
		return -EINVAL;
	word = r->next;
	if (number(r, JOB_MAX_RANKS, "a number of ranks", &n) < 0)
		return -EINVAL;
	if (n == 0)
		return refuse_at(r, &word, "1 rank or more");
	r->n_ranks = (uint32_t)n;
	r->seen = calloc(n, sizeof(*r->seen));
	r->draft = job_draft(r->n_ranks);
	if (r->seen == NULL || r->draft == NULL)
		return -ENOMEM;
	while (rc == 0 && r->next.n > 0)
		rc = read_rank(r);
	for (uint32_t i = 0; rc == 0 && i < r->n_ranks; i++) {
		if (r->seen[i])
			continue;
		r->fault->line = r->line;
		snprintf(r->fault->why, sizeof(r->fault->why),
			 "each of the %u ranks of num_ranks: rank %u is missing", r->n_ranks, i);
		return -EINVAL;
	}
	return rc;
}

int
goal_read(const char *text, size_t n, uint64_t rendezvous_bytes, struct job_graph *out,
	  struct job_fault *fault)
{
	struct reader r = {.at = text, .end = text + n, .line = 1, .fault = fault};
	int rc;

	/* Their first four bytes are the number of ranks. */
	if (n >= 4 && memchr(text, '\0', 4) != NULL) {
		*fault = (struct job_fault){
			.line = 1,
			.why = "GOAL text, not a binary schedule of LogGOPSim's txt2bin"};
		return -EINVAL;
	}
	rc = read_all(&r);

	if (rc == 0 && rendezvous_bytes > 0)
		rc = job_rendezvous(r.draft, rendezvous_bytes, fault);
	if (rc == -E2BIG)
		rc = refuse_size(&r, 0);

	free(r.seen);
	free(r.text.labels);
	free(r.text.demands);
	if (rc < 0) {
		job_draft_free(r.draft);
		return rc;
	}
	return job_build(r.draft, out);
}

/*
 * The operation that a file has for one: of the recv of a ready message, the send that waits for
 * it. JOB_NONE: none.
 */
static uint32_t
written_as(const struct job_rank *rank, uint32_t op)
{
	if (!job_op_is_ready(rank, op))
		return op;
	return rank->ops[op].kind == JOB_RECV ? rank->wakes[rank->first[2 * op + 1]] : JOB_NONE;
}

/* What waits for the start or for the end of operation i. */
static void
write_demands(FILE *out, const struct job_rank *rank, uint32_t i, bool start)
{
	uint32_t from = rank->first[2 * i + !start], to = rank->first[2 * i + !start + 1];

	for (uint32_t k = from; k < to; k++) {
		uint32_t op = written_as(rank, rank->wakes[k]), before = written_as(rank, i);

		if (op != JOB_NONE && before != JOB_NONE && op != before)
			fprintf(out, "l%u %s l%u\n", op, start ? "irequires" : "requires", before);
	}
}

static void
write_rank(FILE *out, const struct job_rank *rank)
{
	char text[64];

	for (uint32_t i = 0; i < rank->n_ops; i++) {
		if (job_op_is_ready(rank, i))
			continue;
		fprintf(out, "l%u: %s", i, job_op_text(rank, i, text));
		if (rank->ops[i].stream != 0)
			fprintf(out, " cpu %u", (unsigned int)rank->ops[i].stream);
		fputc('\n', out);
	}
	for (uint32_t i = 0; i < rank->n_ops; i++) {
		write_demands(out, rank, i, true);
		write_demands(out, rank, i, false);
	}
}

void
goal_write(FILE *out, const struct job_graph *graph)
{
	fprintf(out, "num_ranks %u\n", graph->n_ranks);
	for (uint32_t rank = 0; rank < graph->n_ranks; rank++) {
		fprintf(out, "rank %u {\n", rank);
		write_rank(out, &graph->ranks[rank]);
		fputs("}\n", out);
	}
}
