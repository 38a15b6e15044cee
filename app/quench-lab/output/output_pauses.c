/* SPDX-License-Identifier: BSD-3-Clause */
/* Pause trees and hot queues in results.json and on the terminal. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "fabric/results/ways.h"
#include "quench-lab/output/output.h"

/* Of a root or a queue, the flows through it; of a branch, its victims. */
#define MOST_FLOWS 8u
#define MOST_HOT 10u
#define STORY_LINES 30u

static const struct topology *
topology_of(const struct lab_run *run)
{
	return run->scenario->topology;
}

/*
 * Do the QPs of a flow use the held port, and none of them what the root holds? Then the flow waits
 * for data that is not its own.
 */
static bool
is_victim(const struct lab_run *run, const struct ways *w, uint32_t flow,
	  const struct pause_branch *b)
{
	const struct pause_root *root = &run->result.pause_tree.roots[b->root];
	const struct net_flow *f = net_flow(run->net, flow);

	if (run->result.flows[flow].silent || !ways_obeys(w, flow, b->prio) ||
	    ways_through(w, flow, b->held) == 0)
		return false;
	if (root->kind == PAUSE_ROOT_HOST)
		return topology_host_node(topology_of(run), net_flow_receiver(f).host) !=
		       root->at.node;
	return root->kind == PAUSE_ROOT_BUFFER || ways_through(w, flow, root->at) == 0;
}

/* Up to MOST_FLOWS of them in list. @return how many there are. */
static uint32_t
find_victims(const struct lab_run *run, const struct ways *w, const struct pause_branch *b,
	     uint32_t list[MOST_FLOWS])
{
	uint32_t n = 0;

	for (uint32_t i = 0; w != NULL && i < run->result.n_flows; i++) {
		if (!is_victim(run, w, i, b))
			continue;
		if (n < MOST_FLOWS)
			list[n] = i;
		n++;
	}
	return n;
}

static const char *
node_name(const struct lab_run *run, uint32_t node, char text[TOPOLOGY_NODE_CHARS + 1])
{
	return topology_node_name(topology_of(run), node, text);
}

/* The names of its members that say which port it is. */
static void
walk_end(struct walk *w, const struct lab_run *run, const char *node, const char *port,
	 struct topology_end end)
{
	char name[TOPOLOGY_NODE_CHARS + 1];

	WALK(text, w, KEY, node, "the switch or host", node_name(run, end.node, name));
	walk_number(w, WALK_KEY, port, "its port", end.port);
}

/* The flows that sent most by a port; run is NULL for none. */
static void
walk_shares(struct walk *w, const struct lab_run *run, const struct ways *ways,
	    struct topology_end end)
{
	struct way_share shares[MOST_FLOWS];
	uint32_t n = w->names_only ? 1 : 0;

	if (!w->names_only && run != NULL && ways != NULL)
		n = ways_shares(ways, end, shares, MOST_FLOWS);
	walk_list(w, "flows");
	for (uint32_t i = 0; i < n; i++) {
		walk_item(w, "flows");
		WALK(text, w, KEY, "flow", "name of the flow",
		     net_flow(run->net, shares[i].flow)->name);
		WALK(real, w, KEY, "share", "its share, up to 1", shares[i].ppm / 1e6);
		walk_leave(w);
	}
}

/* The port by which the root gets its frames. */
static struct topology_end
way_to(const struct lab_run *run, const struct pause_root *r)
{
	const struct topology *t = topology_of(run);
	const struct topology_link *l;

	if (r->kind != PAUSE_ROOT_HOST)
		return r->at;
	l = &t->links[topology_link_at(t, r->at)];
	return l->a.node == r->at.node ? l->b : l->a;
}

static void
walk_victims(struct walk *w, const struct lab_run *run, const struct ways *ways,
	     const struct pause_branch *b)
{
	uint32_t list[MOST_FLOWS], n = w->names_only ? 0 : find_victims(run, ways, b, list);

	walk_texts(w, "victims",
		   "flows that waited although their data does not go through the root");
	for (uint32_t i = 0; i < n && i < MOST_FLOWS; i++)
		walk_add_text(w, "victims", net_flow(run->net, list[i])->name);
	walk_number(w, WALK_GAUGE, "n_victims", "how many there are", n);
}

/* The pauses of a port: b is NULL with names_only. */
static void
walk_pausing(struct walk *w, const struct lab_run *run, const struct pause_branch *b)
{
	const struct topology_end none = {0};

	w->object = "pause";
	walk_end(w, run, "node", "port", b == NULL ? none : b->by);
	walk_end(w, run, "holds", "holds_port", b == NULL ? none : b->held);
	WALK(number, w, KEY, "prio", "the priority", b->prio);
}

