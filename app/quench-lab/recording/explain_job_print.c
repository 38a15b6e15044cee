/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"
#include "runtime/report/report.h"
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

static json_t *
fill_list(const struct explain_job *x, const struct fill *f)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < f->n; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "flow", json_string(net_flow(x->net, f->flow[i])->name));
		json_object_set_new(o, "share", json_real(f->percent[i] / 100.0));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *
end_or_null(const struct explain_job *x, struct topology_end end)
{
	char text[40];

	return end.node == NEVER_NODE ? json_null() : json_string(end_text(x, end, text));
}

static json_t *
part_object(const struct explain_job *x, uint32_t number)
{
	const struct job_path_part *p = &x->path.parts[number];
	const struct explained *e = &x->explained[number];
	bool message = p->kind == JOB_PATH_MESSAGE || p->kind == JOB_PATH_SEND;
	json_t *o = json_object();

	json_object_set_new(o, "kind", json_string(job_path_words[p->kind]));
	report_set_u64(o, "from_ns", p->from_ns);
	report_set_u64(o, "to_ns", p->to_ns);
	report_set_u64(o, "rank", p->rank);
	report_set_u64(o, "from_rank", p->from_rank);
	json_object_set_new(o, "flow",
			    message ? json_string(net_flow(x->net, e->flow)->name) : json_null());
	for (int c = 0; c < CAUSES; c++)
		report_set_u64(o, keys[c], e->times_ns[c]);
	report_set_u64(o, "cnps", e->cnps);
	report_set_u64(o, "ecn_marked_packets", e->marks);
	report_set_u64(o, "retransmitted_packets", e->sent_again);
	json_object_set_new(o, "marked_at", end_or_null(x, e->marked));
	json_object_set_new(o, "marked_queue",
			    e->marks > 0 ? json_integer(e->marked_queue) : json_null());
	json_object_set_new(o, "marked_queue_flows", fill_list(x, &e->marked_by));
	json_object_set_new(o, "paused_at", end_or_null(x, e->held));
	json_object_set_new(o, "queued_at", end_or_null(x, e->queued));
	json_object_set_new(o, "queued_behind", fill_list(x, &e->queued_by));
	json_object_set_new(o, "others", fill_list(x, &e->others));
	return o;
}

json_t *
explain_job_json(const struct explain_job *x)
{
	json_t *o = json_object(), *parts = json_array();
	uint64_t sums_ns[CAUSES];

	sum_up(x, sums_ns);
	json_object_set_new(o, "job", json_string(x->name));
	report_set_u64(o, "iteration", x->number + 1);
	report_set_u64(o, "begin_ns", x->iteration.begin_ns);
	report_set_u64(o, "jct_ns", x->iteration.end_ns - x->iteration.begin_ns);
	for (int c = 0; c < CAUSES; c++)
		report_set_u64(o, keys[c], sums_ns[c]);
	for (uint32_t i = 0; i < x->path.n; i++)
		json_array_append_new(parts, part_object(x, i));
	json_object_set_new(o, "parts", parts);
	return o;
}
