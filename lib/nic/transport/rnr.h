/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiver not ready: a responder without receive WQEs, and the requester that waits (IBTA
 * 9.7.5.2.8 and 9.9.2.1; codes of table 46).
 *
 * A SEND consumes a receive WQE with its first packet, a WRITE with immediate with its last one.
 * The application posts used WQEs again one after the other; each takes post_recv_ns. So the state
 * of a QP is one time: full_ns, from which all WQEs are posted again.
 *
 * Invariant: WQEs available at now = max_recv_wr - ceil(max(0, full_ns - now) / post_recv_ns).
 */
#ifndef QUENCH_NIC_TRANSPORT_RNR_H
#define QUENCH_NIC_TRANSPORT_RNR_H

#include <stdbool.h>
#include <stdint.h>

struct nic;

/** Consume a receive WQE. @return false: none is available. */
bool nic_recv_take(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Handle an RNR NAK for the packet at seq. @param code  RNR timer code: how long to wait. */
void nic_on_rnr(struct nic *nic, uint32_t item, uint32_t seq, uint8_t code, uint64_t now_ns);

#endif
