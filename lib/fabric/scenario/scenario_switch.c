/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration of each switch. A router has one VLAN for its hosts with an interface in their
 * subnet, a routed port for each cable to another switch, a route for each block of subnets with
 * all shortest paths as next hops, and static neighbours, so that no frame waits for ARP.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/prng.h"
#include "fabric/scenario/scenario_parts.h"
#include "nic/qp/payload.h"

/*
 * Stream of random numbers for the key of a switch's tables, separate from its other random
 * numbers.
 */
#define KEY_STREAM 1

/*
 * Room in the tables of a router whose stations are all known: for those, twice, and for this
 * number. In a large fabric the room that a switch has by default takes more memory than all else.
 */
#define SPARE_ENTRIES 64u

struct build {
	const struct scenario *s;
	uint32_t sw;
	struct sw_params *out;
};

static void
set_ports(const struct build *b)
{
	uint16_t n = b->s->topology->switches[b->sw].n_ports;

	b->out->n_ports = n;
	sw_params_use_rows(b->out, n);
	for (uint16_t p = 0; p < n; p++)
		b->out->ports[p] = scenario_port(b->s, b->sw, p);
}

/* As many shards as the ports name. */
static void
set_shards(const struct build *b)
{
	uint16_t most = 0;

	for (uint16_t p = 0; p < b->out->n_ports; p++)
		most = RTE_MAX(most, b->out->ports[p].shard);
	if (b->out->shards == 0)
		b->out->shards = most;
}

/* FCS, and a tag that a switch may add. */
#define MORE_BYTES 8u

/* Longest frame in the fabric. */
static uint32_t
longest_frame(const struct scenario *s)
{
	uint32_t longest = MIN_FRAME_BYTES;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		uint32_t bytes = nic_largest_frame(s->flows[i].mtu_bytes);

		longest = RTE_MAX(longest, bytes + MORE_BYTES);
	}
	for (uint32_t i = 0; i < s->n_streams; i++)
		longest = RTE_MAX(longest, s->streams[i].frame_bytes + MORE_BYTES);
	for (uint32_t i = 0; i < s->n_events; i++)
		for (uint32_t k = 0; k < s->events[i].send.n; k++)
			longest =
				RTE_MAX(longest, s->events[i].send.frames[k].n_bytes + MORE_BYTES);
	return longest;
}

/* Apply the curves of links to the ports at their ends. */
static void
set_curves(const struct build *b)
{
	const struct topology *t = b->s->topology;
	const struct topology_switch *sw = &t->switches[b->sw];

	for (uint16_t p = 0; p < sw->n_ports; p++) {
		uint32_t tag = t->links[sw->link[p]].tag;
		const char *name =
			tag == 0 ? SW_PROFILE_DEFAULT : b->s->links[tag - 1].wred_profile;

		if (strcmp(name, SW_PROFILE_DEFAULT) == 0)
			continue;
		for (unsigned int q = 0; q < TM_CLASSES; q++)
			if (b->out->wred_queues >> q & 1)
				snprintf(b->out->queues[p][q].wred_profile,
					 sizeof(b->out->queues[p][q].wred_profile), "%s", name);
	}
}

/* Each cable between switches has two addresses of 10.128.0.0/9; its first end has the even one. */
static uint32_t
link_address(const struct topology *t, uint32_t sw, uint16_t port)
{
	uint32_t index = t->switches[sw].link[port];
	const struct topology_end *a = &t->links[index].a;

	return (10u << 24 | 128u << 16) + 2 * index + (a->node == sw && a->port == port ? 0 : 1);
}

/* @return length. */
static int
format_address(const struct build *b, char *text, size_t size, uint32_t ipv4)
{
	const struct field_ip ip = scenario_address(b->s, ipv4);
	char address[FIELD_IP_CHARS];

	return snprintf(text, size, "%s", field_ip_text(&ip, address));
}

/* length: that of the IPv4 prefix. */
static int
format_prefix(const struct build *b, char *text, size_t size, uint32_t ipv4, unsigned int length)
{
	unsigned int more = b->s->fabric.ip_version == FABRIC_IPV6 ? 96 : 0;
	int n = format_address(b, text, size, ipv4);

	return n + snprintf(text + n, size - (size_t)n, "/%u", more + length);
}

