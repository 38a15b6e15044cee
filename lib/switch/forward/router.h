/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The router of a shard: the routes in force, its neighbours and counters.
 *
 * Invariant: each next hop of the routes in force has an entry in the table of neighbours.
 */
#ifndef QUENCH_SWITCH_FORWARD_ROUTER_H
#define QUENCH_SWITCH_FORWARD_ROUTER_H

#include <assert.h>

#include "switch/forward/forward.h"
#include "switch/forward/routing_table.h"
#include "switch/params/counters.h"
#include "switch/shard/shard.h"

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
	const struct sw_shard *shard; /* that it is the router of */
	const struct sw_pools *pools; /* of answers and of frames that are written into */
	struct sw_router_stats stats;
	/* per question */
	struct sw_routing_table *routes;
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

/**
 * Create a shard's router and the counters of new interfaces; runs beside the owner.
 *
 * @param key  Key of the hashes over fields of frames.
 * @return     0 or -ENOMEM.
 */
int sw_router_prepare(struct sw_forward *f, const struct sw_shard *shard,
		      const struct sw_routing_table *routes, const struct half_sip_key *key,
		      uint16_t n_ports);
/** The owner puts prepared routes in force. */
void sw_router_adopt(struct sw_router *r, struct sw_routing_table *routes, uint64_t now_ns);
void sw_router_destroy(struct sw_router *r);

/** Is this an address in the subnet of its interface, and not the router's own? */
bool sw_router_is_neighbour(const struct sw_router *r, const struct neigh_key *key);
/** Is this the router's own address of an interface? */
bool sw_router_is_own(const struct route_prefix *own, const uint8_t *ip, uint8_t ip_version);

/** Add a router's counters to sum; NULL adds nothing. */
void sw_router_add_stats(const struct sw_router *r, struct sw_router_stats *sum);
void sw_router_add_interface_stats(const struct sw_router *r, uint16_t domain,
				   struct sw_interface_stats *sum);

#endif
