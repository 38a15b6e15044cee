/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"
#include "quench-lab/recording/explain_job.h"
#include "quench-lab/recording/explain_job_internal.h"

#define STORY_LINES 30u

/* In results.json, and in the summary. */
static const char *const keys[CAUSES] = {"compute_ns", "inside_ns", "wire_ns",   "rate_ns",
					 "paused_ns",  "queue_ns",  "others_ns", "earlier_ns",
					 "again_ns",   "ack_ns",    "unknown_ns"};
static const char *const words[CAUSES] = {
	"computing",
	"messages inside servers",
	"packets on the wire",
	"QPs not allowed to send, by rate or window",
	"paused",
	"last packets in queues",
	"links of senders busy with other flows",
	"behind earlier messages of the QP",
	"sending again",
	"waiting for the last acknowledgement",
	"unknown: not on the path of the run's start",
};

static double
us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static const struct topology *
topology_of(const struct explain_job *x)
{
	return net_scenario(x->net)->topology;
}

static const char *
end_text(const struct explain_job *x, struct topology_end end, char text[static 40])
{
	char name[TOPOLOGY_NODE_CHARS + 1];

	topology_node_name(topology_of(x), end.node, name);
	if (topology_is_switch(topology_of(x), end.node))
		snprintf(text, 40, "%s port %u", name, end.port);
	else
		snprintf(text, 40, "%s", name);
	return text;
}

/* The node at the other end of the cable. */
static uint32_t
peer_node(const struct explain_job *x, struct topology_end end)
{
	const struct topology_link *l =
		&topology_of(x)->links[topology_link_at(topology_of(x), end)];

	return l->a.node == end.node && l->a.port == end.port ? l->b.node : l->a.node;
}

static void
print_fill(FILE *out, const struct explain_job *x, const char *word, const struct fill *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		fprintf(out, "%s %s %u %%", i == 0 ? word : ",", net_flow(x->net, f->flow[i])->name,
			f->percent[i]);
}

/* What a message waited for, beside its packets on the wire: waits of more than least_ns. */
static void
print_waits(FILE *out, const struct explain_job *x, const struct explained *e, uint64_t least_ns)
{
	const uint64_t *ns = e->times_ns;
	char where[40], name[TOPOLOGY_NODE_CHARS + 1];

	if (ns[CAUSE_RATE] > least_ns)
		fprintf(out, "; %.1f not allowed to send", us(ns[CAUSE_RATE]));
	if (e->cnps > 0)
		fprintf(out, "; %u CNPs", e->cnps);
	if (e->marks > 0) {
		fprintf(out, "; %u packets marked, most at %s queue %d", e->marks,
			end_text(x, e->marked, where), e->marked_queue);
		print_fill(out, x, ", filled by", &e->marked_by);
	}
	if (ns[CAUSE_HELD] > least_ns)
		fprintf(out, "; %.1f paused, at %s by %s", us(ns[CAUSE_HELD]),
			end_text(x, e->held, where),
			topology_node_name(topology_of(x), peer_node(x, e->held), name));
	if (ns[CAUSE_QUEUE] > least_ns) {
		fprintf(out, "; %.1f queued, most at %s", us(ns[CAUSE_QUEUE]),
			end_text(x, e->queued, where));
		print_fill(out, x, " behind", &e->queued_by);
	}
	if (ns[CAUSE_OTHERS] > least_ns) {
		fprintf(out, "; %.1f while the host sent others", us(ns[CAUSE_OTHERS]));
		print_fill(out, x, ":", &e->others);
	}
	if (ns[CAUSE_EARLIER] > least_ns)
		fprintf(out, "; %.1f behind earlier messages", us(ns[CAUSE_EARLIER]));
	if (ns[CAUSE_AGAIN] > least_ns)
		fprintf(out, "; %.1f for %u packets sent again", us(ns[CAUSE_AGAIN]),
			e->sent_again);
	if (ns[CAUSE_ACK] > least_ns)
		fprintf(out, "; %.1f for the ACK", us(ns[CAUSE_ACK]));
	if (ns[CAUSE_UNKNOWN] > least_ns)
		fprintf(out, "; %.1f unknown", us(ns[CAUSE_UNKNOWN]));
}

