/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a frame between two addresses that the bridge has learned.
 *
 * Invariant (tested): sw_bridge_forward_one() would find the same port. Nothing but the memo is
 * written.
 */
#ifndef QUENCH_SWITCH_FORWARD_KNOWN_H
#define QUENCH_SWITCH_FORWARD_KNOWN_H

#include "switch/forward/forward.h"
#include "switch/forward/router.h"

/* An untagged frame that has just arrived. */
struct sw_untagged {
	const uint8_t *frame;
	uint16_t port;
	uint64_t now_ns;
};

/**
 * Find the egress port of an untagged frame. Sets its domain.
 * @return FDB_UNKNOWN: the bridge decides.
 */
static inline uint16_t
sw_bridge_known(const struct sw_forward *f, struct fdb_memo *memo, struct sw_untagged u)
{
	uint16_t access = f->vlans->access_domain[u.port], port;
	uint16_t domain = access == SW_TRANSPARENT ? 0 : access;
	uint64_t src = fdb_key_in_header(domain, u.frame + 6);
	uint64_t dst = fdb_key_in_header(domain, u.frame);
	const uint64_t *src_at, *dst_at;

	if (unlikely(access == SW_NO_DOMAIN) || fdb_key_is_group(src | dst) ||
	    sw_router_takes(f->router, dst))
		return FDB_UNKNOWN;
	src_at = fdb_recall(f->fdb, memo, src);
	if (unlikely(src_at == NULL) || !fdb_is_fresh(f->fdb, src_at, u.port, u.now_ns))
		return FDB_UNKNOWN;
	dst_at = fdb_recall(f->fdb, memo, dst);
	if (unlikely(dst_at == NULL))
		return FDB_UNKNOWN;
	port = fdb_port_at(f->fdb, dst_at, dst, u.now_ns);
	if (port == FDB_UNKNOWN || port == u.port)
		return FDB_UNKNOWN;
	access = f->vlans->access_domain[port];
	/* Not in a VLAN whose frames leave this port with a tag. */
	return access == SW_TRANSPARENT || access == domain ? port : FDB_UNKNOWN;
}

#endif
