/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a single untagged frame that needs nothing but look-ups: between two addresses that
 * the bridge has learned, or by an IPv4 route to a neighbour whose address is known.
 *
 * Invariant (tested): sw_bridge_forward() and sw_route_burst() would find the same way. Until
 * sw_known_leave(), nothing but the memos is written.
 */
#ifndef QUENCH_SWITCH_FORWARD_KNOWN_H
#define QUENCH_SWITCH_FORWARD_KNOWN_H

#include "switch/forward/route_steps.h"
#include "switch/frame/copy_on_write.h"

struct sw_known {
	uint16_t port;           /* FDB_UNKNOWN: not known, the stages of a burst decide */
	uint16_t from;           /* domain in which the frame arrives */
	uint16_t to;             /* routed frame: that in which it leaves */
	const struct neigh *hop; /* routed frame */
};

/** Look up the route of an address, for sw_known_hop(). */
void sw_route_remember(const struct sw_router *r, struct sw_route_found *found, uint32_t ip);

static __rte_always_inline struct sw_route_found *
sw_route_recall(struct sw_router *r, uint32_t ip)
{
	/* Addresses of a subnet are next to each other, and those of subnets of 24 bits apart. */
	struct sw_route_found *found = &r->memo[(ip + (ip >> 8) * 37) % SW_ROUTE_MEMO];

	if (unlikely(found->ip != ip))
		sw_route_remember(r, found, ip);
	return found;
}

/* The next hop that the frame's route certainly leads to, or NULL. */
static __rte_always_inline const struct neigh *
sw_known_hop(struct sw_router *r, const struct arrival *a, const uint8_t *frame)
{
	uint32_t ip = be32_load(frame + ETH_HDR_BYTES + 16), own = 0;
	struct sw_route_found *found = sw_route_recall(r, ip);
	const struct sw_target *t = &r->targets[found->target];
	const struct neigh *hop;

	if (t->kind == SW_TARGET_HOPS) {
		if (t->n_hops > 1)
			own = ecmp_pick(sw_route_hash(r, &a->view, frame), t->n_hops);
		hop = neigh_get(r->neighs, t->hops[own]);
		if (unlikely(t->has_dead) && sw_hop_words_have(t->dead, own))
			return NULL;
	} else if (t->kind == SW_TARGET_CONNECTED) {
		hop = found->hop == NEIGH_NONE ? NULL : neigh_get(r->neighs, found->hop);
		/* The entry may have become another neighbour's. */
		if (unlikely(hop == NULL || hop->key.ip.version != 4 ||
			     hop->key.vlan_id != t->domain || be32_load(hop->key.ip.addr) != ip)) {
			found->ip = 0;
			return NULL;
		}
	} else {
		return NULL;
	}
	return neigh_is_settled(hop, a->now_ns) ? hop : NULL;
}

/* Set where a frame arrives. @return false: its source must be learned, or it is dropped. */
static __rte_always_inline bool
sw_known_source(const struct sw_forward *f, struct fdb_memo *memo, const struct arrival *a,
		struct sw_known *way)
{
	uint16_t access = f->vlans->access_domain[a->in_port];
	const uint64_t *at;
	uint64_t src;

	way->from = access == SW_TRANSPARENT ? 0 : access;
	src = fdb_key_in_header(way->from, rte_pktmbuf_mtod(a->m, const uint8_t *) + 6);
	if (unlikely(access == SW_NO_DOMAIN) || fdb_key_is_group(src))
		return false;
	/* The domain of a routed port needs no addresses. */
	if (way->from >= SW_PORT_DOMAIN)
		return true;
	at = fdb_recall(f->fdb, memo, src);
	return likely(at != NULL) && fdb_is_fresh(f->fdb, at, a->in_port, a->now_ns);
}

/* The port of an address, by which a frame without a tag leaves as it is; FDB_UNKNOWN: none. */
static __rte_always_inline uint16_t
sw_known_port(const struct sw_forward *f, struct fdb_memo *memo, uint64_t dst, uint64_t now_ns)
{
	const uint64_t *at = fdb_recall(f->fdb, memo, dst);
	uint16_t port, access;

	if (unlikely(at == NULL))
		return FDB_UNKNOWN;
	port = fdb_port_at(f->fdb, at, dst, now_ns);
	if (port == FDB_UNKNOWN)
		return FDB_UNKNOWN;
	access = f->vlans->access_domain[port];
	/* Not in a VLAN whose frames leave this port with a tag. */
	return access == SW_TRANSPARENT || access == fdb_key_domain(dst) ? port : FDB_UNKNOWN;
}

/** Find the way of a frame, parsed by frame_parse_plain(), that is not to the router's address. */
static __rte_always_inline struct sw_known
sw_known_bridged(const struct sw_forward *f, struct fdb_memo *memo, const struct arrival *a)
{
	const struct sw_known unknown = {.port = FDB_UNKNOWN};
	struct sw_known way = {0};
	uint64_t dst;

	if (!sw_known_source(f, memo, a, &way) || way.from >= SW_PORT_DOMAIN)
		return unknown;
	dst = fdb_key_in_header(way.from, rte_pktmbuf_mtod(a->m, const uint8_t *));
	if (fdb_key_is_group(dst))
		return unknown;
	way.port = sw_known_port(f, memo, dst, a->now_ns);
	return way.port == a->in_port ? unknown : way;
}

/** As sw_known_bridged(), of a frame to the router's address. */
static __rte_always_inline struct sw_known
sw_known_routed(const struct sw_forward *f, struct fdb_memo *memo, const struct arrival *a)
{
	const struct sw_known unknown = {.port = FDB_UNKNOWN};
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);
	const uint8_t *ip = frame + ETH_HDR_BYTES;
	struct sw_router *r = f->router;
	struct sw_known way = {0};

	if (!sw_known_source(f, memo, a, &way) || !sw_router_has(r, way.from))
		return unknown;
	/* With a link down, or a neighbour to ask, there is more to do. */
	if (unlikely(!sw_is_forwarded4(ip + 16) || !sw_is_forwarded4(ip + 12) || a->view.ttl <= 1 ||
		     neigh_has_ask(r->neighs) || sw_any_may_be_down(f) || !sw_is_writable(a->m)))
		return unknown;
	way.hop = sw_known_hop(r, a, frame);
	if (unlikely(way.hop == NULL))
		return unknown;
	way.to = way.hop->key.vlan_id;
	way.port = way.to >= SW_PORT_DOMAIN
			   ? (uint16_t)(way.to - SW_PORT_DOMAIN)
			   : sw_known_port(f, memo, fdb_key(way.to, way.hop->mac), a->now_ns);
	return way;
}

/** Once a routed frame is sure to leave: write what its next hop needs, and count. */
static __rte_always_inline void
sw_known_leave(struct sw_router *r, const struct sw_known *way, const struct arrival *a)
{
	counter_inc(&r->stats.routed_packets);
	sw_route_rewrite(r, &a->view, rte_pktmbuf_mtod(a->m, uint8_t *), way->hop);
	sw_route_count_in(r, way->from, a->frame_bytes);
	sw_route_count_hop(r, neigh_index(r->neighs, way->hop), way->to, a->frame_bytes);
}

#endif
