/* SPDX-License-Identifier: BSD-3-Clause */
/* What readers of a NIC read, for another process: node/node_pieces.h. */
#ifndef QUENCH_NIC_OBSERVE_NIC_PIECES_H
#define QUENCH_NIC_OBSERVE_NIC_PIECES_H

#include "node/node.h"
#include "node/node_pieces.h"

/** List the counters, QPs, flows, ranks of jobs and traces of a NIC without added flows. */
void nic_pieces(struct node *node, struct node_pieces *to);

#endif
