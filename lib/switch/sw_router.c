/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the router from its sections, which sw_tables_check() has found right. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_memory.h>

#include "switch/sw_router.h"
#include "switch/sw_shard.h"

/* Routes in file order that share their next hops share a target if they are so near. */
#define TARGET_SEARCH 64u

/* @return a new target's number, or -ENOSPC. */
static int
add_target(struct sw_router *r, const struct sw_target *target)
{
	if (r->n_targets > ROUTE_MAX_TARGET)
		return -ENOSPC;
	r->targets[r->n_targets] = *target;
	return (int)r->n_targets++;
}

static int
share_target(struct sw_router *r, const struct sw_target *target)
{
	for (uint32_t i = 1; i <= TARGET_SEARCH && i < r->n_targets; i++) {
		if (memcmp(&r->targets[r->n_targets - i], target, sizeof(*target)) == 0)
			return (int)(r->n_targets - i);
	}
	return add_target(r, target);
}

static int
add_route(struct sw_router *r, const struct route_prefix *prefix, int target)
{
	return target < 0 ? target : route_add(r->routes, prefix, (uint16_t)target);
}

/* The subnet, and the router's own address in it. */
static int
add_address(struct sw_router *r, uint16_t domain, const char *text, struct route_prefix *out)
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
add_interface(struct sw_router *r, const struct sw_interface *params)
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
add_hops(struct sw_router *r, const struct sw_tables *tables, const struct sw_route *route)
{
	struct field_ip hops[SW_MAX_NEXTHOPS];
	int n = sw_nexthops_parse(route->nexthop, hops);
	struct sw_target target = {.kind = n == 0 ? SW_TARGET_BLACKHOLE : SW_TARGET_HOPS};
	struct route_prefix prefix;

	for (int i = 0; i < n; i++) {
		struct neigh_key key = key_of(tables, &hops[i]);
		int64_t neigh = neigh_add(r->neighs, &key, 0);

		if (neigh < 0)
			return (int)neigh;
		target.hops[target.n_hops++] = (uint32_t)neigh;
	}
	route_prefix_parse(route->name, &prefix);
	return add_route(r, &prefix, share_target(r, &target));
}

static int
fill(struct sw_router *r, const struct sw_tables *tables)
{
	int64_t rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < tables->n_interfaces; i++)
		rc = add_interface(r, &tables->interfaces[i]);
	for (uint32_t i = 0; rc >= 0 && i < tables->n_neighbors; i++) {
		struct field_ip ip;
		struct neigh_key key;

		sw_address_parse(tables->neighbors[i].name, &ip);
		key = key_of(tables, &ip);
		rc = neigh_add_fixed(r->neighs, &key, tables->neighbors[i].mac);
	}
	for (uint32_t i = 0; rc >= 0 && i < tables->n_routes; i++)
		rc = add_hops(r, tables, &tables->routes[i]);
	return rc < 0 ? (int)rc : 0;
}

/* Of an address its subnet and itself; few routes make a small table. */
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

/* Empty ones. */
static int
create_routes(struct sw_router *r, const struct sw_tables *tables)
{
	uint32_t most_targets =
		RTE_MIN(1 + 3 * tables->n_interfaces + tables->n_routes, ROUTE_MAX_TARGET + 1u);

	r->routes = route_table_create(
		&(struct route_params){.routes = count_routes(tables), .socket = SOCKET_ID_ANY});
	r->targets = rte_zmalloc("sw", most_targets * sizeof(*r->targets), RTE_CACHE_LINE_SIZE);
	r->n_targets = 1;
	return r->routes == NULL || r->targets == NULL ? -ENOMEM : 0;
}

