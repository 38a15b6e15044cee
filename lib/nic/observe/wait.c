/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/observe/wait.h"

#include "nic/core/core.h"
#include "nic/port/nic_pause.h"

const char *const nic_wait_words[] = {
	[NIC_WAIT_ERROR] = "error",
	[NIC_WAIT_DONE] = "done",
	[NIC_WAIT_RESPONDER] = "responder",
	[NIC_WAIT_NEIGHBOUR] = "neighbour",
	[NIC_WAIT_FLOWS] = "flows",
	[NIC_WAIT_START] = "start",
	[NIC_WAIT_RNR] = "rnr",
	[NIC_WAIT_STOPPED] = "stopped",
	[NIC_WAIT_ROUND] = "round",
	[NIC_WAIT_DEPTH] = "depth",
	[NIC_WAIT_MESSAGE] = "message",
	[NIC_WAIT_WINDOW] = "window",
	[NIC_WAIT_PAUSE] = "pause",
	[NIC_WAIT_RATE] = "rate",
	[NIC_WAIT_WIRE] = "wire",
	[NIC_WAITS] = NULL,
};

static enum nic_wait
between_messages(const struct nic_qp *qp, const struct qp_flow *flow)
{
	if (__atomic_load_n(&flow->stopped, __ATOMIC_RELAXED) && !(qp->flags & QP_LAST))
		return NIC_WAIT_STOPPED;
	if (flow->in_rounds && qp->flags & QP_REQUESTER && qp->place == QP_BLOCKED &&
	    qp->acked_seq == qp_sent_seq(qp))
		return NIC_WAIT_ROUND;
	return qp->flags & QP_REQUESTER && qp->place == QP_BLOCKED &&
			       qp->acked_seq != qp_sent_seq(qp)
		       ? NIC_WAIT_DEPTH
		       : NIC_WAIT_MESSAGE;
}

/* Does a QP in the wheel between two messages wait for tokens longer than for its next message?
 * This happens when a late ACK cancels a retransmission whose tokens are already spent. */
static bool
lacks_tokens(const struct nic *nic, uint32_t index, const struct nic_qp *qp,
	     const struct qp_flow *flow)
{
	struct nic_arrival arrival = {0};

	if (qp->place != QP_PACED || !(qp->flags & QP_REQUESTER) ||
	    token_account_can_send(&qp->bucket))
		return false;
	/* The start of the next on period is not stored. */
	if (flow->params.arrival == WORKLOAD_ON_OFF)
		return false;
	if (workload_is_open(&flow->params.work))
		words_read(&arrival, &nic->arrivals[index], sizeof(arrival));
	return token_account_next_ns(&qp->bucket) > arrival.next_ns;
}

/*
 * Compare bucket and shaper, as they were at the owner's last tx(). qp->place does not tell: moves
 * between wheel and ready ring do not update it, and a QP in the ring may wait for its turn.
 */
static bool
waits_for_rate(const struct nic *nic, const struct nic_qp *qp)
{
	struct token_account wire;

	words_read(&wire, &nic->wire.shaper.account, sizeof(wire));
	return !token_account_can_send(&qp->bucket) &&
	       token_account_next_ns(&qp->bucket) > wire.updated_ns;
}

static enum nic_wait
wait_of(const struct nic *nic, uint32_t index, const struct nic_qp *qp)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);

	if (qp->flags & QP_ERROR)
		return NIC_WAIT_ERROR;
	if (qp->flags & QP_DONE)
		return NIC_WAIT_DONE;
	if (!(qp->flags & (QP_REQUESTER | QP_SERVES)))
		return NIC_WAIT_RESPONDER;
	if (qp->flags & QP_UNRESOLVED)
		return NIC_WAIT_NEIGHBOUR;
	if (!(qp->flags & QP_STARTED))
		return qp->bucket.updated_ns == ARRIVALS_LAST_NS && flow->shared == NULL
			       ? NIC_WAIT_FLOWS
			       : NIC_WAIT_START;
	if (qp->flags & QP_RNR)
		return NIC_WAIT_RNR;
	/*
	 * QP_READY without packets: a late ACK has made the retransmission unnecessary. At its next
	 * turn the QP begins a message.
	 */
	if (qp->left_packets == 0 && qp->place != QP_READY) {
		enum nic_wait reason = between_messages(qp, flow);

		return reason == NIC_WAIT_MESSAGE && lacks_tokens(nic, index, qp, flow)
			       ? NIC_WAIT_RATE
			       : reason;
	}
	if (!qp_in_window(qp))
		return NIC_WAIT_WINDOW;
	if (__atomic_load_n(&nic->pause->paused_queues, __ATOMIC_RELAXED) >> flow->data_queue & 1)
		return NIC_WAIT_PAUSE;
	return waits_for_rate(nic, qp) ? NIC_WAIT_RATE : NIC_WAIT_WIRE;
}

/* In the copy of a QP, sent_seq may be older than acked_seq: then nothing is unacknowledged. */
static uint32_t
unacked_packets(const struct nic_qp *qp)
{
	uint32_t unacked = qp_sent_seq(qp) - qp->acked_seq;

	return qp->flags & QP_REQUESTER && unacked <= NIC_MAX_WINDOW ? unacked : 0;
}

bool
nic_qp_wait(const struct node *node, uint32_t index, struct nic_qp_wait *out)
{
	const struct nic *nic = nic_of_const(node);
	struct nic_qp qp;

	if (!nic_qp_exists(nic, index)) {
		*out = (struct nic_qp_wait){.reason = NIC_WAIT_START,
					    .window_packets = nic->window_packets};
		return false;
	}
	words_read(&qp, &nic->qps[index], sizeof(qp));
	*out = (struct nic_qp_wait){
		.reason = wait_of(nic, index, &qp),
		.cc_rate_bps = qp.cc.head.rate_bps,
		.cap_bps = counter_read(&nic_flow_of(nic, &qp)->rate_cap_bps),
		.unacked_packets = unacked_packets(&qp),
		.next_mac = counter_read(&nic_flow_of(nic, &qp)->next_mac),
		.window_packets = nic->window_packets,
	};
	return true;
}
