/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames to send, in this order: pause frames, CNPs, ACKs and NAKs, answers and requests of address
 * resolution, data. Each kind of frame obeys the shaper and the pauses as its protocol requires.
 * Pause frames, CNPs, ACKs and NAKs may leave by a separate transmit queue.
 *
 * Invariant: in any interval t, wire bytes of all frames <= (link_speed_bps * t + burst) / 8 + one
 * frame, where burst = link_speed_bps * shaper_burst_ns.
 */
#ifndef QUENCH_NIC_IO_NIC_TX_H
#define QUENCH_NIC_IO_NIC_TX_H

#include <stdint.h>

#include "node/node.h"

struct rte_mbuf;

uint16_t nic_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
		uint64_t now_ns);
uint16_t nic_tx_control(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
			uint64_t now_ns);
uint64_t nic_next_ns(const struct node *node, uint16_t port);

/**
 * Send pause frames, CNPs, ACKs and NAKs by tx_control(), and all others by tx(): the device has a
 * separate transmit queue for them. Call before the first tx().
 */
void nic_send_control_apart(struct node *node);

#endif
