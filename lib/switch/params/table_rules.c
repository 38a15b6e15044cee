/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of the tables against each other and against the rest of the configuration. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/neigh.h"
#include "switch/params/sw_params.h"
#include "switch/params/port_names.h"

static const char *
static_mac_fault(const struct sw_params *params, const struct sw_static_mac *mac)
{
	int number = sw_port_find(params, mac->port);
	const struct sw_port_params *port;
	struct vlan_set set;

	if (number < 0)
		return "port: expected a port of this switch";
	port = &params->ports[number];
	if (!params->vlan_filtering)
		return NULL;
	vlan_set_parse(port->tagged_vlans, &set);
	if (mac->vlan == 0 || (mac->vlan != port->access_vlan && !vlan_set_has(&set, mac->vlan)))
		return "vlan: expected a VLAN that the port is a member of";
	return NULL;
}

/* Is this none, or an address of that IP version with a prefix length above 0? */
static bool
is_interface_ip(const char *text, uint8_t version)
{
	struct route_prefix prefix;

	if (strcmp(text, "none") == 0 || *text == '\0')
		return true;
	return route_prefix_parse(text, &prefix) == 0 && prefix.ip.version == version &&
	       prefix.length > 0;
}

/* Do these two subnets overlap? */
static bool
overlap(const char *a, const char *b)
{
	struct route_prefix pa, pb;

	return route_prefix_parse(a, &pa) >= 0 && route_prefix_parse(b, &pb) >= 0 &&
	       pa.ip.version == pb.ip.version &&
	       (route_prefix_has(&pa, &pb.ip) || route_prefix_has(&pb, &pa.ip));
}

static const char *
interface_fault(const struct sw_params *params, const struct sw_interface *interface)
{
	int32_t domain = sw_interface_domain(interface->name);
	static const uint8_t none[6];
	struct vlan_set set;

	if (domain < 0 || domain >= (int32_t)SW_PORT_DOMAIN + params->n_ports)
		return ": expected [interface vlan N] or [interface port N] of a port of this "
		       "switch";
	if (domain < (int32_t)SW_PORT_DOMAIN && !params->vlan_filtering)
		return ": expected vlan_filtering = on in [switch]";
	if (memcmp(params->router.router_mac, none, sizeof(none)) == 0)
		return ": expected a router_mac in [router]";
	if (domain >= (int32_t)SW_PORT_DOMAIN) {
		vlan_set_parse(params->ports[domain - (int32_t)SW_PORT_DOMAIN].tagged_vlans, &set);
		if (!vlan_set_is_empty(&set))
			return ": expected a port without tagged_vlans";
	}
	if (!is_interface_ip(interface->ip, 4))
		return "ip: expected an IPv4 address and a length, such as 10.0.0.1/24, or none";
	if (!is_interface_ip(interface->ip6, 6))
		return "ip6: expected an IPv6 address and a length, such as fd00::1/64, or none";
	/*
	 * Subnets must not overlap: of two interfaces with an address in common, only the first
	 * would get its traffic.
	 */
	for (const struct sw_interface *o = params->tables.interfaces; o < interface; o++) {
		if (overlap(o->ip, interface->ip))
			return "ip: expected a subnet apart from those of the interfaces before";
		if (overlap(o->ip6, interface->ip6))
			return "ip6: expected a subnet apart from those of the interfaces before";
	}
	return NULL;
}

/* Room for a fault: a key, and a clause of sw_tables.h. */
#define FAULT_CHARS 128

static const char *
route_fault(const struct sw_params *params, const struct sw_static_route *route,
	    char text[FAULT_CHARS])
{
	struct field_ip hops[SW_MAX_NEXTHOPS];
	struct route_prefix prefix;
	int n = sw_nexthops_parse(route->nexthop, hops);
	const char *fault;

	if (route_prefix_parse(route->name, &prefix) < 0)
		return ": expected a prefix, such as 10.0.0.0/8 or fd00::/8";
	fault = sw_tables_route_fault(&params->tables, &prefix);
	if (fault != NULL) {
		snprintf(text, FAULT_CHARS, ": expected %s", fault);
		return text;
	}
	if (n < 0 || (n > 0 && hops[0].version != prefix.ip.version))
		return "nexthop: expected blackhole, or addresses of the prefix's IP version, at "
		       "most 256";
	for (int i = 0; fault == NULL && i < n; i++)
		fault = sw_tables_station_fault(&params->tables, &hops[i]);
	if (fault == NULL)
		return NULL;
	snprintf(text, FAULT_CHARS, "nexthop: expected %s", fault);
	return text;
}

static const char *
neighbor_fault(const struct sw_params *params, const struct sw_neighbor *neighbor,
	       char text[FAULT_CHARS])
{
	const char *fault;
	struct field_ip ip;

	if (!sw_address_parse(neighbor->name, &ip))
		return ": expected an address in the subnet of an [interface]";
	fault = sw_tables_station_fault(&params->tables, &ip);
	if (fault == NULL)
		return NULL;
	snprintf(text, FAULT_CHARS, ": expected %s", fault);
	return text;
}

static int
refuse(const char *word, const char *name, const char *fault, char *why, unsigned int why_size)
{
	return fault == NULL ? 0 : params_refuse(why, why_size, "%s %s: %s", word, name, fault);
}

