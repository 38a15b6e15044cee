/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/transport/responder.h"

#include <rte_branch_prediction.h>

#include "base/threads/seq.h"
#include "nic/core/core.h"
#include "nic/core/skipped.h"
#include "nic/jobs/job_ranks.h"
#include "nic/measure/measure.h"
#include "nic/answers/owed.h"
#include "nic/place/place.h"
#include "nic/transport/read.h"
#include "nic/transport/rnr.h"

/* Opcodes that consume a receive WQE. */
#define TAKES_RECV                                                                                 \
	(1u << RC_SEND_FIRST | 1u << RC_SEND_ONLY | 1u << RC_SEND_ONLY_IMM |                       \
	 1u << RC_SEND_ONLY_INV | 1u << RC_WRITE_LAST_IMM | 1u << RC_WRITE_ONLY_IMM)

/* Is the opcode valid at this point of a message, and the length valid for the opcode? */
static bool
request_fits(struct nic *nic, uint32_t item, uint16_t mtu_bytes, const struct roce_view *v)
{
	const struct nic_qp *qp = &nic->qps[item];
	bool in_write = qp->rx_flags & QP_RX_IN_MESSAGE && !(qp->rx_flags & QP_RX_SEND);
	bool in_send = qp->rx_flags & QP_RX_IN_MESSAGE && qp->rx_flags & QP_RX_SEND;

	switch (v->opcode) {
	case RC_SEND_FIRST:
		return !in_write && !in_send && v->payload_bytes == mtu_bytes;
	case RC_SEND_MIDDLE:
		return in_send && v->payload_bytes == mtu_bytes;
	case RC_SEND_LAST:
	case RC_SEND_LAST_IMM:
	case RC_SEND_LAST_INV:
		return in_send && v->payload_bytes <= mtu_bytes;
	case RC_SEND_ONLY:
	case RC_SEND_ONLY_IMM:
	case RC_SEND_ONLY_INV:
		return !in_write && !in_send && v->payload_bytes <= mtu_bytes;
	case RC_WRITE_FIRST:
		return !in_write && !in_send && v->payload_bytes == mtu_bytes &&
		       v->reth_dma_bytes > v->payload_bytes &&
		       v->reth_dma_bytes <= NIC_MAX_MESSAGE_BYTES;
	case RC_WRITE_MIDDLE:
		return in_write && v->payload_bytes == mtu_bytes &&
		       qp->rx_left_bytes > v->payload_bytes;
	case RC_WRITE_LAST:
	case RC_WRITE_LAST_IMM:
		return in_write && v->payload_bytes <= mtu_bytes &&
		       qp->rx_left_bytes == v->payload_bytes;
	case RC_WRITE_ONLY:
	case RC_WRITE_ONLY_IMM:
		return !in_write && !in_send && v->payload_bytes <= mtu_bytes &&
		       v->reth_dma_bytes == v->payload_bytes;
	case RC_READ_REQUEST:
		return nic_read_fits(nic, item, v);
	default:
		return false;
	}
}

/* Requests with an RETH, which names memory. */
#define NAMES_MEMORY                                                                               \
	(1u << RC_WRITE_FIRST | 1u << RC_WRITE_ONLY | 1u << RC_WRITE_ONLY_IMM |                    \
	 1u << RC_READ_REQUEST)

/* IBTA 9.7.4.1.5: a request for no bytes may name any memory. */
static bool
may_access(const struct nic_qp_params *p, const struct roce_view *v)
{
	uint64_t at = v->reth_va - p->local_addr;

	return p->local_bytes == 0 || !(1u << v->opcode & NAMES_MEMORY) || v->reth_dma_bytes == 0 ||
	       (v->reth_rkey == p->local_rkey && at < p->local_bytes &&
		v->reth_dma_bytes <= p->local_bytes - at);
}

/* Refuse a request, and after it all others. */
static enum nic_drop
refuse(struct nic *nic, uint32_t item, enum qp_owed nak, enum nic_drop reason)
{
	nic->qps[item].rx_flags |= QP_RX_REFUSED;
	nic_owe(nic, item, nak);
	return reason;
}

