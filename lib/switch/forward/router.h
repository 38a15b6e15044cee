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
#include "switch/params/sw_counters.h"
#include "switch/shard/shard.h"

#define SW_ROUTE_MEMO 512u

/*
 * Where the route of an IPv4 address leads. Zeros are none, since no frame is routed to address 0.
 */
struct sw_route_found {
	uint32_t ip; /* host order */
	uint32_t target;
	uint32_t hop; /* SW_TARGET_CONNECTED: where the neighbour was found; NEIGH_NONE: nowhere */
};

/* A frame of the router, and where it leaves. */
struct sw_own_frame {
	struct rte_mbuf *m;
	uint16_t domain, port;
};

/* The router of a shard. It keeps its neighbours and counters when its routes are replaced. */
struct sw_router {
	/* per packet, of the routes in force */
	struct route_table *table;
	struct sw_target *targets; /* by target number of a route; [0]: no route */
	struct neigh_table *neighs;
	/* by index of a neighbour: NULL: it is no next hop of a route */
	struct sw_hop_counts **counts_of;
	uint64_t mac_key; /* as fdb_key() of domain 0 */
	uint32_t seed;
	bool flow_label;
	uint8_t mac[6];
	const struct sw_shard *shard; /* the shard that it belongs to */
	const struct sw_pools *pools; /* for copy on write */
	struct sw_router_stats stats;
	/* per ICMP error: the theoretical arrival time of GCRA, and those of the present burst */
	uint64_t icmp_due_ns;
	unsigned int n_errors;
	struct sw_own_frame errors[SW_BURST];
	/* routes of frames that arrived alone, by an unkeyed hash; emptied with new routes */
	struct sw_route_found memo[SW_ROUTE_MEMO];
	/* per request */
	struct sw_routing_table *routes;
	/* state of all next hops at the last sw_route_check_next_hops(), as a hash; have frames, or
	 * other routes, changed what the targets say of them since? */
	uint64_t hops_seen;
	bool hops_moved;
	uint16_t interface_of[SW_DOMAINS];
	/*
	 * per domain that has or had an interface; freed only with the router, because other
	 * threads read them
	 */
	struct sw_interface_stats *stats_of[SW_DOMAINS];
	struct sw_hop_table hop_counts; /* of all next hops that there are or were */
};

static inline bool
sw_router_has(const struct sw_router *r, uint16_t domain)
{
	return r != NULL && r->interface_of[domain] != 0;
}

/** Is this destination, an fdb_key(), the router's address? */
static inline bool
sw_router_is_at(const struct sw_router *r, uint64_t dst_key)
{
	const uint64_t mac_mask = 0xFFFFFFFFFFFF;

	return r != NULL && ((dst_key ^ r->mac_key) & mac_mask) == 0;
}

/** Is it the router of its domain? */
static inline bool
sw_router_takes(const struct sw_router *r, uint64_t dst_key)
{
	return sw_router_has(r, fdb_key_domain(dst_key)) && sw_router_is_at(r, dst_key);
}

/** The router's interface in a domain that has one. */
static inline const struct sw_router_interface *
sw_router_interface(const struct sw_router *r, uint16_t domain)
{
	assert(r->interface_of[domain] != 0);
	return &r->routes->interfaces[r->interface_of[domain] - 1];
}

/**
 * Create a shard's router, if it has none, and the counters of new interfaces. May run in another
 * thread while the owner runs.
 *
 * @param key  Key of the hashes over fields of frames.
 * @return     0 or -ENOMEM.
 */
int sw_router_prepare(struct sw_forward *f, const struct sw_shard *shard,
		      const struct sw_routing_table *routes, const struct half_sip_key *key,
		      uint16_t n_ports);
/** Put prepared routes in force; by the owner. */
void sw_router_adopt(struct sw_router *r, struct sw_routing_table *routes, uint64_t now_ns);
void sw_router_destroy(struct sw_router *r);

/** Is the address in the subnet of its interface, but not an address of the router? */
bool sw_router_is_neighbour(const struct sw_router *r, const struct neigh_key *key);
/** Is this the router's own address on an interface? */
bool sw_router_is_own(const struct route_prefix *own, const uint8_t *ip, uint8_t ip_version);

/** Add a router's counters to sum; NULL adds nothing. */
void sw_router_add_stats(const struct sw_router *r, struct sw_router_stats *sum);
void sw_router_add_interface_stats(const struct sw_router *r, uint16_t domain,
				   struct sw_interface_stats *sum);

#endif
