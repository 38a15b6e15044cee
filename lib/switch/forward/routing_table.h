/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes of a configuration: interfaces, prefixes and next hops. Built beside the routes in force,
 * then read by all shards; some members are each shard's own.
 */
#ifndef QUENCH_SWITCH_FORWARD_ROUTING_TABLE_H
#define QUENCH_SWITCH_FORWARD_ROUTING_TABLE_H

#include "fwd/neigh.h"
#include "fwd/route.h"
#include "switch/params/params.h"

enum sw_target_kind { SW_TARGET_LOCAL, SW_TARGET_CONNECTED, SW_TARGET_HOPS, SW_TARGET_BLACKHOLE };

/* What a route leads to. */
struct sw_target {
	uint8_t kind; /* enum sw_target_kind */
	uint8_t n_hops;
	uint16_t domain; /* SW_TARGET_CONNECTED */
	uint16_t dead;   /* mask of hops: a frame has found them so, and went by another */
	uint32_t hops[SW_MAX_NEXTHOPS]; /* neighbours */
};

struct sw_router_interface {
	uint16_t domain;
	struct route_prefix ip, ip6; /* ip.version 0: none */
};

/* What a configuration says of routing; shards read it, but for what is each one's own. */
struct sw_routing_table {
	struct sw_router_params params;
	uint64_t digest; /* of all that it was made from */
	struct route_table *table;
	struct neigh_table *pinned; /* next hops, and neighbours that are given for good */
	struct sw_router_interface *interfaces;
	uint32_t n_interfaces;
	uint32_t n_targets;
	uint32_t *target_of_route; /* of each [route], in their order */
	uint32_t n_routes;
	uint16_t n_shards;
	uint16_t interface_of[SW_DOMAINS]; /* index + 1; 0: none */
	/* of each shard: targets, whose hops are numbers of pinned ones until the shard has put
	 * in those of its own neighbours; and these, in the order of pinned */
	struct sw_target *targets[SW_MAX_SHARDS];
	uint32_t *pinned_at[SW_MAX_SHARDS];
};

/** @param routes  Owned by the caller. @return 0, or -ENOMEM, or -ENOSPC: more than there is room
 * for; and then *routes is NULL. */
int sw_routing_table_create(const struct sw_router_params *params, const struct sw_tables *tables,
			    uint16_t n_shards, struct sw_routing_table **routes);
/** NULL is allowed. */
void sw_routing_table_destroy(struct sw_routing_table *r);

#endif
