/* SPDX-License-Identifier: BSD-3-Clause */
/* Build a graph and its routes from [fabric], [switch NAME] and [link NAME]. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/units.h"
#include "fabric/scenario/scenario_parts.h"
#include "fabric/topology/host_list.h"

static struct fabric_cable
host_cable(const struct fabric_params *f)
{
	return (struct fabric_cable){
		.rate_bps = f->link_rate_bps, .delay_ns = f->link_delay_ns, .errors.seed = f->seed};
}

static struct fabric_cable
core_cable(const struct fabric_params *f)
{
	return (struct fabric_cable){
		.rate_bps = f->core_rate_bps > 0 ? f->core_rate_bps : f->link_rate_bps,
		.delay_ns = f->core_delay_ns > 0 ? f->core_delay_ns : f->link_delay_ns,
		.errors.seed = f->seed};
}

/* Apply a section to a link. link->tag becomes the section's number, from 1 on. */
static void
apply_section(const struct scenario *s, uint32_t index, struct topology_link *link)
{
	const struct link_section *section = &s->links[index];
	struct fabric_cable *cable = &link->cable;

	link->tag = index + 1;
	if (section->link_rate_bps > 0)
		cable->rate_bps = section->link_rate_bps;
	if (section->link_delay_ns > 0)
		cable->delay_ns = section->link_delay_ns;
	cable->errors.loss_ppb[CABLE_FRAMES_ANY] = section->frame_loss_ppb;
	cable->errors.bit_errors_per_tbit = section->bit_errors_per_tbit;
}

/* Find both ends of a [link NAME]. @return -1: not two nodes of the graph. */
static int
find_ends(const struct topology *t, const struct link_section *section, uint32_t ends[2])
{
	char a[LINK_ENDS_CHARS + 1], b[LINK_ENDS_CHARS + 1], rest[2];
	int64_t found[2];

	if (sscanf(section->ends, "%40s %40s %1s", a, b, rest) != 2)
		return -1;
	found[0] = topology_find(t, a);
	found[1] = topology_find(t, b);
	if (found[0] < 0 || found[1] < 0 || found[0] == found[1])
		return -1;
	ends[0] = (uint32_t)found[0];
	ends[1] = (uint32_t)found[1];
	return 0;
}

static int
add_graph_switches(const struct scenario *s, struct topology *t, struct scenario_fault *fault)
{
	const struct fabric_cable cable = host_cable(&s->fabric);
	uint32_t hosts = 0;
	char sum[64];

	if (s->n_switches == 0)
		return scenario_refuse(fault, "switch", "", NULL,
				       "sections [switch NAME] with topology = graph");
	for (uint32_t i = 0; i < s->n_switches; i++) {
		hosts += s->switches[i].hosts;
		if (topology_add_switch(t, s->switches[i].name, s->switches[i].stage) < 0)
			return scenario_refuse(fault, "switch", s->switches[i].name, NULL,
					       "a name of its own, and at most 8192 switches");
	}
	snprintf(sum, sizeof(sum), "%u, the sum over all [switch NAME]", hosts);
	if (hosts != s->fabric.hosts)
		return scenario_refuse(fault, "fabric", "", "hosts", sum);
	for (uint32_t i = 0; i < s->n_switches; i++)
		if (topology_add_hosts(t, i, s->switches[i].hosts, &cable) < 0)
			return scenario_refuse(fault, "switch", s->switches[i].name, "hosts",
					       "at most 512 ports");
	return 0;
}

static int
add_graph_link(const struct scenario *s, uint32_t index, struct scenario_fault *fault)
{
	const struct link_section *section = &s->links[index];
	const struct fabric_cable cable = core_cable(&s->fabric);
	uint32_t ends[2];

	/*
	 * The only cable of a host already exists: change_links() applies its section and the
	 * sections with a list of hosts.
	 */
	if (find_ends(s->topology, section, ends) < 0)
		return 0;
	if (!topology_is_switch(s->topology, ends[0]) || !topology_is_switch(s->topology, ends[1]))
		return 0;
	if (topology_join(s->topology, ends[0], ends[1], &cable) < 0)
		return scenario_refuse(fault, "link", section->name, "ends",
				       "two switches with fewer than 512 ports each");
	apply_section(s, index, &s->topology->links[s->topology->n_links - 1]);
	return 0;
}

/*
 * "h1-h4 T1": apply the section to the cables of hosts at that switch.
 * @return -1 if ends has another form, or a host is not at that switch; nothing has changed then.
 */
