/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress of a requester: packets acknowledged, sent again, or never answered (RC transport;
 * IBTA 9.7, Linux rxe_comp.c).
 *
 * Invariant: acked_seq only grows, and what is acknowledged is counted once.
 */
#ifndef QUENCH_NIC_TRANSPORT_REQUESTER_H
#define QUENCH_NIC_TRANSPORT_REQUESTER_H

#include <stdint.h>

struct nic;

/** All before seq is acknowledged, by an ACK or by a NAK of what follows. nic_progress() settles
 * the QP. */
void nic_acknowledge(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns);
/** Packets before seq have arrived. */
void nic_progress(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns);
/** Next comes the first packet that is not acknowledged; no round trip of these is timed (Karn). */
void nic_go_back(struct nic *nic, uint32_t item);
/** Packets were lost: send again from the first one that is not acknowledged. */
void nic_resend(struct nic *nic, uint32_t item, uint64_t now_ns);
/** The same without progress, which costs one of the retries. With none left the QP gives up. */
void nic_retry(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Nobody answers this QP: what it has sent counts as acknowledged. */
void nic_unanswered(struct nic *nic, uint32_t item, uint64_t now_ns);
/**
 * A packet that asks for an ACK leaves, and none was awaited. The timer runs only while an ACK is
 * awaited (IBTA 9.7.6.1.3): at a low rate the packets between two that ask may take longer than the
 * timeout.
 */
void nic_arm_timer(struct nic *nic, uint32_t item, uint64_t now_ns);
/** The retransmission timer of a QP fired, perhaps too early. */
void nic_on_timer(struct nic *nic, uint32_t item, uint64_t now_ns);

#endif
