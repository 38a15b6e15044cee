/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reload: new parameters while frames pass. Live fields may differ from those in force, the others
 * must not.
 *
 * Invariant: a reload drops no queued frame. Queued frames stay, under the new limits; lossless
 * groups above a lowered limit pause their senders. If a class moves to another queue, its new
 * frames may overtake those in the old queue.
 */
#ifndef QUENCH_SWITCH_CHANGE_SW_RELOAD_H
#define QUENCH_SWITCH_CHANGE_SW_RELOAD_H

#include <stdint.h>

struct node;
struct sw;
struct sw_forwarding;
struct sw_params;

/** Check the rules between old and new parameters that the live flags of fields cannot express.
 * @return the fault, or NULL. */
const char *sw_reload_fault(const struct sw_params *now, const struct sw_params *next);

/**
 * Set the members that sw_set_..() and the watchdog may have changed to their values in force,
 * because a reload resets them.
 */
void sw_running_params(const struct node *node, struct sw_params *params);

/**
 * Request a reload, in the thread that calls control(). Each owner puts all new parameters of its
 * shard in force in its next rx() or tx(), between two bursts. The reload replaces pending requests
 * of sw_set_..().
 *
 * @param params  As passed to sw_reload_prepare(); must stay until sw_reload_is_done().
 * @param next    From sw_reload_prepare(); taken.
 */
void sw_reload(struct node *node, const struct sw_params *params, struct sw_forwarding *next,
	       uint64_t now_ns);

/** Put the requested parameters in force, between two bursts; by the owner. */
void sw_do_reload(struct sw *sw, uint64_t now_ns);

#endif
