/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement of hosts: addresses, VLANs and reachability.
 *
 * A host in the subnet of an interface of its switch ([interface vlan N] of its VLAN, or [interface
 * port N]) gets the next free address of that subnet, in order of host numbers. The switch has it
 * as a static neighbour, so that no frame waits for ARP.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>

#include "fabric/scenario/scenario_parts.h"
#include "wire/bytes/be.h"

/* With routers: each switch has a subnet, in which .1 is the switch. */
static struct scenario_host
routed_host(const struct scenario *s, const struct topology_host *h)
{
	uint32_t subnet = routes_subnet(s->routes, h->sw);

	return (struct scenario_host){
		.domain = SCENARIO_HOST_VLAN,
		.ip = scenario_address(s, scenario_subnet_address(s, subnet, h->place + 2u))};
}

static const struct sw_interface *
interface_of(const struct scenario *s, uint16_t domain)
{
	const struct sw_tables *t = &s->sw.tables;

	for (uint32_t i = 0; i < t->n_interfaces; i++)
		if (sw_interface_domain(t->interfaces[i].name) == domain)
			return &t->interfaces[i];
	return NULL;
}

static uint16_t
bridged_domain(const struct scenario *s, const struct topology_host *h)
{
	uint16_t port = s->topology->links[h->link].b.port;
	uint16_t routed = (uint16_t)(SW_PORT_DOMAIN + port);

	if (interface_of(s, routed) != NULL)
		return routed;
	return s->sw.vlan_filtering ? scenario_port(s, h->sw, port).access_vlan : 0;
}

/*
 * The next free address of the interface's subnet. The first and the last are reserved (RFC 950),
 * except that both addresses of a /31 are hosts (RFC 3021).
 *
 * @param last  The previous address, or 0: none; updated.
 * @return      false: the subnet is full.
 */
static bool
next_address(const struct route_prefix *subnet, uint32_t *last, struct field_ip *ip)
{
	uint32_t own = be32_load(subnet->ip.addr), bits = 32u - subnet->length;
	uint32_t mask = subnet->length == 0 ? 0 : UINT32_MAX << bits, first = own & mask;
	uint32_t end = first | ~mask, next = *last + 1;

	if (bits == 0)
		return false;
	if (*last == 0)
		next = bits == 1 ? first : first + 1;
	if (bits > 1)
		end--;
	next += next == own;
	if (next > end)
		return false;
	*last = next;
	*ip = (struct field_ip){.version = 4};
	be32_store(ip->addr, next);
	return true;
}

static bool
is_ipv4(const struct sw_interface *interface, struct route_prefix *subnet)
{
	return interface != NULL && route_prefix_parse(interface->ip, subnet) == 0 &&
	       subnet->ip.version == 4;
}

static int
place_bridged(struct scenario *s, struct scenario_fault *fault)
{
	const struct sw_tables *t = &s->sw.tables;
	/* By domain: the last address assigned. */
	uint32_t *last = calloc(SW_PORT_DOMAIN + SW_MAX_PORTS, sizeof(*last));
	char expected[96];
	int rc = 0;

	if (last == NULL)
		return scenario_refuse(fault, "fabric", "", "hosts",
				       "a smaller fabric: out of memory");
	if (s->fabric.ip_version == FABRIC_IPV6 && t->n_interfaces > 0)
		rc = scenario_refuse(fault, "interface", t->interfaces[0].name, NULL,
				     "no interface with ip_version = 6, or forwarding = l3");
	for (uint32_t n = 1; rc == 0 && n <= s->topology->n_hosts; n++) {
		struct scenario_host *host = &s->hosts[n - 1];
		const struct sw_interface *interface;
		struct route_prefix subnet;

		host->ip = scenario_address(s, 10u << 24 | n);
		host->domain = bridged_domain(s, &s->topology->hosts[n - 1]);
		interface = interface_of(s, host->domain);
		host->routed = is_ipv4(interface, &subnet);
		if (!host->routed || next_address(&subnet, &last[host->domain], &host->ip))
			continue;
		snprintf(expected, sizeof(expected),
			 "a subnet with an address for each host: there is none for h%u", n);
		rc = scenario_refuse(fault, "interface", interface->name, "ip", expected);
	}
	free(last);
	return rc;
}

