/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of a switch that grow with its frames, for a driver that leaves frames out. */
#ifndef QUENCH_SWITCH_CONTROL_SW_COUNTS_H
#define QUENCH_SWITCH_CONTROL_SW_COUNTS_H

#include "node/node.h"
#include "node/node_pieces.h"

/** List them, all uint64_t. */
void sw_counts(struct node *node, struct node_pieces *to);

#endif
