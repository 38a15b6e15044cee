/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * QP 1, the general services interface (IBTA volume 1, 3.9.6): management datagrams between frames,
 * which belong to the owners of the nodes, and the connection manager, which belongs to the control
 * lcore. A ring in each direction joins the two. All nodes of a NIC receive; the first one sends.
 *
 * Invariant: a datagram that does not fit a ring, or finds no mbuf, is dropped and counted; the
 * connection manager sends it again. Data never waits for a datagram's memory: the mbufs have a
 * pool of their own, and received datagrams are copied.
 */
#ifndef QUENCH_NIC_GSI_GSI_H
#define QUENCH_NIC_GSI_GSI_H

#include <stdint.h>

#include "nic/cm/cm.h"
#include "node/node.h"
#include "wire/roce/roce.h"

struct nic;
struct nic_gsi;

/* As cm_ops.offer. */
typedef enum cm_reason nic_gsi_offer(void *arg, const struct cm_view *v, struct cm_end *own);
struct rte_mempool;

/* Largest frame of a datagram, without FCS, and mbufs that a pool for them needs: a driver may keep
 * as many sent ones as its ring has room for. */
#define NIC_GSI_FRAME_BYTES 346u
#define NIC_GSI_MBUFS 511u

/**
 * Open QP 1 of a NIC, before its nodes run. The first node owns it, is destroyed last, and has
 * addresses and key in its parameters.
 *
 * @param pool  Of at least NIC_GSI_MBUFS mbufs with room for NIC_GSI_FRAME_BYTES; outlives the
 *              nodes.
 * @return      0, -EINVAL or -ENOMEM.
 */
int nic_gsi_open(struct node *const *nodes, uint32_t n_nodes, struct rte_mempool *pool);

/** Who answers REQs in a flood of them, on the control lcore. Until then they are refused. */
void nic_gsi_set_offer(struct node *first, nic_gsi_offer *offer, void *arg);

/**
 * The connection manager, for the thread that calls control() of the first node. NULL: QP 1 is not
 * open.
 */
struct cm *nic_cm(struct node *node);

/* Inside lib/nic. */

/** Call before the first node is freed. */
void nic_gsi_free(struct nic *nic);

/** Take a datagram to QP 1. @return NIC_USED, or the reason to drop it. */
unsigned int nic_gsi_on_datagram(struct nic *nic, const uint8_t *buf, const struct roce_view *v);

/** Build the frames of the datagrams that the connection manager has sent. */
void nic_gsi_send(struct nic *nic, uint64_t now_ns);

/** control() of a node. @return when it wants to be called again. */
uint64_t nic_gsi_control(struct nic *nic, uint64_t now_ns);

#endif