uint32_t
sw_tables_neighbors(const struct sw_tables *t)
{
	struct neigh_table *set = neigh_table_create(&(struct neigh_params){0});
	int64_t rc = set == NULL ? -ENOMEM : 0;
	uint32_t n;

	for (uint32_t i = 0; rc >= 0 && i < t->n_neighbors; i++) {
		struct neigh_key key = {0};

		sw_address_parse(t->neighbors[i].name, &key.ip);
		rc = neigh_add(set, &key, 0);
	}
	for (uint32_t i = 0; rc >= 0 && i < t->n_routes; i++) {
		struct field_ip hops[SW_MAX_NEXTHOPS];

		for (int k = sw_nexthops_parse(t->routes[i].nexthop, hops); rc >= 0 && k > 0; k--)
			rc = neigh_add(set, &(struct neigh_key){.ip = hops[k - 1]}, 0);
	}
	n = rc < 0 ? NEIGH_NONE : neigh_count(set);
	neigh_table_destroy(set);
	return n;
}

/* Do all static addresses and neighbours fit into their tables? */
static int
check_capacity(const struct sw_params *params, char *why, unsigned int why_size)
{
	const struct sw_tables *t = &params->tables;
	uint64_t most = t->n_neighbors + (uint64_t)t->n_routes * SW_MAX_NEXTHOPS;
	uint32_t n;

	if (t->n_static_macs > params->fdb_entries)
		return params_refuse(
			why, why_size,
			"switch: fdb_entries: expected %u at least, one for each [fdb]",
			t->n_static_macs);
	if (most <= params->router.neighbor_entries)
		return 0;
	n = sw_tables_neighbors(t);
	if (n == NEIGH_NONE)
		return params_refuse(why, why_size, "route : : expected fewer: out of memory");
	if (n <= params->router.neighbor_entries)
		return 0;
	return params_refuse(
		why, why_size,
		"router: neighbor_entries: expected %u at least, one for each next hop "
		"and [neighbor]",
		n);
}

/* The name of a section as addresses; bits beyond the length are 0. */
static struct neigh_key
key_of_name(const char *name)
{
	struct route_prefix prefix = {0};

	if (route_prefix_parse(name, &prefix) < 0 && sw_address_parse(name, &prefix.ip))
		prefix.length = prefix.ip.version == 4 ? 32 : 128;
	for (unsigned int bit = prefix.length; bit < 8 * sizeof(prefix.ip.addr); bit++)
		prefix.ip.addr[bit / 8] &= (uint8_t) ~(0x80 >> bit % 8);
	return (struct neigh_key){.ip = prefix.ip, .vlan_id = prefix.length};
}

static const char *
name_at(const struct sw_tables *t, bool routes, uint32_t i)
{
	return routes ? t->routes[i].name : t->neighbors[i].name;
}

/* Two spellings of one prefix or address: which of the two sections applies? */
static int
check_twice(const struct sw_tables *t, bool routes, char *why, unsigned int why_size)
{
	const char *word = routes ? "route" : "neighbor";
	uint32_t n = routes ? t->n_routes : t->n_neighbors, twice = n;
	struct neigh_table *set = neigh_table_create(&(struct neigh_params){0});
	int64_t rc = set == NULL ? -ENOMEM : 0;
	struct neigh_key key;

	for (uint32_t i = 0; rc >= 0 && twice == n && i < n; i++) {
		key = key_of_name(name_at(t, routes, i));
		rc = neigh_add(set, &key, 0);
		if (rc >= 0 && neigh_count(set) == i)
			twice = i;
	}
	neigh_table_destroy(set);
	if (rc < 0)
		return params_refuse(why, why_size, "%s : : expected fewer: out of memory", word);
	for (uint32_t i = 0; twice < n && i < twice; i++) {
		struct neigh_key other = key_of_name(name_at(t, routes, i));

		if (memcmp(&other.ip, &key.ip, sizeof(key.ip)) == 0 && other.vlan_id == key.vlan_id)
			return params_refuse(
				why, why_size, "%s %s: : expected one section: [%s %s] is the same",
				word, name_at(t, routes, twice), word, name_at(t, routes, i));
	}
	return 0;
}

int
sw_tables_check(const struct sw_params *params, char *why, unsigned int why_size)
{
	const struct sw_tables *t = &params->tables;
	char text[FAULT_CHARS];
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < t->n_static_macs; i++)
		rc = refuse("fdb", t->static_macs[i].name,
			    static_mac_fault(params, &t->static_macs[i]), why, why_size);
	for (uint32_t i = 0; rc == 0 && i < t->n_interfaces; i++)
		rc = refuse("interface", t->interfaces[i].name,
			    interface_fault(params, &t->interfaces[i]), why, why_size);
	for (uint32_t i = 0; rc == 0 && i < t->n_routes; i++)
		rc = refuse("route", t->routes[i].name, route_fault(params, &t->routes[i], text),
			    why, why_size);
	for (uint32_t i = 0; rc == 0 && i < t->n_neighbors; i++)
		rc = refuse("neighbor", t->neighbors[i].name,
			    neighbor_fault(params, &t->neighbors[i], text), why, why_size);
	if (rc == 0)
		rc = check_twice(t, true, why, why_size);
	if (rc == 0)
		rc = check_twice(t, false, why, why_size);
	return rc == 0 ? check_capacity(params, why, why_size) : rc;
}
