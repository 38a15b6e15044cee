/* SPDX-License-Identifier: BSD-3-Clause */
/* What readers of a switch read, for another process: node/node_pieces.h. */
#ifndef QUENCH_SWITCH_CONTROL_SW_PIECES_H
#define QUENCH_SWITCH_CONTROL_SW_PIECES_H

#include "node/node.h"
#include "node/node_pieces.h"

/** List the counters, lengths and events of a switch. */
void sw_pieces(struct node *node, struct node_pieces *to);

#endif
