/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/observe/qp_info.h"

#include "base/threads/seq.h"
#include "nic/core/core.h"
#include "nic/core/skipped.h"
#include "nic/measure/measure.h"
#include "nic/answers/reads.h"

uint32_t
nic_qp_count(const struct node *node)
{
	return __atomic_load_n(&nic_of_const(node)->n_qps, __ATOMIC_RELAXED);
}

/* Correct the counts of a QP with READs, requester or responder. */
static void
add_reads(const struct nic *nic, uint32_t item, const struct nic_qp *qp, struct nic_qp_info *info)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct nic_reads *reads;
	uint64_t rx_psns;
	uint32_t before;

	if (qp->flags & QP_READS) {
		/*
		 * Count requests by their bytes, because all have the same length: packet numbers
		 * count the responses.
		 */
		info->tx_packets = qp->tx_wire_bytes /
				   wire_bytes(flow->template.hdr_bytes + RETH_BYTES + ICRC_BYTES);
		info->rx_packets += qp_acked_packets(qp, flow);
	} else if (nic_serves_reads(nic, qp)) {
		reads = &nic->reads[item];
		info->tx_packets = counter_read(&reads->tx_packets) + qp->retransmitted_packets;
		info->tx_messages = counter_read(&reads->tx_messages);
		info->tx_payload_bytes = counter_read(&reads->tx_payload_bytes);
		do {
			before = seq_read(&reads->seq);
			/* Do not use the copy of the QP: its rx_seq may be older than the gaps. */
			rx_psns = counter_read(&nic->qps[item].rx_seq) -
				  counter_read(&reads->rx_gap_psns);
		} while (seq_changed(&reads->seq, before));
		info->rx_packets = rx_psns - qp_first_rx_psn(&flow->params);
	}
}

static void
add_times(const struct nic *nic, uint32_t item, struct nic_qp_info *out)
{
	const struct nic_qp_times *t = &nic->measure->times[item];
	uint32_t before;

	const struct nic_qp_answers *a = &nic->measure->answers[item];

	out->acks_sent = counter_read(&a->acks_sent);
	out->acks_received = counter_read(&a->acks_received);
	out->naks_sent = counter_read(&a->naks_sent);
	out->naks_received = counter_read(&a->naks_received);
	out->out_of_sequence = counter_read(&a->out_of_sequence);
	out->rx_discarded_packets = counter_read(&a->rx_discarded_packets);
	out->rx_discarded_wire_bytes = counter_read(&a->rx_discarded_wire_bytes);
	out->rtt_samples = counter_read(&a->rtt_samples);
	out->rtt_sum_ns = counter_read(&a->rtt_sum_ns);
	out->rtt_min_ns = counter_read(&a->rtt_min_ns);
	out->rtt_max_ns = counter_read(&a->rtt_max_ns);
	out->ce_packets = counter_read(&a->ce_packets);
	out->cnps_ignored = counter_read(&a->cnps_ignored);
	do {
		before = seq_read(&t->seq);
		out->completions = counter_read(&t->completions);
		out->completion_sum_ns = counter_read(&t->sum_ns);
		out->completion_max_ns = counter_read(&t->max_ns);
	} while (seq_changed(&t->seq, before));
}

/* Messages of which a packet was sent, and that were not acknowledged when the QP gave up. */
static uint64_t
failed_messages(const struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn)
{
	uint32_t end =
		qp->acked_end; /* of the oldest one; at most a window of packets is in flight */
	uint64_t n = 1;

	if ((qp->flags & (QP_REQUESTER | QP_ERROR)) != (QP_REQUESTER | QP_ERROR) ||
	    qp_sent_seq(qp) == qp->acked_seq)
		return 0;
	for (; (int32_t)(qp_sent_seq(qp) - end) > 0 && n <= NIC_MAX_WINDOW; n++)
		end += qp_packets(flow, qpn, qp->acked_msg + n);
	return n;
}

/* @return its flags. */
static uint16_t
read_qp(const struct nic *nic, uint32_t index, struct nic_qp_info *out)
{
	const struct qp_tally *tally = &nic->tallies[index];
	const struct qp_flow *flow;
	struct nic_qp qp;
	struct cc_view cc;

	words_read(&qp, &nic->qps[index], sizeof(qp));
	flow = nic_flow_of(nic, &qp);
	cc_read(&qp.cc, &nic->cc[flow->cc], &cc, qp.bucket.updated_ns);
	*out = (struct nic_qp_info){
		.local_qpn = nic_local_qpn(nic, index),
		.peer_qpn = qp.dest_qp,
		.rate_bps = qp.bucket.rate_bps,
		.target_rate_bps = cc.target_rate_bps,
		.alpha_q32 = cc.alpha_q32,
		.rtt_ns = nic->measure->rtts != NULL ? nic->measure->rtts[index].last_ns : 0,
		.tx_wire_bytes = qp.tx_wire_bytes,
		.tx_packets = qp_tx_packets(&qp, flow),
		.retransmitted_packets = qp.retransmitted_packets,
		.tx_messages = qp.acked_msg,
		.failed_messages = failed_messages(&qp, flow, nic_local_qpn(nic, index)),
		.tx_payload_bytes = workload_is_fixed(&flow->params.work)
					    ? qp.acked_msg * flow->message_bytes
					    : nic->acked_bytes[index],
		.rx_payload_bytes = tally->rx_payload_bytes,
		.rx_messages = tally->rx_messages,
		.rx_packets = qp.flags & QP_UD ? tally->rx_messages
					       : qp.rx_seq - qp_first_rx_psn(&flow->params),
		.rx_wire_bytes = tally->rx_wire_bytes,
		.cnps_handled = tally->cnps_handled,
		.cnps_sent = tally->cnps_sent,
		.rate_cuts = tally->rate_cuts,
		.min_rate_bps = tally->min_rate_bps,
		.error = qp.flags & QP_ERROR,
		.done = qp.flags & QP_DONE,
		.rests = flow->shared != NULL && !(qp.flags & QP_STARTED),
	};
	add_reads(nic, index, &qp, out);
	if (nic->measure->times != NULL)
		add_times(nic, index, out);
	return qp.flags;
}

void
nic_qp_read(const struct nic *nic, uint32_t index, struct nic_qp_info *out)
{
	const struct nic_skipped *skipped = __atomic_load_n(&nic->skipped, __ATOMIC_ACQUIRE);
	uint16_t flags;
	uint32_t before;

	if (likely(skipped == NULL)) {
		read_qp(nic, index, out);
		return;
	}
	skipped += index;
	do {
		before = seq_read(&skipped->seq);
		flags = read_qp(nic, index, out);
		/* A READ request has no packet number of its own, but its responses have. */
		if (flags & QP_READS)
			out->rx_packets -= counter_read(&skipped->acked);
		else
			out->tx_packets -= counter_read(&skipped->sent);
		out->rx_packets -= counter_read(&skipped->received);
	} while (seq_changed(&skipped->seq, before));
}

bool
nic_qp_info(const struct node *node, uint32_t index, struct nic_qp_info *out)
{
	const struct nic *nic = nic_of_const(node);

	if (!nic_qp_exists(nic, index)) {
		*out = (struct nic_qp_info){0};
		return false;
	}
	nic_qp_read(nic, index, out);
	return true;
}