static void
walk_branch(struct walk *w, const struct lab_run *run, const struct ways *ways,
	    const struct pause_branch *b, uint32_t first)
{
	bool at_root = w->names_only || b->parent == PAUSES_NONE;

	walk_item(w, "branches");
	walk_pausing(w, run, b);
	walk_maybe(w, WALK_KEY, "parent", "index of the pauses that caused these; null: the root",
		   at_root ? 0 : b->parent - first, at_root);
	WALK(number, w, COUNTER, "duration_ns", "sum of the pauses", b->time_ns);
	WALK(number, w, COUNTER, "pauses", "number of the pauses", b->pauses);
	walk_victims(w, run, ways, b);
	walk_leave(w);
}

static void
walk_branches(struct walk *w, const struct lab_run *run, const struct ways *ways, uint32_t root)
{
	const struct pause_tree *t = w->names_only ? NULL : &run->result.pause_tree;
	uint32_t first = 0;

	walk_list(w, "branches");
	if (w->names_only) {
		walk_branch(w, NULL, NULL, NULL, 0);
		return;
	}
	while (first < t->n_branches && t->branches[first].root < root)
		first++;
	for (uint32_t i = first; i < t->n_branches && t->branches[i].root == root; i++)
		walk_branch(w, run, ways, &t->branches[i], first);
}

/* r is NULL with names_only. */
static void
walk_root(struct walk *w, const struct lab_run *run, const struct ways *ways,
	  const struct pause_root *r)
{
	bool is_queue = !w->names_only && r->kind == PAUSE_ROOT_QUEUE;
	bool has_flows = !w->names_only && r->kind != PAUSE_ROOT_BUFFER;
	char name[TOPOLOGY_NODE_CHARS + 1];

	w->object = "pause";
	WALK(text, w, KEY, "kind", "queue, host or buffer", pause_root_words[r->kind]);
	WALK(text, w, KEY, "node", "the switch or host", node_name(run, r->at.node, name));
	walk_maybe(w, WALK_KEY, "port", "of a queue: its port", is_queue ? r->at.port : 0,
		   !is_queue);
	walk_maybe(w, WALK_KEY, "queue", "of a queue: its number", is_queue ? r->queue : 0,
		   !is_queue);
	WALK(number, w, KEY, "prio", "the priority", r->prio);
	WALK(number, w, COUNTER, "duration_ns", "sum of the pauses", r->time_ns);
	WALK(number, w, COUNTER, "pauses", "number of the pauses", r->pauses);
	walk_shares(w, has_flows ? run : NULL, ways,
		    has_flows ? way_to(run, r) : (struct topology_end){0});
	walk_branches(w, run, ways,
		      w->names_only ? 0 : (uint32_t)(r - run->result.pause_tree.roots));
}

static void
walk_deadlock(struct walk *w, const struct lab_run *run)
{
	uint32_t n = w->names_only ? 1 : run->result.pause_tree.n_deadlock;

	walk_list(w, "deadlock");
	for (uint32_t i = 0; i < n; i++) {
		const struct pause_branch *b =
			w->names_only ? NULL : &run->result.pause_tree.deadlock[i];

		walk_item(w, "deadlock");
		walk_pausing(w, run, b);
		WALK(number, w, GAUGE, "duration_ns", "until the end of the run", b->time_ns);
		walk_leave(w);
	}
}

static int
by_length(const void *a, const void *b)
{
	const struct queue_result *x = *(const struct queue_result *const *)a,
				  *y = *(const struct queue_result *const *)b;

	if (x->sum_bytes != y->sum_bytes)
		return x->sum_bytes > y->sum_bytes ? -1 : 1;
	return x < y ? -1 : 1;
}

/* Queues that held frames, the longest mean first; owned by the caller, NULL: no memory. */
static const struct queue_result **
hot_queues(const struct run_result *r, uint32_t *n)
{
	const struct queue_result **list = malloc((r->n_queues + 1ull) * sizeof(*list));

	*n = 0;
	for (uint32_t i = 0; list != NULL && i < r->n_queues; i++)
		if (r->queues[i].sum_bytes > 0)
			list[(*n)++] = &r->queues[i];
	if (list != NULL)
		qsort(list, *n, sizeof(*list), by_length);
	return list;
}

