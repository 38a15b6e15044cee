/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/output/output_dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl/output/json.h"
#include "quench-lab/output/lab_walk.h"
#include "runtime/report/report.h"

/* Counters at a clear, flat: a counter is known by its whole name, wherever it stands. */
static const char *
whole_name(const struct walk *w, const struct walk_row *row, char name[WALK_NAME_CHARS])
{
	snprintf(name, WALK_NAME_CHARS, "%s%s", w->group, row->name);
	return name;
}

static void
keep(struct walk *w, const struct walk_row *row)
{
	char name[WALK_NAME_CHARS];

	json_object_set_new(((struct json_walk *)w)->at, whole_name(w, row, name),
			    json_integer((json_int_t)row->number));
}

static json_t *
counters_of(const struct net *net, uint32_t node, uint64_t now_ns)
{
	struct json_walk j = {.walk.row = keep, .at = json_object()};

	lab_walk_node(&j.walk, net, node, now_ns);
	return j.at;
}

struct since {
	struct json_walk json;
	const json_t *then; /* NULL: never cleared */
};

/* What was counted since the clear; gauges are as they are. */
static void
set_since(struct walk *w, const struct walk_row *row)
{
	struct walk_row since = *row;
	char name[WALK_NAME_CHARS];

	if (row->kind == WALK_COUNTER)
		since.number -= (uint64_t)json_integer_value(
			json_object_get(((struct since *)w)->then, whole_name(w, row, name)));
	json_walk_row(w, &since);
}

static json_t *
node_object(const struct net *net, uint32_t node, const json_t *then, uint64_t now_ns)
{
	json_t *o = json_object();
	struct since s = {.json = json_walk(o), .then = then};

	s.json.walk.row = set_since;
	lab_walk_node(&s.json.walk, net, node, now_ns);
	return o;
}

static uint32_t
count_nodes(const struct net *net)
{
	return net_scenario(net)->topology->n_switches + net_scenario(net)->topology->n_hosts;
}

static int
clear(struct dumps *d, const struct net *net, const struct event_params *e, uint64_t now_ns)
{
	if (d->cleared == NULL)
		d->cleared = calloc(count_nodes(net), sizeof(json_t *));
	if (d->cleared == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count_nodes(net); i++) {
		if (!e->everywhere && e->at.node != i)
			continue;
		json_decref(d->cleared[i]);
		d->cleared[i] = counters_of(net, i, now_ns);
	}
	return 0;
}

static void
dump(struct dumps *d, const struct net *net, const struct event_params *e, uint64_t now_ns)
{
	json_t *o = json_object(), *nodes = json_object();

	for (uint32_t i = 0; i < count_nodes(net); i++) {
		char name[TOPOLOGY_NODE_CHARS + 1];

		if (!e->everywhere && e->at.node != i)
			continue;
		json_object_set_new(
			nodes, topology_node_name(net_scenario(net)->topology, i, name),
			node_object(net, i, d->cleared == NULL ? NULL : d->cleared[i], now_ns));
	}
	json_object_set_new(o, "name", json_string(e->name));
	report_set_u64(o, "at_ns", now_ns);
	json_object_set_new(o, "nodes", nodes);
	if (d->list == NULL)
		d->list = json_array();
	json_array_append_new(d->list, o);
}

int
dumps_take(struct dumps *d, const struct net *net, const struct event_params *e, uint64_t now_ns)
{
	if (e->action == EVENT_CLEAR_COUNTERS)
		return clear(d, net, e, now_ns);
	dump(d, net, e, now_ns);
	return 0;
}

/* The names of a dump; its values were kept when it was taken. */
static void
walk_names_of_dump(struct walk *w)
{
	walk_item(w, "dumps");
	walk_text(w, WALK_KEY, "name", "name of the event", NULL);
	walk_number(w, WALK_KEY, "at_ns", "its time", 0);
	lab_walk_names(w, "nodes");
	walk_leave(w);
}

void
dumps_walk(struct walk *w, const struct dumps *d)
{
	if (w->names_only)
		walk_names_of_dump(w);
	else
		json_object_set_new(((struct json_walk *)w)->at, "dumps",
				    d->list != NULL ? json_incref(d->list) : json_array());
}

void
dumps_free(struct dumps *d, const struct net *net)
{
	for (uint32_t i = 0; d->cleared != NULL && i < count_nodes(net); i++)
		json_decref(d->cleared[i]);
	free(d->cleared);
	json_decref(d->list);
	*d = (struct dumps){0};
}
