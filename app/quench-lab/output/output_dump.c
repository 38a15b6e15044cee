/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/output/output_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "runtime/report/report.h"
#include "runtime/report/switch_json.h"
#include "ctl/output/json.h"
#include "switch/params/sw_counters.h"

/* Add frames lost on the cable to here; a switch port also has its own drop reasons. */
static void
set_cable_drops(json_t *drops, const struct net *net, struct fabric_end end)
{
	for (unsigned int d = 0; d < CABLE_DROP_REASONS; d++)
		report_set_u64(drops, cable_drop_name(d), net_cable_drops(net, end, d));
}

static json_t *
watchdog_list(const struct scenario *s, const struct node *sw, uint32_t i, uint16_t port)
{
	const struct sw_params *params = scenario_switch_params(s, i);
	json_t *list = json_array();

	for (uint8_t prio = 0; prio < TM_CLASSES; prio++)
		if (sw_pfcwd_watches(sw, port, prio))
			json_array_append_new(list, switch_pfcwd_object(sw, params, port, prio));
	return list;
}

static json_t *
port_object(const struct net *net, uint32_t i, uint16_t port, uint64_t now_ns)
{
	const struct node *sw = net_switch(net, i);
	json_t *o = json_object(), *queues = json_array(), *pgs = json_array();
	json_t *drops = switch_drops_object(sw, port);

	report_set_u64(o, "port", port);
	json_set_counters(o, sw_port_counter_fields, sw_port_counter_fields_n,
			  sw_port_stats(sw, port));
	report_set_u64(o, "learned_addresses", sw_fdb_port_entries(sw, port));
	report_set_pfc_tx(o, sw_pfc_tx(sw, port), now_ns);
	report_set_pfc_rx(o, sw_pfc_rx(sw, port), now_ns);
	set_cable_drops(drops, net, (struct fabric_end){.node = i, .port = port});
	json_object_set_new(o, "drops", drops);
	json_object_set_new(o, "malformed", switch_malformed_object(sw, port));
	for (uint8_t k = 0; k < TM_CLASSES; k++) {
		json_array_append_new(queues, switch_queue_object(sw, port, k));
		json_array_append_new(pgs, switch_pg_object(sw, port, k));
	}
	json_object_set_new(o, "queues", queues);
	json_object_set_new(o, "pgs", pgs);
	json_object_set_new(o, "pfcwd", watchdog_list(net_scenario(net), sw, i, port));
	return o;
}

static void
add_interface(json_t *list, const struct node *sw, const char *name)
{
	struct sw_interface_stats stats =
		sw_interface_stats(sw, (uint16_t)sw_interface_domain(name));
	json_t *o = json_object();

	json_object_set_new(o, "interface", json_string(name));
	json_set_counters(o, sw_interface_counter_fields, sw_interface_counter_fields_n, &stats);
	json_array_append_new(list, o);
}

/* Interfaces of the file. */
static json_t *
interfaces_of_bridge(const struct net *net, uint32_t i)
{
	const struct sw_tables *tables = &net_scenario(net)->sw.tables;
	json_t *list = json_array();

	for (uint32_t k = 0; k < tables->n_interfaces; k++)
		add_interface(list, net_switch(net, i), tables->interfaces[k].name);
	return list;
}

/* Interfaces of a router: its VLAN, if it has hosts, then its ports to other switches. */
static json_t *
interface_list(const struct net *net, uint32_t i)
{
	const struct topology_switch *t = &net_scenario(net)->topology->switches[i];
	json_t *list = json_array();

	for (uint16_t p = t->n_hosts > 0 ? t->n_hosts - 1u : 0; p < t->n_ports; p++) {
		char name[16] = "vlan 1";

		if (p >= t->n_hosts)
			snprintf(name, sizeof(name), "port %u", p);
		add_interface(list, net_switch(net, i), name);
	}
	return list;
}

static json_t *
switch_object(const struct net *net, uint32_t i, uint64_t now_ns)
{
	const struct scenario *s = net_scenario(net);
	const struct node *sw = net_switch(net, i);
	json_t *o = json_object(), *ports = json_array();

	switch_set_buffer(o, sw, scenario_switch_params(s, i));
	json_object_set_new(o, "fdb", switch_fdb_object(sw));
	if (s->routes != NULL) {
		json_object_set_new(o, "router", switch_router_object(sw));
		json_object_set_new(o, "interfaces", interface_list(net, i));
	} else if (s->sw.tables.n_interfaces > 0) {
		json_object_set_new(o, "router", switch_router_object(sw));
		json_object_set_new(o, "interfaces", interfaces_of_bridge(net, i));
	}
	for (uint16_t port = 0; port < s->topology->switches[i].n_ports; port++)
		json_array_append_new(ports, port_object(net, i, port, now_ns));
	json_object_set_new(o, "ports", ports);
	return o;
}

