/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lcore has which part of the switch. */
#ifndef QUENCH_APP_QUENCH_SWITCH_SHARDS_H
#define QUENCH_APP_QUENCH_SWITCH_SHARDS_H

#include "switch/sw.h"

struct shards {
	struct node *node[SW_MAX_SHARDS];
	uint64_t ports[SW_MAX_SHARDS]; /* masks */
};

/** Say how many shards there are, now that lcores are known. @return 0 or an exit code after an
 * error line. */
int shards_plan(struct sw_params *params, const char *path);

/** lcore that a port will be polled by; after shards_plan(). */
unsigned int shards_lcore(const struct sw_params *params, uint16_t port);

/** The shards of a switch that is built, and a line of which lcore has which ports. */
void shards_find(struct shards *s, struct node *sw);

#endif
