/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/forward/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_malloc.h>

#include "base/threads/counter.h"

bool
sw_router_is_own(const struct route_prefix *own, const uint8_t *ip, uint8_t ip_version)
{
	return own->ip.version == ip_version &&
	       memcmp(own->ip.addr, ip, ip_version == 4 ? 4 : 16) == 0;
}

bool
sw_router_is_neighbour(const struct sw_router *r, const struct neigh_key *key)
{
	const struct route_prefix *own;

	if (!sw_router_has(r, key->vlan_id))
		return false;
	own = key->ip.version == 4 ? &sw_router_interface(r, key->vlan_id)->ip
				   : &sw_router_interface(r, key->vlan_id)->ip6;
	return !sw_router_is_own(own, key->ip.addr, key->ip.version) &&
	       route_prefix_has(own, &key->ip);
}

/* Remove the neighbours that are in no interface's subnet any more. */
static void
forget_strangers(struct sw_router *r)
{
	for (uint32_t i = 0; i < neigh_count(r->neighs); i++) {
		const struct neigh *e = neigh_get(r->neighs, i);

		if (e->key.ip.version != 0 && !sw_router_is_neighbour(r, &e->key))
			neigh_remove(r->neighs, i);
	}
}

static int
create(struct sw_forward *f, const struct sw_shard *shard, const struct sw_routing_table *routes,
       const struct half_sip_key *key, uint16_t n_ports)
{
	struct sw_router *r = rte_zmalloc("sw", sizeof(*r), RTE_CACHE_LINE_SIZE);

	if (r == NULL)
		return -ENOMEM;
	r->shard = shard;
	r->pools = f->pools;
	r->neighs = neigh_table_create(&(struct neigh_params){.key = *key});
	r->counts_of = rte_zmalloc("sw", routes->params.neighbor_entries * sizeof(*r->counts_of),
				   RTE_CACHE_LINE_SIZE);
	if (r->neighs == NULL || r->counts_of == NULL ||
	    neigh_limit(r->neighs, routes->params.neighbor_entries, SW_DOMAINS, n_ports) < 0) {
		sw_router_destroy(r);
		return -ENOMEM;
	}
	/* Other threads may see the router now; until it has routes, it has no interface. */
	__atomic_store_n(&f->router, r, __ATOMIC_RELEASE);
	return 0;
}

/*
 * Counts that a router keeps of next hops, as a multiple of neighbor_entries: whoever changes next
 * hops for years must not fill the memory. Further ones are counted at their interface only.
 */
#define MOST_COUNTS_FACTOR 4u