static int
change_host_links(const struct scenario *s, uint32_t index)
{
	const struct link_section *section = &s->links[index];
	char list[LINK_ENDS_CHARS + 1], name[LINK_ENDS_CHARS + 1], rest[2];
	struct topology *t = s->topology;
	uint32_t hosts[TOPOLOGY_MAX_HOSTS];
	int64_t sw;
	int32_t n;

	if (sscanf(section->ends, "%40s %40s %1s", list, name, rest) != 2)
		return -1;
	sw = topology_find(t, name);
	n = host_list_parse(t, list, hosts);
	if (sw < 0 || n <= 0)
		return -1;
	for (int32_t i = 0; i < n; i++)
		if (t->hosts[hosts[i] - 1].sw != sw)
			return -1;
	for (int32_t i = 0; i < n; i++)
		apply_section(s, index, &t->links[t->hosts[hosts[i] - 1].link]);
	return 0;
}

/* Apply each section to the existing cables between its nodes, including parallel ones. */
static int
change_links(const struct scenario *s, struct scenario_fault *fault)
{
	struct topology *t = s->topology;

	for (uint32_t i = 0; i < s->n_links; i++) {
		uint32_t ends[2], link = TOPOLOGY_NO_LINK;

		if (find_ends(t, &s->links[i], ends) == 0)
			link = topology_link_between(t, ends[0], ends[1], 0);
		else if (change_host_links(s, i) == 0)
			continue;
		if (link == TOPOLOGY_NO_LINK)
			return scenario_refuse(
				fault, "link", s->links[i].name, "ends",
				"two nodes that have a link, such as T1 L1, or hosts "
				"and their switch, such as h1-h4 T1");
		/* In a graph the section has created its own cable. */
		if (s->fabric.topology == TOPOLOGY_GRAPH && topology_is_switch(t, ends[0]) &&
		    topology_is_switch(t, ends[1]))
			continue;
		for (; link != TOPOLOGY_NO_LINK;
		     link = topology_link_between(t, ends[0], ends[1], link + 1))
			apply_section(s, i, &t->links[link]);
	}
	return 0;
}

static int
build_graph(struct scenario *s, struct scenario_fault *fault)
{
	s->topology = topology_create();
	if (s->topology == NULL)
		return scenario_refuse(fault, "fabric", "", "topology", "more memory");
	if (add_graph_switches(s, s->topology, fault) < 0)
		return -EINVAL;
	for (uint32_t i = 0; i < s->n_links; i++)
		if (add_graph_link(s, i, fault) < 0)
			return -EINVAL;
	return 0;
}

/* Servers, and the sizes of the shapes that are made of them. */
static int
check_servers(const struct fabric_params *f, struct scenario_fault *fault)
{
	bool optimized = f->topology == TOPOLOGY_RAIL_OPTIMIZED;
	uint32_t servers = f->hosts / f->nics_per_server;
	char expected[96];

	if (f->hosts % f->nics_per_server != 0) {
		snprintf(expected, sizeof(expected), "a multiple of nics_per_server, which is %u",
			 f->nics_per_server);
		return scenario_refuse(fault, "fabric", "", "hosts", expected);
	}
	if ((optimized || f->topology == TOPOLOGY_RAIL_ONLY) && f->nics_per_server < 2)
		return scenario_refuse(fault, "fabric", "", "nics_per_server",
				       "2 or more, of which each is a rail of this topology");
	if (f->groups > 1 && !optimized)
		return scenario_refuse(fault, "fabric", "", "groups",
				       "1 without topology = rail_optimized");
	if (f->groups > servers) {
		snprintf(expected, sizeof(expected), "%u, the number of servers, at most", servers);
		return scenario_refuse(fault, "fabric", "", "groups", expected);
	}
	return 0;
}

static int
build_shape(struct scenario *s, struct scenario_fault *fault)
{
	const struct fabric_params *f = &s->fabric;
	const struct topology_params params = {
		.shape = f->topology,
		.hosts = f->hosts,
		.switches = f->switches,
		.leaves = f->leaves,
		.spines = f->spines,
		.fat_tree_k = f->fat_tree_k,
		.rails = f->nics_per_server,
		.groups = f->groups,
		.host_cable = host_cable(f),
		.core_cable = core_cable(f),
	};
	const char *why;

	if (f->topology == TOPOLOGY_FAT_TREE && f->fat_tree_k % 2 != 0)
		return scenario_refuse(fault, "fabric", "", "fat_tree_k", "an even number");
	s->topology = topology_build(&params, &why);
	if (s->topology == NULL)
		return scenario_refuse(fault, "fabric", "", "hosts", why);
	for (uint32_t i = 0; i < s->n_switches; i++) {
		int64_t sw = topology_find(s->topology, s->switches[i].name);

		if (sw < 0 || !topology_is_switch(s->topology, (uint32_t)sw))
			return scenario_refuse(fault, "switch", s->switches[i].name, NULL,
					       "the name of a switch of this topology");
		if (s->switches[i].hosts > 0)
			return scenario_refuse(fault, "switch", s->switches[i].name, "hosts",
					       "topology = graph");
	}
	return 0;
}

/* Number of a switch by name, or -1. */
static int64_t
find_switch(const struct topology *t, const char *name)
{
	int64_t node = topology_find(t, name);

	return node >= 0 && topology_is_switch(t, (uint32_t)node) ? node : -1;
}

