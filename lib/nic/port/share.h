/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several NIC nodes, each on its own lcore, that form one NIC on one port: one address, one wire,
 * one range of QP numbers.
 *
 * QPs are distributed round robin: node k of n has the numbers first_qpn + k + i * n, so the number
 * of a QP gives its node. If the receive queue of each QP is known (rss.h), a table gives the node
 * of each QP instead. A frame for a QP of another node crosses once, through that node's ring,
 * which all other nodes fill. One ring per node needs less memory than n (n - 1) rings (64 lcores:
 * 0.5 GB instead of 32 GB). Pause frames and answers of neighbours are passed to all nodes. A
 * request for our address is answered by the node that receives it. wire_share divides the wire:
 * the nodes reserve their next frames in turn. The other state that nodes share is in port_state.h.
 *
 * Invariant: no frame is lost in a ring, because each ring has room for every mbuf of the receive
 * pool.
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

/** Call after all its nodes have been destroyed. Frees frames in the rings. */
void nic_share_destroy(struct nic_share *share);

/**
 * Locate QPs by a table of n_qps entries, all empty at first, instead of by their numbers. Call
 * before nic_join().
 * @return 0 or -ENOMEM.
 */
int nic_share_use_table(struct nic_share *share, uint32_t n_qps);

/**
 * Add a node to the share, before it has QPs. Its max_qps must be at least nic_share_qps(); its
 * first_qpn is set here. QPs are then added in the order of their numbers.
 */
void nic_join(struct node *node, struct nic_share *share, uint32_t index);

/* Where a QP is: the node that owns it, and its index there. */
struct nic_location {
	uint32_t node, item; /* item: index for nic_qp_info() of the node */
};
#define NIC_NO_ITEM UINT32_MAX

/**
 * Only after nic_share_use_table(): assign a QP to a node, before the QP is made. May be called
 * while the nodes run.
 */
void nic_share_assign(struct nic_share *share, uint32_t number, struct nic_location at);
/** Only after nic_share_use_table(): remove a QP from the table. */
void nic_share_unassign(struct nic_share *share, uint32_t number);

/* In the functions below, share NULL means that node 0 has all QPs. */

/** Largest number of QPs that node `index` may have if the NIC has n. */
uint32_t nic_share_qps(const struct nic_share *share, uint32_t n, uint32_t index);

/** Location of the QP first_qpn + number. item is NIC_NO_ITEM if a table has no entry for it. */
struct nic_location nic_share_find(const struct nic_share *share, uint32_t number);

/** Inverse of nic_share_find(). */
uint32_t nic_share_number(const struct nic_share *share, struct nic_location at);

/* Inside lib/nic. Only for a node of a share, except nic_share_broadcast(). */

/* Frames taken from the ring at a time. */
#define NIC_CROSS_BURST 32

/* Frames that a node collects for the others. Empty between two calls of the node. */
struct nic_crossings {
	struct nic_crossing *to; /* by node */
	uint64_t pending;        /* mask of nodes with frames in `to` */
	uint32_t index;          /* of this node */
};

/** Node `index` of the NIC, which may have this one alone; NULL: there are no more. */
const struct nic *nic_share_node(const struct nic *nic, uint32_t index);
/** Pass a frame to the node that has its QP. @return false: this node handles the frame. */
bool nic_share_cross(struct nic *nic, struct rte_mbuf *m, uint32_t dest_qp);
/** Index of the local QP first_qpn + number; QP_NONE: none. */
uint32_t nic_share_item(const struct nic *nic, uint32_t number);
/**
 * Pass a reference to a frame to all other nodes. From then on, nobody may write to the frame. Does
 * nothing if the node has no share, or if the frame has already crossed.
 */
void nic_share_broadcast(struct nic *nic, struct rte_mbuf *m);
/** Hand over the collected frames: before rx() returns. */
void nic_share_flush(struct nic *nic);
/** Take up to NIC_CROSS_BURST frames from this node's ring. @return how many. */
uint16_t nic_share_receive(struct nic *nic, struct rte_mbuf **pkts);
/** Does this node's ring hold frames? */
bool nic_share_waits(const struct nic *nic);

#endif
