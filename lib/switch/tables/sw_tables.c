/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/tables/sw_tables.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "switch/tables/vlan_list.h"

const struct field sw_static_mac_fields[] = {
	{FIELD_OF(struct sw_static_mac, mac), .type = FIELD_MAC, .min = 1, .live = true,
	 .help = "MAC address of the station"},
	{FIELD_OF(struct sw_static_mac, vlan), .type = FIELD_U16, .max = VLAN_MAX_ID, .def = "0",
	 .live = true, .help = "VLAN of the station; 0: none, for vlan_filtering = off"},
	{FIELD_OF(struct sw_static_mac, port), .type = FIELD_STR, .min = 1,
	 .max = SW_PORT_NAME_CHARS, .live = true,
	 .help = "port to which the station is connected, by number or name"},
};
const unsigned int sw_static_mac_fields_n = ARRAY_LEN(sw_static_mac_fields);

const struct field sw_interface_fields[] = {
	{FIELD_OF(struct sw_interface, ip), .type = FIELD_STR, .max = SW_PREFIX_CHARS,
	 .def = "none", .live = true,
	 .help = "IPv4 address of the router and prefix length of the subnet, such as "
		 "10.0.0.1/24, or none"},
	{FIELD_OF(struct sw_interface, ip6), .type = FIELD_STR, .max = SW_PREFIX_CHARS,
	 .def = "none", .live = true,
	 .help = "IPv6 address of the router and prefix length of "
		 "the subnet, such as fd00::1/64, or none"},
};
const unsigned int sw_interface_fields_n = ARRAY_LEN(sw_interface_fields);

const struct field sw_static_route_fields[] = {
	{FIELD_OF(struct sw_static_route, nexthop), .type = FIELD_TEXT, .min = 1,
	 .max = SW_NEXTHOP_CHARS, .live = true,
	 .help = "up to 256 IP addresses of next hops, each in the subnet of an interface, over "
		 "which flows are spread; blackhole: drop"},
};
const unsigned int sw_static_route_fields_n = ARRAY_LEN(sw_static_route_fields);

const struct field sw_neighbor_fields[] = {
	{FIELD_OF(struct sw_neighbor, mac), .type = FIELD_MAC, .min = 1, .live = true,
	 .help = "MAC address of the station with this IP address; the switch sends no requests "
		 "for it"},
};
const unsigned int sw_neighbor_fields_n = ARRAY_LEN(sw_neighbor_fields);

/* Value of a decimal number from 0 to max without leading zeros, or -1. */
static int32_t
parse_number(const char *text, int32_t max)
{
	size_t n = strspn(text, "0123456789");

	if (n == 0 || n > 4 || text[n] != '\0' || (n > 1 && *text == '0') || atoi(text) > max)
		return -1;
	return atoi(text);
}

int32_t
sw_interface_domain(const char *name)
{
	int32_t number;

	if (strncmp(name, "vlan ", 5) == 0) {
		number = parse_number(name + 5, VLAN_MAX_ID);
		return number == 0 ? -1 : number;
	}
	if (strncmp(name, "port ", 5) != 0)
		return -1;
	number = parse_number(name + 5, SW_MAX_PORTS - 1);
	return number < 0 ? -1 : (int32_t)SW_PORT_DOMAIN + number;
}

bool
sw_address_parse(const char *text, struct field_ip *ip)
{
	*ip = (struct field_ip){0};
	if (inet_pton(AF_INET, text, ip->addr) == 1)
		ip->version = 4;
	else if (inet_pton(AF_INET6, text, ip->addr) == 1)
		ip->version = 6;
	return ip->version != 0;
}

int
sw_nexthops_parse(const char *list, struct field_ip hops[SW_MAX_NEXTHOPS])
{
	const char *at = list;
	int n = 0;

	if (strcmp(list, "blackhole") == 0)
		return 0;
	for (;;) {
		char text[INET6_ADDRSTRLEN];
		size_t length;

		at += strspn(at, " ");
		length = strcspn(at, ", ");
		if (n == SW_MAX_NEXTHOPS || length >= sizeof(text))
			return -1;
		snprintf(text, sizeof(text), "%.*s", (int)length, at);
		if (!sw_address_parse(text, &hops[n]) || hops[n].version != hops[0].version)
			return -1;
		n++;
		at += length;
		at += strspn(at, " ");
		if (*at == '\0')
			return n;
		if (*at++ != ',')
			return -1;
	}
}

/* Is the address in this subnet, such as 10.0.0.1/24? */
static bool
in_subnet(const char *subnet, const struct field_ip *ip)
{
	struct route_prefix prefix;

	return route_prefix_parse(subnet, &prefix) == 0 && route_prefix_has(&prefix, ip);
}

