/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connects QPs and congestion control: passes events to the algorithm, and its rates to the
 * buckets.
 *
 * Invariant: bucket.rate_bps = min(rate of the algorithm, cap of the flow), for a QP of the node's
 * version (version.h).
 */
#ifndef QUENCH_NIC_RATE_NIC_CC_H
#define QUENCH_NIC_RATE_NIC_CC_H

#include <stdint.h>

#include "cc/cc.h"

struct nic;
struct nic_flow_update;

/*
 * The parameters before their last change, for QPs that are still of the old version (version.h).
 */
struct nic_before {
	/* in force before the change */
	uint64_t until_ns; /* the instant of the change */
	int64_t qp_burst_nanobits;
	struct cc_node cc[CC_ALGORITHMS];
	struct cc_params cc_params;
	/* in force after the change, by flow_id; valid while a QP is of the old version */
	const struct nic_flow_update *flows;
	uint32_t n_flows;
};

void nic_cc_init(struct nic *nic);
/** The parameters have changed. */
void nic_cc_take_params(struct nic *nic);
/** Set the initial rate of a QP. others: QPs of the host that are active already. */
void nic_cc_start(struct nic *nic, uint32_t item, uint32_t others, uint64_t now_ns);
/** The QP's flow resumes: as at the start, its first packet waits for its part of a period. */
void nic_cc_spread(struct nic *nic, uint32_t item);
/** Advance a QP of the old version: run its timers and bucket under the old parameters up to
 * nic->before->until_ns, then switch it to the new ones. */
void nic_cc_change(struct nic *nic, uint32_t item);
/** Copy the parameters in force, before a change replaces them at now_ns. */
void nic_cc_keep_before(struct nic *nic, uint64_t now_ns);
/** Time is left out: ns pass without a packet of the QP, and the clock stays at now_ns. */
void nic_cc_pass(struct nic *nic, uint32_t item, uint64_t ns, uint64_t now_ns);
/** Run the timers that are due, and update the bucket's rate. */
void nic_cc_catch_up(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Account wire bytes, at least one, sent by the QP, and update the bucket's rate. */
void nic_cc_sent(struct nic *nic, uint32_t item, uint32_t wire, uint64_t now_ns);
/** Handle a CNP from the QP's peer. value: the number in its body. */
void nic_on_cnp(struct nic *nic, uint32_t item, uint32_t value, uint64_t now_ns);
/**
 * All packets before ack->acked_seq were acknowledged by the ACK nic->heard. Fills in the rest of
 * ack, and sets the QP's limit_seq if the algorithm has a window.
 */
void nic_cc_acked(struct nic *nic, uint32_t item, struct cc_ack *ack, uint64_t now_ns);
/** Set the QP's limit_seq by its algorithm's window, if it has one. */
void nic_cc_apply_window(struct nic *nic, uint32_t item);
/** A packet of wire bytes has left, of a QP that gets ACKs. Only with a window. */
void nic_cc_sent_in_window(struct nic *nic, uint32_t item, uint32_t wire);
/** The packets before seq will be acknowledged: call before the QP's acked_seq changes. */
void nic_cc_before_acked(struct nic *nic, uint32_t item, uint32_t seq);
/** The QP has gone back: nothing is in flight. */
void nic_cc_went_back(struct nic *nic, uint32_t item);
/** Packets were lost: the QP retransmits from its first unacknowledged packet. */
void nic_cc_lost(struct nic *nic, uint32_t item, enum cc_loss by, uint64_t now_ns);

#endif
