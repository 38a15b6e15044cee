/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/conversion/import_network.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/route.h"
#include "import/conversion/import_memory.h"

/* A unicast address that a station administers itself, as in doc/switch.md. */
static const uint8_t assumed_mac[6] = {0x02, 0x5a, 0x00, 0x00, 0x00, 0xfe};

/* Write the set as "10,20-29". @return false if a part of it has no room. */
static bool
print_vlans(const struct vlan_set *set, char list[VLAN_LIST_CHARS + 1])
{
	size_t used = 0;

	list[0] = '\0';
	for (uint16_t first = 1; first <= VLAN_MAX_ID; first++) {
		char range[16];
		uint16_t last = first;

		if (!vlan_set_has(set, first))
			continue;
		while (last < VLAN_MAX_ID && vlan_set_has(set, last + 1))
			last++;
		snprintf(range, sizeof(range), last > first ? "%s%u-%u" : "%s%u",
			 used > 0 ? "," : "", first, last);
		if (used + strlen(range) > VLAN_LIST_CHARS)
			return false;
		used += (size_t)snprintf(list + used, sizeof(range), "%s", range);
		first = last;
	}
	return true;
}

void
import_set_vlans(struct import_switch *out, const struct import_bridge *bridges,
		 const char *why[SW_DEVICE_PORTS])
{
	out->sw.vlan_filtering = true;
	for (uint16_t i = 0; i < out->sw.n_ports; i++) {
		struct sw_port_params *port = &out->sw.ports[i];

		port->access_vlan = bridges[i].access_vlan;
		why[i] = print_vlans(&bridges[i].tagged, port->tagged_vlans)
				 ? NULL
				 : "the port is in more ranges of VLANs than the 200 characters of "
				   "tagged_vlans hold";
		if (port->tagged_vlans[0] == '\0')
			snprintf(port->tagged_vlans, sizeof(port->tagged_vlans), "none");
	}
}

static struct sw_interface *
find_interface(struct sw_tables *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_interfaces; i++)
		if (strcmp(t->interfaces[i].name, name) == 0)
			return &t->interfaces[i];
	return NULL;
}

static struct sw_interface *
add_interface(struct sw_tables *t, const char *name)
{
	struct sw_interface *interface;

	t->interfaces = import_grow(t->interfaces, t->n_interfaces + 1, sizeof(*t->interfaces));
	interface = &t->interfaces[t->n_interfaces++];
	memset(interface, 0, sizeof(*interface));
	snprintf(interface->name, sizeof(interface->name), "%s", name);
	snprintf(interface->ip, sizeof(interface->ip), "none");
	snprintf(interface->ip6, sizeof(interface->ip6), "none");
	return interface;
}

static const char *
interface_ip(const struct sw_interface *interface, uint8_t version)
{
	return version == 4 ? interface->ip : interface->ip6;
}

/* Do the subnets of two addresses overlap? */
static bool
overlap(const struct route_prefix *a, const char *text)
{
	struct route_prefix b;

	return route_prefix_parse(text, &b) == 0 &&
	       (route_prefix_has(a, &b.ip) || route_prefix_has(&b, &a->ip));
}

/* fe80::/10 (RFC 4291 2.5.6) */
static bool
is_link_local(const struct field_ip *ip)
{
	return ip->version == 6 && ip->addr[0] == 0xfe && (ip->addr[1] & 0xc0) == 0x80;
}

/* Is this "port N" of a port that bridges? */
static bool
is_bridge(const struct import_switch *out, const char *interface)
{
	int32_t port = sw_interface_domain(interface) - (int32_t)SW_PORT_DOMAIN;

	return port >= 0 && (out->sw.ports[port].access_vlan != 0 ||
			     strcmp(out->sw.ports[port].tagged_vlans, "none") != 0);
}

const char *
import_add_address(struct import_switch *out, const char *interface, const char *address)
{
	struct sw_tables *t = &out->sw.tables;
	struct sw_interface *own = find_interface(t, interface);
	struct route_prefix prefix;

	if (route_prefix_parse(address, &prefix) != 0 || prefix.length == 0)
		return "not an address with the length of its subnet, such as 10.0.0.1/24";
	if (is_link_local(&prefix.ip))
		return "a link-local address belongs to one link";
	if (is_bridge(out, interface))
		return "the port is in a VLAN";
	if (own != NULL && strcmp(interface_ip(own, prefix.ip.version), "none") != 0)
		return "a second address of this IP version; an interface has one";
	for (uint32_t i = 0; i < t->n_interfaces; i++)
		if (overlap(&prefix, interface_ip(&t->interfaces[i], prefix.ip.version)))
			return "its subnet overlaps that of an interface before";
	if (own == NULL)
		own = add_interface(t, interface);
	snprintf(prefix.ip.version == 4 ? own->ip : own->ip6, sizeof(own->ip), "%.*s",
		 SW_PREFIX_CHARS, address);
	return NULL;
}

