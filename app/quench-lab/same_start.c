/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/same_start.h"

#include <stdio.h>
#include <string.h>

#include "runtime/release/release.h"
#include "quench-lab/scenario/scenario_file.h"

/* FNV-1a. */
#define HASH_BEGIN 0xcbf29ce484222325ull
#define HASH_FACTOR 0x100000001b3ull

static void
take(uint64_t *hash, const void *from, size_t n)
{
	const uint8_t *bytes = from;

	for (size_t i = 0; i < n; i++)
		*hash = (*hash ^ bytes[i]) * HASH_FACTOR;
}

static ssize_t
take_text(void *cookie, const char *text, size_t n)
{
	take(cookie, text, n);
	return (ssize_t)n;
}

static void
take_flow(uint64_t *hash, const struct flow_params *flow)
{
	const struct workload_cdf *cdf = flow->work.cdf;

	for (uint32_t i = 0; i < flow->n_pairs; i++) {
		const struct flow_pair *p = &flow->pairs[i];
		const uint64_t words[] = {p->src, p->dst, p->bytes, p->at_ns, p->n_messages};

		take(hash, words, sizeof(words));
	}
	for (uint32_t i = 0; flow->messages_of_pairs != NULL && i < flow->n_messages; i++) {
		const struct flow_message *m = &flow->messages_of_pairs[i];
		const uint64_t words[] = {m->row, m->parts, m->bytes, m->at_ns};

		take(hash, words, sizeof(words));
	}
	if (flow->trace_after != NULL)
		take(hash, flow->trace_after,
		     sizeof(*flow->trace_after) *
			     (flow->messages_of_pairs != NULL ? flow->n_messages : flow->n_pairs));
	if (cdf != NULL) {
		take(hash, cdf->bytes, cdf->n * sizeof(cdf->bytes[0]));
		take(hash, cdf->share_q32, cdf->n * sizeof(cdf->share_q32[0]));
	}
}

static void
take_job(uint64_t *hash, const struct job_graph *g)
{
	for (uint32_t i = 0; i < g->n_ranks; i++)
		for (uint32_t k = 0; k < g->ranks[i].n_ops; k++) {
			const struct job_op *op = &g->ranks[i].ops[k];
			const uint64_t words[] = {op->kind, op->stream, op->amount, op->peer,
						  op->tag};

			take(hash, words, sizeof(words));
		}
}

static void
take_event(uint64_t *hash, const struct event_params *e)
{
	for (uint32_t i = 0; i < e->send.n; i++) {
		const struct event_frame *frame = &e->send.frames[i];

		take(hash, &frame->at_ns, sizeof(frame->at_ns));
		take(hash, e->send.bytes + frame->offset, frame->n_bytes);
	}
}

uint64_t
same_start_number(const struct lab_opts *o, const struct scenario *s)
{
	uint64_t hash = HASH_BEGIN;
	FILE *out = fopencookie(&hash, "w", (cookie_io_functions_t){.write = take_text});

	if (out == NULL)
		return 0;
	/* Jobs are recorded only for files. */
	fprintf(out, "%s %s %zu %d %d %d %u %s\n", release_version, release_commit, sizeof(*s),
		o->explains, o->alone, o->out_dir != NULL || o->json != NULL, o->threads,
		o->explain != NULL ? o->explain : "");
	fprintf(out, "%d\n", o->out_dir != NULL);
	scenario_print(out, s);
	fclose(out);
	for (uint32_t i = 0; i < s->n_flows; i++)
		take_flow(&hash, &s->flows[i]);
	for (uint32_t i = 0; i < s->n_jobs; i++)
		take_job(&hash, &s->jobs[i].graph);
	for (uint32_t i = 0; i < s->n_events; i++)
		take_event(&hash, &s->events[i]);
	return hash >> 1;
}
