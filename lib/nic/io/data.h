/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data frames: choose a QP, build its packet, and decide where the QP waits for the next one.
 *
 * Invariant: per call, mbufs taken = frames returned + mbufs put back; each frame returned is
 * charged to the wire and to its QP's bucket.
 */
#ifndef QUENCH_NIC_IO_DATA_H
#define QUENCH_NIC_IO_DATA_H

#include <stdint.h>

struct nic;
struct rte_mbuf;

/** Send up to max_pkts data frames of the queues in the mask open_queues. @return their number. */
uint16_t nic_send_data(struct nic *nic, uint8_t open_queues, struct rte_mbuf **pkts,
		       uint16_t max_pkts, uint64_t now_ns);

#endif