/* Give an interface its address, of one IP version. */
static void
set_address(const struct build *b, struct sw_interface *i, uint32_t ipv4, unsigned int length)
{
	bool v6 = b->s->fabric.ip_version == FABRIC_IPV6;
	char *text = v6 ? i->ip6 : i->ip;

	strcpy(v6 ? i->ip : i->ip6, "none");
	format_prefix(b, text, sizeof(i->ip), ipv4, length);
}

static void
add_interfaces(const struct build *b)
{
	const struct topology *t = b->s->topology;
	const struct topology_switch *sw = &t->switches[b->sw];
	uint32_t subnet = routes_subnet(b->s->routes, b->sw);
	struct sw_tables *tables = &b->out->tables;

	if (sw->n_hosts > 0) {
		struct sw_interface *i = &tables->interfaces[tables->n_interfaces++];

		snprintf(i->name, sizeof(i->name), "vlan %u", SCENARIO_HOST_VLAN);
		set_address(b, i, scenario_subnet_address(b->s, subnet, 1), 32u - b->s->host_bits);
	}
	for (uint16_t p = sw->n_hosts; p < sw->n_ports; p++) {
		struct sw_interface *i = &tables->interfaces[tables->n_interfaces++];

		snprintf(i->name, sizeof(i->name), "port %u", p);
		set_address(b, i, link_address(t, b->sw, p), 31);
	}
}

static void
add_neighbors(const struct build *b)
{
	const struct topology *t = b->s->topology;
	const struct topology_switch *sw = &t->switches[b->sw];
	struct sw_tables *tables = &b->out->tables;

	for (uint16_t p = 0; p < sw->n_ports; p++) {
		struct sw_neighbor *n = &tables->neighbors[tables->n_neighbors++];
		struct topology_end peer = topology_peer(t, b->sw, p);
		uint32_t host = peer.node - t->n_switches + 1;
		struct sw_static_mac *mac;
		char address[FIELD_IP_CHARS];
		struct field_ip ip;

		if (topology_is_switch(t, peer.node)) {
			format_address(b, n->name, sizeof(n->name),
				       link_address(t, peer.node, peer.port));
			scenario_router_mac(peer.node, n->mac);
			continue;
		}
		ip = scenario_host_ip(b->s, host);
		snprintf(n->name, sizeof(n->name), "%s", field_ip_text(&ip, address));
		scenario_host_mac(host, n->mac);
		mac = &tables->static_macs[tables->n_static_macs++];
		snprintf(mac->name, sizeof(mac->name), "h%u", host);
		scenario_host_mac(host, mac->mac);
		mac->vlan = SCENARIO_HOST_VLAN;
		snprintf(mac->port, sizeof(mac->port), "%u", p);
	}
}

static int
add_route(const struct build *b, const struct routes_block *block)
{
	const struct topology *t = b->s->topology;
	struct sw_static_route *route = &b->out->tables.routes[b->out->tables.n_routes++];
	char hops[SW_NEXTHOP_CHARS + 1];
	size_t used = 0;

	hops[0] = '\0';
	if (port_set_count(&block->ports) > SW_MAX_NEXTHOPS)
		return -ENOSPC;
	format_prefix(b, route->name, sizeof(route->name),
		      scenario_subnet_address(b->s, block->first, 0),
		      32u - b->s->host_bits - block->bits);
	for (uint16_t p = port_set_next(&block->ports, 0); p != PORT_NONE;
	     p = port_set_next(&block->ports, (uint16_t)(p + 1))) {
		struct topology_end peer = topology_peer(t, b->sw, p);

		if (used > 0)
			hops[used++] = ',';
		used += (size_t)format_address(b, hops + used, sizeof(hops) - used,
					       link_address(t, peer.node, peer.port));
	}
	route->nexthop = strdup(hops);
	return route->nexthop == NULL ? -ENOMEM : 0;
}

static int
add_routes(const struct build *b)
{
	/* A block has one subnet at least. */
	uint32_t most = routes_n_subnets(b->s->routes);
	struct routes_block *blocks = malloc((size_t)most * sizeof(blocks[0]));
	int32_t n = blocks == NULL ? -ENOMEM : routes_merged(b->s->routes, b->sw, blocks, most);
	int rc = n < 0 ? n : 0;

	if (n > 0)
		b->out->tables.routes = calloc((size_t)n, sizeof(struct sw_static_route));
	if (n > 0 && b->out->tables.routes == NULL)
		rc = -ENOMEM;
	for (int32_t i = 0; rc == 0 && i < n; i++)
		rc = add_route(b, &blocks[i]);
	free(blocks);
	return rc;
}