static uint64_t
paused_ns(const struct lab_run *run, const struct queue_result *q)
{
	const struct pfc_rx *rx = sw_pfc_rx(net_switch(run->net, q->sw), q->port);
	uint64_t longest_ns = 0;

	for (uint8_t prio = 0; prio < TM_CLASSES; prio++)
		longest_ns =
			max_u64(longest_ns,
				pfc_rx_duration_ns(
					rx, prio,
					net_clock_ns(run->net, run->scenario->fabric.duration_ns)));
	return longest_ns;
}

static void
walk_hot_queue(struct walk *w, const struct lab_run *run, const struct ways *ways,
	       const struct queue_result *q)
{
	struct topology_end end = {0};

	if (!w->names_only)
		end = (struct topology_end){q->sw, q->port};
	walk_item(w, "hot_queues");
	w->object = "queue";
	walk_end(w, run, "node", "port", end);
	WALK(number, w, KEY, "queue", "number of the queue", q->queue);
	output_walk_lengths(w, q, false);
	WALK(number, w, COUNTER, "ecn_marked_packets", "packets marked in the queue",
	     q->ecn_marked_packets);
	WALK(number, w, COUNTER, "paused_ns", "time for which pauses stopped the port",
	     paused_ns(run, q));
	walk_shares(w, run, ways, end);
	walk_leave(w);
}

static void
walk_hot_queues(struct walk *w, const struct lab_run *run, const struct ways *ways)
{
	const struct queue_result **queues;
	uint32_t n;

	walk_list(w, "hot_queues");
	if (w->names_only) {
		walk_hot_queue(w, NULL, NULL, NULL);
		return;
	}
	queues = hot_queues(&run->result, &n);
	for (uint32_t i = 0; i < n && i < MOST_HOT; i++)
		walk_hot_queue(w, run, ways, queues[i]);
	free(queues);
}

void
output_walk_pauses(struct walk *w, const struct lab_run *run)
{
	struct ways *ways = w->names_only ? NULL : ways_create(run->net);
	uint32_t n = w->names_only ? 1 : run->result.pause_tree.n_roots;

	walk_list(w, "pause_tree");
	for (uint32_t i = 0; i < n; i++) {
		walk_item(w, "pause_tree");
		walk_root(w, run, ways, w->names_only ? NULL : &run->result.pause_tree.roots[i]);
		walk_leave(w);
	}
	walk_deadlock(w, run);
	walk_hot_queues(w, run, ways);
	if (!w->names_only)
		ways_destroy(ways);
}

static double
us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static void
print_end(FILE *out, const struct lab_run *run, struct topology_end end)
{
	char name[TOPOLOGY_NODE_CHARS + 1];

	fputs(node_name(run, end.node, name), out);
	if (topology_is_switch(topology_of(run), end.node))
		fprintf(out, " port %u", end.port);
}

static void
print_shares(FILE *out, const struct lab_run *run, const struct ways *w, struct topology_end end)
{
	struct way_share shares[MOST_FLOWS];
	uint32_t n = w != NULL ? ways_shares(w, end, shares, MOST_FLOWS) : 0;

	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s %s %.0f %%", i == 0 ? "; filled by" : ",",
			net_flow(run->net, shares[i].flow)->name, shares[i].ppm / 1e4);
}

static void
print_root(FILE *out, const struct lab_run *run, const struct ways *w, const struct pause_root *r)
{
	const struct topology *t = topology_of(run);
	char name[TOPOLOGY_NODE_CHARS + 1];

	fputs("root: ", out);
	if (r->kind == PAUSE_ROOT_HOST) {
		fprintf(out, "%s, which receives slowly", node_name(run, r->at.node, name));
	} else if (r->kind == PAUSE_ROOT_BUFFER) {
		fprintf(out, "the buffer of %s, which others fill", t->switches[r->at.node].name);
	} else {
		print_end(out, run, r->at);
		fprintf(out, " queue %u, to %s", r->queue,
			node_name(run, topology_peer(t, r->at.node, r->at.port).node, name));
	}
	fprintf(out, ": priority %u, %" PRIu64 " pauses, %.1f us in all", r->prio, r->pauses,
		us(r->time_ns));
	if (r->kind != PAUSE_ROOT_BUFFER)
		print_shares(out, run, w, way_to(run, r));
	fputc('\n', out);
}

/* @return depth below the root, from 1. */
static unsigned int
depth_of(const struct pause_tree *t, uint32_t branch)
{
	unsigned int depth = 1;

	while (t->branches[branch].parent != PAUSES_NONE) {
		branch = t->branches[branch].parent;
		depth++;
	}
	return depth;
}