/* The interface whose subnet contains the address, or NULL. */
static const struct sw_interface *
connected(const struct sw_tables *tables, const struct field_ip *ip)
{
	for (uint32_t i = 0; i < tables->n_interfaces; i++) {
		const struct sw_interface *interface = &tables->interfaces[i];

		if (in_subnet(ip->version == 4 ? interface->ip : interface->ip6, ip))
			return interface;
	}
	return NULL;
}

/* The address of an interface in this version. @return whether it has one. */
static bool
address_of(const struct sw_interface *interface, uint8_t version, struct route_prefix *out)
{
	return route_prefix_parse(version == 4 ? interface->ip : interface->ip6, out) == 0;
}

const char *
sw_tables_route_fault(const struct sw_tables *tables, const struct route_prefix *prefix)
{
	for (uint32_t i = 0; i < tables->n_interfaces; i++) {
		struct route_prefix own;

		if (!address_of(&tables->interfaces[i], prefix->ip.version, &own))
			continue;
		if (route_prefix_equal(prefix, &own))
			return "a prefix other than the subnet of an [interface], which is "
			       "connected";
		own.length = own.ip.version == 4 ? 32 : 128;
		if (route_prefix_equal(prefix, &own))
			return "a prefix other than the router's own address";
	}
	return NULL;
}

/* The first and the last IPv4 address of a subnet are those of all its stations (RFC 1122 3.2.1.3);
 * a subnet of two addresses has none (RFC 3021), and nor has IPv6. */
static bool
is_broadcast(const struct route_prefix *subnet, const struct field_ip *ip)
{
	struct field_ip next = *ip;

	if (ip->version != 4 || subnet->length > 30)
		return false;
	/* The neighbour on one side is outside the subnet. */
	for (int step = -1; step <= 1; step += 2) {
		uint32_t address = (uint32_t)ip->addr[0] << 24 | (uint32_t)ip->addr[1] << 16 |
				   (uint32_t)ip->addr[2] << 8 | ip->addr[3];

		address += (uint32_t)step;
		for (unsigned int i = 0; i < 4; i++)
			next.addr[i] = (uint8_t)(address >> (24 - 8 * i));
		if (!route_prefix_has(subnet, &next))
			return true;
	}
	return false;
}

const char *
sw_tables_station_fault(const struct sw_tables *tables, const struct field_ip *ip)
{
	const struct sw_interface *interface = connected(tables, ip);
	struct route_prefix subnet, own;

	if (interface == NULL)
		return "addresses in the subnet of an [interface]";
	/* Subnets do not overlap: no other interface has this address. */
	address_of(interface, ip->version, &subnet);
	own = subnet;
	own.length = own.ip.version == 4 ? 32 : 128;
	if (route_prefix_has(&own, ip))
		return "addresses of others: this one is the router's own";
	if (is_broadcast(&subnet, ip))
		return "addresses of stations: this one is the subnet's or its broadcast address";
	return NULL;
}

static void *
copy_of(const void *array, uint32_t n, size_t bytes, bool *no_memory)
{
	void *copy = n == 0 ? NULL : malloc(n * bytes);

	*no_memory |= copy == NULL && n > 0;
	return copy == NULL ? NULL : memcpy(copy, array, n * bytes);
}

/* Replace the texts, which are those of another array, by copies. */
static void
copy_texts(struct sw_static_route *routes, uint32_t n, bool *no_memory)
{
	for (uint32_t i = 0; routes != NULL && i < n; i++) {
		if (routes[i].nexthop == NULL)
			continue;
		routes[i].nexthop = strdup(routes[i].nexthop);
		*no_memory |= routes[i].nexthop == NULL;
	}
}

int
sw_tables_copy(const struct sw_tables *from, struct sw_tables *out)
{
	bool no_memory = false;

	*out = *from;
#define COPY(array)                                                                                \
	out->array = copy_of(from->array, from->n_##array, sizeof(*from->array), &no_memory)
	COPY(static_macs);
	COPY(interfaces);
	COPY(routes);
	COPY(neighbors);
#undef COPY
	copy_texts(out->routes, out->n_routes, &no_memory);
	if (no_memory)
		sw_tables_free(out);
	return no_memory ? -ENOMEM : 0;
}

void
sw_static_route_free(struct sw_static_route *route)
{
	free((void *)(uintptr_t)route->nexthop);
	route->nexthop = NULL;
}

void
sw_tables_free(struct sw_tables *tables)
{
	for (uint32_t i = 0; tables->routes != NULL && i < tables->n_routes; i++)
		sw_static_route_free(&tables->routes[i]);
	free(tables->static_macs);
	free(tables->interfaces);
	free(tables->routes);
	free(tables->neighbors);
	*tables = (struct sw_tables){0};
}

int
sw_domain_text(uint16_t domain, char *text, size_t size)
{
	if (domain >= SW_PORT_DOMAIN)
		return snprintf(text, size, "port %u", domain - SW_PORT_DOMAIN);
	return snprintf(text, size, "vlan %u", domain);
}