static int
make_router(const struct build *b)
{
	uint16_t n_ports = b->s->topology->switches[b->sw].n_ports;
	struct sw_tables *tables = &b->out->tables;

	b->out->vlan_filtering = true;
	scenario_router_mac(b->sw, b->out->router.router_mac);
	b->out->router.ecmp_hash_seed = scenario_ecmp_seed(b->s, b->sw);
	tables->interfaces = calloc(n_ports + 1u, sizeof(*tables->interfaces));
	tables->neighbors = calloc(n_ports, sizeof(*tables->neighbors));
	tables->static_macs = calloc(n_ports, sizeof(*tables->static_macs));
	if (tables->interfaces == NULL || tables->neighbors == NULL || tables->static_macs == NULL)
		return -ENOMEM;
	add_interfaces(b);
	add_neighbors(b);
	if (!scenario_has_strangers(b->s)) {
		b->out->fdb_entries = RTE_MIN(b->out->fdb_entries, SPARE_ENTRIES + 2u * n_ports);
		b->out->router.neighbor_entries =
			RTE_MIN(b->out->router.neighbor_entries, SPARE_ENTRIES + 2u * n_ports);
	}
	return add_routes(b);
}

void
scenario_switch_fill(const struct scenario *s, uint32_t sw, struct sw_params *params)
{
	const struct build b = {.s = s, .sw = sw, .out = params};
	struct prng rnd;

	set_ports(&b);
	set_shards(&b);
	params->longest_frame_bytes = longest_frame(s);
	/* In virtual time no call is late, so the smallest burst is enough. */
	params->shaper_burst_ns = 1;
	params->seed = s->fabric.seed + ((uint64_t)sw << 32);
	prng_seed(&rnd, params->seed, KEY_STREAM);
	params->table_key = half_sip_key(prng_u64(&rnd));
	sw_params_resolve(params);
}

int
scenario_switch_build(const struct scenario *s, uint32_t sw, struct sw_params *out)
{
	const struct build b = {.s = s, .sw = sw, .out = out};
	int rc = 0;

	sw_params_copy(scenario_switch_params(s, sw), out);
	snprintf(out->system_name, sizeof(out->system_name), "%s", s->topology->switches[sw].name);
	sw_params_use_rows(out, s->topology->switches[sw].n_ports);
	set_curves(&b);
	scenario_switch_fill(s, sw, out);
	if (s->routes == NULL)
		return scenario_add_neighbors(s, &out->tables);
	out->tables = (struct sw_tables){0};
	rc = make_router(&b);
	if (rc < 0)
		scenario_switch_release(s, out);
	return rc;
}

void
scenario_switch_release(const struct scenario *s, struct sw_params *params)
{
	if (s->routes != NULL)
		sw_tables_free(&params->tables);
	/*
	 * A bridge uses the scenario's tables, except for its list of neighbours if that was
	 * extended.
	 */
	else if (params->tables.neighbors != s->sw.tables.neighbors)
		free(params->tables.neighbors);
}

/* The params of a switch without its tables. @return to be freed by the caller, or NULL. */
static struct sw_params *
params_without_tables(const struct scenario *s, uint32_t sw)
{
	struct sw_params *params = malloc(sizeof(*params));

	if (params == NULL)
		return NULL;
	sw_params_copy(scenario_switch_params(s, sw), params);
	scenario_switch_fill(s, sw, params);
	return params;
}

struct sw_auto_headroom
scenario_auto_headroom(const struct scenario *s, uint32_t sw)
{
	struct sw_params *params = params_without_tables(s, sw);
	struct sw_auto_headroom found = {0};

	if (params != NULL)
		found = sw_auto_headroom(params);
	free(params);
	return found;
}

struct sw_short_headroom
scenario_short_headroom(const struct scenario *s, uint32_t sw)
{
	struct sw_params *params = params_without_tables(s, sw);
	struct sw_short_headroom found = {0};

	if (params == NULL)
		return found;
	for (uint16_t p = 0; p < params->n_ports; p++)
		if (params->ports[p].peer_response_ns == 0)
			params->ports[p].peer_response_ns = 1;
	found = sw_short_headroom(params);
	free(params);
	return found;
}
