/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Items of which a switch may have any number: static addresses, router interfaces, routes, static
 * neighbours. Each kind has its table of keys, and each item the name of its section.
 */
#ifndef QUENCH_SWITCH_TABLES_SW_TABLES_H
#define QUENCH_SWITCH_TABLES_SW_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/field/field.h"
#include "fwd/route.h"
#include "switch/tables/sw_limits.h"
#include "tm/buffer/mmu_params.h"

#define SW_MAX_PORTS MMU_MAX_PORTS
/* Most ports of a switch on devices, and of one with several shards, whose masks have 64 bits. */
#define SW_DEVICE_PORTS 64

#define SW_NAME_CHARS 48
#define SW_PREFIX_CHARS 43 /* the longest IPv6 prefix */
/* The longest IPv6 addresses, and a comma and a blank after each but the last. */
#define SW_NEXTHOP_CHARS (SW_MAX_NEXTHOPS * 41 - 2)

/* Bridging domains: one for each VLAN identifier, then one for each routed port. */
#define SW_PORT_DOMAIN 4096u
#define SW_DOMAINS (SW_PORT_DOMAIN + SW_MAX_PORTS)
#define SW_NO_DOMAIN UINT16_MAX

/* [fdb NAME]: an address that neither ages nor moves. */
struct sw_static_mac {
	char name[SW_NAME_CHARS + 1];
	uint8_t mac[6];
	uint16_t vlan;                     /* 0: untagged, with vlan_filtering off */
	char port[SW_PORT_NAME_CHARS + 1]; /* number or name: sw_port_find() */
};

/* [interface vlan N] or [interface port N]: the router's place in a VLAN, or a routed port. */
struct sw_interface {
	char name[SW_NAME_CHARS + 1];
	char ip[SW_PREFIX_CHARS + 1]; /* "10.0.0.1/24", or "none" */
	char ip6[SW_PREFIX_CHARS + 1];
};

/* [route PREFIX] */
struct sw_static_route {
	char name[SW_NAME_CHARS + 1];
	/* owned by the owner of the tables */
	const char *nexthop; /* "10.0.0.2, 10.0.1.2", or "blackhole" */
};

/* [neighbor ADDRESS]: a static neighbour, whose MAC address is never requested. */
struct sw_neighbor {
	char name[SW_NAME_CHARS + 1];
	uint8_t mac[6];
};

FIELD_TABLE(sw_static_mac_fields);
FIELD_TABLE(sw_interface_fields);
FIELD_TABLE(sw_static_route_fields);
FIELD_TABLE(sw_neighbor_fields);

/* Zero-initialised: empty. The code that reads the arrays owns them. */
struct sw_tables {
	struct sw_static_mac *static_macs;
	struct sw_interface *interfaces;
	struct sw_static_route *routes;
	struct sw_neighbor *neighbors;
	uint32_t n_static_macs, n_interfaces, n_routes, n_neighbors;
};

/** Copy the tables, their arrays and texts. @return 0 or -ENOMEM, out empty. */
int sw_tables_copy(const struct sw_tables *from, struct sw_tables *out);

/** Free the arrays and texts. */
void sw_tables_free(struct sw_tables *tables);

/** Free the texts of a route that is taken out of its array. */
void sw_static_route_free(struct sw_static_route *route);

/** Domain of "vlan N" or "port N", or -1. */
int32_t sw_interface_domain(const char *name);

/** "vlan 10" or "port 3", the name of a domain in the configuration. @return as snprintf. */
int sw_domain_text(uint16_t domain, char *text, size_t size);

/** Parse an address. @return false if it is none. */
bool sw_address_parse(const char *text, struct field_ip *ip);

/** @return the number of next hops in a list, 0 for blackhole, -1 malformed. */
int sw_nexthops_parse(const char *list, struct field_ip hops[SW_MAX_NEXTHOPS]);

/**
 * Why a static route cannot have this prefix: an interface has it, and what is connected is
 * preferred to what is configured (RFC 1812 5.2.4.3). NULL: it can. Such as "a prefix other than
 * ...", after "expected".
 */
const char *sw_tables_route_fault(const struct sw_tables *tables,
				  const struct route_prefix *prefix);

/**
 * Why the address cannot be that of a next hop or a neighbour: it is in no subnet of an interface,
 * or the router's own, or all stations' of the subnet. NULL: it can. After "expected".
 */
const char *sw_tables_station_fault(const struct sw_tables *tables, const struct field_ip *ip);

#endif