/* Hosts in subnets of interfaces need neighbour entries in addition to those of the file. */
static int
check_neighbor_entries(const struct scenario *s, struct scenario_fault *fault)
{
	uint64_t n = sw_tables_neighbors(&s->sw.tables), hosts = 0;
	char expected[96];

	if (n == NEIGH_NONE)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->topology->n_hosts; i++)
		hosts += s->hosts[i].routed;
	if (hosts == 0 || n + hosts <= s->sw.router.neighbor_entries)
		return 0;
	snprintf(expected, sizeof(expected),
		 "%" PRIu64 " at least, one for each host, next hop and [neighbor]", n + hosts);
	return scenario_refuse(fault, "router", "", "neighbor_entries", expected);
}

/* Refuse keys that have no meaning in a fabric, or a different meaning on each switch. */
static int
check_vlans(const struct scenario *s, struct scenario_fault *fault)
{
	const struct sw_tables *tables = &s->sw.tables;
	const struct topology *t = s->topology;

	for (uint32_t i = 0; i < s->n_switches; i++)
		if (s->switches[i].sw.vlan_filtering != s->sw.vlan_filtering)
			return scenario_refuse(
				fault, "switch", s->switches[i].name, "vlan_filtering",
				"the value of [switch]: all switches have the same VLANs");
	for (uint32_t i = 0; t->n_switches > 1 && i < tables->n_interfaces; i++)
		if (sw_interface_domain(tables->interfaces[i].name) >= (int32_t)SW_PORT_DOMAIN)
			return scenario_refuse(fault, "interface", tables->interfaces[i].name, NULL,
					       "[interface vlan N]: a port's number is that of one "
					       "switch, and there are several");
	return 0;
}

static int
check_link_vlans(const struct scenario *s, const struct link_section *link, bool of_hosts,
		 struct scenario_fault *fault)
{
	bool tagged = strcmp(link->tagged_vlans, "none") != 0;
	const char *key = tagged ? "tagged_vlans" : "access_vlan";
	struct vlan_set set;

	if (link->access_vlan == SCENARIO_HOST_VLAN && !tagged)
		return 0;
	if (!of_hosts)
		return scenario_refuse(
			fault, "link", link->name, key,
			"the link of a host: links between switches carry all VLANs");
	if (s->routes != NULL)
		return scenario_refuse(fault, "link", link->name, key,
				       "forwarding = l2 in [fabric]: each router has a VLAN of "
				       "its own");
	if (!s->sw.vlan_filtering)
		return scenario_refuse(fault, "link", link->name, key,
				       "vlan_filtering = on in [switch]");
	if (vlan_set_parse(link->tagged_vlans, &set) < 0)
		return scenario_refuse(fault, "link", link->name, key,
				       "none, or numbers from 1 to 4094 such as 10,20-29");
	if (link->access_vlan != 0 && vlan_set_has(&set, link->access_vlan))
		return scenario_refuse(fault, "link", link->name, key,
				       "VLANs without the access_vlan among them");
	return 0;
}

static int
check_links_vlans(const struct scenario *s, struct scenario_fault *fault)
{
	const struct topology *t = s->topology;

	for (uint32_t i = 0; i < t->n_links; i++) {
		const struct topology_link *link = &t->links[i];

		if (link->tag > 0 &&
		    check_link_vlans(s, &s->links[link->tag - 1],
				     !topology_is_switch(t, link->a.node), fault) < 0)
			return -EINVAL;
	}
	return 0;
}

int
scenario_place_hosts(struct scenario *s, struct scenario_fault *fault)
{
	const struct topology *t = s->topology;

	s->hosts = calloc(t->n_hosts + 1u, sizeof(*s->hosts));
	if (s->hosts == NULL)
		return scenario_refuse(fault, "fabric", "", "hosts",
				       "a smaller fabric: out of memory");
	if (check_links_vlans(s, fault) < 0)
		return -EINVAL;
	for (uint32_t i = 0; s->routes != NULL && i < t->n_hosts; i++)
		s->hosts[i] = routed_host(s, &t->hosts[i]);
	if (s->routes != NULL)
		return 0;
	if (check_vlans(s, fault) < 0 || place_bridged(s, fault) < 0)
		return -EINVAL;
	return check_neighbor_entries(s, fault);
}

