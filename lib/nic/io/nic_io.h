/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of rx() and tx() that other files of this room, or the wiring, call. */
#ifndef QUENCH_NIC_IO_NIC_IO_H
#define QUENCH_NIC_IO_NIC_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

struct nic;
struct rte_mbuf;

void nic_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns);

/** Receive the frames that crossed from other nodes; bounded work. */
void nic_rx_crossed(struct nic *nic, uint64_t now_ns);

/**
 * Release due QPs from the wheel, run due timers, NP windows and delayed CNPs. A call handles up to
 * NIC_BURST QPs and NIC_BURST timers, and all windows and CNPs that are due.
 * @return true: more may be due.
 */
bool nic_release(struct nic *nic, uint64_t now_ns);

/** Send up to max_pkts data frames of the queues in the mask open_queues. @return their number. */
uint16_t nic_send_data(struct nic *nic, uint8_t open_queues, struct rte_mbuf **pkts,
		       uint16_t max_pkts, uint64_t now_ns);

/** Before a NIC's turn, prefetch the lines that a NIC with few QPs uses for nearly every frame. */
void nic_fetch(const struct node *node);

#endif
