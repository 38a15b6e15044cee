/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several NIC nodes, each with an lcore of its own, that are one NIC on one port: one address, one
 * wire, one range of QP numbers.
 *
 * QPs are dealt out in turn: node k of n has first_qpn + k, first_qpn + k + n, and so on, so that
 * the number of a QP gives its node. Where it is known at whose receive queue frames will arrive
 * (rss.h), QPs are placed by a table instead. A frame for another node's QP crosses once, by that
 * node's ring, which all others fill. One ring for each node takes less memory than n (n - 1) of
 * them (64 lcores: 0.5 against 32 GB). Pause frames and answers of neighbours go to all nodes.
 * Questions about our address are answered by the node that receives them. The wire is divided by
 * wire_share: each node reserves its next frames, in turn. The other state of a host is in
 * shared.h.
 *
 * Invariant: a crossing never drops, since each ring has room for every mbuf of the receive pool.
 */
#ifndef QUENCH_NIC_PORT_SHARE_H
#define QUENCH_NIC_PORT_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

#define NIC_SHARE_MAX_NODES 64

struct nic;
struct nic_share;
struct rte_mbuf;

struct nic_share_params {
	uint32_t n_nodes;
	uint32_t first_qpn; /* of the NIC */
	uint64_t link_speed_bps;
	uint32_t shaper_burst_ns;
	uint32_t rx_mbufs; /* of the receive pool */
	int socket;
};

/** @return a share, or NULL with rte_errno set. */
struct nic_share *nic_share_create(const struct nic_share_params *params);

/** After all its nodes have been destroyed. Frees frames that were crossing. */
void nic_share_destroy(struct nic_share *share);

/**
 * QPs are where a table of n_qps says, and nowhere yet. Before nic_join().
 * @return 0 or -ENOMEM.
 */
int nic_share_place(struct nic_share *share, uint32_t n_qps);

/**
 * Make a node one of the share's, before it has QPs. Its max_qps must be at least
 * nic_share_qps(), its first_qpn is set. QPs are then added in the order of their numbers.
 */
void nic_join(struct node *node, struct nic_share *share, uint32_t index);

/* The node that has a QP. */
/* The node that has a QP. */
struct nic_home {
	uint32_t node, item; /* item: the node's index for nic_qp_info() */
};
#define NIC_NOWHERE UINT32_MAX

/** With nic_share_place(): QP number is at this place, before it is, and while the nodes run. */
void nic_share_put(struct nic_share *share, uint32_t number, struct nic_home at);
/** It is nowhere. */
void nic_share_take_out(struct nic_share *share, uint32_t number);

/* Where QPs are; with share NULL there is one node, number 0, which has all. */

/** How many of n QPs, all that there are, one node may have. */
uint32_t nic_share_qps(const struct nic_share *share, uint32_t n, uint32_t index);

/** Where the QP with first_qpn + number is. */
struct nic_home nic_share_find(const struct nic_share *share, uint32_t number);

/** The reverse. */
uint32_t nic_share_number(const struct nic_share *share, struct nic_home place);

/* Inside lib/nic, of a node that is not alone. */

/* Frames that are taken over together. */
#define NIC_CROSS_BURST 32

/* Frames on their way from a node to the others. Between two calls of the node there are none. */
struct nic_crossings {
	struct nic_crossing *to; /* by node */
	uint64_t pending;        /* mask of nodes to which there are some */
	uint32_t index;          /* of this node */
};

/** Hand a frame to the node whose QP it is for. @return false: it is ours to deal with. */
bool nic_share_cross(struct nic *nic, struct rte_mbuf *m, uint32_t dest_qp);
/** Which of our QPs has a number, counted from first_qpn; QP_NONE: none. */
uint32_t nic_share_item(const struct nic *nic, uint32_t number);
/** Let all other nodes see a frame, which nobody writes to any more. Nothing is done where the
 * node is alone, or the frame has crossed. */
void nic_share_broadcast(struct nic *nic, struct rte_mbuf *m);
/** Hand over what has to cross: before rx() returns. */
void nic_share_flush(struct nic *nic);
/** Take up to NIC_CROSS_BURST frames that crossed to us. @return how many. */
uint16_t nic_share_take(struct nic *nic, struct rte_mbuf **pkts);
/** Are there frames that crossed to us? */
bool nic_share_waits(const struct nic *nic);

#endif
