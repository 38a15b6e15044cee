/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress of a requester: acknowledgement, retransmission and timeout (RC transport; IBTA 9.7,
 * Linux rxe_comp.c).
 *
 * Invariant: acked_seq only grows, and each acknowledged message is counted once.
 */
#ifndef QUENCH_NIC_TRANSPORT_REQUESTER_H
#define QUENCH_NIC_TRANSPORT_REQUESTER_H

#include <stdint.h>

#include "cc/cc.h"

struct nic;

/** All packets before seq are acknowledged, by an ACK or by a NAK of a later one. Does not settle
 * the QP; nic_progress() does. */
void nic_acknowledge(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns);
/** All packets before seq are acknowledged: reset timer and retries, move the window, settle. */
void nic_progress(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns);
/** Set next_seq back to the first unacknowledged packet, with nothing in flight, and discard the
 * round trip being timed. */
void nic_go_back(struct nic *nic, uint32_t item);
/** Packets were lost: send again from the first unacknowledged one. */
void nic_resend(struct nic *nic, uint32_t item, enum cc_loss by, uint64_t now_ns);
/** As nic_resend(), at the cost of one retry. If none is left, the QP gives up. */
void nic_retry(struct nic *nic, uint32_t item, enum cc_loss by, uint64_t now_ns);
/** For a raw or UD QP, which gets no answers: treat all packets sent as acknowledged. */
void nic_unanswered(struct nic *nic, uint32_t item, uint64_t now_ns);
/**
 * Call when a packet with AckReq leaves while no ACK is outstanding: start the timer. It runs only
 * while an ACK is outstanding (IBTA 9.7.6.1.3), because at a low rate the time between two packets
 * with AckReq may exceed the timeout.
 */
void nic_arm_timer(struct nic *nic, uint32_t item, uint64_t now_ns);
/**
 * The retransmission timer of a QP has fired. If the QP has made progress since, insert it again.
 */
void nic_on_timer(struct nic *nic, uint32_t item, uint64_t now_ns);

#endif
