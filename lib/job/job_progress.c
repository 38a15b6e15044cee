/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/job_progress.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EMPTY ((struct job_queue){JOB_NONE, JOB_NONE})

static inline void
push(struct job_progress *p, struct job_queue *q, uint32_t op)
{
	p->next[op] = JOB_NONE;
	if (q->head == JOB_NONE)
		q->head = op;
	else
		p->next[q->tail] = op;
	q->tail = op;
}

static inline uint32_t
pop(struct job_progress *p, struct job_queue *q)
{
	uint32_t op = q->head;

	q->head = p->next[op];
	return op;
}

void
job_progress_forget(struct job_progress *p)
{
	for (uint32_t i = 0; i < p->rank->n_keys; i++)
		p->meetings[i] = (struct job_meeting){.posted = EMPTY};
	for (uint32_t i = 0; i < p->n_streams; i++)
		p->streams[i] = (struct job_stream){EMPTY, JOB_NONE};
	p->ready = EMPTY;
	p->n_left = p->sending = p->computing = p->waits = 0;
	for (uint32_t i = 0; i < p->rank->n_ops; i++)
		p->left[i] = JOB_ENDED;
}

int
job_progress_init(struct job_progress *p, const struct job_rank *rank,
		  const struct job_actions *actions, void *arg)
{
	*p = (struct job_progress){.rank = rank, .actions = actions, .arg = arg, .n_streams = 1};
	for (uint32_t i = 0; i < rank->n_ops; i++)
		if (rank->ops[i].stream >= p->n_streams)
			p->n_streams = rank->ops[i].stream + 1u;
	p->left = malloc((rank->n_ops + 1) * sizeof(*p->left));
	p->next = malloc((rank->n_ops + 1) * sizeof(*p->next));
	p->meetings = malloc((rank->n_keys + 1) * sizeof(*p->meetings));
	p->streams = malloc(p->n_streams * sizeof(*p->streams));
	if (p->left == NULL || p->next == NULL || p->meetings == NULL || p->streams == NULL)
		return -ENOMEM;
	job_progress_forget(p);
	return 0;
}

void
job_progress_free(struct job_progress *p)
{
	free(p->left);
	free(p->next);
	free(p->meetings);
	free(p->streams);
	*p = (struct job_progress){0};
}

/* Each of these operations waits for one start or end less. */
static inline void
wake(struct job_progress *p, uint32_t from, uint32_t until)
{
	for (uint32_t i = from; i < until; i++) {
		uint32_t op = p->rank->wakes[i];

		assert(p->left[op] > 0 && p->left[op] < JOB_BEGUN);
		if (--p->left[op] == 0)
			push(p, &p->ready, op);
	}
}

static inline void
end(struct job_progress *p, uint32_t op)
{
	const uint32_t *first = p->rank->first;

	assert(p->left[op] == JOB_BEGUN && p->n_left > 0);
	p->left[op] = JOB_ENDED;
	p->n_left--;
	if (p->actions->ended != NULL)
		p->actions->ended(p->arg, op);
	wake(p, first[2 * op + 1], first[2 * op + 2]);
}

static void
begin_calc(struct job_progress *p, struct job_stream *stream)
{
	while (stream->running == JOB_NONE && stream->waiting.head != JOB_NONE) {
		uint32_t op = pop(p, &stream->waiting);

		if (p->rank->ops[op].amount == 0) {
			end(p, op);
			continue;
		}
		stream->running = op;
		p->computing++;
		p->actions->calc(p->arg, op, p->rank->ops[op].amount);
	}
}

/* An operation receives a message if one has arrived, or waits for it. */
static void
begin_recv(struct job_progress *p, uint32_t op)
{
	struct job_meeting *m = &p->meetings[p->rank->ops[op].key];

	if (m->arrived > 0) {
		m->arrived--;
		end(p, op);
	} else {
		p->waits++;
		push(p, &m->posted, op);
	}
}

static void
begin(struct job_progress *p, uint32_t op)
{
	const struct job_op *o = &p->rank->ops[op];
	const uint32_t *first = p->rank->first;

	p->left[op] = JOB_BEGUN;
	if (p->actions->began != NULL)
		p->actions->began(p->arg, op);
	wake(p, first[2 * op], first[2 * op + 1]);
	switch (o->kind) {
	case JOB_CALC:
		push(p, &p->streams[o->stream].waiting, op);
		begin_calc(p, &p->streams[o->stream]);
		break;
	case JOB_SEND:
		p->sending++;
		p->actions->send(p->arg, op);
		break;
	default:
		begin_recv(p, op);
	}
}

/* Begin all that can begin; what ends at once lets others begin. */
static void
go_on(struct job_progress *p)
{
	while (p->ready.head != JOB_NONE)
		begin(p, pop(p, &p->ready));
}

void
job_progress_begin(struct job_progress *p)
{
	const struct job_rank *r = p->rank;

	assert(p->n_left == 0);
	memcpy(p->left, r->waits, r->n_ops * sizeof(*p->left));
	p->n_left = r->n_ops;
	for (uint32_t i = 0; i < r->n_ops; i++)
		if (r->waits[i] == 0)
			push(p, &p->ready, i);
	go_on(p);
}

void
job_progress_ended(struct job_progress *p, uint32_t op)
{
	const struct job_op *o = &p->rank->ops[op];

	assert(o->kind != JOB_RECV);
	if (o->kind == JOB_SEND) {
		p->sending--;
		end(p, op);
	} else {
		struct job_stream *stream = &p->streams[o->stream];

		assert(stream->running == op);
		stream->running = JOB_NONE;
		p->computing--;
		end(p, op);
		begin_calc(p, stream);
	}
	go_on(p);
}

void
job_progress_arrived(struct job_progress *p, uint32_t key)
{
	struct job_meeting *m = &p->meetings[key];

	if (m->posted.head == JOB_NONE) {
		m->arrived++;
		return;
	}
	p->waits--;
	end(p, pop(p, &m->posted));
	go_on(p);
}
