/* SPDX-License-Identifier: BSD-3-Clause */
/* The router of a switch: interfaces, routes, neighbours. Private to lib/switch. */
#ifndef QUENCH_SWITCH_SW_ROUTER_H
#define QUENCH_SWITCH_SW_ROUTER_H

#include "fwd/neigh.h"
#include "fwd/route.h"
#include "switch/sw_rx.h"

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
struct sw_routes {
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

/* A shard's. It goes over from routes to routes, and keeps its neighbours and counters. */
struct sw_router {
	/* per packet, of the routes in force */
	struct route_table *table;
	struct sw_target *targets; /* by route's target; [0] is none */
	struct neigh_table *neighs;
	uint64_t mac_key; /* as fdb_key() of domain 0 */
	uint32_t seed;
	bool flow_label;
	uint8_t mac[6];
	struct sw *sw; /* that it is the router of: a shard, of several */
	struct sw_router_stats stats;
	/* per question */
	struct sw_routes *routes;
	uint16_t interface_of[SW_DOMAINS];
	/* of domains that have or had an interface; others read them, so they stay */
	struct sw_interface_stats *stats_of[SW_DOMAINS];
};

static inline bool
sw_router_has(const struct sw_router *r, uint16_t domain)
{
	return r != NULL && r->interface_of[domain] != 0;
}

/** The router's interface in a domain that has one. */
static inline const struct sw_router_interface *
sw_router_interface(const struct sw_router *r, uint16_t domain)
{
	assert(r->interface_of[domain] != 0);
	return &r->routes->interfaces[r->interface_of[domain] - 1];
}

/* sw_routes.c */

/** @param routes  Owned by the caller. @return 0, or -ENOMEM, or -ENOSPC: more than there is room
 * for; and then *routes is NULL. */
int sw_routes_create(const struct sw_router_params *params, const struct sw_tables *tables,
		     uint16_t n_shards, struct sw_routes **routes);
/** NULL is allowed. */
void sw_routes_destroy(struct sw_routes *r);

/* sw_router.c */

/** Make what a shard needs beside routes, if it is not there: beside its owner. @return 0 or
 * -ENOMEM. */
int sw_router_prepare(struct sw *sw, const struct sw_routes *routes);
/** The owner goes over to routes, which have been prepared. */
void sw_router_adopt(struct sw_router *r, struct sw_routes *routes, uint64_t now_ns);

/* sw_neigh.c */

/** Listen to a frame to a group, of an interface's VLAN: neighbours that moved say so. @return is
 * it a question to the router, which the group need not see? */
bool sw_neigh_hear(struct sw_router *r, const struct arrival *a);

/**
 * A frame to the router itself: ARP, neighbour discovery, echo. An answer takes its place.
 *
 * @param to_own_ip  Is its destination an address of the router's?
 * @return           SW_PASS: send what a holds now; SW_CONSUMED; or a reason to drop it.
 */
enum sw_drop sw_neigh_rx(struct sw *sw, struct arrival *a, bool to_own_ip);

/** Give the places of neighbours that are in no subnet of an interface to others. */
void sw_neigh_forget_strangers(struct sw_router *r);

/** Send the questions that touching neighbours has brought up. */
void sw_neigh_ask(struct sw *sw, uint64_t now_ns);

#endif
