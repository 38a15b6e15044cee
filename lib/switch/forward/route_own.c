/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/forward/route_own.h"

#include <string.h>

#include "switch/forward/route_steps.h"

static struct sw_target *
target_of(const struct sw_router *r, const uint8_t *ip, uint8_t ip_version)
{
	uint8_t ip6[1][16];
	uint64_t target;
	uint32_t ip4;

	if (ip_version == 4) {
		ip4 = be32_load(ip);
		route_lookup4(r->table, &ip4, &target, 1);
	} else {
		memcpy(ip6[0], ip, sizeof(ip6[0]));
		route_lookup6(r->table, ip6, &target, 1);
	}
	return target == ROUTE_NONE ? NULL : &r->targets[target];
}

/*
 * The neighbour, or the first of several next hops that answers. Strangers choose the address, so
 * no neighbour is asked for that is not known already.
 */
static uint32_t
hop_of(struct sw_router *r, const struct sw_target *t, const struct neigh_key *key, uint64_t now_ns)
{
	uint32_t hop;

	if (t->kind == SW_TARGET_CONNECTED) {
		hop = neigh_find(r->neighs, key);
		return hop != NEIGH_NONE && neigh_touch(r->neighs, &r->stats.neigh, hop, now_ns)
			       ? hop
			       : NEIGH_NONE;
	}
	for (uint16_t i = 0; t->kind == SW_TARGET_HOPS && i < t->n_hops; i++) {
		if (neigh_touch(r->neighs, &r->stats.neigh, t->hops[i], now_ns))
			return t->hops[i];
	}
	return NEIGH_NONE;
}

bool
sw_route_own(struct sw_forward *f, const uint8_t *ip, uint8_t ip_version, uint64_t now_ns,
	     struct sw_own_way *way)
{
	struct sw_router *r = f->router;
	const struct sw_target *t = target_of(r, ip, ip_version);
	struct neigh_key key = {.ip.version = ip_version};
	const struct sw_router_interface *interface;
	const struct route_prefix *own;
	const struct neigh *e;
	uint32_t hop;

	if (t == NULL)
		return false;
	key.vlan_id = t->domain;
	memcpy(key.ip.addr, ip, ip_version == 4 ? 4 : 16);
	hop = hop_of(r, t, &key, now_ns);
	if (hop == NEIGH_NONE)
		return false;
	e = neigh_get(r->neighs, hop);
	interface = sw_router_interface(r, e->key.vlan_id);
	own = ip_version == 4 ? &interface->ip : &interface->ip6;
	way->domain = e->key.vlan_id;
	way->port = way->domain >= SW_PORT_DOMAIN
			    ? (uint16_t)(way->domain - SW_PORT_DOMAIN)
			    : fdb_lookup(f->fdb, fdb_key(way->domain, e->mac), now_ns);
	if (own->ip.version == 0 || way->port == FDB_UNKNOWN || sw_is_down(f, way->port))
		return false;
	way->ip = own->ip.addr;
	memcpy(way->mac, e->mac, sizeof(way->mac));
	return true;
}