/* The first packet of a message has arrived. */
static void
begin_message(struct nic *nic, struct nic_qp *qp, const struct roce_view *v)
{
	/* Its memory exists only as numbers: there is nothing to invalidate. */
	bool send = v->opcode <= RC_SEND_ONLY_IMM || v->opcode == RC_SEND_ONLY_INV;

	counter_inc(send ? &nic->stats.rx_send_requests : &nic->stats.rx_write_requests);
	qp->rx_flags &= (uint8_t)~QP_RX_SEND;
	qp->rx_flags |= send ? QP_RX_IN_MESSAGE | QP_RX_SEND : QP_RX_IN_MESSAGE;
	qp->rx_left_bytes = send ? 0 : v->reth_dma_bytes;
}

static void
deliver(struct nic *nic, struct nic_qp *qp, const struct roce_view *v, uint32_t wire)
{
	struct qp_tally *tally = nic_tally_of(nic, qp);
	bool last;

	if (!(qp->rx_flags & QP_RX_IN_MESSAGE))
		begin_message(nic, qp, v);
	qp->rx_seq++;
	if (qp->rx_flags & QP_RX_SEND) {
		last = v->opcode != RC_SEND_FIRST && v->opcode != RC_SEND_MIDDLE;
	} else {
		qp->rx_left_bytes -= v->payload_bytes;
		last = qp->rx_left_bytes == 0;
	}
	tally->rx_payload_bytes += v->payload_bytes;
	tally->rx_wire_bytes += wire;
	if (last) {
		tally->rx_messages++;
		qp->rx_flags &= (uint8_t)~QP_RX_IN_MESSAGE;
	}
}

static enum nic_drop
on_gap(struct nic *nic, uint32_t item, int32_t ahead)
{
	struct nic_qp *qp = &nic->qps[item];

	counter_inc(&nic->stats.out_of_sequence);
	nic_measure_gap_seen(nic, item);
	if (!(qp->rx_flags & QP_RX_NAKED)) {
		qp->rx_flags |= QP_RX_NAKED;
		qp->dropped_ahead = 0;
		nic_owe(nic, item, QP_OWES_NAK_SEQ);
	}
	if (ahead > qp->dropped_ahead)
		qp->dropped_ahead = (uint8_t)RTE_MIN(ahead, QP_FAR) & QP_FAR;
	return NIC_DROP_OUT_OF_SEQUENCE;
}

/* IBTA 9.7.5.2.8: drop later packets silently until this one arrives again. */
static enum nic_drop
on_not_ready(struct nic *nic, uint32_t item)
{
	nic->qps[item].rx_flags |= QP_RX_NAKED;
	nic_owe(nic, item, QP_OWES_RNR_NAK);
	return NIC_DROP_OUT_OF_BUFFER;
}

/*
 * A packet was delivered while a NAK is owed. If all dropped packets have arrived again, the NAK
 * would name a packet that the peer may never have sent: an ACK leaves instead.
 */
static void
on_filled(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];

	if (qp->dropped_ahead == QP_FAR)
		return;
	if (qp->dropped_ahead > 0) {
		qp->dropped_ahead--;
		return;
	}
	qp->rx_flags &= (uint8_t)~QP_RX_NAKED;
	nic_owe(nic, item, QP_OWES_ACK);
}

void
nic_expect_first(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];
	uint32_t passed = nic_to_psn(qp_first_rx_psn(&nic_flow_of(nic, qp)->params), qp->rx_seq);

	counter_add(&nic->skipped[item].received, passed);
	counter_add(&qp->rx_seq, passed);
	qp->rx_left_bytes = 0;
	qp->rx_flags &= (uint8_t) ~(QP_RX_IN_MESSAGE | QP_RX_NAKED | QP_RX_REFUSED | QP_RX_ASKED |
				    QP_RX_SEND);
	/*
	 * The QP is in a list of owed answers, so it must owe one. An ACK that acknowledges nothing
	 * new is harmless; a NAK is not.
	 */
	if (qp->owed != QP_OWES_NOTHING)
		qp->owed = QP_OWES_ACK;
}

