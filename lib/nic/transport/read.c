/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/transport/read.h"

#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "base/threads/seq.h"
#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/place/place.h"
#include "nic/answers/reads.h"
#include "nic/port/port_state.h"
#include "nic/transport/requester.h"
#include "nic/transport/stamp.h"

/* ---- requester ---- */

/* Request missing responses again, but only once until one of them arrives or the timer fires. */
static void
ask_again(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (qp->rx_flags & QP_RX_ASKED)
		return;
	qp->rx_flags |= QP_RX_ASKED;
	nic_resend(nic, item, CC_LOSS_NAK, now_ns);
}

enum nic_drop
nic_on_read_ack(struct nic *nic, uint32_t item, const struct roce_view *v, uint64_t now_ns)
{
	/* A fatal NAK: the request was refused. */
	if (v->aeth_syndrome >> 5 == 3 && v->aeth_syndrome != AETH_NAK_PSN_SEQ) {
		if (!(nic->qps[item].flags & QP_DONE))
			nic_fail(nic, item, now_ns);
		return NIC_USED;
	}
	/*
	 * The responder sends an ACK or sequence NAK after the responses of all earlier READs. So
	 * responses that are still missing are lost.
	 */
	if (v->aeth_syndrome == AETH_NAK_PSN_SEQ)
		counter_inc(&nic->stats.packet_seq_err);
	else
		counter_inc(&nic->stats.implied_nak_seq_err);
	ask_again(nic, item, now_ns);
	return NIC_USED;
}

/* Does the response, whose PSN is that of acked_seq, have a valid opcode and length? */
static bool
response_fits(const struct nic *nic, const struct nic_qp *qp, const struct roce_view *v)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	uint32_t qpn = nic_qpn(nic, qp);
	uint32_t start_seq = qp->acked_end - qp_packets(flow, qpn, qp->acked_msg);
	bool last = qp->acked_seq + 1 == qp->acked_end;
	bool begins = v->opcode == RC_READ_RESP_FIRST || v->opcode == RC_READ_RESP_ONLY;

	/*
	 * Within a message two opcodes are valid: the response to a repeated request begins here,
	 * that to the original request continues.
	 */
	if (qp->acked_seq == start_seq && !begins)
		return false;
	if (!last)
		return (v->opcode == RC_READ_RESP_FIRST || v->opcode == RC_READ_RESP_MIDDLE) &&
		       v->payload_bytes == flow->mtu_bytes;
	return (v->opcode == RC_READ_RESP_ONLY || v->opcode == RC_READ_RESP_LAST) &&
	       v->payload_bytes ==
		       qp_last_bytes(qp_bytes(flow, qpn, qp->acked_msg), flow->mtu_bytes);
}

enum nic_drop
nic_on_read_response(struct nic *nic, uint32_t item, const struct roce_view *v, uint32_t wire,
		     uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	struct qp_tally *tally = nic_tally_of(nic, qp);
	int32_t ahead = psn_diff(v->psn, qp->acked_seq & PSN_MASK);

	if ((qp->flags & (QP_READS | QP_ERROR)) != QP_READS ||
	    ahead >= (int32_t)(qp_sent_seq(qp) - qp->acked_seq))
		return NIC_DROP_UNEXPECTED_RESPONSE;
	if (ahead < 0) {
		counter_inc(&nic->stats.duplicate_response);
		nic_measure_discarded(nic, item, wire);
		return NIC_USED;
	}
	if (ahead > 0) {
		counter_inc(&nic->stats.out_of_sequence);
		nic_measure_gap_seen(nic, item);
		nic_measure_discarded(nic, item, wire);
		ask_again(nic, item, now_ns);
		return NIC_DROP_OUT_OF_SEQUENCE;
	}
	if (!response_fits(nic, qp, v))
		return NIC_DROP_UNEXPECTED_RESPONSE;
	tally->rx_payload_bytes += v->payload_bytes;
	tally->rx_wire_bytes += wire;
	tally->rx_messages += qp->acked_seq + 1 == qp->acked_end;
	qp->rx_flags &= (uint8_t)~QP_RX_ASKED;
	nic_progress(nic, item, qp->acked_seq + 1, now_ns);
	return NIC_USED;
}