static json_t *
host_object(const struct net *net, uint32_t node, uint64_t now_ns)
{
	const struct {
		const struct counter_field *fields;
		unsigned int n;
		size_t offset;
	} tables[] = {
		{nic_counters, nic_counters_n, 0},
#define CC(id, word, section)                                                                      \
	{section##_counters, section##_counters_n,                                                 \
	 offsetof(struct nic_stats, cc.of[CC_SLOT(CC_##id)])},
#include "cc/cc_table.h"
#undef CC
		{np_counters, np_counters_n, offsetof(struct nic_stats, np)},
	};
	uint16_t h = (uint16_t)(node - net_scenario(net)->topology->n_switches + 1);
	const struct node *nic = net_host(net, h);
	const char *stats = (const char *)nic_stats(nic);
	json_t *o = json_object(), *counters = json_object(), *drops = json_object();

	for (unsigned int t = 0; t < ARRAY_LEN(tables); t++)
		json_set_counters(counters, tables[t].fields, tables[t].n,
				  stats + tables[t].offset);
	json_object_set_new(o, "counters", counters);
	report_set_pfc_tx(o, nic_pfc_tx(nic), now_ns);
	report_set_pfc_rx(o, nic_pfc_rx(nic), now_ns);
	set_cable_drops(drops, net, (struct fabric_end){.node = node});
	json_object_set_new(o, "drops", drops);
	return o;
}

static json_t *
node_object(const struct net *net, uint32_t node, uint64_t now_ns)
{
	return topology_is_switch(net_scenario(net)->topology, node)
		       ? switch_object(net, node, now_ns)
		       : host_object(net, node, now_ns);
}

/* Is this member a state or an index rather than a counter? */
static bool
is_no_count(const char *key)
{
	static const char *const words[] = {
		"port",
		"queue",
		"pg",
		"prio",
		"queue_bytes",
		"buffer_bytes",
		"size_bytes",
		"used_bytes",
		"reserved_bytes",
		"shared_bytes",
		"entries",
		"headroom_bytes",
		"learned_addresses",
		"queued",
		"buffer_used_bytes",
	};
	static const char watermark[] = "watermark_bytes";
	size_t n = strlen(key);

	for (unsigned int i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(key, words[i]) == 0)
			return true;
	return n >= sizeof(watermark) - 1 &&
	       strcmp(key + n - (sizeof(watermark) - 1), watermark) == 0;
}

/* Subtract an earlier dump of the same node, which has the same members. */
static void
subtract(json_t *now, json_t *then)
{
	for (size_t i = 0; i < json_array_size(now); i++)
		subtract(json_array_get(now, i), json_array_get(then, i));
	for (void *at = json_object_iter(now); at != NULL; at = json_object_iter_next(now, at)) {
		const char *key = json_object_iter_key(at);
		json_t *value = json_object_iter_value(at), *before = json_object_get(then, key);

		if (!json_is_integer(value))
			subtract(value, before);
		else if (!is_no_count(key))
			json_integer_set(value,
					 json_integer_value(value) - json_integer_value(before));
	}
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
		d->cleared[i] = node_object(net, i, now_ns);
	}
	return 0;
}

static void
dump(struct dumps *d, const struct net *net, const struct event_params *e, uint64_t now_ns)
{
	json_t *o = json_object(), *nodes = json_object();

	for (uint32_t i = 0; i < count_nodes(net); i++) {
		char name[TOPOLOGY_NODE_CHARS + 1];
		json_t *node;

		if (!e->everywhere && e->at.node != i)
			continue;
		node = node_object(net, i, now_ns);
		if (d->cleared != NULL && d->cleared[i] != NULL)
			subtract(node, d->cleared[i]);
		json_object_set_new(nodes, topology_node_name(net_scenario(net)->topology, i, name),
				    node);
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

json_t *
dumps_list(const struct dumps *d)
{
	return d->list != NULL ? json_incref(d->list) : json_array();
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
