/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/forward/route_burst.h"

#include <string.h>
#include <rte_mbuf.h>

#include "switch/forward/known.h"
#include "switch/forward/neighbours.h"
#include "switch/frame/copy_on_write.h"

/* The frames of a burst to route by one table, and their targets. */
struct batch {
	uint8_t at[SW_BURST]; /* index into the burst */
	uint64_t targets[SW_BURST];
	unsigned int n;
};

/*
 * RFC 1812 5.3.7 and RFC 3927 7; RFC 4291 2.5.2, 2.5.3, 2.5.6: a frame from a group, "this host",
 * loopback or link-local address is not forwarded. A frame to the router itself may have a
 * link-local source.
 */
static bool
has_routable_source(const struct arrival *a)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(a->m, const uint8_t *, a->view.l3_off);

	if (a->view.ip_version == 6)
		return sw_is_routable6(ip + 8);
	return sw_is_forwarded4(ip + 12);
}

static void
look_up4(const struct sw_router *r, const struct arrival *a, struct batch *b)
{
	uint32_t ips[SW_BURST];

	for (unsigned int i = 0; i < b->n; i++) {
		const struct arrival *x = &a[b->at[i]];

		ips[i] = be32_load(rte_pktmbuf_mtod_offset(x->m, uint8_t *, x->view.l3_off + 16));
	}
	route_lookup4(r->table, ips, b->targets, b->n);
}

void
sw_route_remember(const struct sw_router *r, struct sw_route_found *found, uint32_t ip)
{
	struct neigh_key key = {.ip.version = 4};
	const struct sw_target *t;
	uint64_t target;

	route_lookup4(r->table, &ip, &target, 1);
	t = &r->targets[target];
	*found = (struct sw_route_found){.ip = ip, .target = (uint32_t)target, .hop = NEIGH_NONE};
	if (t->kind != SW_TARGET_CONNECTED)
		return;
	key.vlan_id = t->domain;
	be32_store(key.ip.addr, ip);
	found->hop = neigh_find(r->neighs, &key);
}

static void
look_up6(const struct sw_router *r, const struct arrival *a, struct batch *b)
{
	uint8_t ips[SW_BURST][16];

	for (unsigned int i = 0; i < b->n; i++) {
		const struct arrival *x = &a[b->at[i]];

		memcpy(ips[i], rte_pktmbuf_mtod_offset(x->m, uint8_t *, x->view.l3_off + 24), 16);
	}
	route_lookup6(r->table, ips, b->targets, b->n);
}

/* Does the neighbour's port have a link? If the port is unknown, does any port of its VLAN? */
static bool
has_link(const struct sw_forward *f, const struct neigh *e, uint64_t now_ns)
{
	const uint64_t *members = sw_members(f->vlans, e->key.vlan_id);
	uint64_t down = 0, up = 0;
	uint16_t port;

	for (unsigned int i = 0; i < f->vlans->words; i++) {
		down |= members[i] & sw_down_word(f, i);
		up |= members[i] & ~sw_down_word(f, i);
	}
	if (likely(down == 0))
		return true;
	if (up == 0 || !e->has_mac)
		return up != 0;
	port = fdb_lookup(f->fdb, fdb_key(e->key.vlan_id, e->mac), now_ns);
	return port == FDB_UNKNOWN || !sw_is_down(f, port);
}

/*
 * May a frame use this one of several next hops? neigh_touch() also requests the hop's address if
 * that is due, so that the router detects when a dead hop is back.
 */
static bool
is_live(struct sw_forward *f, uint32_t hop, uint64_t now_ns)
{
	struct sw_router *r = f->router;

	return has_link(f, neigh_get(r->neighs, hop), now_ns) &&
	       neigh_touch(r->neighs, &r->stats.neigh, hop, now_ns);
}

/* UNSURE: the first requests are open, so the hop is as frames have found it. */
enum hop_look { HOP_UNSURE, HOP_LIVE, HOP_DEAD };

static enum hop_look
look_at(const struct sw_forward *f, uint32_t hop, uint64_t now_ns)
{
	const struct neigh *e = neigh_get(f->router->neighs, hop);

	if (!has_link(f, e, now_ns) || e->state == NEIGH_FAILED)
		return HOP_DEAD;
	return e->has_mac ? HOP_LIVE : HOP_UNSURE;
}

static void
mark_dead_hops(const struct sw_forward *f, struct sw_target *t, uint64_t now_ns)
{
	for (uint32_t i = 0; i < t->n_hops; i++) {
		enum hop_look look = look_at(f, t->hops[i], now_ns);

		if (look != HOP_UNSURE)
			sw_target_set_dead(t, i, look == HOP_DEAD);
	}
}