static void
stamp_request(struct nic *nic, uint32_t item, struct rte_mbuf *m)
{
	const struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	uint64_t message = qp_next_message(qp);
	uint32_t qpn = nic_qpn(nic, qp);
	uint32_t had_packets = qp_packets(flow, qpn, message) - qp->left_packets;
	uint32_t had_bytes = had_packets * flow->mtu_bytes;
	const struct roce_fields fields = {
		.opcode = RC_READ_REQUEST,
		.ack_req = true,
		.migreq = true,
		.psn = qp->next_seq & PSN_MASK,
		.reth_va = qp_remote_addr(&flow->params, qp->dest_qp) + had_bytes,
		.reth_rkey = flow->params.rkey,
		.reth_dma_bytes = qp_bytes(flow, qpn, message) - had_bytes,
	};

	nic_stamp(nic, item, m, nic->mbufs.empty, &fields);
}

/* ---- responder ---- */

/* End of READ next_msg: the number after its last response. */
static uint32_t
answer_end(const struct nic *nic, uint32_t item)
{
	const struct nic_qp *qp = &nic->qps[item];
	const struct nic_read *read = nic_read_at(nic, item, qp->next_msg);

	return read->start_seq + qp_message_packets(read->bytes, nic_flow_of(nic, qp)->mtu_bytes);
}

static bool
is_full(const struct nic *nic, uint32_t item)
{
	uint32_t received = (uint32_t)nic->reads[item].received;

	return received - nic->qps[item].next_msg >= nic->params.max_rd_atomic;
}

/*
 * Is there room for one more READ? A peer that sends a new READ has received all of its oldest
 * outstanding one. So if the ring is full because the oldest READ is being answered again, its
 * responses were late, not lost: skip it.
 */
static bool
has_place(const struct nic *nic, uint32_t item)
{
	const struct nic_qp *qp = &nic->qps[item];

	return !is_full(nic, item) ||
	       (qp->flags & QP_RESEND && (int32_t)(qp->sent_seq - answer_end(nic, item)) >= 0);
}

static void
skip_answer(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];

	qp->next_seq = answer_end(nic, item);
	qp->next_msg++;
	qp->left_packets = 0;
	if (qp->next_seq == qp->sent_seq)
		qp->flags &= (uint16_t)~QP_RESEND;
}

bool
nic_read_fits(struct nic *nic, uint32_t item, const struct roce_view *v)
{
	const struct nic_qp *qp = &nic->qps[item];

	if (!nic_serves_reads(nic, qp) || qp->rx_flags & QP_RX_IN_MESSAGE ||
	    v->reth_dma_bytes > NIC_MAX_MESSAGE_BYTES || !has_place(nic, item))
		return false;
	/*
	 * The peer chooses the size. If it is new, the description of its payload is made now,
	 * which may fail.
	 */
	return nic_payload(nic->mbufs.payloads,
			   qp_last_bytes(v->reth_dma_bytes, nic_flow_of(nic, qp)->mtu_bytes)) !=
	       NULL;
}

/* A READ waits to be answered: start the responder. */
static void
serve(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (!(qp->flags & QP_STARTED))
		nic_start(nic, item, now_ns);
	else if (!(qp->flags & QP_SERVES))
		nic_becomes_active(nic->port);
	qp->flags |= QP_SERVES;
	qp->limit_seq = (uint32_t)qp->rx_seq;
	if (qp->place == QP_IDLE)
		nic_settle(nic, item, now_ns);
}

void
nic_read_take(struct nic *nic, uint32_t item, const struct roce_view *v, uint32_t wire,
	      uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	struct nic_reads *reads = &nic->reads[item];
	struct qp_tally *tally = nic_tally_of(nic, qp);
	uint32_t packets = qp_message_packets(v->reth_dma_bytes, nic_flow_of(nic, qp)->mtu_bytes);

	counter_inc(&nic->stats.rx_read_requests);
	if (unlikely(is_full(nic, item)))
		skip_answer(nic, item);
	*nic_read_at(nic, item, (uint32_t)reads->received) = (struct nic_read){
		.start_seq = (uint32_t)qp->rx_seq,
		.bytes = v->reth_dma_bytes,
	};
	reads->received++;
	seq_begin(&reads->seq);
	counter_add(&reads->rx_gap_psns, packets - 1);
	counter_add(&qp->rx_seq, packets);
	seq_end(&reads->seq);
	/* The MSN counts a READ when its request arrives (IBTA C9-148). */
	tally->rx_messages++;
	tally->rx_wire_bytes += wire;
	serve(nic, item, now_ns);
}

