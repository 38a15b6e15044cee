/* SPDX-License-Identifier: BSD-3-Clause */
/* Data frames: whose turn it is, what the packet says, and where its QP waits for the next one. */
#ifndef QUENCH_NIC_IO_DATA_H
#define QUENCH_NIC_IO_DATA_H

#include <stdint.h>

struct nic;
struct rte_mbuf;

/** Send up to room data frames of queues that are open. @return how many. */
uint16_t nic_send_data(struct nic *nic, uint8_t open_queues, struct rte_mbuf **pkts, uint16_t room,
		       uint64_t now_ns);

#endif
