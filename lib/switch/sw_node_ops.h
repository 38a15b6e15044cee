/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node_ops of a switch, in three forms: a switch on one lcore, one of several shards, and the
 * front that drives several shards as one node. Each form serves the pending requests of other
 * threads, and then calls the rooms in order.
 *
 * Invariant: after a call of the front, no frame, charge or address waits between its shards.
 */
#ifndef QUENCH_SWITCH_SW_NODE_OPS_H
#define QUENCH_SWITCH_SW_NODE_OPS_H

#include "node/node.h"

extern const struct node_ops sw_alone_ops;
extern const struct node_ops sw_shard_ops;
extern const struct node_ops sw_front_ops;

#endif
