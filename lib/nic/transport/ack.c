/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/transport/ack.h"

#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/rate/nic_cc.h"
#include "nic/place/place.h"
#include "nic/transport/read.h"
#include "nic/transport/requester.h"
#include "nic/transport/rnr.h"

/* Kind of answer: bits 6-5 of the AETH syndrome. */
enum aeth_kind { AETH_KIND_ACK = 0, AETH_KIND_RNR = 1, AETH_KIND_NAK = 3 };

/* NAK "PSN sequence error": all packets before seq have arrived; send the rest again
 * (go-back-N). */
static void
on_nak_sequence(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	counter_inc(&nic->stats.packet_seq_err);
	if (seq == qp->acked_seq) {
		/*
		 * Where nothing has left since the QP went back to seq, the NAK is for packets of
		 * before, such as those that followed a packet that an RNR NAK has refused.
		 */
		if (qp->next_seq != seq)
			nic_retry(nic, item, CC_LOSS_NAK, now_ns);
		return;
	}
	nic_acknowledge(nic, item, seq, now_ns);
	nic_go_back(nic, item);
	nic_cc_lost(nic, item, CC_LOSS_NAK, now_ns);
	nic_progress(nic, item, seq, now_ns);
}

/* Any other NAK: the request at seq was refused. It acknowledges all packets before seq. */
static void
on_nak_fatal(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns)
{
	nic_acknowledge(nic, item, seq, now_ns);
	nic_fail(nic, item, now_ns);
}

enum nic_drop
nic_on_ack(struct nic *nic, uint32_t item, const struct roce_view *v, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	int32_t ahead = psn_diff(v->psn, qp->acked_seq & PSN_MASK);
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	enum aeth_kind kind = v->aeth_syndrome >> 5 & 3;

	nic->heard = v;
	/* An ACK or NAK must name the PSN of a packet that was sent. */
	if (ahead >= (int32_t)(qp_sent_seq(qp) - qp->acked_seq) || flow->raw ||
	    (qp->flags & (QP_REQUESTER | QP_ERROR)) != QP_REQUESTER ||
	    (ahead < 0 && (uint32_t)-ahead > qp_acked_packets(qp, flow)))
		return NIC_DROP_UNEXPECTED_ACK;
	if (v->aeth_syndrome >> 7 != 0 ||
	    (kind != AETH_KIND_ACK && kind != AETH_KIND_RNR && kind != AETH_KIND_NAK))
		return NIC_DROP_UNEXPECTED_ACK;
	if (kind == AETH_KIND_ACK)
		counter_inc(&nic->stats.acks_received);
	nic_measure_answer(nic, item, kind == AETH_KIND_ACK);
	if (ahead < 0)
		return NIC_USED; /* a late ACK, which acknowledges no further packet */
	if (kind == AETH_KIND_RNR) {
		nic_on_rnr(nic, item, qp->acked_seq + (uint32_t)ahead, v->aeth_syndrome & 0x1F,
			   now_ns);
		return NIC_USED;
	}
	if (qp->flags & QP_READS)
		return nic_on_read_ack(nic, item, v, now_ns);
	if (kind == AETH_KIND_ACK)
		nic_progress(nic, item, qp->acked_seq + (uint32_t)ahead + 1, now_ns);
	else if (v->aeth_syndrome == AETH_NAK_PSN_SEQ)
		on_nak_sequence(nic, item, qp->acked_seq + (uint32_t)ahead, now_ns);
	else if (!(qp->flags & QP_DONE))
		on_nak_fatal(nic, item, qp->acked_seq + (uint32_t)ahead, now_ns);
	return NIC_USED;
}
