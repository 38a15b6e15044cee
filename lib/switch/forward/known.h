/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a single untagged frame that needs nothing but look-ups: between two addresses that
 * the bridge has learned, or by an IPv4 route to a neighbour whose address is known.
 *
 * Invariant (tested): sw_bridge_forward_one() and sw_route_burst() would find the same way. Until
 * sw_known_leave(), nothing but the memos is written.
 */
#ifndef QUENCH_SWITCH_FORWARD_KNOWN_H
#define QUENCH_SWITCH_FORWARD_KNOWN_H

#include "switch/forward/route_steps.h"
#include "switch/frame/copy_on_write.h"

struct sw_known {
	uint16_t port;           /* FDB_UNKNOWN: not known, the stages of a burst decide */
	uint16_t from, to;       /* domains in which the frame arrives and leaves */
	const struct neigh *hop; /* NULL: bridged */
};

/** Look up the route of an address, for sw_known_hop(). */
void sw_route_remember(const struct sw_router *r, struct sw_route_found *found, uint32_t ip);

static __rte_always_inline struct sw_route_found *
sw_route_recall(struct sw_router *r, uint32_t ip)
{
	/* 2^32 / golden ratio */
	struct sw_route_found *found = &r->memo[ip * 0x9E3779B1u >> (32 - SW_ROUTE_MEMO_BITS)];

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
		if (unlikely(t->dead >> own & 1))
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

/* Does a frame without a tag leave by this port in the form in which it is? */
static inline bool
sw_keeps_form(const struct sw_forward *f, uint16_t domain, uint16_t port)
{
	uint16_t access = f->vlans->access_domain[port];

	return access == SW_TRANSPARENT || access == domain;
}

static __rte_always_inline struct sw_known
sw_known_route(const struct sw_forward *f, struct fdb_memo *memo, const struct arrival *a,
	       uint16_t from)
{
	const struct sw_known unknown = {.port = FDB_UNKNOWN};
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);
	const uint8_t *ip = frame + ETH_HDR_BYTES;
	struct sw_router *r = f->router;
	struct sw_known way = {.from = from};
	const uint64_t *at;
	uint64_t key;

	/* With a link down, or a neighbour to ask, there is more to do. */
	if (unlikely(!sw_is_routable4(ip + 16) || !sw_is_routable_source4(ip + 12) ||
		     a->view.ttl <= 1 || neigh_has_ask(r->neighs) || sw_any_may_be_down(f) ||
		     !sw_is_writable(a->m)))
		return unknown;
	way.hop = sw_known_hop(r, a, frame);
	if (unlikely(way.hop == NULL))
		return unknown;
	way.to = way.hop->key.vlan_id;
	if (way.to >= SW_PORT_DOMAIN) {
		way.port = (uint16_t)(way.to - SW_PORT_DOMAIN);
		return way;
	}
	key = fdb_key(way.to, way.hop->mac);
	at = fdb_recall(f->fdb, memo, key);
	if (unlikely(at == NULL))
		return unknown;
	way.port = fdb_port_at(f->fdb, at, key, a->now_ns);
	return way.port != FDB_UNKNOWN && sw_keeps_form(f, way.to, way.port) ? way : unknown;
}

/** Find the way of a frame that frame_parse_plain() has parsed. */
static __rte_always_inline struct sw_known
sw_known_way(const struct sw_forward *f, struct fdb_memo *memo, const struct arrival *a)
{
	const struct sw_known unknown = {.port = FDB_UNKNOWN};
	const uint8_t *frame = rte_pktmbuf_mtod(a->m, const uint8_t *);
	uint16_t access = f->vlans->access_domain[a->in_port];
	uint16_t domain = access == SW_TRANSPARENT ? 0 : access;
	uint64_t src = fdb_key_in_header(domain, frame + 6);
	uint64_t dst = fdb_key_in_header(domain, frame);
	struct sw_known way = {.from = domain, .to = domain};
	const uint64_t *at;

	if (unlikely(access == SW_NO_DOMAIN) || fdb_key_is_group(src | dst))
		return unknown;
	/* The domain of a routed port needs no addresses. */
	if (domain < SW_PORT_DOMAIN) {
		at = fdb_recall(f->fdb, memo, src);
		if (unlikely(at == NULL) || !fdb_is_fresh(f->fdb, at, a->in_port, a->now_ns))
			return unknown;
	}
	if (sw_router_takes(f->router, dst))
		return sw_known_route(f, memo, a, domain);
	if (domain >= SW_PORT_DOMAIN)
		return unknown;
	at = fdb_recall(f->fdb, memo, dst);
	if (unlikely(at == NULL))
		return unknown;
	way.port = fdb_port_at(f->fdb, at, dst, a->now_ns);
	if (way.port == FDB_UNKNOWN || way.port == a->in_port ||
	    !sw_keeps_form(f, domain, way.port))
		return unknown;
	return way;
}

/** Once the frame is sure to leave: write what its next hop needs, and count. */
static __rte_always_inline void
sw_known_leave(const struct sw_forward *f, const struct sw_known *way, const struct arrival *a)
{
	struct sw_router *r = f->router;

	if (way->hop == NULL)
		return;
	counter_inc(&r->stats.routed_packets);
	sw_route_rewrite(r, &a->view, rte_pktmbuf_mtod(a->m, uint8_t *), way->hop);
	sw_route_count_in(r, way->from, a->frame_bytes);
	sw_route_count_out(r, way->to, a->frame_bytes);
}

#endif