static void
print_branch(FILE *out, const struct lab_run *run, const struct ways *w, uint32_t number)
{
	const struct pause_branch *b = &run->result.pause_tree.branches[number];
	uint32_t list[MOST_FLOWS], n = find_victims(run, w, b, list);

	fprintf(out, "%*s", (int)(2 * depth_of(&run->result.pause_tree, number)), "");
	print_end(out, run, b->by);
	fputs(" pauses ", out);
	print_end(out, run, b->held);
	fprintf(out, ": %" PRIu64 " times, %.1f us", b->pauses, us(b->time_ns));
	for (uint32_t i = 0; i < n && i < MOST_FLOWS; i++)
		fprintf(out, "%s %s", i == 0 ? "; victims" : ",",
			net_flow(run->net, list[i])->name);
	if (n > MOST_FLOWS)
		fprintf(out, " and %u more", n - MOST_FLOWS);
	fputc('\n', out);
}

/* Depth first. @return lines printed. */
static uint32_t
print_below(FILE *out, const struct lab_run *run, const struct ways *w, uint32_t root,
	    uint32_t parent, uint32_t room)
{
	const struct pause_tree *t = &run->result.pause_tree;
	uint32_t lines = 0;

	for (uint32_t i = 0; i < t->n_branches && lines < room; i++) {
		if (t->branches[i].root != root || t->branches[i].parent != parent)
			continue;
		print_branch(out, run, w, i);
		lines++;
		lines += print_below(out, run, w, root, i, room - lines);
	}
	return lines;
}

static void
print_deadlock(FILE *out, const struct lab_run *run)
{
	const struct pause_tree *t = &run->result.pause_tree;

	for (uint32_t i = 0; i < t->n_deadlock; i++) {
		fputs(i == 0 ? "deadlock: " : "          ", out);
		print_end(out, run, t->deadlock[i].by);
		fputs(" pauses ", out);
		print_end(out, run, t->deadlock[i].held);
		fprintf(out, " for %.1f us, until the end%s\n", us(t->deadlock[i].time_ns),
			i + 1 < t->n_deadlock ? ", because" : ", because of the first");
	}
}

void
output_explain_pauses(FILE *out, const struct lab_run *run, bool all)
{
	const struct pause_tree *t = &run->result.pause_tree;
	uint32_t room = all ? UINT32_MAX : STORY_LINES - 1, lines;
	struct ways *w = ways_create(run->net);

	if (t->n_roots == 0)
		fputs("no pauses\n", out);
	print_deadlock(out, run);
	lines = t->n_deadlock;
	for (uint32_t i = 0; i < t->n_roots && lines < room; i++) {
		print_root(out, run, w, &t->roots[i]);
		lines++;
		if (lines < room)
			lines += print_below(out, run, w, i, PAUSES_NONE, room - lines);
	}
	if (lines < t->n_deadlock + t->n_roots + t->n_branches)
		fprintf(out, "%u roots and %u pausing ports in all; --all prints each\n",
			t->n_roots, t->n_branches);
	if (t->lost > 0)
		fprintf(out, "%" PRIu64 " pauses are left out\n", t->lost);
	ways_destroy(w);
}

void
output_explain_hot(FILE *out, const struct lab_run *run, bool all)
{
	struct ways *w = ways_create(run->net);
	uint32_t n, most;
	const struct queue_result **queues = hot_queues(&run->result, &n);

	if (n == 0)
		fputs("no queues\n", out);
	most = all ? n : (uint32_t)min_u64(n, STORY_LINES - 1);
	for (uint32_t i = 0; i < most; i++) {
		const struct queue_result *q = queues[i];

		print_end(out, run, (struct topology_end){q->sw, q->port});
		fprintf(out, " queue %u: mean %.1f KB, p99 %.1f KB, max %.1f KB", q->queue,
			(double)q->mean_bytes / 1e3, (double)q->p99_bytes / 1e3,
			(double)q->max_bytes / 1e3);
		if (q->ecn_marked_packets > 0)
			fprintf(out, ", %" PRIu64 " packets marked", q->ecn_marked_packets);
		if (paused_ns(run, q) > 0)
			fprintf(out, ", paused %.1f us", us(paused_ns(run, q)));
		print_shares(out, run, w, (struct topology_end){q->sw, q->port});
		fputc('\n', out);
	}
	if (most < n)
		fprintf(out, "%u queues in all; --all prints each\n", n);
	free(queues);
	ways_destroy(w);
}
