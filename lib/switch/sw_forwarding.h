/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a configuration says of forwarding: which ports are in which VLANs, static addresses and
 * what is learned beside them, routes. Each part is built beside the one in force, by a thread that
 * is not the data path's, and is read-only from then on, but for addresses that are learned. Each
 * shard goes over from one to the other between two bursts; when all have, the old one is freed.
 *
 * A frame's way is decided where it came in, by one of them alone: what crosses to another shard
 * says its ports and which of these have it in the other form, with a tag or without.
 *
 * Private to lib/switch.
 */
#ifndef QUENCH_SWITCH_SW_FORWARDING_H
#define QUENCH_SWITCH_SW_FORWARDING_H

#include <rte_spinlock.h>

#include "switch/sw_vlans.h"

struct sw;
struct sw_routes;

/* Parts that are NULL stay as they are. */
struct sw_forwarding {
	struct sw_vlans *vlans;
	struct fdb *fdb;
	uint64_t fdb_digest; /* of what made it what it was before anything was learned */
	struct sw_routes *routes;
};

/* Of the front; of who prepares, begins and settles. */
struct sw_forwardings {
	struct sw_forwarding in_force;
	struct sw_forwarding *next; /* that shards are going over to, or NULL */
	rte_spinlock_t routes_lock; /* of in_force.routes: who reads them keeps them */
	struct fdb *fdbs[2];        /* one in force, and one released, or NULL */
	struct half_sip_key key;    /* of the hashes of what frames write */
};

/** Build the first one. @return 0 or -errno; sw_forwarding_destroy() after both. */
int sw_forwarding_create(struct sw *front, const struct sw_params *params);
/** Let the shards, which are there by now, have it. @return 0 or -errno. */
int sw_forwarding_start(struct sw *front);
void sw_forwarding_destroy(struct sw *front);

/** Let the shards go over to it, in their next sw_forwarding_adopt(). Takes next, or NULL. */
void sw_forwarding_begin(struct sw *front, struct sw_forwarding *next,
			 const struct sw_params *params);
/** A shard goes over. */
void sw_forwarding_adopt(struct sw *sw, uint64_t now_ns);

#endif
