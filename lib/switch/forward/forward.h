/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarding state of a shard: the tables in force, and the ports without a link.
 *
 * Invariant (tested): one version of the tables decides a frame's path. The owner switches to the
 * next version between two bursts (change/forwarding.h).
 */
#ifndef QUENCH_SWITCH_FORWARD_FORWARD_H
#define QUENCH_SWITCH_FORWARD_FORWARD_H

#include "fwd/fdb.h"
#include "pacer/token_bucket.h"
#include "switch/forward/vlans.h"
#include "switch/frame/arrival.h"
#include "switch/frame/pools.h"

struct sw_router;

/* Rate limits of the frames that a port floods, by kind; rate 0: no limit. */
struct sw_storm_control {
	struct token_bucket bucket[SW_STORMS];
};

struct sw_forward {
	/* per packet */
	struct fdb *fdb;
	const struct sw_vlans *vlans;
	struct sw_router *router; /* NULL: none */
	uint64_t down_ports;      /* mask; each port's owner writes its bit */
	/* per flooded frame */
	struct sw_storm_control *storms; /* of the whole switch, by port; each has one owner */
	/* per frame that is written */
	const struct sw_pools *pools;
};

/** Mask of the ports of the whole switch without a link. */
static inline uint64_t
sw_down_ports(const struct sw_forward *f)
{
	return __atomic_load_n(&f->down_ports, __ATOMIC_RELAXED);
}

/** Mask of the ports that a frame is flooded to. */
static inline uint64_t
sw_flood_ports(const struct sw_forward *f, const struct arrival *a)
{
	return f->vlans->members[a->domain] & ~sw_down_ports(f) & ~a->not_to;
}

#endif
