/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds routes from their sections, which sw_tables_check() has accepted. */
#include "switch/forward/routing_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_malloc.h>
#include <rte_memory.h>

static_assert(SW_MAX_NEXTHOPS % 64 == 0, "whole words of a hop set");

/* A target while the routes are read: its hops are from this place of build.hops on. */
struct draft {
	uint8_t kind;
	uint16_t n_hops, domain;
	uint32_t first;
};

struct build {
	struct sw_routing_table *r;
	const struct sw_tables *tables;
	struct draft *targets; /* by number; [0]: no route */
	uint16_t *hops;        /* of all targets: indices into r->pinned */
	uint32_t n_hops, room;
	/* By hash of kind and hops: a target that may be shared; 0: none. At least half are 0. */
	uint32_t *slots, n_slots; /* a power of 2 */
};

/* @return a new target's number, -ENOSPC or -ENOMEM. */
static int
add_target(struct build *b, const struct draft *target, const uint16_t *hops)
{
	struct draft *new;

	if (b->r->n_targets > ROUTE_MAX_TARGET)
		return -ENOSPC;
	if (b->room - b->n_hops < target->n_hops) {
		uint32_t room = 2 * b->room + SW_MAX_NEXTHOPS;
		uint16_t *grown = realloc(b->hops, room * sizeof(*grown));

		if (grown == NULL)
			return -ENOMEM;
		b->hops = grown;
		b->room = room;
	}
	new = &b->targets[b->r->n_targets];
	*new = *target;
	new->first = b->n_hops;
	for (uint16_t i = 0; i < target->n_hops; i++)
		b->hops[b->n_hops++] = hops[i];
	return (int)b->r->n_targets++;
}

/* Hops are configured, so nobody can choose them for one hash. */
static uint32_t
hash_of(const struct draft *target, const uint16_t *hops)
{
	uint32_t hash = target->kind;

	for (uint16_t i = 0; i < target->n_hops; i++)
		hash = (hash ^ hops[i]) * 2654435769u;
	return hash ^ hash >> 16;
}

/* The number of the target with this kind and these hops. @return as add_target(). */
static int
share_target(struct build *b, const struct draft *target, const uint16_t *hops)
{
	uint32_t at = hash_of(target, hops) & (b->n_slots - 1);
	int number;

	for (; b->slots[at] != 0; at = (at + 1) & (b->n_slots - 1)) {
		const struct draft *t = &b->targets[b->slots[at]];

		if (t->kind == target->kind && t->n_hops == target->n_hops &&
		    (t->n_hops == 0 ||
		     memcmp(&b->hops[t->first], hops, t->n_hops * sizeof(*hops)) == 0))
			return (int)b->slots[at];
	}
	number = add_target(b, target, hops);
	if (number > 0)
		b->slots[at] = (uint32_t)number;
	return number;
}

static int
add_route(struct sw_routing_table *r, const struct route_prefix *prefix, int target)
{
	return target < 0 ? target : route_add(r->table, prefix, (uint16_t)target);
}

/* Add the routes of an interface's address: its subnet, and the router's own address. */
static int
add_address(struct build *b, uint16_t domain, const char *text, struct route_prefix *out)
{
	const struct draft subnet = {.kind = SW_TARGET_CONNECTED, .domain = domain};
	const struct draft own = {.kind = SW_TARGET_LOCAL};
	struct route_prefix host;
	int rc;

	if (route_prefix_parse(text, out) < 0) {
		out->ip.version = 0;
		return 0;
	}
	rc = add_route(b->r, out, add_target(b, &subnet, NULL));
	host = *out;
	host.length = out->ip.version == 4 ? 32 : 128;
	return rc < 0 ? rc : add_route(b->r, &host, share_target(b, &own, NULL));
}

static int
add_interface(struct build *b, const struct sw_interface *params)
{
	struct sw_routing_table *r = b->r;
	struct sw_router_interface *interface = &r->interfaces[r->n_interfaces++];
	uint16_t domain = (uint16_t)sw_interface_domain(params->name);
	int rc;

	interface->domain = domain;
	r->interface_of[domain] = (uint16_t)r->n_interfaces;
	rc = add_address(b, domain, params->ip, &interface->ip);
	return rc < 0 ? rc : add_address(b, domain, params->ip6, &interface->ip6);
}

/* Of an address that is in the subnet of an interface. */
static struct neigh_key
key_of(const struct sw_routing_table *r, const struct field_ip *ip)
{
	for (uint32_t i = 0; i < r->n_interfaces; i++) {
		const struct sw_router_interface *in = &r->interfaces[i];

		if (route_prefix_has(ip->version == 4 ? &in->ip : &in->ip6, ip))
			return (struct neigh_key){.ip = *ip, .vlan_id = in->domain};
	}
	assert(false);
	return (struct neigh_key){0};
}

static int
add_hops(struct build *b, uint32_t i_route)
{
	const struct sw_static_route *route = &b->tables->routes[i_route];
	struct field_ip ips[SW_MAX_NEXTHOPS];
	int n = sw_nexthops_parse(route->nexthop, ips);
	const struct draft target = {.kind = n == 0 ? SW_TARGET_BLACKHOLE : SW_TARGET_HOPS,
				     .n_hops = (uint16_t)n};
	uint16_t hops[SW_MAX_NEXTHOPS];
	struct route_prefix prefix;
	int number;

	for (int i = 0; i < n; i++) {
		struct neigh_key key = key_of(b->r, &ips[i]);
		int64_t neigh = neigh_add(b->r->pinned, &key, 0);

		if (neigh < 0)
			return (int)neigh;
		/* neighbor_entries are not more. */
		if (neigh > UINT16_MAX)
			return -ENOSPC;
		hops[i] = (uint16_t)neigh;
	}
	route_prefix_parse(route->name, &prefix);
	number = share_target(b, &target, hops);
	b->r->target_of_route[i_route] = (uint32_t)number;
	return add_route(b->r, &prefix, number);
}