/* The prefix with its bits beyond the length cleared, as text. */
static void
print_prefix(const struct route_prefix *prefix, char text[SW_NAME_CHARS + 1])
{
	uint8_t addr[16];
	char host[INET6_ADDRSTRLEN];

	for (unsigned int i = 0; i < 16; i++) {
		unsigned int bits = prefix->length > 8 * i ? prefix->length - 8 * i : 0;

		addr[i] = bits >= 8 ? prefix->ip.addr[i]
				    : prefix->ip.addr[i] & (uint8_t) ~(0xff >> bits);
	}
	inet_ntop(prefix->ip.version == 4 ? AF_INET : AF_INET6, addr, host, sizeof(host));
	snprintf(text, SW_NAME_CHARS + 1, "%.*s/%u", SW_NAME_CHARS - 4, host, prefix->length);
}

static struct sw_static_route *
find_route(const struct sw_tables *t, const char *name, uint32_t n)
{
	/* Lines of one prefix mostly follow each other. */
	for (uint32_t i = n; i-- > 0;)
		if (strcmp(t->routes[i].name, name) == 0)
			return &t->routes[i];
	return NULL;
}

bool
import_has_route(const struct import_switch *out, const char *prefix, uint32_t n)
{
	struct route_prefix parsed;
	char name[SW_NAME_CHARS + 1];

	if (route_prefix_parse(prefix, &parsed) != 0)
		return false;
	print_prefix(&parsed, name);
	return find_route(&out->sw.tables, name, n) != NULL;
}

/* Add a next hop to a list. @return NULL, or why it is not carried over. */
static const char *
extend(struct sw_static_route *route, const char *nexthop, const struct field_ip *ip)
{
	struct field_ip hops[SW_MAX_NEXTHOPS];
	int n = sw_nexthops_parse(route->nexthop, hops);
	size_t used = strlen(route->nexthop);

	if (n == 0)
		return "the route of this prefix drops its traffic already";
	for (int i = 0; i < n; i++)
		if (memcmp(&hops[i], ip, sizeof(*ip)) == 0)
			return NULL;
	if (n == SW_MAX_NEXTHOPS || used + 2 + strlen(nexthop) > SW_NEXTHOP_CHARS)
		return "more next hops than a route has: 16, and 250 characters";
	snprintf(route->nexthop + used, sizeof(route->nexthop) - used, ", %s", nexthop);
	return NULL;
}

const char *
import_add_route(struct import_switch *out, const char *prefix, const char *nexthop)
{
	struct sw_tables *t = &out->sw.tables;
	struct sw_static_route *route;
	struct route_prefix parsed;
	struct field_ip hop = {0};
	char name[SW_NAME_CHARS + 1];
	bool is_drop = strcmp(nexthop, "blackhole") == 0;

	if (route_prefix_parse(prefix, &parsed) != 0)
		return "not a prefix, such as 10.0.0.0/8";
	if (!is_drop && (!sw_address_parse(nexthop, &hop) || hop.version != parsed.ip.version))
		return "the next hop is no address of the prefix's IP version";
	if (!is_drop && sw_tables_connected(t, &hop) == NULL)
		return "the next hop is in no subnet of an interface that was carried over";
	if (!is_drop && sw_tables_station_fault(t, &hop) != NULL)
		return "the next hop is the switch itself or a broadcast address";
	if (sw_tables_route_fault(t, &parsed) != NULL)
		return "an interface has this prefix, and what is connected is preferred";
	print_prefix(&parsed, name);
	route = find_route(t, name, t->n_routes);
	if (route != NULL)
		return is_drop ? "the route of this prefix has next hops already"
			       : extend(route, nexthop, &hop);
	t->routes = import_grow(t->routes, t->n_routes + 1, sizeof(*t->routes));
	route = &t->routes[t->n_routes++];
	memset(route, 0, sizeof(*route));
	snprintf(route->name, sizeof(route->name), "%s", name);
	snprintf(route->nexthop, sizeof(route->nexthop), "%s", nexthop);
	return NULL;
}

void
import_set_router(struct import_switch *out, const uint8_t mac[6], struct import_log *log)
{
	if (out->sw.tables.n_interfaces == 0)
		return;
	memcpy(out->sw.router.router_mac, mac != NULL ? mac : assumed_mac, 6);
	if (mac == NULL)
		import_note(log, " the file does not give the router's MAC address: router_mac = "
				 "02:5a:00:00:00:fe is assumed");
}
