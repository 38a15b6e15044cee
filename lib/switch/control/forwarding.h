/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a configuration says of forwarding: which ports are in which VLANs, static addresses and
 * what is learned beside them, routes. Each part is built beside the one in force, by a thread that
 * is not the data path's, and is read-only from then on, but for addresses that are learned. Each
 * shard goes over from one to the other between two bursts; when all have, the old one is freed.
 *
 * A frame's way is decided where it came in, by one of them alone: what crosses to another shard
 * says its ports and which of these have it in the other form, with a tag or without.
 */
#ifndef QUENCH_SWITCH_CONTROL_FORWARDING_H
#define QUENCH_SWITCH_CONTROL_FORWARDING_H

#include <stdbool.h>
#include <stdint.h>

struct node;
struct sw;
struct sw_forwarding;
struct sw_params;
struct sw_tables;

/** Build the first tables. @return 0 or -errno; sw_forwarding_destroy() after both. */
int sw_forwarding_create(struct sw *front, const struct sw_params *params);
/** Give them to the shards, which exist by now. @return 0 or -errno. */
int sw_forwarding_start(struct sw *front);
void sw_forwarding_destroy(struct sw *front);

/** Have the shards put next in force in their next sw_forwarding_adopt(). Takes next, or NULL. */
void sw_forwarding_begin(struct sw *front, struct sw_forwarding *next,
			 const struct sw_params *params);
/** A shard puts the next tables in force. */
void sw_forwarding_adopt(struct sw *sw, uint64_t now_ns);

/**
 * Other interfaces, routes and neighbours from now on. No router comes into being. One thread
 * drives all shards.
 * @return 0, or -errno: nothing has changed.
 */
int sw_set_routes(struct node *node, const struct sw_tables *tables);

/**
 * Build what is in place of addresses, VLANs and routes then, if it differs; from any thread, one
 * at a time, and after the last reload is in force everywhere.
 *
 * @param params  After sw_params_resolve(), sw_params_check() and sw_reload_fault().
 * @param next    For sw_reload() or sw_reload_forget().
 * @param why     On failure as that of sw_tables_check().
 * @return        0 or -EINVAL.
 */
int sw_reload_prepare(struct node *node, const struct sw_params *params,
		      struct sw_forwarding **next, char *why, unsigned int why_size);
/** Discard a prepared reload. NULL is allowed. */
void sw_reload_forget(struct sw_forwarding *next);

/**
 * By who prepared it, when the owners have put it in force: take over what was learned meanwhile,
 * and free what was before, which may take milliseconds; else the next sw_reload_prepare() does.
 * @return sw_reload_is_done().
 */
bool sw_reload_settle(struct node *node);

/** Mask of a route's next hops, in their order, that frames found dead (no link, or no answer) and
 * went by another. From any thread. */
uint16_t sw_routing_dead_hops(const struct node *node, uint32_t route);

#endif