void
sw_route_check_next_hops(struct sw_forward *f, uint64_t now_ns)
{
	struct sw_router *r = f->router;
	const struct sw_routing_table *routes = r->routes;
	uint64_t seen = 0;

	/* A reload has prepared it, but not put it in force yet. */
	if (routes == NULL)
		return;
	for (uint32_t i = 0; i < neigh_count(routes->pinned); i++) {
		uint32_t hop = routes->pinned_at[r->shard->index][i];

		(void)is_live(f, hop, now_ns);
		seen = ecmp_mix(seen ^ look_at(f, hop, now_ns));
	}
	/* In most cases the targets of many routes need not be visited, although a hop is dead. */
	if (seen == r->hops_seen && !r->hops_moved)
		return;
	for (uint32_t i = 0; i < routes->n_targets; i++)
		mark_dead_hops(f, &r->targets[i], now_ns);
	r->hops_seen = seen;
	r->hops_moved = false;
}

/* The live ones but own, of which all were marked dead. */
static struct sw_hop_set
revived_hops(struct sw_forward *f, struct sw_target *t, uint32_t own, uint64_t now_ns)
{
	for (uint32_t i = 0; i < t->n_hops; i++)
		if (i != own && is_live(f, t->hops[i], now_ns))
			f->router->hops_moved |= sw_target_set_dead(t, i, false);
	return sw_hop_set_others(t->dead, t->n_hops);
}

/*
 * Choose one of several next hops: the hop that the flow's hash selects if that hop is alive, else
 * another one that is alive. So when a hop dies, only its flows move, and they return when the hop
 * is alive again. Of the others only the chosen one is looked at, unless all are marked dead:
 * sw_route_check_next_hops() looks at all from time to time, and one may be alive since.
 */
static uint32_t
one_of_hops(struct sw_forward *f, const struct arrival *a, struct sw_target *t)
{
	uint32_t hash = sw_route_hash(f->router, &a->view, rte_pktmbuf_mtod(a->m, uint8_t *));
	uint32_t own = ecmp_pick(hash, t->n_hops);

	/* The next check looks at all targets, even if the hop is again as it was by then. */
	if (likely(is_live(f, t->hops[own], a->now_ns))) {
		if (unlikely(t->has_dead))
			f->router->hops_moved |= sw_target_set_dead(t, own, false);
		return t->hops[own];
	}
	for (uint32_t hop = own;;) {
		struct sw_hop_set live;

		f->router->hops_moved |= sw_target_set_dead(t, hop, true);
		live = sw_hop_set_others(t->dead, t->n_hops);
		if (sw_hop_set_count(&live) == 0)
			live = revived_hops(f, t, own, a->now_ns);
		if (sw_hop_set_count(&live) == 0)
			return t->hops[own];
		hop = sw_route_stand_in(hash, &live);
		if (likely(is_live(f, t->hops[hop], a->now_ns))) {
			counter_inc(&f->router->stats.ecmp_moved_packets);
			return t->hops[hop];
		}
	}
}

/* The next hop of a frame, or NEIGH_NONE. */
static uint32_t
next_hop(struct sw_forward *f, const struct arrival *a, struct sw_target *t)
{
	struct sw_router *r = f->router;
	const uint8_t *ip = rte_pktmbuf_mtod_offset(a->m, const uint8_t *, a->view.l3_off);
	struct neigh_key key = {.ip.version = a->view.ip_version, .vlan_id = t->domain};

	if (t->kind == SW_TARGET_HOPS)
		return t->n_hops == 1 ? t->hops[0] : one_of_hops(f, a, t);
	if (key.ip.version == 4)
		memcpy(key.ip.addr, ip + 16, 4);
	else
		memcpy(key.ip.addr, ip + 24, 16);
	return neigh_claim(r->neighs, &r->stats.claims, &key,
			   (struct neigh_claim){.port = a->in_port}, a->now_ns);
}

/* Rewrite a frame for its next hop: private data, MAC addresses, VLAN of the tag, TTL. */
static enum sw_drop
rewrite(struct sw_forward *f, struct arrival *a, const struct neigh *hop)
{
	struct rte_mbuf *own = sw_make_writable(f->pools, a->m);
	uint8_t *frame;

	if (own == NULL)
		return SW_DROP_NO_MBUF;
	a->m = own;
	a->domain = hop->key.vlan_id;
	a->not_to = PORT_NONE;
	frame = rte_pktmbuf_mtod(own, uint8_t *);
	/* The tag stays until the egress port is known; set it to the new VLAN. */
	if (a->view.tagged)
		be16_store(frame + 14, a->tci_bits | (a->domain & (SW_PORT_DOMAIN - 1)));
	sw_route_rewrite(f->router, &a->view, frame, hop);
	return SW_PASS;
}

static bool
is_to_link_local4(const struct arrival *a)
{
	const uint8_t *ip = rte_pktmbuf_mtod_offset(a->m, const uint8_t *, a->view.l3_off);

	return a->view.ip_version == 4 && sw_is_link_local4(ip + 16);
}

/* A frame to an address of the router, or one of neighbour discovery, which has other addresses. */
static enum sw_drop
answer(struct sw_router *r, struct arrival *a, bool to_own)
{
	enum sw_drop reason = sw_neigh_rx(r, a, to_own);

	if (reason == SW_PASS)
		sw_route_count_out(r, a->domain, a->frame_bytes);
	return reason;
}