static int
create_tables(struct sw_router *r, const struct sw_params *params)
{
	const struct sw_tables *tables = &params->tables;
	int rc = create_routes(r, tables);

	r->neighs = neigh_table_create(
		&(struct neigh_params){.retrans_ns = params->router.neigh_retrans_time_ns,
				       .reachable_ns = params->router.neigh_reachable_time_ns});
	r->interfaces = rte_zmalloc("sw", tables->n_interfaces * sizeof(*r->interfaces), 0);
	if (rc < 0 || r->neighs == NULL || r->interfaces == NULL)
		return -ENOMEM;
	return neigh_reserve(r->neighs, r->max_neighs);
}

int
sw_router_create(struct sw *sw, const struct sw_params *params)
{
	struct sw_router *r;
	int rc;

	if (params->tables.n_interfaces == 0)
		return 0;
	r = rte_zmalloc("sw", sizeof(*r), RTE_CACHE_LINE_SIZE);
	sw->router = r;
	if (r == NULL)
		return -ENOMEM;
	r->sw = sw;
	memcpy(r->mac, params->router.router_mac, sizeof(r->mac));
	r->mac_key = fdb_key(0, r->mac);
	r->seed = params->router.ecmp_hash_seed;
	r->flow_label = params->router.ecmp_hash_flow_label;
	r->max_neighs = params->router.neighbor_entries;
	rc = create_tables(r, params);
	if (rc == 0)
		rc = fill(r, &params->tables);
	if (rc == 0 && neigh_count(r->neighs) > r->max_neighs)
		rc = -ENOSPC;
	r->n_pinned = rc == 0 ? neigh_count(r->neighs) : 0;
	return rc;
}

static int
replace_routes(struct sw_router *r, const struct sw_tables *tables)
{
	struct sw_router fresh = *r;
	int rc = create_routes(&fresh, tables);

	for (uint32_t i = 0; rc == 0 && i < tables->n_interfaces; i++) {
		uint16_t domain = r->interfaces[i].domain;
		struct route_prefix known;

		rc = add_address(&fresh, domain, tables->interfaces[i].ip, &known);
		if (rc == 0)
			rc = add_address(&fresh, domain, tables->interfaces[i].ip6, &known);
	}
	for (uint32_t i = 0; rc == 0 && i < tables->n_routes; i++)
		rc = add_hops(&fresh, tables, &tables->routes[i]);
	route_table_destroy(rc == 0 ? r->routes : fresh.routes);
	rte_free(rc == 0 ? r->targets : fresh.targets);
	if (rc == 0)
		*r = fresh;
	return rc;
}

int
sw_set_routes(struct node *node, const struct sw_tables *tables)
{
	struct sw *front = sw_of(node);
	int rc = 0;

	for (uint16_t i = 0; rc == 0 && i < sw_shard_count(front); i++) {
		struct sw *sw = sw_shard_at(front, i);

		if (sw->router != NULL)
			rc = replace_routes(sw->router, tables);
	}
	return rc;
}

void
sw_router_destroy(struct sw_router *r)
{
	if (r == NULL)
		return;
	route_table_destroy(r->routes);
	neigh_table_destroy(r->neighs);
	rte_free(r->interfaces);
	rte_free(r->targets);
	rte_free(r);
}

/* Structs of counters and nothing else. */
static void
add_counters(const void *part, void *sum, size_t size)
{
	const uint64_t *from = part;
	uint64_t *to = sum;

	for (size_t i = 0; i < size / sizeof(*to); i++)
		to[i] += counter_read(&from[i]);
}

void
sw_router_add_stats(const struct sw_router *r, struct sw_router_stats *sum)
{
	static_assert(sizeof(*sum) % sizeof(uint64_t) == 0, "counters and nothing else");
	if (r != NULL)
		add_counters(&r->stats, sum, sizeof(*sum));
}

void
sw_router_add_interface_stats(const struct sw_router *r, uint32_t i, struct sw_interface_stats *sum)
{
	if (r != NULL && i < r->n_interfaces)
		add_counters(&r->interfaces[i].stats, sum, sizeof(*sum));
}