static int
fill(struct build *b)
{
	const struct sw_tables *tables = b->tables;
	int64_t rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < tables->n_interfaces; i++)
		rc = add_interface(b, &tables->interfaces[i]);
	for (uint32_t i = 0; rc >= 0 && i < tables->n_neighbors; i++) {
		struct field_ip ip;
		struct neigh_key key;

		sw_address_parse(tables->neighbors[i].name, &ip);
		key = key_of(b->r, &ip);
		rc = neigh_add_fixed(b->r->pinned, &key, tables->neighbors[i].mac);
	}
	for (uint32_t i = 0; rc >= 0 && i < tables->n_routes; i++)
		rc = add_hops(b, i);
	if (rc >= 0 && neigh_count(b->r->pinned) > b->r->params.neighbor_entries)
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
create_tables(struct build *b)
{
	const struct sw_tables *tables = b->tables;
	struct sw_routing_table *r = b->r;
	uint32_t most_targets =
		RTE_MIN(1 + 3 * tables->n_interfaces + tables->n_routes, ROUTE_MAX_TARGET + 1u);

	r->table = route_table_create(
		&(struct route_params){.routes = count_routes(tables), .socket = SOCKET_ID_ANY});
	r->pinned = neigh_table_create(&(struct neigh_params){0});
	r->interfaces = calloc(tables->n_interfaces + 1, sizeof(*r->interfaces));
	r->target_of_route = calloc(tables->n_routes + 1, sizeof(*r->target_of_route));
	r->n_routes = tables->n_routes;
	r->n_targets = 1;
	b->targets = calloc(most_targets, sizeof(*b->targets));
	b->n_slots = rte_align32pow2(2 * most_targets);
	b->slots = calloc(b->n_slots, sizeof(*b->slots));
	return r->table == NULL || r->pinned == NULL || r->interfaces == NULL ||
			       r->target_of_route == NULL || b->targets == NULL || b->slots == NULL
		       ? -ENOMEM
		       : 0;
}

/* The targets of a shard, and behind them their masks and those of their hops that are not few.
 * @return NULL: no memory. */
static struct sw_target *
lay_out(const struct build *b)
{
	uint32_t n = b->r->n_targets, n_words = 0, n_far = 0;
	struct sw_target *targets;
	uint64_t *dead;
	uint16_t *far;

	for (uint32_t i = 0; i < n; i++) {
		n_words += sw_hop_words(b->targets[i].n_hops);
		n_far += b->targets[i].n_hops > SW_TARGET_FEW ? b->targets[i].n_hops : 0;
	}
	targets = rte_zmalloc("sw",
			      n * sizeof(*targets) + n_words * sizeof(*dead) + n_far * sizeof(*far),
			      RTE_CACHE_LINE_SIZE);
	if (targets == NULL)
		return NULL;
	dead = (uint64_t *)(targets + n);
	far = (uint16_t *)(dead + n_words);
	for (uint32_t i = 0; i < n; i++) {
		const struct draft *from = &b->targets[i];
		struct sw_target *t = &targets[i];

		t->kind = from->kind;
		t->domain = from->domain;
		t->n_hops = from->n_hops;
		t->dead = dead;
		t->hops = t->n_hops <= SW_TARGET_FEW ? t->few : far;
		if (t->n_hops > 0)
			memcpy(t->hops, b->hops + from->first, t->n_hops * sizeof(*t->hops));
		dead += sw_hop_words(t->n_hops);
		far += t->n_hops <= SW_TARGET_FEW ? 0 : t->n_hops;
	}
	return targets;
}

/* Make the targets of each shard, which replaces hops by indices of its own neighbours. */
static int
create_for_shards(const struct build *b)
{
	struct sw_routing_table *r = b->r;

	for (uint16_t i = 0; i < r->n_shards; i++) {
		r->targets[i] = lay_out(b);
		r->pinned_at[i] = calloc(neigh_count(r->pinned) + 1, sizeof(uint32_t));
		r->counts_of[i] = calloc(neigh_count(r->pinned) + 1, sizeof(*r->counts_of[i]));
		if (r->targets[i] == NULL || r->pinned_at[i] == NULL || r->counts_of[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

int
sw_routing_table_create(const struct sw_router_params *params, const struct sw_tables *tables,
			uint16_t n_shards, struct sw_routing_table **routes)
{
	struct build b = {.r = calloc(1, sizeof(*b.r)), .tables = tables};
	int rc = b.r == NULL ? -ENOMEM : create_tables(&b);

	if (rc == 0) {
		b.r->params = *params;
		b.r->n_shards = n_shards;
		rc = fill(&b);
	}
	if (rc == 0)
		rc = create_for_shards(&b);
	free(b.targets);
	free(b.hops);
	free(b.slots);
	if (rc != 0) {
		sw_routing_table_destroy(b.r);
		b.r = NULL;
	}
	*routes = b.r;
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
