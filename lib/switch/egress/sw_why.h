/* SPDX-License-Identifier: BSD-3-Clause */
/* What the switch did to a frame that leaves a port, in words: for recordings and captures. */
#ifndef QUENCH_SWITCH_EGRESS_SW_WHY_H
#define QUENCH_SWITCH_EGRESS_SW_WHY_H

#include <stddef.h>
#include <stdint.h>

struct node;
struct rte_mbuf;

/** The queue of this port that set CE in a frame which sw_tx() has returned; -1: none did. */
int sw_marking_queue(const struct node *node, uint16_t port, const struct rte_mbuf *m);

/**
 * node_ops.why: "marked in queue 3 at 151.0 KB", "XOFF of group 3 at 80.0 KB shared, 2.0 KB
 * headroom". The lengths are those of now. By the owner of the port.
 */
void sw_why(const struct node *node, uint16_t port, const struct rte_mbuf *m, char *text,
	    size_t size);

#endif
