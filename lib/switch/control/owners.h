/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of the control side to the owners of shards. */
#ifndef QUENCH_SWITCH_CONTROL_OWNERS_H
#define QUENCH_SWITCH_CONTROL_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

struct node;
struct sw;

/** Request that the owner of a port applies its requested state. From any thread; takes the
 * front. */
void sw_want_port(struct sw *sw, uint16_t port);

/** Have all owners put the last reload in force? From any thread. */
bool sw_reload_is_done(const struct node *node);

#endif
