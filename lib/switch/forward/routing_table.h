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

#include <assert.h>

#include "fwd/neigh.h"
#include "fwd/route.h"
#include "switch/forward/hop_counts.h"
#include "switch/params/sw_params.h"
#include "switch/tables/hop_set.h"

enum sw_target_kind { SW_TARGET_LOCAL, SW_TARGET_CONNECTED, SW_TARGET_HOPS, SW_TARGET_BLACKHOLE };

/* A target of a few hops has them in its own cache line. */
#define SW_TARGET_FEW 5u

/*
 * Target of one or more routes: of all those with the same list of next hops. Its size is that of
 * half a cache line; a hop beyond the few has 2 bytes, and 64 hops have a word for the dead ones.
 */
struct sw_target {
	uint8_t kind;  /* enum sw_target_kind */
	bool has_dead; /* any of dead[] is set */
	uint16_t n_hops;
	uint16_t domain; /* SW_TARGET_CONNECTED */
	uint16_t few[SW_TARGET_FEW];
	uint16_t *hops; /* indices of neighbours: few[], or an array of the shard's routes */
	uint64_t *dead; /* by place of a hop, sw_hop_words(): dead at the last look */
};
static_assert(sizeof(struct sw_target) == 32, "two in a cache line");

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
	/* per shard, with the arrays of its targets behind them: hops of targets are indices into
	 * `pinned` until the shard replaces them by pinned_at[], the indices in its own table of
	 * neighbours */
	struct sw_target *targets[SW_MAX_SHARDS];
	uint32_t *pinned_at[SW_MAX_SHARDS];
	struct sw_hop_counts **counts_of[SW_MAX_SHARDS]; /* by pinned; NULL: it is no next hop */
};

/** A hop was found dead, or live. Other threads read its bit. @return whether that is new. */
static inline bool
sw_target_set_dead(struct sw_target *t, uint32_t hop, bool dead)
{
	uint64_t *word = &t->dead[hop / 64], bit = 1ull << hop % 64;
	uint64_t any = 0, now = dead ? *word | bit : *word & ~bit;

	if (now == *word)
		return false;
	__atomic_store_n(word, now, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < sw_hop_words(t->n_hops); i++)
		any |= t->dead[i];
	t->has_dead = any != 0;
	return true;
}

/** @param routes  Result, owned by the caller. @return 0, or -ENOMEM, or -ENOSPC: too many routes
 * or neighbours; on failure *routes is NULL. */
int sw_routing_table_create(const struct sw_router_params *params, const struct sw_tables *tables,
			    uint16_t n_shards, struct sw_routing_table **routes);
/** NULL is allowed. */
void sw_routing_table_destroy(struct sw_routing_table *r);

#endif
