/* SPDX-License-Identifier: BSD-3-Clause */
/* Every counter of every node at the end of a run: counters.csv. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/sets/names.h"
#include "quench-lab/output/lab_walk.h"
#include "runtime/notice/say.h"
#include "switch/sw_walk.h"
#include "quench-lab/output/output.h"

/* One counter, summed over all nodes of a kind that have it. */
struct total {
	char name[WALK_NAME_CHARS];
	const char *help;
	uint64_t value; /* sum, or maximum of a watermark */
};

/* In the order in which they were first seen. */
struct totals {
	struct names names;
	struct total **rows; /* by number of the name */
	uint32_t capacity;
};

struct writer {
	struct walk walk;
	FILE *out;
	const char *node;
	int32_t port;          /* -1: the node as a whole */
	struct totals *totals; /* of this kind of node, or of port */
	uint32_t next;         /* total that is probably the next: that after the last one */
	bool lost;             /* no memory */
};

/* @return its number, or NAMES_NONE: no memory. */
static uint32_t
add_total(struct totals *t, const char *full, const char *help)
{
	struct total *total = malloc(sizeof(*total));

	if (t->names.n == t->capacity) {
		uint32_t capacity = t->capacity > 0 ? 2 * t->capacity : 64;
		struct total **rows = realloc(t->rows, capacity * sizeof(struct total *));

		if (rows != NULL) {
			t->rows = rows;
			t->capacity = capacity;
		}
	}
	if (total == NULL || t->names.n == t->capacity) {
		free(total);
		return NAMES_NONE;
	}
	*total = (struct total){.help = help};
	snprintf(total->name, sizeof(total->name), "%s", full);
	t->rows[t->names.n] = total;
	if (names_add(&t->names, total->name) == NAMES_NONE) {
		free(total);
		return NAMES_NONE;
	}
	return t->names.n - 1;
}

/* Nodes of a kind may differ in their counters, as by the marking of a queue: the name decides. */
static struct total *
find_total(struct writer *w, const char *name, const char *help)
{
	struct totals *t = w->totals;
	uint32_t i = w->next;

	if (i >= t->names.n || strcmp(t->rows[i]->name, name) != 0) {
		i = names_find(&t->names, name);
		if (i == NAMES_NONE)
			i = add_total(t, name, help);
	}
	w->lost |= i == NAMES_NONE;
	if (i == NAMES_NONE)
		return NULL;
	w->next = i + 1;
	return t->rows[i];
}

static void
free_totals(struct totals *t)
{
	for (uint32_t i = 0; i < t->names.n; i++)
		free(t->rows[i]);
	free(t->rows);
	names_free(&t->names);
}

/* A node has no row for a counter that is 0, but the totals have. */
static void
put(struct walk *walk, const struct walk_row *row)
{
	struct writer *w = (struct writer *)walk;
	char name[WALK_NAME_CHARS];
	struct total *total;

	if (row->kind != WALK_COUNTER && row->kind != WALK_PEAK)
		return;
	snprintf(name, sizeof(name), "%s%s", walk->group, row->name);
	total = find_total(w, name, row->help);
	if (total == NULL || row->number == 0)
		return;
	total->value = row->kind == WALK_COUNTER ? total->value + row->number
						 : max_u64(total->value, row->number);
	fprintf(w->out, "%s,", w->node);
	if (w->port >= 0)
		fprintf(w->out, "%d", w->port);
	fprintf(w->out, ",%s,%" PRIu64 ",\n", name, row->number);
}

/* The rows of totals, with help texts, which contain no quotes. */
static void
put_totals(FILE *out, const char *of, const char *port, const struct totals *t)
{
	for (uint32_t i = 0; i < t->names.n; i++)
		fprintf(out, "%s,%s,%s,%" PRIu64 ",\"%s\"\n", of, port, t->rows[i]->name,
			t->rows[i]->value, t->rows[i]->help);
}

static struct writer
begin(FILE *out, const char *node, struct totals *totals, bool lost)
{
	return (struct writer){.walk.row = put,
			       .out = out,
			       .node = node,
			       .port = -1,
			       .totals = totals,
			       .lost = lost};
}

/* Priorities that the watchdog does not watch: rows of 0 in the totals, whatever its mode. */
static void
put_unwatched(struct writer *w, const struct net *net, uint32_t i, uint16_t port)
{
	const struct sw_view v = {net_switch(net, i), scenario_switch_params(net_scenario(net), i),
				  0};

	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		if (sw_pfcwd_watches(v.sw, port, prio))
			continue;
		walk_enter_item(&w->walk, "pfcwd", "pfcwd%u/", prio);
		sw_walk_pfcwd(&w->walk, &v, port, prio);
		walk_leave(&w->walk);
	}
}

static bool
put_all(FILE *out, const struct net *net, struct totals totals[3])
{
	const struct topology *t = net_scenario(net)->topology;
	uint64_t end_ns = net_clock_ns(net, net_scenario(net)->fabric.duration_ns);
	struct writer w = {0};

	for (uint32_t i = 0; i < t->n_switches; i++) {
		w = begin(out, t->switches[i].name, &totals[0], w.lost);
		lab_walk_switch(&w.walk, net, i, end_ns);
		w.totals = &totals[1];
		for (uint16_t port = 0; port < t->switches[i].n_ports; port++) {
			w.port = port;
			w.next = 0;
			lab_walk_port(&w.walk, net, i, port, end_ns);
			put_unwatched(&w, net, i, port);
		}
	}
	for (uint32_t h = 1; h <= t->n_hosts; h++) {
		char name[TOPOLOGY_NODE_CHARS + 1];

		topology_node_name(t, topology_host_node(t, h), name);
		w = begin(out, name, &totals[2], w.lost);
		lab_walk_host(&w.walk, net, h, end_ns);
	}
	put_totals(out, "all switches", "", &totals[0]);
	put_totals(out, "all switches", "all", &totals[1]);
	put_totals(out, "all hosts", "", &totals[2]);
	return !w.lost;
}

int
output_counters(const struct lab_run *run, const char *dir)
{
	FILE *out = output_open(dir, "counters.csv", "node,port,counter,value,help");
	struct totals totals[3] = {0};
	bool whole;

	if (out == NULL)
		return -EIO;
	whole = put_all(out, run->net, totals);
	for (unsigned int i = 0; i < 3; i++)
		free_totals(&totals[i]);
	if (output_close(out, dir, "counters.csv") < 0)
		return -EIO;
	if (!whole)
		say_error("%s/counters.csv: no memory", dir);
	return whole ? 0 : -ENOMEM;
}
