/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/control/route_look.h"

#include <string.h>

#include "switch/core/switch.h"
#include "switch/forward/route_steps.h"
#include "wire/bytes/be.h"

const char *const sw_route_kind_words[SW_ROUTE_KINDS + 1] = {
	"none", "local", "connected", "static", "blackhole", "multicast", "non_routable", NULL};

static uint64_t
target_of(const struct sw_router *r, const struct field_ip *ip)
{
	uint64_t target = ROUTE_NONE;

	if (ip->version == 4) {
		const uint32_t address = be32_load(ip->addr);

		route_lookup4(r->table, &address, &target, 1);
	} else {
		uint8_t addresses[1][16];

		memcpy(addresses[0], ip->addr, 16);
		route_lookup6(r->table, addresses, &target, 1);
	}
	return target;
}

static uint16_t
port_of(struct sw *sw, const struct neigh *n, uint64_t now_ns)
{
	uint16_t port;

	if (n->key.vlan_id >= SW_PORT_DOMAIN)
		return (uint16_t)(n->key.vlan_id - SW_PORT_DOMAIN);
	if (!n->has_mac)
		return SW_NO_DOMAIN;
	port = fdb_lookup(sw->forward.fdb, fdb_key(n->key.vlan_id, n->mac), now_ns);
	return port == FLOOD ? SW_NO_DOMAIN : port;
}

static void
add_hop(struct sw *sw, struct sw_route_look *look, uint32_t index, bool dead, uint64_t now_ns)
{
	struct sw_route_hop *hop = &look->hops[look->n_hops++];

	hop->neigh = *neigh_get(sw->forward.router->neighs, index);
	hop->port = port_of(sw, &hop->neigh, now_ns);
	hop->dead = dead;
}

static void
find_station(struct sw *sw, const struct sw_target *t, struct sw_route_look *look, uint64_t now_ns)
{
	const struct neigh_key key = {.ip = look->destination, .vlan_id = t->domain};
	uint32_t index = neigh_find(sw->forward.router->neighs, &key);

	if (index != NEIGH_NONE)
		add_hop(sw, look, index, false, now_ns);
	else
		look->hops[look->n_hops++] = (struct sw_route_hop){.port = SW_NO_DOMAIN};
}

/* Unlike a frame, by what is known of the hops: none is asked. */
static void
choose(const struct sw_router *r, const struct sw_target *t, struct sw_route_look *look)
{
	struct sw_hop_set live;
	uint32_t ports;
	uint8_t wire_ports[4], addrs[32];
	struct ecmp_flow flow = {
		.addrs = addrs, .ip_version = look->destination.version, .proto = look->protocol};
	size_t bytes = flow.ip_version == 4 ? 4 : 16;

	if (look->source.version != look->destination.version ||
	    (r->flow_label && flow.ip_version == 6))
		return;
	memcpy(addrs, look->source.addr, bytes);
	memcpy(addrs + bytes, look->destination.addr, bytes);
	be16_store(wire_ports, look->source_port);
	be16_store(wire_ports + 2, look->destination_port);
	memcpy(&ports, wire_ports, sizeof(ports));
	flow.ports = ports;
	look->hashed = true;
	look->hash = ecmp_hash(&flow, r->seed);
	look->own = look->chosen = ecmp_pick(look->hash, t->n_hops);
	if (!sw_hop_words_have(t->dead, look->own))
		return;
	live = sw_hop_set_others(t->dead, t->n_hops);
	if (sw_hop_set_count(&live) > 0)
		look->chosen = sw_route_stand_in(look->hash, &live);
}

/* As sw_route_burst() and route_one(): what no table of routes decides. */
static enum sw_route_kind
kind_without_route(const struct field_ip *ip)
{
	bool v4 = ip->version == 4;

	if (v4 ? ip->addr[0] >> 4 == 0xE : ip->addr[0] == 0xFF)
		return SW_ROUTE_MULTICAST;
	if (v4 ? !sw_is_routable4(ip->addr) : !sw_is_routable6(ip->addr))
		return SW_ROUTE_NON_ROUTABLE;
	return SW_ROUTE_NONE;
}

void
sw_route_look_at(struct sw *sw, struct sw_route_look *look, uint64_t now_ns)
{
	const struct sw_router *r = sw->forward.router;
	uint64_t target =
		r == NULL || r->routes == NULL ? ROUTE_NONE : target_of(r, &look->destination);
	const struct sw_target *t;

	look->kind = kind_without_route(&look->destination);
	if (look->kind != SW_ROUTE_NONE)
		return;
	t = target == ROUTE_NONE ? NULL : &r->targets[target];
	if (look->destination.version == 4 && sw_is_link_local4(look->destination.addr) &&
	    (t == NULL || t->kind != SW_TARGET_LOCAL))
		look->kind = SW_ROUTE_NON_ROUTABLE;
	if (t == NULL || look->kind != SW_ROUTE_NONE)
		return;
	switch ((enum sw_target_kind)t->kind) {
	case SW_TARGET_LOCAL:
		look->kind = SW_ROUTE_LOCAL;
		break;
	case SW_TARGET_BLACKHOLE:
		look->kind = SW_ROUTE_BLACKHOLE;
		break;
	case SW_TARGET_CONNECTED:
		look->kind = SW_ROUTE_CONNECTED;
		find_station(sw, t, look, now_ns);
		break;
	case SW_TARGET_HOPS:
		look->kind = SW_ROUTE_STATIC;
		for (uint32_t i = 0; i < t->n_hops; i++)
			add_hop(sw, look, t->hops[i], sw_hop_words_have(t->dead, i), now_ns);
		if (t->n_hops > 1)
			choose(r, t, look);
		break;
	}
}