static struct port_set
ports_between(const struct topology *t, const uint8_t *down, uint32_t from, uint32_t to)
{
	struct port_set ports = {0};

	for (uint16_t p = 0; p < t->switches[from].n_ports; p++)
		if (topology_peer(t, from, p).node == to &&
		    (down == NULL || down[t->switches[from].link[p]] == 0))
			port_set_add(&ports, p);
	return ports;
}

static int
check_static_route(const struct topology *t, const struct static_route *route,
		   struct scenario_fault *fault)
{
	int64_t at = find_switch(t, route->at), to = find_switch(t, route->to);
	int64_t via = find_switch(t, route->via);
	struct port_set ports = {0};

	if (at < 0)
		return scenario_refuse(fault, "static_route", route->name, "at", "a switch");
	if (to < 0 || to == at || t->switches[to].n_hosts == 0)
		return scenario_refuse(fault, "static_route", route->name, "to",
				       "another switch, which has hosts");
	if (via >= 0)
		ports = ports_between(t, NULL, (uint32_t)at, (uint32_t)via);
	if (port_set_is_empty(&ports))
		return scenario_refuse(fault, "static_route", route->name, "via",
				       "a switch next to `at`");
	return 0;
}

struct routes *
scenario_routes(const struct scenario *s, const uint8_t *down)
{
	const struct topology *t = s->topology;
	struct routes *routes = routes_create(t, down);

	for (uint32_t i = 0; routes != NULL && i < s->n_static_routes; i++) {
		const struct static_route *route = &s->static_routes[i];
		uint32_t at = (uint32_t)find_switch(t, route->at);
		uint32_t to = (uint32_t)find_switch(t, route->to);
		struct port_set ports =
			ports_between(t, down, at, (uint32_t)find_switch(t, route->via));

		/* A static route is inactive while its link is down. */
		if (!port_set_is_empty(&ports))
			routes_set_ports(routes, at, routes_subnet(routes, to), &ports);
	}
	return routes;
}

/* Choose bridges or routers. For routers, check the static routes and create all routes. */
static int
choose_forwarding(struct scenario *s, struct scenario_fault *fault)
{
	const struct sw_tables *tables = &s->sw.tables;
	int forwarding = s->fabric.forwarding;

	if (forwarding == FABRIC_FORWARDING_AUTO)
		forwarding =
			s->topology->n_switches == 1 ? FABRIC_FORWARDING_L2 : FABRIC_FORWARDING_L3;
	if (forwarding == FABRIC_FORWARDING_L2 && !topology_is_connected(s->topology))
		return scenario_refuse(fault, "fabric", "", "topology",
				       "[link NAME] sections that join all switches");
	if (forwarding == FABRIC_FORWARDING_L2 && !topology_is_tree(s->topology))
		return scenario_refuse(fault, "fabric", "", "forwarding",
				       "l3, since there is more than one way between two switches");
	if (forwarding == FABRIC_FORWARDING_L2 && s->n_static_routes > 0)
		return scenario_refuse(fault, "fabric", "", "forwarding",
				       "l3 with [static_route NAME]");
	if (forwarding == FABRIC_FORWARDING_L2 && s->fabric.reroute_after_ns != NEVER_NS)
		return scenario_refuse(fault, "fabric", "", "forwarding",
				       "l3 with reroute_after_ns");
	if (forwarding == FABRIC_FORWARDING_L2)
		return 0;
	for (uint32_t i = 0; i < s->n_static_routes; i++)
		if (check_static_route(s->topology, &s->static_routes[i], fault) < 0)
			return -EINVAL;
	if (tables->n_static_macs + tables->n_interfaces + tables->n_routes + tables->n_neighbors >
	    0)
		return scenario_refuse(
			fault, "fabric", "", "forwarding",
			"l2 with [fdb], [interface], [route] or [neighbor], which l3 "
			"generates itself");
	/* A subnet has two addresses that no node uses, and its router's. */
	s->host_bits = 8;
	for (uint32_t i = 0; i < s->topology->n_switches; i++)
		while (s->topology->switches[i].n_hosts + 3u > 1u << s->host_bits)
			s->host_bits++;
	s->routes = scenario_routes(s, NULL);
	if (s->routes == NULL)
		return scenario_refuse(fault, "fabric", "", "topology",
				       "a smaller fabric: out of memory");
	return 0;
}

int
scenario_build_topology(struct scenario *s, struct scenario_fault *fault)
{
	int rc = check_servers(&s->fabric, fault);

	if (rc == 0)
		rc = s->fabric.topology == TOPOLOGY_GRAPH ? build_graph(s, fault)
							  : build_shape(s, fault);
	if (rc == 0)
		rc = change_links(s, fault);
	if (rc < 0)
		return rc;
	return choose_forwarding(s, fault);
}
