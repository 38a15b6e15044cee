/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receiver not ready: receive WQEs that run out, and a requester that waits for them (IBTA
 * 9.7.5.2.8 and 9.9.2.1; codes of table 46).
 *
 * A SEND takes a receive WQE with its first packet, a WRITE with immediate with its last one.
 * The application posts WQEs again one after the other, each takes post_recv_ns. So a responder
 * needs to remember only when the last one will be posted: this gives the number of WQEs there
 * are now.
 */
#ifndef QUENCH_NIC_TRANSPORT_RNR_H
#define QUENCH_NIC_TRANSPORT_RNR_H

#include <stdbool.h>
#include <stdint.h>

struct nic;

/** Take a receive WQE. @return false: there is none. */
bool nic_recv_take(struct nic *nic, uint32_t item, uint64_t now_ns);
/** The responder was not ready for the packet at seq. @param code  How long to wait. */
void nic_on_rnr(struct nic *nic, uint32_t item, uint32_t seq, uint8_t code, uint64_t now_ns);

#endif
