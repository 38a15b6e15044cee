/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/change/forwarding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>

#include "switch/control/owners.h"
#include "switch/control/control_state.h"
#include "switch/forward/router.h"
#include "switch/params/port_names.h"

/* FNV-1a hash, to detect whether two configurations differ. */
#define DIGEST_START 0xcbf29ce484222325ull

static uint64_t
digest_bytes(uint64_t digest, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		digest = (digest ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3ull;
	return digest;
}

static uint64_t
digest_text(uint64_t digest, const char *text)
{
	return digest_bytes(digest, text, strlen(text) + 1);
}

static uint64_t
fdb_digest(const struct sw_params *params)
{
	const struct sw_tables *t = &params->tables;
	uint64_t d = DIGEST_START;

	d = digest_bytes(d, &params->fdb_entries, sizeof(params->fdb_entries));
	d = digest_bytes(d, &params->fdb_ageing_s, sizeof(params->fdb_ageing_s));
	for (uint32_t i = 0; i < t->n_static_macs; i++) {
		const struct sw_static_mac *s = &t->static_macs[i];
		uint64_t key = fdb_key(s->vlan, s->mac);
		int port = sw_port_find(params, s->port);

		d = digest_bytes(d, &key, sizeof(key));
		d = digest_bytes(d, &port, sizeof(port));
	}
	return d;
}

static uint64_t
router_digest(uint64_t d, const struct sw_router_params *p)
{
	d = digest_bytes(d, p->router_mac, sizeof(p->router_mac));
	d = digest_bytes(d, &p->ecmp_hash_seed, sizeof(p->ecmp_hash_seed));
	d = digest_bytes(d, &p->ecmp_hash_flow_label, sizeof(p->ecmp_hash_flow_label));
	d = digest_bytes(d, &p->neigh_retrans_time_ns, sizeof(p->neigh_retrans_time_ns));
	d = digest_bytes(d, &p->neigh_reachable_time_ns, sizeof(p->neigh_reachable_time_ns));
	return digest_bytes(d, &p->icmp_errors_per_s, sizeof(p->icmp_errors_per_s));
}

static uint64_t
routes_digest(const struct sw_params *params)
{
	const struct sw_tables *t = &params->tables;
	uint64_t d = router_digest(DIGEST_START, &params->router);

	for (uint32_t i = 0; i < t->n_interfaces; i++) {
		d = digest_text(d, t->interfaces[i].name);
		d = digest_text(d, t->interfaces[i].ip);
		d = digest_text(d, t->interfaces[i].ip6);
	}
	for (uint32_t i = 0; i < t->n_routes; i++) {
		d = digest_text(d, t->routes[i].name);
		d = digest_text(d, t->routes[i].nexthop);
	}
	for (uint32_t i = 0; i < t->n_neighbors; i++) {
		d = digest_text(d, t->neighbors[i].name);
		d = digest_bytes(d, t->neighbors[i].mac, sizeof(t->neighbors[i].mac));
	}
	return d;
}

static struct fdb_params
fdb_params_of(const struct sw_forwardings *f, const struct sw_params *params, bool shared)
{
	return (struct fdb_params){
		.entries = params->fdb_entries,
		.ageing_ns = params->fdb_ageing_s * NS_PER_SEC,
		.socket = SOCKET_ID_ANY,
		.shared = shared,
		.key = f->key,
	};
}

static void
set_limits(struct fdb *fdb, const struct sw_params *params)
{
	for (uint16_t port = 0; port < params->n_ports; port++)
		fdb_set_limit(fdb, port, params->ports[port].max_learned_addresses);
}

/* Set limits and static addresses. @return 0 or -ENOSPC. */
static int
fill_fdb(struct fdb *fdb, const struct sw_params *params)
{
	const struct sw_tables *tables = &params->tables;
	int rc = 0;

	set_limits(fdb, params);
	for (uint32_t i = 0; rc == 0 && i < tables->n_static_macs; i++) {
		const struct sw_static_mac *s = &tables->static_macs[i];

		rc = fdb_add_static(fdb, fdb_key(s->vlan, s->mac),
				    (uint16_t)sw_port_find(params, s->port));
	}
	return rc;
}

static int
prepare_routers(struct sw *front, const struct sw_routing_table *routes)
{
	int rc = 0;

	for (uint16_t i = 0; rc == 0 && i < sw_shard_count(front); i++) {
		struct sw *sw = sw_shard_at(front, i);

		rc = sw_router_prepare(&sw->forward, &sw->shard, routes,
				       &front->control->forwarding.key, front->n_ports);
	}
	return rc;
}

static int
create_routes(const struct sw *front, const struct sw_params *params,
	      struct sw_routing_table **routes)
{
	int rc = sw_routing_table_create(&params->router, &params->tables, sw_shard_count(front),
					 routes);

	if (rc == 0)
		(*routes)->digest = routes_digest(params);
	return rc;
}

int
sw_forwarding_create(struct sw *front, const struct sw_params *params)
{
	struct sw_forwardings *f = &front->control->forwarding;
	struct fdb_params fdb;
	int rc;

	/* Keep the key here, because the params of a reload have none. */
	f->key = params->table_key;
	fdb = fdb_params_of(f, params, front->shard.shards != NULL);
	f->in_force.vlans = sw_vlans_create(params);
	f->fdbs[0] = f->in_force.fdb = fdb_create(&fdb);
	if (f->in_force.vlans == NULL || f->in_force.fdb == NULL)
		return -ENOMEM;
	f->in_force.fdb_digest = fdb_digest(params);
	front->forward.vlans = f->in_force.vlans;
	front->forward.fdb = f->in_force.fdb;
	rc = fill_fdb(f->in_force.fdb, params);
	if (rc == 0 && params->tables.n_interfaces > 0)
		rc = create_routes(front, params, &f->in_force.routes);
	return rc;
}

int
sw_forwarding_start(struct sw *front)
{
	struct sw_routing_table *routes = front->control->forwarding.in_force.routes;
	int rc = routes == NULL ? 0 : prepare_routers(front, routes);

	for (uint16_t i = 0; rc == 0 && routes != NULL && i < sw_shard_count(front); i++)
		sw_router_adopt(sw_shard_at(front, i)->forward.router, routes, 0);
	return rc;
}

void
sw_forwarding_destroy(struct sw *front)
{
	struct sw_forwardings *f = &front->control->forwarding;

	if (f->next != NULL)
		sw_reload_forget(f->next);
	sw_vlans_free(f->in_force.vlans);
	sw_routing_table_destroy(f->in_force.routes);
	fdb_destroy(f->fdbs[0]);
	fdb_destroy(f->fdbs[1]);
}

/* Prepare the table that is not in force for the new parameters. NULL: no memory. */
static struct fdb *
renew_spare(struct sw_forwardings *f, const struct sw_params *params)
{
	const struct fdb_params fdb = fdb_params_of(f, params, true);
	unsigned int spare = f->in_force.fdb == f->fdbs[0];

	if (f->fdbs[spare] != NULL)
		return fdb_reset(f->fdbs[spare], &fdb) == 0 ? f->fdbs[spare] : NULL;
	__atomic_store_n(&f->fdbs[spare], fdb_create(&fdb), __ATOMIC_RELEASE);
	return f->fdbs[spare];
}

static const char *
prepare_fdb(struct sw *front, struct sw_forwarding *next, const struct sw_params *params)
{
	struct sw_forwardings *f = &front->control->forwarding;
	const struct sw_vlans *vlans = next->vlans != NULL ? next->vlans : f->in_force.vlans;
	uint32_t at = 0;

	next->fdb_digest = fdb_digest(params);
	if (next->vlans == NULL && next->fdb_digest == f->in_force.fdb_digest)
		return NULL;
	next->fdb = renew_spare(f, params);
	if (next->fdb == NULL)
		return "switch: fdb_entries: expected fewer: out of memory";
	if (fill_fdb(next->fdb, params) < 0)
		return "switch: fdb_entries: expected more: no room for a static address of [fdb]";
	while (fdb_take_over(next->fdb, f->in_force.fdb, vlans->members, vlans->words, &at))
		;
	return NULL;
}

static const char *
prepare_routes(struct sw *front, struct sw_forwarding *next, const struct sw_params *params)
{
	const struct sw_routing_table *now = front->control->forwarding.in_force.routes;

	if (now == NULL ? params->tables.n_interfaces == 0 : now->digest == routes_digest(params))
		return NULL;
	if (create_routes(front, params, &next->routes) < 0 ||
	    prepare_routers(front, next->routes) < 0)
		return "route: : expected fewer routes: out of memory";
	return NULL;
}

int
sw_reload_prepare(struct node *node, const struct sw_params *params, struct sw_forwarding **out,
		  char *why, unsigned int why_size)
{
	struct sw *front = sw_of(node);
	struct sw_forwarding *next = calloc(1, sizeof(*next));
	struct mmu_params mmu = params->mmu;
	const char *fault = NULL;

	assert(sw_reload_is_done(node));
	/* The number of packet buffers is fixed at start-up, and limits the headroom. */
	mmu.packets = front->mmu->packets;
	if (mmu_params_check(&mmu, why, why_size) < 0) {
		snprintf(why, why_size,
			 "lossless: xoff_bytes: expected at most the headroom that the %u mbufs "
			 "allocated at the start can hold",
			 mmu.packets);
		free(next);
		*out = NULL;
		return -EINVAL;
	}
	sw_reload_settle(node);
	if (next != NULL)
		next->vlans = sw_vlans_create(params);
	if (next == NULL || next->vlans == NULL)
		fault = "switch: vlan_filtering: expected free memory for the VLAN table";
	if (fault == NULL &&
	    sw_vlans_equal(next->vlans, front->control->forwarding.in_force.vlans)) {
		sw_vlans_free(next->vlans);
		next->vlans = NULL;
	}
	if (fault == NULL)
		fault = prepare_fdb(front, next, params);
	if (fault == NULL)
		fault = prepare_routes(front, next, params);
	*out = next;
	if (fault == NULL)
		return 0;
	snprintf(why, why_size, "%s", fault);
	sw_reload_forget(next);
	*out = NULL;
	return -EINVAL;
}

void
sw_reload_forget(struct sw_forwarding *next)
{
	if (next == NULL)
		return;
	sw_vlans_free(next->vlans);
	sw_routing_table_destroy(next->routes);
	if (next->fdb != NULL)
		fdb_release(next->fdb);
	free(next);
}

void
sw_forwarding_begin(struct sw *front, struct sw_forwarding *next, const struct sw_params *params)
{
	set_limits(front->control->forwarding.in_force.fdb, params);
	for (uint16_t i = 0; i < sw_shard_count(front); i++)
		sw_shard_at(front, i)->request.adopt = next;
	__atomic_store_n(&front->control->forwarding.next, next, __ATOMIC_RELEASE);
}

void
sw_forwarding_adopt(struct sw *sw, uint64_t now_ns)
{
	const struct sw_forwarding *next = sw->request.adopt;

	if (next == NULL)
		return;
	sw->request.adopt = NULL;
	if (next->vlans != NULL)
		sw->forward.vlans = next->vlans;
	if (next->fdb != NULL)
		__atomic_store_n(&sw->forward.fdb, next->fdb, __ATOMIC_RELEASE);
	if (next->routes != NULL)
		sw_router_adopt(sw->forward.router, next->routes, now_ns);
}

static void
replace_fdb(struct sw *front, const struct sw_vlans *vlans)
{
	struct sw_forwardings *f = &front->control->forwarding;
	struct fdb *old = f->in_force.fdb, *new = f->next->fdb;
	uint32_t at = 0;

	/* Copy the addresses learned in the old table since prepare_fdb(). */
	while (fdb_take_over(new, old, vlans->members, vlans->words, &at))
		;
	fdb_set_shared(new, front->shard.shards != NULL);
	f->in_force.fdb_digest = f->next->fdb_digest;
	f->in_force.fdb = new;
	fdb_release(old);
}

bool
sw_reload_settle(struct node *node)
{
	struct sw *front = sw_of(node);
	struct sw_forwardings *f = &front->control->forwarding;
	struct sw_forwarding *next = __atomic_load_n(&f->next, __ATOMIC_ACQUIRE);
	struct sw_forwarding *now = &f->in_force;

	if (!sw_reload_is_done(node))
		return false;
	if (next == NULL)
		return true;
	if (next->fdb != NULL)
		replace_fdb(front, next->vlans != NULL ? next->vlans : now->vlans);
	if (next->vlans != NULL) {
		sw_vlans_free(now->vlans);
		now->vlans = next->vlans;
	}
	if (next->routes != NULL) {
		struct sw_routing_table *before = now->routes;

		rte_spinlock_lock(&f->routes_lock);
		now->routes = next->routes;
		__atomic_store_n(&front->control->next_hops_ns, 0, __ATOMIC_SEQ_CST);
		rte_spinlock_unlock(&f->routes_lock);
		sw_routing_table_destroy(before);
	}
	free(next);
	__atomic_store_n(&f->next, NULL, __ATOMIC_RELEASE);
	return true;
}

int
sw_set_routes(struct node *node, const struct sw_tables *tables)
{
	struct sw *front = sw_of(node);
	struct sw_forwarding *now = &front->control->forwarding.in_force;
	struct sw_routing_table *next;
	int rc;

	assert(sw_reload_is_done(node));
	sw_reload_settle(node);
	if (now->routes == NULL)
		return 0;
	rc = sw_routing_table_create(&now->routes->params, tables, sw_shard_count(front), &next);
	if (rc == 0)
		rc = prepare_routers(front, next);
	if (rc < 0) {
		sw_routing_table_destroy(next);
		return rc;
	}
	for (uint16_t i = 0; i < sw_shard_count(front); i++)
		sw_router_adopt(sw_shard_at(front, i)->forward.router, next, 0);
	sw_routing_table_destroy(now->routes);
	now->routes = next;
	return 0;
}

struct sw_hop_set
sw_routing_dead_hops(const struct node *node, uint32_t route)
{
	struct sw_forwardings *f = &sw_of_const(node)->control->forwarding;
	const struct sw_routing_table *routes;
	struct sw_hop_set dead = {0};

	/*
	 * The lock keeps sw_reload_settle() in another thread from freeing the old routes
	 * meanwhile.
	 */
	rte_spinlock_lock(&f->routes_lock);
	routes = f->in_force.routes;
	for (uint16_t i = 0; routes != NULL && route < routes->n_routes && i < routes->n_shards;
	     i++) {
		const struct sw_target *t = &routes->targets[i][routes->target_of_route[route]];

		for (uint32_t k = 0; k < sw_hop_words(t->n_hops); k++)
			dead.word[k] |= __atomic_load_n(&t->dead[k], __ATOMIC_RELAXED);
	}
	rte_spinlock_unlock(&f->routes_lock);
	return dead;
}