static void
print_part(FILE *out, const struct explain_job *x, uint32_t number, bool all)
{
	const struct job_path_part *p = &x->path.parts[number];
	const struct job_section *job = &net_scenario(x->net)->jobs[x->job];
	const struct explained *e = &x->explained[number];

	fprintf(out, "%10.4f ms  ", (double)p->from_ns / 1e6);
	if (p->kind == JOB_PATH_COMPUTE) {
		fprintf(out, "rank %u computes %.1f us", p->rank, us(p->to_ns - p->from_ns));
	} else if (p->kind == JOB_PATH_INSIDE) {
		const struct job_rank *rank = &job->graph.ranks[p->from_rank];
		const struct job_op *op = &rank->ops[p->send];

		fprintf(out, "rank %u to %u inside their server, %" PRIu64 " bytes: %.1f us",
			p->from_rank, rank->peers[op->peer].rank, (uint64_t)op->amount,
			us(p->to_ns - p->from_ns));
	} else {
		const struct net_flow *flow = net_flow(x->net, e->flow);
		const struct job_op *op = &job->graph.ranks[p->from_rank].ops[p->send];

		fprintf(out, "%s, %" PRIu64 " bytes, tag %u: %.1f us, of which %.1f on the wire",
			flow->name, (uint64_t)op->amount, op->tag, us(p->to_ns - p->from_ns),
			us(e->times_ns[CAUSE_WIRE]));
		print_waits(out, x, e, all ? 0 : (p->to_ns - p->from_ns) / 100);
	}
	if (p->iteration != x->number)
		fprintf(out, " (of iteration %u)", p->iteration + 1);
	fputc('\n', out);
}

static void
sum_up(const struct explain_job *x, uint64_t sums_ns[CAUSES])
{
	for (int c = 0; c < CAUSES; c++)
		sums_ns[c] = 0;
	for (uint32_t i = 0; i < x->path.n; i++)
		for (int c = 0; c < CAUSES; c++)
			sums_ns[c] += x->explained[i].times_ns[c];
}

/* @return lines. */
static uint32_t
print_sums(FILE *out, const struct explain_job *x)
{
	uint64_t sums_ns[CAUSES], all_ns = x->iteration.end_ns - x->iteration.begin_ns;
	uint32_t lines = 0;

	sum_up(x, sums_ns);
	for (;;) {
		int most = 0;

		for (int c = 1; c < CAUSES; c++)
			if (sums_ns[c] > sums_ns[most])
				most = c;
		if (sums_ns[most] == 0)
			return lines;
		fprintf(out, "%10.1f us  %5.1f %%  %s\n", us(sums_ns[most]),
			100.0 * (double)sums_ns[most] / (double)all_ns, words[most]);
		sums_ns[most] = 0;
		lines++;
	}
}

