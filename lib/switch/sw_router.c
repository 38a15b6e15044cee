/* SPDX-License-Identifier: BSD-3-Clause */
/* The router of a shard, and how it goes over from routes to routes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_malloc.h>

#include "switch/sw_router.h"
#include "switch/sw_shard.h"

static int
create(struct sw *sw, const struct sw_routes *routes)
{
	struct sw_router *r = rte_zmalloc("sw", sizeof(*r), RTE_CACHE_LINE_SIZE);

	if (r == NULL)
		return -ENOMEM;
	r->sw = sw;
	r->neighs = neigh_table_create(&(struct neigh_params){.key = sw->front->forwarding.key});
	if (r->neighs == NULL ||
	    neigh_limit(r->neighs, routes->params.neighbor_entries, SW_DOMAINS, sw->n_ports) < 0) {
		sw_router_destroy(r);
		return -ENOMEM;
	}
	/* Without routes it is the router of no domain. */
	__atomic_store_n(&sw->router, r, __ATOMIC_RELEASE);
	return 0;
}

int
sw_router_prepare(struct sw *sw, const struct sw_routes *routes)
{
	int rc = sw->router == NULL ? create(sw, routes) : 0;

	for (uint32_t i = 0; rc == 0 && i < routes->n_interfaces; i++) {
		struct sw_interface_stats **stats =
			&sw->router->stats_of[routes->interfaces[i].domain];
		struct sw_interface_stats *fresh;

		if (*stats != NULL)
			continue;
		fresh = calloc(1, sizeof(*fresh));
		if (fresh == NULL)
			rc = -ENOMEM;
		__atomic_store_n(stats, fresh, __ATOMIC_RELEASE);
	}
	return rc;
}

/* They may lose their places from now on, and are asked again. */
static void
unpin(struct sw_router *r, const struct sw_routes *before, uint64_t now_ns)
{
	const uint32_t *at = before->pinned_at[r->sw->index];

	for (uint32_t i = 0; i < neigh_count(before->pinned); i++) {
		neigh_pin(r->neighs, at[i], false);
		if (neigh_get(r->neighs, at[i])->fixed)
			neigh_unfix(r->neighs, at[i], now_ns);
	}
}

/* A place for one that has to have one: there are not more of them than places. */
static uint32_t
make_place(struct sw_router *r, const struct neigh_key *key, uint64_t now_ns)
{
	if (neigh_is_full(r->neighs)) {
		uint32_t at = 0;

		while (neigh_get(r->neighs, at)->pinned)
			at++;
		neigh_remove(r->neighs, at);
	}
	return (uint32_t)neigh_add(r->neighs, key, now_ns); /* its room is reserved */
}

/* First those that are there, so that none of them has to go for another. */
static void
pin(struct sw_router *r, const struct sw_routes *next, uint64_t now_ns)
{
	uint32_t *at = next->pinned_at[r->sw->index], n = neigh_count(next->pinned);

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
		if (e->fixed)
			neigh_add_fixed(r->neighs, &e->key, e->mac);
	}
}

static bool
same_interfaces(const struct sw_routes *a, const struct sw_routes *b)
{
	return a->n_interfaces == b->n_interfaces &&
	       memcmp(a->interfaces, b->interfaces, a->n_interfaces * sizeof(*a->interfaces)) == 0;
}

static void
set_hops(struct sw_target *targets, uint32_t n, const uint32_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint8_t k = 0; k < targets[i].n_hops; k++)
			targets[i].hops[k] = at[targets[i].hops[k]];
	}
}

void
sw_router_adopt(struct sw_router *r, struct sw_routes *routes, uint64_t now_ns)
{
	const struct sw_routes *before = r->routes;
	uint16_t shard = r->sw->index;

	r->routes = routes;
	r->table = routes->table;
	r->targets = routes->targets[shard];
	memcpy(r->interface_of, routes->interface_of, sizeof(r->interface_of));
	memcpy(r->mac, routes->params.router_mac, sizeof(r->mac));
	r->mac_key = fdb_key(0, r->mac);
	r->seed = routes->params.ecmp_hash_seed;
	r->flow_label = routes->params.ecmp_hash_flow_label;
	neigh_set_params(
		r->neighs,
		&(struct neigh_params){.retrans_ns = routes->params.neigh_retrans_time_ns,
				       .reachable_ns = routes->params.neigh_reachable_time_ns});
	if (before != NULL)
		unpin(r, before, now_ns);
	if (before != NULL && !same_interfaces(before, routes))
		sw_neigh_forget_strangers(r);
	pin(r, routes, now_ns);
	set_hops(routes->targets[shard], routes->n_targets, routes->pinned_at[shard]);
}

uint16_t
sw_route_dead_hops(const struct node *node, uint32_t route)
{
	struct sw_forwardings *f = &((struct sw *)sw_of_const(node))->forwarding;
	const struct sw_routes *routes;
	uint16_t dead = 0;

	/* sw_reload_settle() of another thread frees what was in force before. */
	rte_spinlock_lock(&f->routes_lock);
	routes = f->in_force.routes;
	for (uint16_t i = 0; routes != NULL && route < routes->n_routes && i < routes->n_shards;
	     i++)
		dead |= __atomic_load_n(&routes->targets[i][routes->target_of_route[route]].dead,
					__ATOMIC_RELAXED);
	rte_spinlock_unlock(&f->routes_lock);
	return dead;
}

void
sw_router_destroy(struct sw_router *r)
{
	if (r == NULL)
		return;
	neigh_table_destroy(r->neighs);
	for (unsigned int i = 0; i < SW_DOMAINS; i++)
		free(r->stats_of[i]);
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

	if (stats != NULL)
		counters_add(stats, sum, sizeof(*sum));
}
