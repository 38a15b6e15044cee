/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds routes from their sections, which sw_tables_check() has accepted. */
#include "switch/forward/routing_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_malloc.h>
#include <rte_memory.h>

/* A route reuses a target with the same next hops if that is one of this number of last targets. */
#define TARGET_SEARCH 64u

/* @return a new target's number, or -ENOSPC. */
static int
add_target(struct sw_routing_table *r, const struct sw_target *target)
{
	if (r->n_targets > ROUTE_MAX_TARGET)
		return -ENOSPC;
	r->targets[0][r->n_targets] = *target;
	return (int)r->n_targets++;
}

static int
share_target(struct sw_routing_table *r, const struct sw_target *target)
{
	for (uint32_t i = 1; i <= TARGET_SEARCH && i < r->n_targets; i++) {
		if (memcmp(&r->targets[0][r->n_targets - i], target, sizeof(*target)) == 0)
			return (int)(r->n_targets - i);
	}
	return add_target(r, target);
}

static int
add_route(struct sw_routing_table *r, const struct route_prefix *prefix, int target)
{
	return target < 0 ? target : route_add(r->table, prefix, (uint16_t)target);
}

/* Add the routes of an interface's address: its subnet, and the router's own address. */
static int
add_address(struct sw_routing_table *r, uint16_t domain, const char *text, struct route_prefix *out)
{
	struct sw_target subnet = {.kind = SW_TARGET_CONNECTED, .domain = domain};
	struct sw_target own = {.kind = SW_TARGET_LOCAL};
	struct route_prefix host;
	int rc;

	if (route_prefix_parse(text, out) < 0) {
		out->ip.version = 0;
		return 0;
	}
	rc = add_route(r, out, add_target(r, &subnet));
	host = *out;
	host.length = out->ip.version == 4 ? 32 : 128;
	return rc < 0 ? rc : add_route(r, &host, share_target(r, &own));
}

static int
add_interface(struct sw_routing_table *r, const struct sw_interface *params)
{
	struct sw_router_interface *interface = &r->interfaces[r->n_interfaces++];
	uint16_t domain = (uint16_t)sw_interface_domain(params->name);
	int rc;

	interface->domain = domain;
	r->interface_of[domain] = (uint16_t)r->n_interfaces;
	rc = add_address(r, domain, params->ip, &interface->ip);
	return rc < 0 ? rc : add_address(r, domain, params->ip6, &interface->ip6);
}

static struct neigh_key
key_of(const struct sw_tables *tables, const struct field_ip *ip)
{
	const struct sw_interface *interface = sw_tables_connected(tables, ip);

	return (struct neigh_key){.ip = *ip,
				  .vlan_id = (uint16_t)sw_interface_domain(interface->name)};
}

static int
add_hops(struct sw_routing_table *r, const struct sw_tables *tables, uint32_t i_route)
{
	const struct sw_static_route *route = &tables->routes[i_route];
	struct field_ip hops[SW_MAX_NEXTHOPS];
	int n = sw_nexthops_parse(route->nexthop, hops);
	struct sw_target target = {.kind = n == 0 ? SW_TARGET_BLACKHOLE : SW_TARGET_HOPS};
	struct route_prefix prefix;
	int number;

	for (int i = 0; i < n; i++) {
		struct neigh_key key = key_of(tables, &hops[i]);
		int64_t neigh = neigh_add(r->pinned, &key, 0);

		if (neigh < 0)
			return (int)neigh;
		target.hops[target.n_hops++] = (uint32_t)neigh;
	}
	route_prefix_parse(route->name, &prefix);
	number = share_target(r, &target);
	r->target_of_route[i_route] = (uint32_t)number;
	return add_route(r, &prefix, number);
}