/* The least time that a part must have to be among the `most` longest ones. */
static uint64_t
least_of(const struct explain_job *x, uint32_t most)
{
	uint64_t low = 0, high = x->iteration.end_ns - x->iteration.begin_ns + 1;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		uint32_t n = 0;

		for (uint32_t i = 0; i < x->path.n; i++)
			n += x->path.parts[i].to_ns - x->path.parts[i].from_ns >= middle;
		if (n > most)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
explain_job_print(FILE *out, const struct explain_job *x, bool all)
{
	uint64_t least_ns = 0, left_ns = 0;
	uint32_t lines = 3, left = 0;

	fprintf(out,
		"job %s, iteration %u of %u: %.1f us, from %.4f ms to %.4f ms; rank %u ended last\n",
		x->name, x->number + 1, x->n_iterations,
		us(x->iteration.end_ns - x->iteration.begin_ns),
		(double)x->iteration.begin_ns / 1e6, (double)x->iteration.end_ns / 1e6,
		x->iteration.last_rank);
	lines += print_sums(out, x);
	fprintf(out, "critical path, %u parts, times in us:\n", x->path.n);
	if (!all && x->path.n > STORY_LINES - lines)
		least_ns = least_of(x, STORY_LINES - lines);
	for (uint32_t i = 0; i < x->path.n; i++) {
		uint64_t ns = x->path.parts[i].to_ns - x->path.parts[i].from_ns;

		if (ns >= least_ns) {
			print_part(out, x, i, all);
			continue;
		}
		left++;
		left_ns += ns;
	}
	if (left > 0)
		fprintf(out, "and %u shorter parts, %.1f us in all; --all prints each\n", left,
			us(left_ns));
}

/* x is NULL with names_only. */
static void
walk_fill(struct walk *w, const char *list, const struct explain_job *x, const struct fill *f)
{
	walk_list(w, list);
	for (uint32_t i = 0; i < (w->names_only ? 1 : f->n); i++) {
		walk_item(w, list);
		WALK(text, w, KEY, "flow", "name of the flow", net_flow(x->net, f->flow[i])->name);
		WALK(real, w, KEY, "share", "its share, up to 1", f->percent[i] / 100.0);
		walk_leave(w);
	}
}

static void
walk_end(struct walk *w, const char *name, const char *help, const struct explain_job *x,
	 const struct topology_end *end)
{
	bool none = w->names_only || end->node == NEVER_NODE;
	char text[40];

	walk_maybe_text(w, WALK_KEY, name, help, none ? NULL : end_text(x, *end, text));
}

static void
walk_causes(struct walk *w, const uint64_t times_ns[CAUSES])
{
	for (int c = 0; c < CAUSES; c++)
		WALK(number, w, GAUGE, keys[c], words[c], times_ns[c]);
}

/* p and e are NULL with names_only. */
static void
walk_part_times(struct walk *w, const struct explain_job *x, const struct job_path_part *p,
		const struct explained *e)
{
	bool message = !w->names_only && (p->kind == JOB_PATH_MESSAGE || p->kind == JOB_PATH_SEND);

	WALK(text, w, KEY, "kind", "compute, message, inside or send", job_path_words[p->kind]);
	WALK(number, w, KEY, "from_ns", "its begin", p->from_ns);
	WALK(number, w, KEY, "to_ns", "its end", p->to_ns);
	WALK(number, w, KEY, "rank", "the rank", p->rank);
	WALK(number, w, KEY, "from_rank", "of a message: the rank that sent it", p->from_rank);
	walk_maybe_text(w, WALK_KEY, "flow", "the flow of the message; null: none",
			message ? net_flow(x->net, e->flow)->name : NULL);
	walk_causes(w, w->names_only ? NULL : e->times_ns);
	WALK(number, w, COUNTER, "cnps", "CNPs of the flow", e->cnps);
	WALK(number, w, COUNTER, "ecn_marked_packets", "its packets that were marked", e->marks);
	WALK(number, w, COUNTER, "retransmitted_packets", "its packets sent again", e->sent_again);
}

static void
walk_part(struct walk *w, const struct explain_job *x, uint32_t number)
{
	const struct job_path_part *p = w->names_only ? NULL : &x->path.parts[number];
	const struct explained *e = w->names_only ? NULL : &x->explained[number];
	bool marked = !w->names_only && e->marks > 0;

	w->object = "job";
	walk_part_times(w, x, p, e);
	walk_end(w, "marked_at", "the port that marked most of them; null: none", x,
		 w->names_only ? NULL : &e->marked);
	walk_maybe(w, WALK_KEY, "marked_queue", "the queue of that port",
		   marked ? e->marked_queue : 0, !marked);
	walk_fill(w, "marked_queue_flows", x, w->names_only ? NULL : &e->marked_by);
	walk_end(w, "paused_at", "the host or port that was paused longest; null: none", x,
		 w->names_only ? NULL : &e->held);
	walk_end(w, "queued_at", "where the last packet waited longest; null: nowhere", x,
		 w->names_only ? NULL : &e->queued);
	walk_fill(w, "queued_behind", x, w->names_only ? NULL : &e->queued_by);
	walk_fill(w, "others", x, w->names_only ? NULL : &e->others);
}

void
explain_job_walk(struct walk *w, const struct explain_job *x)
{
	uint64_t sums_ns[CAUSES];

	if (!w->names_only)
		sum_up(x, sums_ns);
	walk_enter(w, "explained_job", "");
	w->object = "job";
	WALK(text, w, KEY, "job", "name of the job", x->name);
	WALK(number, w, KEY, "iteration", "number of the iteration, from 1 on", x->number + 1);
	WALK(number, w, GAUGE, "begin_ns", "its begin", x->iteration.begin_ns);
	WALK(number, w, GAUGE, "jct_ns", "its completion time",
	     x->iteration.end_ns - x->iteration.begin_ns);
	walk_causes(w, sums_ns);
	walk_list(w, "parts");
	for (uint32_t i = 0; i < (w->names_only ? 1 : x->path.n); i++) {
		walk_item(w, "parts");
		walk_part(w, x, i);
		walk_leave(w);
	}
	walk_leave(w);
}
