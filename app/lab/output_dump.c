/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/output_dump.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "common/report.h"

static void
set_watermark(json_t *o, const char *key, const struct node *sw, enum mmu_watermark kind,
	      uint16_t port, uint8_t index)
{
	report_set_u64(o, key, mmu_watermark_bytes(sw_mmu(sw), kind, port, index));
}

static json_t *
queue_list(const struct node *sw, uint16_t port)
{
	json_t *list = json_array();

	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		const struct sw_queue_stats *q = &sw_port_stats(sw, port)->queue[i];
		json_t *o = json_object();

		report_set_u64(o, "queue", i);
		report_set_u64(o, "queue_bytes", sw_queue_bytes(sw, port, i));
		report_set_u64(o, "tx_packets", q->tx_packets);
		report_set_u64(o, "tx_bytes", q->tx_bytes);
		report_set_u64(o, "ecn_marked_packets", q->ecn_marked_packets);
		report_set_u64(o, "ecn_mark_no_mbuf_packets", q->ecn_mark_no_mbuf_packets);
		report_set_u64(o, "drop_packets", q->drop_packets);
		set_watermark(o, "watermark_bytes", sw, MMU_WATERMARK_QUEUE, port, i);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *
pg_list(const struct node *sw, uint16_t port)
{
	json_t *list = json_array();

	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		const struct sw_pg_stats *pg = &sw_port_stats(sw, port)->pg[i];
		json_t *o = json_object();

		report_set_u64(o, "pg", i);
		report_set_u64(o, "rx_packets", pg->rx_packets);
		report_set_u64(o, "rx_bytes", pg->rx_bytes);
		report_set_u64(o, "drop_packets", pg->drop_packets);
		set_watermark(o, "watermark_bytes", sw, MMU_WATERMARK_PG, port, i);
		set_watermark(o, "shared_watermark_bytes", sw, MMU_WATERMARK_PG_SHARED, port, i);
		set_watermark(o, "headroom_watermark_bytes", sw, MMU_WATERMARK_PG_HEADROOM, port,
			      i);
		json_array_append_new(list, o);
	}
	return list;
}

static void
set_drops(json_t *o, const struct net *net, const struct node *sw, struct fabric_end end)
{
	json_t *drops = json_object();

	for (unsigned int d = 0; sw != NULL && d < SW_DROPS; d++)
		report_set_u64(drops, sw_drop_name(d), sw_port_stats(sw, end.port)->drops[d]);
	for (unsigned int d = 0; d < CABLE_DROPS; d++)
		report_set_u64(drops, cable_drop_name(d), net_cable_drops(net, end, d));
	json_object_set_new(o, "drops", drops);
}

static json_t *
port_object(const struct net *net, uint32_t i, uint16_t port, uint64_t now_ns)
{
	const struct node *sw = net_switch(net, i);
	const struct sw_port_stats *s = sw_port_stats(sw, port);
	json_t *o = json_object();

	report_set_u64(o, "port", port);
	report_set_u64(o, "rx_packets", s->rx_packets);
	report_set_u64(o, "rx_bytes", s->rx_bytes);
	report_set_u64(o, "tx_packets", s->tx_packets);
	report_set_u64(o, "tx_bytes", s->tx_bytes);
	report_set_u64(o, "rx_pause_frames", s->rx_pause_frames);
	report_set_u64(o, "tx_pause_frames", s->tx_pause_frames);
	report_set_pfc_tx(o, sw_pfc_tx(sw, port), now_ns);
	report_set_pfc_rx(o, sw_pfc_rx(sw, port), now_ns);
	set_drops(o, net, sw, (struct fabric_end){.node = i, .port = port});
	json_object_set_new(o, "queues", queue_list(sw, port));
	json_object_set_new(o, "pgs", pg_list(sw, port));
	return o;
}

static json_t *
switch_object(const struct net *net, uint32_t i, uint64_t now_ns)
{
	json_t *o = json_object(), *ports = json_array();

	report_set_u64(o, "buffer_used_bytes", mmu_used_bytes(sw_mmu(net_switch(net, i))));
	for (uint16_t port = 0; port < net_scenario(net)->topology->switches[i].n_ports; port++)
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
		{rp_counters, rp_counters_n, offsetof(struct nic_stats, rp)},
		{dctcp_counters, dctcp_counters_n, offsetof(struct nic_stats, dctcp)},
		{timely_counters, timely_counters_n, offsetof(struct nic_stats, timely)},
		{np_counters, np_counters_n, offsetof(struct nic_stats, np)},
	};
	uint16_t h = (uint16_t)(node - net_scenario(net)->topology->n_switches + 1);
	const struct node *nic = net_host(net, h);
	const char *stats = (const char *)nic_stats(nic);
	json_t *o = json_object(), *counters = json_object();

	for (unsigned int t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (unsigned int i = 0; i < tables[t].n; i++)
			report_set_u64(
				counters, tables[t].fields[i].name,
				*(const uint64_t *)(const void *)(stats + tables[t].offset +
								  tables[t].fields[i].offset));
	json_object_set_new(o, "counters", counters);
	report_set_pfc_tx(o, nic_pfc_tx(nic), now_ns);
	report_set_pfc_rx(o, nic_pfc_rx(nic), now_ns);
	set_drops(o, net, NULL, (struct fabric_end){.node = node});
	return o;
}

static json_t *
node_object(const struct net *net, uint32_t node, uint64_t now_ns)
{
	return topology_is_switch(net_scenario(net)->topology, node)
		       ? switch_object(net, node, now_ns)
		       : host_object(net, node, now_ns);
}

/* What says how it is now, or which one, and not how often something happened. */
static bool
is_no_count(const char *key)
{
	static const char *const words[] = {"port", "queue", "pg", "queue_bytes",
					    "buffer_used_bytes"};
	static const char watermark[] = "watermark_bytes";
	size_t n = strlen(key);

	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(key, words[i]) == 0)
			return true;
	return n >= sizeof(watermark) - 1 &&
	       strcmp(key + n - (sizeof(watermark) - 1), watermark) == 0;
}

static void
subtract_count(const char *key, json_t *now, const json_t *then)
{
	if (!is_no_count(key))
		json_integer_set(now, json_integer_value(now) - json_integer_value(then));
}

/* Two dumps of one node have the same shape. */
static void
subtract(json_t *now, json_t *then)
{
	for (size_t i = 0; i < json_array_size(now); i++)
		subtract(json_array_get(now, i), json_array_get(then, i));
	for (void *at = json_object_iter(now); at != NULL; at = json_object_iter_next(now, at)) {
		const char *key = json_object_iter_key(at);
		json_t *value = json_object_iter_value(at), *before = json_object_get(then, key);

		if (json_is_integer(value))
			subtract_count(key, value, before);
		else
			subtract(value, before);
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
