/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Versions of the forwarding tables: VLAN membership, addresses (static and learned), routes. A
 * thread other than the owners builds the next version of each table that changes. Tables are then
 * read-only, except for learned addresses. Each shard switches to the next version between two
 * bursts; when all have switched, the old version is freed.
 *
 * Invariant (tested): one version decides a frame's path, at its ingress. The entry or
 * metadata of a crossing frame names its egress ports, and those that need the other form (tagged
 * or untagged).
 */
#ifndef QUENCH_SWITCH_CHANGE_FORWARDING_H
#define QUENCH_SWITCH_CHANGE_FORWARDING_H

#include <stdbool.h>
#include <stdint.h>

#include "switch/tables/hop_set.h"

struct node;
struct sw;
struct sw_forwarding;
struct sw_params;
struct sw_tables;

/** Build the first version. @return 0 or -errno; sw_forwarding_destroy() in both cases. */
int sw_forwarding_create(struct sw *front, const struct sw_params *params);
/** Give the first version to the shards, which must exist. @return 0 or -errno. */
int sw_forwarding_start(struct sw *front);
void sw_forwarding_destroy(struct sw *front);

/**
 * Request that the shards adopt `next`, which the switch owns from now on. NULL: no table changes.
 */
void sw_forwarding_begin(struct sw *front, struct sw_forwarding *next,
			 const struct sw_params *params);
/** Put the requested version in force; by the owner of a shard. */
void sw_forwarding_adopt(struct sw *sw, uint64_t now_ns);

/**
 * Replace interfaces, routes and neighbours. Does nothing without a router. One thread must drive
 * all shards.
 * @return 0, or -errno: nothing has changed.
 */
int sw_set_routes(struct node *node, const struct sw_tables *tables);

/**
 * Build the next version of the tables that change. From any thread, one at a time, after the last
 * reload is done.
 *
 * @param params  After sw_params_resolve(), sw_params_check() and sw_reload_fault().
 * @param next    For sw_reload() or sw_reload_forget(); NULL after a failure.
 * @param why     Receives the reason of a failure, as in sw_tables_check().
 * @return        0 or -EINVAL.
 */
int sw_reload_prepare(struct node *node, const struct sw_params *params,
		      struct sw_forwarding **next, char *why, unsigned int why_size);
/** Discard a prepared reload. NULL is allowed. */
void sw_reload_forget(struct sw_forwarding *next);

/**
 * Finish a reload after the owners have put it in force: copy the addresses learned meanwhile, and
 * free the old version, which may take milliseconds. Called by the thread that prepared it;
 * otherwise the next sw_reload_prepare() does the work.
 * @return sw_reload_is_done().
 */
bool sw_reload_settle(struct node *node);

/**
 * The next hops of a route that were dead (no link, or no answer) at the last check or when a frame
 * chose its hop, so that it took another one. From any thread.
 */
struct sw_hop_set sw_routing_dead_hops(const struct node *node, uint32_t route);

#endif
