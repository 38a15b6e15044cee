/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes of a configuration: interfaces, prefixes and next hops. Built while other routes are in
 * force, and then read by all shards; only targets[] and pinned_at[] are per shard.
 *
 * Invariant: each static next hop and each configured neighbour is in `pinned`, and
 * neigh_count(pinned) <= neighbor_entries.
 */
#ifndef QUENCH_SWITCH_FORWARD_ROUTING_TABLE_H
#define QUENCH_SWITCH_FORWARD_ROUTING_TABLE_H

#include "fwd/neigh.h"
#include "fwd/route.h"
#include "switch/forward/hop_counts.h"
#include "switch/params/sw_params.h"

enum sw_target_kind { SW_TARGET_LOCAL, SW_TARGET_CONNECTED, SW_TARGET_HOPS, SW_TARGET_BLACKHOLE };

/* Target of one or more routes. */
struct sw_target {
	uint8_t kind; /* enum sw_target_kind */
	uint8_t n_hops;
	uint16_t domain;                /* SW_TARGET_CONNECTED */
	uint16_t dead;                  /* mask of hops that were dead at the last look */
	uint32_t hops[SW_MAX_NEXTHOPS]; /* indices of neighbours */
};

struct sw_router_interface {
	uint16_t domain;
	struct route_prefix ip, ip6; /* ip.version 0: none */
};

/* The routing part of a configuration. */
struct sw_routing_table {
	struct sw_router_params params;
	uint64_t digest; /* hash of the configuration that it was built from */
	struct route_table *table;
	struct neigh_table *pinned; /* next hops, and neighbours with configured addresses */
	struct sw_router_interface *interfaces;
	uint32_t n_interfaces;
	uint32_t n_targets;
	uint32_t *target_of_route; /* per [route] section, in file order */
	uint32_t n_routes;
	uint16_t n_shards;
	uint16_t interface_of[SW_DOMAINS]; /* index + 1; 0: none */
	/* per shard: hops of targets are indices into `pinned` until the shard replaces them by
	 * pinned_at[], the indices in its own table of neighbours */
	struct sw_target *targets[SW_MAX_SHARDS];
	uint32_t *pinned_at[SW_MAX_SHARDS];
	struct sw_hop_counts **counts_of[SW_MAX_SHARDS]; /* by pinned; NULL: it is no next hop */
};

/** @param routes  Result, owned by the caller. @return 0, or -ENOMEM, or -ENOSPC: too many routes
 * or neighbours; on failure *routes is NULL. */
int sw_routing_table_create(const struct sw_router_params *params, const struct sw_tables *tables,
			    uint16_t n_shards, struct sw_routing_table **routes);
/** NULL is allowed. */
void sw_routing_table_destroy(struct sw_routing_table *r);

#endif
