/* SPDX-License-Identifier: BSD-3-Clause */
/* What the control side asks of the owners of the shards. */
#ifndef QUENCH_SWITCH_CONTROL_OWNERS_H
#define QUENCH_SWITCH_CONTROL_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

struct node;
struct sw;

/** A wish of this port changed; from any thread. Of the front. */
void sw_wish_made(struct sw *sw, uint16_t port);

/** Have all owners put the last reload in force? From any thread. */
bool sw_reload_is_done(const struct node *node);

#endif
