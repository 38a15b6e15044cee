/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/change/skip.h"

#include "nic/core/core.h"
#include "nic/core/skipped.h"
#include "nic/jobs/job_ranks.h"
#include "nic/measure/measure.h"
#include "nic/np/nic_np.h"
#include "nic/port/nic_pause.h"
#include "nic/rate/nic_cc.h"

/* Packets that each message keeps: the last one is no packet of the middle. */
#define KEPT_PACKETS 2

static uint64_t
mixed(uint64_t digest, uint64_t value)
{
	digest = (digest ^ value) * 0xbf58476d1ce4e5b9ull;
	return digest ^ digest >> 29;
}

static bool
is_sending(const struct nic_qp *qp)
{
	return qp->flags & QP_REQUESTER && qp->left_packets > 0;
}

static enum nic_unsteady
look_at_sender(const struct nic *nic, const struct nic_qp *qp)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);

	if (qp->flags & (QP_UD | QP_READS) || flow->raw ||
	    (flow->params.verb != NIC_WRITE && flow->params.verb != NIC_WRITE_IMM))
		return NIC_UNSTEADY_VERB;
	if (qp->flags & QP_DONE)
		return NIC_STEADY;
	if (qp->flags & (QP_RESEND | QP_RNR | QP_ERROR))
		return NIC_UNSTEADY_LOSS;
	if (!(qp->flags & QP_STARTED) || qp->flags & (QP_STOPS | QP_UNRESOLVED) ||
	    workload_is_open(&flow->params.work) || flow->params.arrival == WORKLOAD_ON_OFF)
		return NIC_UNSTEADY_TIME;
	if (qp->left_packets == 0 && qp->place == QP_PACED)
		return NIC_UNSTEADY_TIME;
	if (qp->left_packets == 0)
		return qp->next_seq == qp->acked_seq ? NIC_STEADY : NIC_UNSTEADY_MESSAGE;
	if (qp->flags & QP_FIRST || qp->next_msg != (uint32_t)qp->acked_msg)
		return NIC_UNSTEADY_MESSAGE;
	return cc_may_pass(&qp->cc, nic_cc_of(nic, qp)) ? NIC_STEADY : NIC_UNSTEADY_CC;
}

static enum nic_unsteady
look_at_node(const struct nic *nic)
{
	if (nic->pause->paused_prios != 0 || nic->pause->sends_pause)
		return NIC_UNSTEADY_PAUSE;
	/* Receive WQEs are posted by time. */
	if (nic->recv_full_ns != NULL)
		return NIC_UNSTEADY_TIME;
	if (nic->job_next_ns != NEVER_NS)
		return NIC_UNSTEADY_COMPUTE;
	if (nic->cnps.backlogged != 0 || nic_np_next_ns(nic->np) != NEVER_NS)
		return NIC_UNSTEADY_CC;
	return NIC_STEADY;
}

void
nic_look(const struct node *node, struct nic_look *sum)
{
	const struct nic *nic = nic_of_const(node);

	if (sum->why == NIC_STEADY)
		sum->why = look_at_node(nic);
	for (uint32_t item = 0; item < nic->n_qps; item++) {
		const struct nic_qp *qp = &nic->qps[item];

		if (sum->why == NIC_STEADY && qp->flags & QP_REQUESTER)
			sum->why = look_at_sender(nic, qp);
		if (sum->why == NIC_STEADY && qp->rx_flags & QP_RX_NAKED)
			sum->why = NIC_UNSTEADY_LOSS;
		sum->receivers += (qp->rx_flags & QP_RX_IN_MESSAGE) != 0;
		if (!is_sending(qp))
			continue;
		sum->senders++;
		sum->messages = mixed(sum->messages, (uint64_t)nic_qpn(nic, qp) << 32 | item);
		sum->messages = mixed(sum->messages, qp->acked_msg);
	}
}

uint32_t
nic_sender(const struct node *node)
{
	const struct nic *nic = nic_of_const(node);

	for (uint32_t item = 0; item < nic->n_qps; item++)
		if (is_sending(&nic->qps[item]))
			return item;
	return UINT32_MAX;
}

void
nic_positions(const struct node *node, struct nic_stretch *at)
{
	const struct nic *nic = nic_of_const(node);

	for (uint32_t item = 0; item < nic->n_qps; item++)
		at[item] = (struct nic_stretch){.sent = nic->qps[item].next_seq,
						.received = (uint32_t)nic->qps[item].rx_seq};
}

uint32_t
nic_sent(const struct node *node, uint32_t item)
{
	return nic_of_const(node)->qps[item].next_seq;
}