/* Find or make the counts of all next hops. @return 0 or -ENOMEM. */
static int
prepare_counts(struct sw_router *r, const struct sw_routing_table *routes)
{
	uint32_t most = MOST_COUNTS_FACTOR * routes->params.neighbor_entries;
	struct sw_hop_counts **counts = routes->counts_of[r->shard->index];
	const struct sw_target *targets = routes->targets[r->shard->index];

	for (uint32_t i = 0; i < routes->n_targets; i++) {
		for (uint16_t k = 0; k < targets[i].n_hops; k++) {
			uint32_t at = targets[i].hops[k]; /* of pinned, before they are in force */

			if (counts[at] == NULL &&
			    sw_hop_counts_of(&r->hop_counts, &neigh_get(routes->pinned, at)->key,
					     most, &counts[at]) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

int
sw_router_prepare(struct sw_forward *f, const struct sw_shard *shard,
		  const struct sw_routing_table *routes, const struct half_sip_key *key,
		  uint16_t n_ports)
{
	int rc = f->router == NULL ? create(f, shard, routes, key, n_ports) : 0;

	for (uint32_t i = 0; rc == 0 && i < routes->n_interfaces; i++) {
		struct sw_interface_stats **stats =
			&f->router->stats_of[routes->interfaces[i].domain];
		struct sw_interface_stats *fresh;

		if (*stats != NULL)
			continue;
		fresh = calloc(1, sizeof(*fresh));
		if (fresh == NULL)
			rc = -ENOMEM;
		__atomic_store_n(stats, fresh, __ATOMIC_RELEASE);
	}
	return rc == 0 ? prepare_counts(f->router, routes) : rc;
}

/* Count what is sent to a neighbour here, or with NULL at its interface. */
static void
set_counts(struct sw_router *r, uint32_t at, struct sw_hop_counts *counts)
{
	if (r->counts_of[at] != NULL)
		__atomic_store_n(&r->counts_of[at]->in_use, false, __ATOMIC_RELAXED);
	r->counts_of[at] = counts;
	if (counts != NULL)
		__atomic_store_n(&counts->in_use, true, __ATOMIC_RELAXED);
}

/* Unpin the neighbours of the old routes, so that they may be replaced; static addresses become
 * learned ones. */
static void
unpin(struct sw_router *r, const struct sw_routing_table *before, uint64_t now_ns)
{
	const uint32_t *at = before->pinned_at[r->shard->index];

	for (uint32_t i = 0; i < neigh_count(before->pinned); i++) {
		neigh_pin(r->neighs, at[i], false);
		set_counts(r, at[i], NULL);
		if (neigh_get(r->neighs, at[i])->fixed)
			neigh_unfix(r->neighs, at[i], now_ns);
	}
}

/*
 * Add a neighbour that must get an entry. If the table is full, it replaces an unpinned neighbour.
 * There is one, because pinned neighbours never exceed the number of entries.
 */
static uint32_t
make_place(struct sw_router *r, const struct neigh_key *key, uint64_t now_ns)
{
	if (neigh_is_full(r->neighs)) {
		uint32_t at = 0;

		while (neigh_get(r->neighs, at)->pinned)
			at++;
		neigh_remove(r->neighs, at);
	}
	return (uint32_t)neigh_add(r->neighs, key, now_ns); /* cannot fail: the entry is reserved */
}

/* Pin the neighbours of the new routes: first those in the table, so that make_place() does not
 * remove them. */
static void
pin(struct sw_router *r, const struct sw_routing_table *next, uint64_t now_ns)
{
	uint32_t *at = next->pinned_at[r->shard->index], n = neigh_count(next->pinned);

	for (uint32_t i = 0; i < n; i++) {
		at[i] = neigh_find(r->neighs, &neigh_get(next->pinned, i)->key);
		if (at[i] != NEIGH_NONE)
			neigh_pin(r->neighs, at[i], true);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct neigh *e = neigh_get(next->pinned, i);

		if (at[i] == NEIGH_NONE)
			at[i] = make_place(r, &e->key, now_ns);
		neigh_pin(r->neighs, at[i], true);
		set_counts(r, at[i], next->counts_of[r->shard->index][i]);
		if (e->fixed)
			neigh_add_fixed(r->neighs, &e->key, e->mac);
	}
}

static bool
same_interfaces(const struct sw_routing_table *a, const struct sw_routing_table *b)
{
	return a->n_interfaces == b->n_interfaces &&
	       memcmp(a->interfaces, b->interfaces, a->n_interfaces * sizeof(*a->interfaces)) == 0;
}

static void
set_hops(struct sw_target *targets, uint32_t n, const uint32_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		/* An index is below neighbor_entries. */
		for (uint16_t k = 0; k < targets[i].n_hops; k++)
			targets[i].hops[k] = (uint16_t)at[targets[i].hops[k]];
	}
}

void
sw_router_adopt(struct sw_router *r, struct sw_routing_table *routes, uint64_t now_ns)
{
	const struct sw_routing_table *before = r->routes;
	uint16_t shard = r->shard->index;

	r->routes = routes;
	r->table = routes->table;
	r->targets = routes->targets[shard];
	memcpy(r->interface_of, routes->interface_of, sizeof(r->interface_of));
	memcpy(r->mac, routes->params.router_mac, sizeof(r->mac));
	r->mac_key = fdb_key(0, r->mac);
	r->seed = routes->params.ecmp_hash_seed;
	r->flow_label = routes->params.ecmp_hash_flow_label;
	r->hops_moved = true;
	memset(r->memo, 0, sizeof(r->memo));
	neigh_set_params(
		r->neighs,
		&(struct neigh_params){.retrans_ns = routes->params.neigh_retrans_time_ns,
				       .reachable_ns = routes->params.neigh_reachable_time_ns});
	if (before != NULL)
		unpin(r, before, now_ns);
	if (before != NULL && !same_interfaces(before, routes))
		forget_strangers(r);
	pin(r, routes, now_ns);
	set_hops(routes->targets[shard], routes->n_targets, routes->pinned_at[shard]);
}

void
sw_router_destroy(struct sw_router *r)
{
	if (r == NULL)
		return;
	neigh_table_destroy(r->neighs);
	for (unsigned int i = 0; i < SW_DOMAINS; i++)
		free(r->stats_of[i]);
	rte_free(r->counts_of);
	sw_hop_counts_free(&r->hop_counts);
	rte_free(r);
}

void
sw_router_add_stats(const struct sw_router *r, struct sw_router_stats *sum)
{
	static_assert(sizeof(*sum) % sizeof(uint64_t) == 0, "counters and nothing else");
	if (r != NULL)
		counters_add(&r->stats, sum, sizeof(*sum));
}

void
sw_router_add_interface_stats(const struct sw_router *r, uint16_t domain,
			      struct sw_interface_stats *sum)
{
	const struct sw_interface_stats *stats =
		r == NULL ? NULL : __atomic_load_n(&r->stats_of[domain], __ATOMIC_ACQUIRE);

	if (stats == NULL)
		return;
	counters_add(stats, sum, sizeof(*sum));
	sw_hop_counts_add_domain(&r->hop_counts, domain, &sum->out);
}
