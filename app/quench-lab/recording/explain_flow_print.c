/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the observed events and the rows of congestion control's trace, in order of time. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/units.h"
#include "runtime/notice/say.h"
#include "quench-lab/recording/explain_flow.h"
#include "quench-lab/recording/explain_flow_internal.h"

#define STORY_LINES 26u /* 30 with the three lines before and the one after */

static int
by_time(const void *a, const void *b)
{
	const struct sight *x = a, *y = b;

	if (x->e.at_ns != y->e.at_ns)
		return x->e.at_ns < y->e.at_ns ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/*
 * Set the mark of a trace's row, which caused its CNP: that of the last CNP received up to the
 * row's time. In sights[], EXPLAIN_RATE is a received CNP. Ignored CNPs have no row.
 */
static void
find_mark(const struct lab_explain *x, uint32_t *next, struct explain_event *e)
{
	for (; *next < x->n && x->sights[*next].e.at_ns <= e->at_ns; ++*next)
		if (x->sights[*next].e.kind == EXPLAIN_RATE)
			e->mark = x->sights[*next].e.mark;
}

static uint32_t
take_trace(const struct lab_explain *x, const struct nic_trace *trace, struct explain_event *events)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < nic_trace_rows(trace); i++) {
		const struct nic_trace_row *row = nic_trace_row(trace, i);
		struct explain_event *e = &events[i];

		*e = (struct explain_event){.at_ns = row->at_ns,
					    .kind = EXPLAIN_RATE,
					    .did = row->did,
					    .after = row->view};
		if (row->did & CC_DID_CNP)
			find_mark(x, &next, e);
	}
	return nic_trace_rows(trace);
}

/* Both lists are in order of time. At equal times the trace's row comes first, except that a change
 * of parameters comes before its effect. */
static bool
is_first(const struct explain_event *seen, const struct explain_event *row)
{
	return seen->at_ns < row->at_ns || (seen->at_ns == row->at_ns && seen->kind == EXPLAIN_SET);
}

static uint32_t
merge(struct explain_event *out, const struct explain_event *rows, uint32_t n_rows,
      const struct lab_explain *x)
{
	uint32_t n = 0, r = 0, s = 0;

	while (r < n_rows || s < x->n) {
		/* A received CNP: find_mark() has used it. */
		if (s < x->n && x->sights[s].e.kind == EXPLAIN_RATE)
			s++;
		else if (s < x->n && (r == n_rows || is_first(&x->sights[s].e, &rows[r])))
			out[n++] = x->sights[s++].e;
		else if (r < n_rows)
			out[n++] = rows[r++];
	}
	return n;
}

static void
print_way(FILE *out, const struct lab_explain *x)
{
	const struct topology *t = net_scenario(x->net)->topology;

	fputs("way:", out);
	for (uint32_t hop = 1; hop <= x->hops; hop++) {
		for (uint32_t i = 0; i < x->n_places; i++) {
			char name[TOPOLOGY_NODE_CHARS + 1];

			if (x->places[i].hop != hop)
				continue;
			fprintf(out, "%s %s", hop > 1 ? "," : "",
				topology_node_name(t, x->places[i].node, name));
			if (topology_is_switch(t, x->places[i].node))
				fprintf(out, " port %u", x->places[i].port);
		}
	}
	fputc('\n', out);
}

static void
print_head(FILE *out, const struct lab_explain *x, const struct nic_qp_info *info)
{
	const struct net_flow *flow = net_flow(x->net, x->flow);
	char lowest[24];

	fprintf(out, "%s, QP %u of %u: h%u to h%u, priority %u, cc %s", flow->name, x->qp,
		flow->qps, x->from.host, x->to.host, x->prio, cc_words[flow->cc]);
	if (x->one_of_many)
		fprintf(out, "; the first of the flows of %s", flow->params->name);
	fprintf(out,
		"\n%" PRIu64 " packets, %" PRIu64 " CNPs, %" PRIu64
		" cuts, lowest rate %s, %" PRIu64 " packets sent again%s\n",
		info->tx_packets, info->cnps_handled, info->rate_cuts,
		explain_rate(lowest, info->min_rate_bps), info->retransmitted_packets,
		info->error ? "; gave up" : "");
	print_way(out, x);
}

static int
print_events(FILE *out, const struct lab_explain *x, const struct nic_qp_info *info, bool all)
{
	const struct nic_trace *trace = net_trace_of(x->net, x->flow, x->qp);
	uint32_t n_rows = nic_trace_rows(trace), n;
	struct explain_event *rows = calloc(n_rows + 1u, sizeof(*rows));
	struct explain_event *events = calloc((size_t)n_rows + x->n + 1u, sizeof(*events));
	int rc = -ENOMEM;

	if (rows != NULL && events != NULL) {
		take_trace(x, trace, rows);
		explain_set_before(rows, n_rows);
		n = merge(events, rows, n_rows, x);
		/* Others still use the way after the end, and the QP's timers run on. */
		while (info->done && !info->error && n > 0 && events[n - 1].at_ns > x->last_ns)
			n--;
		if (info->done || info->error)
			events[n++] = (struct explain_event){
				.at_ns = x->last_ns, .kind = EXPLAIN_DONE, .failed = info->error};
		if (trace->written > n_rows)
			fprintf(out, "the first %" PRIu64 " events are lost\n",
				trace->written - n_rows);
		rc = 0;
		for (uint32_t i = 0; all && i < n; i++)
			explain_line(out, &events[i]);
		if (!all)
			rc = explain_story(out, events, n, STORY_LINES);
		if (!all && n > STORY_LINES)
			fprintf(out, "%" PRIu32 " events; --all prints each\n", n);
	}
	free(rows);
	free(events);
	return rc;
}

int
lab_explain_print(FILE *out, struct lab_explain *x, bool all)
{
	struct net_end from = x->from;
	struct nic_qp_info info;

	nic_qp_info(net_host(x->net, from.host), from.first_qp + x->qp, &info);
	if (x->n > 0) /* without sights there is no array */
		qsort(x->sights, x->n, sizeof(*x->sights), by_time);
	print_head(out, x, &info);
	if (!x->lost && print_events(out, x, &info, all) == 0)
		return APP_DONE;
	say_error("--explain: no memory");
	return APP_FAILED;
}
