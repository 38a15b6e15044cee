/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Received frames: classify, check the ICRC, find the QP, dispatch.
 *
 * Invariant: per burst, frames received = used + drops by reason + kept; all but the kept ones are
 * freed.
 */
#ifndef QUENCH_NIC_IO_NIC_RX_H
#define QUENCH_NIC_IO_NIC_RX_H

#include <stdint.h>

#include "node/node.h"

struct nic;
struct rte_mbuf;

void nic_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns);

/** Receive the frames that crossed from other nodes; bounded work. */
void nic_rx_crossed(struct nic *nic, uint64_t now_ns);

#endif