/* Answer READ n again, from the response at seq on. */
static void
go_back(struct nic *nic, uint32_t item, uint32_t n, uint32_t seq, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct nic_read *read = nic_read_at(nic, item, n);

	qp->sent_seq = qp_sent_seq(qp);
	qp->next_msg = n;
	qp->next_seq = seq;
	qp->left_packets = read->start_seq +
			   qp_message_packets(read->bytes, nic_flow_of(nic, qp)->mtu_bytes) - seq;
	qp->flags |= QP_FIRST | QP_RESEND;
	serve(nic, item, now_ns);
}

/* Was the response at seq sent since the QP last went back? */
static bool
was_sent(const struct nic_qp *qp, uint32_t n, uint32_t seq)
{
	if (!(qp->flags & QP_SERVES))
		return true;
	return (int32_t)(n - qp->next_msg) < 0 ||
	       (n == qp->next_msg && (int32_t)(seq - qp->next_seq) < 0);
}

void
nic_read_again(struct nic *nic, uint32_t item, const struct roce_view *v, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint16_t mtu_bytes = nic_flow_of(nic, qp)->mtu_bytes;
	uint32_t seq =
		(uint32_t)qp->rx_seq + (uint32_t)psn_diff(v->psn, (uint32_t)qp->rx_seq & PSN_MASK);
	uint32_t received, kept;

	if (!nic_serves_reads(nic, qp))
		return;
	received = (uint32_t)nic->reads[item].received;
	kept = (uint32_t)min_u64(nic->reads[item].received, nic->params.max_rd_atomic);
	for (uint32_t n = received - kept; n != received; n++) {
		const struct nic_read *read = nic_read_at(nic, item, n);
		uint32_t packets = qp_message_packets(read->bytes, mtu_bytes);
		uint32_t had_packets = seq - read->start_seq;

		if (had_packets >= packets)
			continue;
		/*
		 * The request repeats this READ only if it asks for exactly the rest of the READ.
		 */
		if (v->reth_dma_bytes == read->bytes - had_packets * mtu_bytes &&
		    was_sent(qp, n, seq))
			go_back(nic, item, n, seq, now_ns);
		return;
	}
}

static void
stamp_response(struct nic *nic, uint32_t item, struct rte_mbuf *m)
{
	/* [is the first][is the last] */
	static const uint8_t opcodes[2][2] = {{RC_READ_RESP_MIDDLE, RC_READ_RESP_LAST},
					      {RC_READ_RESP_FIRST, RC_READ_RESP_ONLY}};
	const struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	bool last = qp->left_packets == 1;
	const struct nic_read *read = nic_read_at(nic, item, qp->next_msg);
	const struct roce_payload *payload =
		last ? nic->mbufs.payloads->by_length[qp_last_bytes(read->bytes, flow->mtu_bytes)]
		     : flow->full;
	const struct roce_fields fields = {
		.opcode = opcodes[(qp->flags & QP_FIRST) != 0][last],
		.migreq = true,
		.psn = qp->next_seq & PSN_MASK,
		.aeth_syndrome = AETH_ACK,
		.aeth_msn = (uint32_t)nic->tallies[item].rx_messages & 0xFFFFFFu,
	};

	if (fields.opcode == RC_READ_RESP_MIDDLE)
		nic_stamp_middle(nic, item, qp, flow, m, false);
	else
		nic_stamp(nic, item, m, payload, &fields);
}

static void
response_sent(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];
	struct nic_reads *reads = &nic->reads[item];

	if (!(qp->flags & QP_RESEND)) {
		counter_inc(&reads->tx_packets);
		if (qp->left_packets == 1) {
			counter_inc(&reads->tx_messages);
			counter_add(&reads->tx_payload_bytes,
				    nic_read_at(nic, item, qp->next_msg)->bytes);
		}
	}
	qp_sent(qp);
}

/* ---- both ---- */

void
nic_read_stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m)
{
	if (nic->qps[item].flags & QP_READS)
		stamp_request(nic, item, m);
	else
		stamp_response(nic, item, m);
}

void
nic_read_sent(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (!(qp->flags & QP_READS)) {
		response_sent(nic, item);
		return;
	}
	if (!(qp->flags & QP_AWAITS))
		nic_arm_timer(nic, item, now_ns);
	if (nic->measure->rtts != NULL && !(qp->flags & QP_RESEND))
		rtt_on_ask(&nic->measure->rtts[item], qp->next_seq, now_ns);
	qp_sent_read(qp);
}
