/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames to send: pause, then CNP, then ACK and NAK, then data, as shaper and pause allow. All but
 * data may leave by a transmit queue of their own.
 */
#ifndef QUENCH_NIC_IO_TX_H
#define QUENCH_NIC_IO_TX_H

#include <stdint.h>

#include "node/node.h"

struct rte_mbuf;

uint16_t nic_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room,
		uint64_t now_ns);
uint16_t nic_tx_control(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room,
			uint64_t now_ns);
uint64_t nic_next_ns(const struct node *node, uint16_t port);

/**
 * The device has a transmit queue for pause frames, CNPs, ACKs and NAKs: from now on tx_control()
 * gives those, and tx() the rest. Before the first tx().
 */
void nic_send_control_apart(struct node *node);

#endif