static enum sw_drop
route_one(struct sw_forward *f, struct arrival *a, uint64_t target)
{
	struct sw_router *r = f->router;
	struct sw_target *t = &r->targets[target];
	enum sw_drop reason;
	uint32_t hop;

	if (target != ROUTE_NONE && t->kind == SW_TARGET_LOCAL)
		return answer(r, a, true);
	if (is_to_link_local4(a))
		return SW_DROP_NON_ROUTABLE;
	if (target == ROUTE_NONE)
		return a->view.ip_version == 4 ? SW_DROP_LPM4_MISS : SW_DROP_LPM6_MISS;
	if (t->kind == SW_TARGET_BLACKHOLE)
		return SW_DROP_BLACKHOLE_ROUTE;
	if (!has_routable_source(a))
		return SW_DROP_NON_ROUTABLE_SOURCE;
	if (a->view.ttl <= 1)
		return SW_DROP_TTL;
	hop = next_hop(f, a, t);
	if (hop == NEIGH_NONE || !neigh_touch(r->neighs, &r->stats.neigh, hop, a->now_ns))
		return SW_DROP_UNRESOLVED_NEXT_HOP;
	counter_inc(&r->stats.routed_packets);
	reason = rewrite(f, a, neigh_get(r->neighs, hop));
	if (reason == SW_PASS)
		sw_route_count_hop(r, hop, a->domain, a->frame_bytes);
	return reason;
}

/*
 * Find the egress ports of the frames to send. Answers of the router already have a port, and the
 * domain of a routed port is the port. For all other frames, look up the bridge's table.
 */
static void
find_ports(struct sw_forward *f, struct arrival *a, const struct batch *b, enum sw_drop reasons[])
{
	uint64_t keys[SW_BURST] = {0};
	uint32_t homes[SW_BURST];
	uint8_t asked[SW_BURST];
	unsigned int n = 0;

	for (unsigned int i = 0; i < b->n; i++) {
		struct arrival *x = &a[b->at[i]];

		if (reasons[b->at[i]] != SW_PASS || x->out_port != FLOOD)
			continue;
		if (x->domain >= SW_PORT_DOMAIN) {
			x->out_port = (uint16_t)(x->domain - SW_PORT_DOMAIN);
			continue;
		}
		keys[n] = fdb_key(x->domain, rte_pktmbuf_mtod(x->m, const uint8_t *));
		asked[n++] = b->at[i];
	}
	fdb_homes(f->fdb, keys, homes, n);
	for (unsigned int i = 0; i < n; i++) {
		struct arrival *x = &a[asked[i]];
		struct port_set flood;

		x->out_port = fdb_lookup_at(f->fdb, keys[i], homes[i], x->now_ns);
		if (likely(x->out_port != FLOOD))
			continue;
		flood = sw_flood_ports(f, x);
		if (port_set_is_empty(&flood))
			reasons[asked[i]] = SW_DROP_LINK_DOWN;
	}
}

/* Count a frame at the interface of its ingress domain. */
static void
count(struct sw_router *r, uint16_t domain, const struct arrival *a, enum sw_drop reason)
{
	struct sw_interface_stats *in = sw_route_count_in(r, domain, a->frame_bytes);

	if (reason != SW_PASS && reason != SW_CONSUMED)
		counter_inc(&in->in_error_packets);
}

static void
route_batch(struct sw_forward *f, struct arrival *a, const struct batch *b, enum sw_drop reasons[])
{
	for (unsigned int i = 0; i < b->n; i++) {
		struct arrival *x = &a[b->at[i]];
		uint16_t domain = x->domain;

		reasons[b->at[i]] = route_one(f, x, b->targets[i]);
		count(f->router, domain, x, reasons[b->at[i]]);
	}
	find_ports(f, a, b, reasons);
}

void
sw_route_burst(struct sw_forward *f, struct arrival *a, unsigned int n, enum sw_drop reasons[])
{
	struct batch v4, v6;

	v4.n = v6.n = 0;
	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *ip =
			rte_pktmbuf_mtod_offset(a[i].m, const uint8_t *, a[i].view.l3_off);

		if (reasons[i] != SW_TO_ROUTER)
			continue;
		a[i].out_port = FLOOD;
		reasons[i] = SW_DROP_NON_ROUTABLE;
		if (a[i].view.ip_version == 4 && sw_is_routable4(ip + 16))
			v4.at[v4.n++] = (uint8_t)i;
		else if (a[i].view.ip_version == 6 && sw_is_routable6(ip + 24))
			v6.at[v6.n++] = (uint8_t)i;
		else {
			uint16_t domain = a[i].domain;

			reasons[i] = answer(f->router, &a[i], false);
			count(f->router, domain, &a[i], reasons[i]);
		}
	}
	if (v4.n > 0) {
		look_up4(f->router, a, &v4);
		route_batch(f, a, &v4, reasons);
	}
	if (v6.n > 0) {
		look_up6(f->router, a, &v6);
		route_batch(f, a, &v6, reasons);
	}
}
