/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-lab/output/lab_walk.h"

#include <stdio.h>

#include "nic/nic_walk.h"
#include "switch/sw_walk.h"
#include "tm/pfc/pfc_walk.h"

static struct sw_view
view(const struct net *net, uint32_t i, uint64_t now_ns)
{
	if (net == NULL)
		return (struct sw_view){0};
	return (struct sw_view){net_switch(net, i), scenario_switch_params(net_scenario(net), i),
				now_ns};
}

/* Frames lost on the cable to here; a switch port has drop reasons of its own beside them. */
static void
walk_cable(struct walk *w, const struct net *net, struct topology_end end)
{
	walk_enter(w, "drops", "drops/");
	for (unsigned int d = 0; d < CABLE_DROP_REASONS; d++)
		WALK(number, w, COUNTER, cable_drop_name(d), "frames to here that did not arrive",
		     net_cable_drops(net, end, d));
	walk_leave(w);
}

static void
walk_interface(struct walk *w, const struct sw_view *v, const char *name)
{
	walk_enter_item(w, "interfaces", "interface %s/", name);
	sw_walk_interface(w, v, name);
	walk_leave(w);
}

/* Of a bridge: those of the file. Of a router: its VLAN, if it has hosts, and its other ports. */
static void
walk_interfaces(struct walk *w, const struct net *net, uint32_t i, const struct sw_view *v)
{
	const struct topology_switch *t = &net_scenario(net)->topology->switches[i];
	const struct sw_tables *tables = &net_scenario(net)->sw.tables;
	char name[16];

	if (net_scenario(net)->routes == NULL) {
		for (uint32_t k = 0; k < tables->n_interfaces; k++)
			walk_interface(w, v, tables->interfaces[k].name);
		return;
	}
	if (t->n_hosts > 0)
		walk_interface(w, v, "vlan 1");
	for (uint16_t p = t->n_hosts; p < t->n_ports; p++) {
		snprintf(name, sizeof(name), "port %u", p);
		walk_interface(w, v, name);
	}
}

void
lab_walk_switch(struct walk *w, const struct net *net, uint32_t i, uint64_t now_ns)
{
	const struct sw_view v = view(net, i, now_ns);

	sw_walk_buffer(w, &v);
	walk_enter(w, "fdb", "fdb/");
	sw_walk_fdb(w, &v);
	walk_leave(w);
	walk_enter(w, "router", "router/");
	sw_walk_router(w, &v);
	walk_leave(w);
	w->optional = true;
	if (w->names_only)
		walk_interface(w, &v, "");
	else
		walk_interfaces(w, net, i, &v);
	w->optional = false;
}

void
lab_walk_port(struct walk *w, const struct net *net, uint32_t i, uint16_t port, uint64_t now_ns)
{
	const struct sw_view v = view(net, i, now_ns);

	sw_walk_whole_port(w, &v, port);
	walk_cable(w, net, (struct topology_end){.node = i, .port = port});
}

void
lab_walk_host(struct walk *w, const struct net *net, uint32_t h, uint64_t now_ns)
{
	const struct node *nic = net == NULL ? NULL : net_host(net, h);
	struct topology_end end = {0};

	if (net != NULL)
		end.node = topology_host_node(net_scenario(net)->topology, h);
	walk_enter(w, "counters", "");
	nic_walk_counters(w, nic == NULL ? NULL : nic_stats(nic));
	walk_leave(w);
	pfc_walk(w, nic == NULL ? NULL : nic_pfc_rx(nic), nic == NULL ? NULL : nic_pfc_tx(nic),
		 now_ns);
	walk_cable(w, net, end);
}

static void
walk_ports(struct walk *w, const struct net *net, uint32_t i, uint16_t n_ports, uint64_t now_ns)
{
	for (uint16_t port = 0; port < n_ports; port++) {
		walk_enter_item(w, "ports", "port %u ", port);
		walk_number(w, WALK_KEY, "port", "number of the port", port);
		lab_walk_port(w, net, i, port, now_ns);
		walk_leave(w);
	}
}

void
lab_walk_node(struct walk *w, const struct net *net, uint32_t node, uint64_t now_ns)
{
	const struct topology *t = net_scenario(net)->topology;

	if (!topology_is_switch(t, node)) {
		lab_walk_host(w, net, node - t->n_switches + 1, now_ns);
		return;
	}
	lab_walk_switch(w, net, node, now_ns);
	walk_ports(w, net, node, t->switches[node].n_ports, now_ns);
}

void
lab_walk_names(struct walk *w, const char *member)
{
	walk_enter_named(w, member);
	lab_walk_switch(w, NULL, 0, 0);
	walk_ports(w, NULL, 0, 1, 0);
	walk_leave(w);
	walk_enter_named(w, member);
	lab_walk_host(w, NULL, 1, 0);
	walk_leave(w);
}