static int
fill(struct sw_routing_table *r, const struct sw_tables *tables)
{
	int64_t rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < tables->n_interfaces; i++)
		rc = add_interface(r, &tables->interfaces[i]);
	for (uint32_t i = 0; rc >= 0 && i < tables->n_neighbors; i++) {
		struct field_ip ip;
		struct neigh_key key;

		sw_address_parse(tables->neighbors[i].name, &ip);
		key = key_of(tables, &ip);
		rc = neigh_add_fixed(r->pinned, &key, tables->neighbors[i].mac);
	}
	for (uint32_t i = 0; rc >= 0 && i < tables->n_routes; i++)
		rc = add_hops(r, tables, i);
	if (rc >= 0 && neigh_count(r->pinned) > r->params.neighbor_entries)
		rc = -ENOSPC;
	return rc < 0 ? (int)rc : 0;
}

/* Number of routes, to size the table; each interface address needs two. */
static uint32_t
count_routes(const struct sw_tables *tables)
{
	uint32_t n = tables->n_routes;
	struct route_prefix prefix;

	for (uint32_t i = 0; i < tables->n_interfaces; i++) {
		if (route_prefix_parse(tables->interfaces[i].ip, &prefix) == 0)
			n += 2;
		if (route_prefix_parse(tables->interfaces[i].ip6, &prefix) == 0)
			n += 2;
	}
	return n;
}

static int
create_tables(struct sw_routing_table *r, const struct sw_tables *tables)
{
	uint32_t most_targets =
		RTE_MIN(1 + 3 * tables->n_interfaces + tables->n_routes, ROUTE_MAX_TARGET + 1u);

	r->table = route_table_create(
		&(struct route_params){.routes = count_routes(tables), .socket = SOCKET_ID_ANY});
	r->pinned = neigh_table_create(&(struct neigh_params){0});
	r->targets[0] =
		rte_zmalloc("sw", most_targets * sizeof(*r->targets[0]), RTE_CACHE_LINE_SIZE);
	r->interfaces = calloc(tables->n_interfaces + 1, sizeof(*r->interfaces));
	r->target_of_route = calloc(tables->n_routes + 1, sizeof(*r->target_of_route));
	r->n_routes = tables->n_routes;
	r->n_targets = 1;
	return r->table == NULL || r->pinned == NULL || r->targets[0] == NULL ||
			       r->interfaces == NULL || r->target_of_route == NULL
		       ? -ENOMEM
		       : 0;
}

/* Copy the targets for each shard, which replaces hops by indices of its own neighbours. */
static int
copy_for_shards(struct sw_routing_table *r)
{
	size_t bytes = r->n_targets * sizeof(*r->targets[0]);

	for (uint16_t i = 0; i < r->n_shards; i++) {
		if (i > 0)
			r->targets[i] = rte_malloc("sw", bytes, RTE_CACHE_LINE_SIZE);
		r->pinned_at[i] = calloc(neigh_count(r->pinned) + 1, sizeof(uint32_t));
		r->counts_of[i] = calloc(neigh_count(r->pinned) + 1, sizeof(*r->counts_of[i]));
		if (r->targets[i] == NULL || r->pinned_at[i] == NULL || r->counts_of[i] == NULL)
			return -ENOMEM;
		if (i > 0)
			memcpy(r->targets[i], r->targets[0], bytes);
	}
	return 0;
}

int
sw_routing_table_create(const struct sw_router_params *params, const struct sw_tables *tables,
			uint16_t n_shards, struct sw_routing_table **routes)
{
	struct sw_routing_table *r = calloc(1, sizeof(*r));
	int rc = r == NULL ? -ENOMEM : create_tables(r, tables);

	if (rc == 0) {
		r->params = *params;
		r->n_shards = n_shards;
		rc = fill(r, tables);
	}
	if (rc == 0)
		rc = copy_for_shards(r);
	if (rc != 0) {
		sw_routing_table_destroy(r);
		r = NULL;
	}
	*routes = r;
	return rc;
}

void
sw_routing_table_destroy(struct sw_routing_table *r)
{
	if (r == NULL)
		return;
	route_table_destroy(r->table);
	neigh_table_destroy(r->pinned);
	free(r->interfaces);
	free(r->target_of_route);
	for (uint16_t i = 0; i < SW_MAX_SHARDS; i++) {
		rte_free(r->targets[i]);
		free(r->pinned_at[i]);
		free(r->counts_of[i]);
	}
	free(r);
}
