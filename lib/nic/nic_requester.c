/* SPDX-License-Identifier: BSD-3-Clause */
/* What a requester hears: ACK, NAK, and silence (RC transport; IBTA 9.7, Linux rxe_comp.c). */
#include "nic/nic_internal.h"

/* Bits 6-5 of the AETH syndrome: what kind of answer this is. */
enum aeth_kind { AETH_KIND_ACK = 0, AETH_KIND_RNR = 1, AETH_KIND_NAK = 3 };

/* All before seq is acknowledged, by an ACK or by a NAK of what follows. */
static void
acknowledge(struct nic *nic, uint32_t item, uint64_t seq, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint32_t before_seq = (uint32_t)qp->acked_seq;

	qp_acknowledge(qp, seq);
	if (nic->cc.hears_acks)
		nic_cc_acked(nic, item, before_seq, now_ns);
}

/* Packets before seq have arrived. */
static void
progress(struct nic *nic, uint32_t item, uint64_t seq, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	acknowledge(nic, item, seq, now_ns);
	qp_update_limit(qp, nic->window_packets);
	qp->progress_ns = now_ns;
	qp->retries = 0;
	if (qp->acked_seq == qp->end_seq)
		nic_end(nic, item, QP_DONE, now_ns);
	else if (qp->place == QP_BLOCKED)
		nic_settle(nic, item, now_ns);
}

/* Go-back-N without progress costs one of the retries. */
static void
retry(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (qp->retries >= nic->params.retry_cnt) {
		nic_end(nic, item, QP_ERROR, now_ns);
		return;
	}
	qp->retries++;
	qp_go_back(qp);
	nic_cc_lost(nic, item, now_ns);
	if (qp->place == QP_BLOCKED)
		nic_settle(nic, item, now_ns);
}

/* NAK "PSN sequence error": all before seq has arrived, the rest is sent again (go-back-N). */
static void
on_nak_sequence(struct nic *nic, uint32_t item, uint64_t seq, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	counter_inc(&nic->stats.packet_seq_err);
	if (seq == qp->acked_seq) {
		retry(nic, item, now_ns);
		return;
	}
	acknowledge(nic, item, seq, now_ns);
	qp_go_back(qp);
	nic_cc_lost(nic, item, now_ns);
	progress(nic, item, seq, now_ns);
}

/* Another NAK: the request at seq was refused; it too acknowledges all before. */
static void
on_nak_fatal(struct nic *nic, uint32_t item, uint64_t seq, uint64_t now_ns)
{
	qp_acknowledge(&nic->qps[item], seq);
	nic_end(nic, item, QP_ERROR, now_ns);
}

enum nic_drop
nic_on_ack(struct nic *nic, uint32_t item, const struct roce_view *v, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	int64_t ahead = psn_diff(v->psn, qp_psn(qp, qp->acked_seq));
	enum aeth_kind kind = v->aeth_syndrome >> 5 & 3;

	/* The PSN named by an ACK or NAK is of a packet that was sent. */
	if (ahead >= (int64_t)(qp->sent_seq - qp->acked_seq) ||
	    (ahead < 0 && (uint64_t)-ahead > qp->acked_seq) || qp->flags & QP_ERROR)
		return NIC_DROP_UNEXPECTED_ACK;
	/* We send WRITEs without immediate, which consume no receive buffer: "not ready" is no
	 * answer. */
	if (kind != AETH_KIND_ACK && kind != AETH_KIND_NAK)
		return NIC_DROP_UNEXPECTED_ACK;
	if (kind == AETH_KIND_ACK)
		counter_inc(&nic->stats.acks_received);
	if (ahead < 0)
		return NIC_USED; /* late: what it says is known */
	if (kind == AETH_KIND_ACK)
		progress(nic, item, qp->acked_seq + (uint64_t)ahead + 1, now_ns);
	else if (v->aeth_syndrome == AETH_NAK_PSN_SEQ)
		on_nak_sequence(nic, item, qp->acked_seq + (uint64_t)ahead, now_ns);
	else
		on_nak_fatal(nic, item, qp->acked_seq + (uint64_t)ahead, now_ns);
	return NIC_USED;
}

void
nic_on_timer(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint64_t deadline_ns = qp->progress_ns + nic->rto_ns;

	qp->flags &= (uint8_t)~QP_TIMED;
	/* No answer is due: the next packet that asks for one arms the timer. */
	if (qp->flags & (QP_ERROR | QP_DONE) || !qp_awaits_ack(qp, nic->params.ack_every))
		return;
	if (deadline_ns > now_ns) {
		qp->flags |= QP_TIMED;
		timing_wheel_insert(nic->timers, item, deadline_ns);
		return;
	}
	counter_inc(&nic->stats.local_ack_timeout_err);
	retry(nic, item, now_ns);
}
