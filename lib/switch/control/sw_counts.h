/* SPDX-License-Identifier: BSD-3-Clause */
/* What a driver that leaves frames out has to know of a switch, and to change. */
#ifndef QUENCH_SWITCH_CONTROL_SW_COUNTS_H
#define QUENCH_SWITCH_CONTROL_SW_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "node/node_pieces.h"

/** List the counters that grow with its frames, all uint64_t. */
void sw_counts(struct node *node, struct node_pieces *to);

struct sw_router;
/** List those of a router; NULL has none. */
void sw_router_counts(struct sw_router *r, struct node_pieces *to);

/** What a port has sent, in wire bytes. */
uint64_t sw_port_wire_bytes(const struct node *node, uint16_t port);
/** Wire bytes that a port may send. */
uint64_t sw_port_rate_bps(const struct node *node, uint16_t port);
/**
 * Could a frame be marked or dropped by chance, by the length of its queue, or by a state that the
 * length does not show? Also true if a rate of a queue limits it, which is such a state.
 */
bool sw_may_mark(const struct node *node);

#endif