uint64_t
nic_packet_ns(const struct node *node, uint32_t item)
{
	const struct nic *nic = nic_of_const(node);
	const struct qp_flow *flow = nic_flow_of(nic, &nic->qps[item]);
	uint32_t bytes = wire_bytes(qp_frame_lens(flow, flow->mtu_bytes, 0).middle);

	return bytes * 8ull * NS_PER_SEC / nic->params.link_speed_bps;
}

uint64_t
nic_free_ps(const struct node *node)
{
	const struct token_account *a = &nic_of_const(node)->wire.shaper.account;

	return 1000 * a->updated_ns -
	       (uint64_t)(a->credit_nanobits / (int64_t)(a->rate_bps / 1000));
}

uint64_t
nic_wire_bytes(const struct node *node)
{
	const struct nic_stats *stats = &nic_of_const(node)->stats;

	return stats->tx_bytes + stats->tx_packets * GAP_BYTES;
}

/* Without `place`, in which the wheel and the ready ring may be swapped, and without timers, which
 * look again from time to time. */
static uint64_t
phase_of(uint64_t digest, const struct nic_qp *qp)
{
	digest = mixed(digest, (uint64_t)(uint16_t)(qp->flags & ~QP_TIMED) << 16 | qp->rx_flags);
	if (qp->flags & QP_REQUESTER)
		digest = mixed(digest, (uint64_t)(qp->next_seq - qp->acked_seq) << 32 |
					       (uint32_t)(qp->limit_seq - qp->acked_seq));
	digest = mixed(digest, (uint64_t)qp->ack_countdown << 32 | qp->owed);
	return mixed(digest, qp->cc.head.rate_bps);
}

uint64_t
nic_phase(const struct node *node)
{
	const struct nic *nic = nic_of_const(node);
	uint64_t digest = mixed(nic->ready.backlogged, nic->acks.backlogged);

	for (uint32_t item = 0; item < nic->n_qps; item++)
		digest = phase_of(digest, &nic->qps[item]);
	return digest;
}

uint64_t
nic_link_bps(const struct node *node)
{
	return nic_of_const(node)->params.link_speed_bps;
}

void
nic_counts(struct node *node, struct node_pieces *to)
{
	struct nic *nic = nic_of(node);

	node_piece(to, &nic->stats, sizeof(nic->stats));
	for (uint32_t item = 0; item < nic->n_qps; item++) {
		struct nic_qp_answers *answers = nic->measure->answers;

		node_piece(to, &nic->qps[item].tx_wire_bytes, sizeof(uint64_t));
		NODE_PIECE_FROM(to, &nic->tallies[item], rx_messages, min_rate_bps);
		if (answers != NULL)
			NODE_PIECE_FROM(to, &answers[item], acks_sent, rtt_samples);
	}
}

int
nic_skip_prepare(struct node *node)
{
	return nic_skipped_reserve(nic_of(node));
}

uint64_t
nic_skip_most(const struct node *node, const struct nic_stretch *period)
{
	const struct nic *nic = nic_of_const(node);
	uint64_t most = UINT64_MAX;

	for (uint32_t item = 0; item < nic->n_qps; item++) {
		const struct nic_qp *qp = &nic->qps[item];

		if (is_sending(qp) && period[item].sent > 0)
			most = min_u64(most,
				       sub_sat(qp->left_packets, KEPT_PACKETS) / period[item].sent);
	}
	return most;
}

static void
skip_of(struct nic *nic, uint32_t item, const struct nic_stretch *by)
{
	struct nic_qp *qp = &nic->qps[item];

	if (by->sent > 0) {
		assert(is_sending(qp) && qp->left_packets >= by->sent + KEPT_PACKETS);
		qp->left_packets -= by->sent;
		qp->acked_end -= by->sent;
		/* These packets count, but have no numbers. */
		nic->skipped[item].sent -= by->sent;
	}
	if (by->received > 0) {
		uint32_t bytes = by->received * nic_flow_of(nic, qp)->mtu_bytes;

		assert(qp->rx_flags & QP_RX_IN_MESSAGE && qp->rx_left_bytes > bytes);
		qp->rx_left_bytes -= bytes;
		nic->skipped[item].received -= by->received;
	}
}

void
nic_skip(struct node *node, const struct nic_stretch *period, uint64_t n, uint64_t ns,
	 uint64_t now_ns)
{
	struct nic *nic = nic_of(node);

	for (uint32_t item = 0; item < nic->n_qps; item++) {
		const struct nic_stretch by = {.sent = (uint32_t)(period[item].sent * n),
					       .received = (uint32_t)(period[item].received * n)};

		skip_of(nic, item, &by);
		if (nic->qps[item].flags & QP_STARTED)
			nic_cc_pass(nic, item, ns, now_ns);
	}
	if (nic->jobs != NULL)
		nic_job_skip(nic, ns, now_ns);
	nic->skipped_ns += ns;
}