/*
 * The first packet again, to a QP that hears whether a peer is alive: the peer's QP was reset, or
 * its program has restarted. The ends of a job are reset one after another while they ask, so none
 * of them may wait for the other one's reset.
 */
static bool
starts_again(const struct nic *nic, uint32_t item, const struct roce_view *v)
{
	const struct qp_flow *flow = nic_flow_of(nic, &nic->qps[item]);

	return v->psn == (qp_first_rx_psn(&flow->params) & PSN_MASK) && nic_job_hears(nic, item);
}

/* Is it the next packet, and may it be accepted? If not, it is answered for. */
static bool
accepts(struct nic *nic, uint32_t item, const struct roce_view *v, enum nic_drop *drop,
	uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	int32_t ahead = psn_diff(v->psn, (uint32_t)qp->rx_seq & PSN_MASK);

	*drop = NIC_USED;
	if (unlikely(ahead != 0 && nic->jobs != NULL) && starts_again(nic, item, v)) {
		seq_begin(&nic->skipped[item].seq);
		nic_expect_first(nic, item);
		seq_end(&nic->skipped[item].seq);
		ahead = 0;
	}
	if (qp->rx_flags & QP_RX_REFUSED) {
		*drop = qp->flags & QP_UD ? NIC_DROP_WRONG_TRANSPORT : NIC_DROP_UNEXPECTED_OPCODE;
	} else if (ahead > 0) {
		*drop = on_gap(nic, item, ahead);
	} else if (ahead < 0) {
		counter_inc(&nic->stats.duplicate_request);
		if (v->opcode == RC_READ_REQUEST)
			nic_read_again(nic, item, v, now_ns);
		else if (qp->owed == QP_OWES_NOTHING)
			nic_owe(nic, item, QP_OWES_ACK);
	} else if (!request_fits(nic, item, flow->mtu_bytes, v)) {
		*drop = refuse(nic, item, QP_OWES_NAK_INVALID, NIC_DROP_UNEXPECTED_OPCODE);
	} else if (unlikely(!may_access(&flow->params, v))) {
		*drop = refuse(nic, item, QP_OWES_NAK_ACCESS, NIC_DROP_REMOTE_ACCESS);
	} else if (1u << v->opcode & TAKES_RECV && !nic_recv_take(nic, item, now_ns)) {
		*drop = on_not_ready(nic, item);
	} else {
		return true;
	}
	return false;
}

enum nic_drop
nic_on_request(struct nic *nic, uint32_t item, const struct roce_view *v, uint32_t wire,
	       uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	enum nic_drop drop;

	if (unlikely(!accepts(nic, item, v, &drop, now_ns))) {
		nic_measure_discarded(nic, item, wire);
		return drop;
	}
	/*
	 * A NAK that has not left still leaves, with the PSN expected by then, unless the dropped
	 * packets arrive again (on_filled()): no later packet may come to show that they are
	 * missing. Until then no further NAK is owed. An ACK replaces an RNR NAK. A READ needs no
	 * ACK: its responses answer it.
	 */
	if (likely(qp->owed != QP_OWES_NAK_SEQ)) {
		qp->rx_flags &= (uint8_t)~QP_RX_NAKED;
		if (qp->owed == QP_OWES_RNR_NAK || (v->ack_req && v->opcode != RC_READ_REQUEST))
			nic_owe(nic, item, QP_OWES_ACK);
	}
	if (v->opcode == RC_READ_REQUEST)
		nic_read_take(nic, item, v, wire, now_ns);
	else
		deliver(nic, qp, v, wire);
	if (unlikely(qp->owed == QP_OWES_NAK_SEQ) && v->opcode != RC_READ_REQUEST)
		on_filled(nic, item);
	if (unlikely(nic->jobs != NULL) && v->opcode != RC_READ_REQUEST &&
	    !(qp->rx_flags & QP_RX_IN_MESSAGE))
		nic_job_arrived(nic, item, v->imm, now_ns);
	return NIC_USED;
}
