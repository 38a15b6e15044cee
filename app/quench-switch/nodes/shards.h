/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assigns the shards of the switch to lcores, and does work outside the data path: passes link
 * states to the node, and prints its events.
 *
 * Invariant: every port belongs to one shard.
 */
#ifndef QUENCH_APP_QUENCH_SWITCH_NODES_SHARDS_H
#define QUENCH_APP_QUENCH_SWITCH_NODES_SHARDS_H

#include <stdint.h>

#include "switch/sw.h"

struct port_link;
struct run_app;

struct shards {
	struct node *node[SW_MAX_SHARDS];
	uint64_t ports[SW_MAX_SHARDS]; /* masks */
};

/** Choose the number of shards if it is 0, and check it against the lcores. @return 0, or an exit
 * code after an error line. */
int shards_plan(struct sw_params *params, const char *path);

/** The lcore that polls a port. Call after shards_plan(). */
unsigned int shards_lcore(const struct sw_params *params, uint16_t port);

/** Find the shards of a switch, and print the ports of each lcore. */
void shards_find(struct shards *s, struct node *sw);

/** For struct run_app: tell the node of links, and print its events. */
void switch_watch(const struct run_app *app, const struct port_link *links, uint64_t now_ns);

#endif