static int
format_domain(char *text, size_t size, uint16_t domain)
{
	if (domain == 0)
		return snprintf(text, size, "no VLAN");
	if (domain >= SW_PORT_DOMAIN)
		return snprintf(text, size, "port %u", domain - SW_PORT_DOMAIN);
	return snprintf(text, size, "VLAN %u", domain);
}

/* Routers may be in several parts that no link joins. */
static bool
is_routed(const struct scenario *s, uint32_t a, uint32_t b)
{
	uint32_t from = s->topology->hosts[a - 1].sw, to = s->topology->hosts[b - 1].sw;
	struct port_set ways;

	if (from == to)
		return true;
	ways = routes_ports(s->routes, from, routes_subnet(s->routes, to));
	return !port_set_is_empty(&ways);
}

int
scenario_check_reach(const struct scenario *s, const struct flow_params *flow,
		     struct scenario_fault *fault)
{
	for (uint32_t i = 0; s->routes != NULL && i < flow->n_pairs; i++) {
		const struct flow_pair *p = &flow->pairs[i];
		char expected[96];

		if (is_routed(s, p->src, p->dst))
			continue;
		snprintf(expected, sizeof(expected),
			 "hosts whose switches are joined by links, not h%u and h%u", p->src,
			 p->dst);
		return scenario_refuse(fault, flow->job != NULL ? "job" : "flow", flow->name,
				       flow->job != NULL             ? "ranks"
				       : flow->pattern == FLOW_TRACE ? "trace"
								     : "src",
				       expected);
	}
	for (uint32_t i = 0; i < flow->n_pairs; i++) {
		const struct scenario_host *a = &s->hosts[flow->pairs[i].src - 1];
		const struct scenario_host *b = &s->hosts[flow->pairs[i].dst - 1];
		bool nowhere = s->sw.vlan_filtering && (a->domain == 0 || b->domain == 0);
		char expected[sizeof(fault->expected)], in[2][16];

		if (s->routes != NULL || (a->routed && b->routed) ||
		    (a->domain == b->domain && !nowhere))
			continue;
		format_domain(in[0], sizeof(in[0]), a->domain);
		format_domain(in[1], sizeof(in[1]), b->domain);
		snprintf(expected, sizeof(expected),
			 "h%u (%s) and h%u (%s) in one VLAN, or an [interface] with an ip for each",
			 flow->pairs[i].src, in[0], flow->pairs[i].dst, in[1]);
		return scenario_refuse(fault, "flow", flow->name, NULL, expected);
	}
	return 0;
}

static bool
is_named(const struct sw_tables *tables, const char *name)
{
	for (uint32_t i = 0; i < tables->n_neighbors; i++)
		if (strcmp(tables->neighbors[i].name, name) == 0)
			return true;
	return false;
}

int
scenario_add_neighbors(const struct scenario *s, struct sw_tables *tables)
{
	const struct sw_tables given = *tables;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->topology->n_hosts; i++)
		n += s->hosts[i].routed;
	if (n == 0)
		return 0;
	tables->neighbors = calloc(given.n_neighbors + n, sizeof(*tables->neighbors));
	if (tables->neighbors == NULL) {
		*tables = given;
		return -ENOMEM;
	}
	if (given.n_neighbors > 0)
		memcpy(tables->neighbors, given.neighbors,
		       given.n_neighbors * sizeof(*tables->neighbors));
	for (uint32_t h = 1; h <= s->topology->n_hosts; h++) {
		struct sw_neighbor *neighbor = &tables->neighbors[tables->n_neighbors];

		if (!s->hosts[h - 1].routed)
			continue;
		inet_ntop(AF_INET, s->hosts[h - 1].ip.addr, neighbor->name, sizeof(neighbor->name));
		scenario_host_mac(h, neighbor->mac);
		/* An entry of the file takes precedence. */
		tables->n_neighbors += !is_named(&given, neighbor->name);
	}
	return 0;
}
