/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/transport/requester.h"

#include "nic/core/core.h"
#include "nic/jobs/job_ranks.h"
#include "nic/measure/measure.h"
#include "nic/rate/nic_cc.h"
#include "nic/place/place.h"
#include "nic/rate/version.h"

/* Treat all packets before seq as acknowledged. In rounds this may complete the QP's message of
 * this one. */
static void
mark_acknowledged(struct nic *nic, struct nic_qp *qp, uint32_t seq, uint64_t now_ns)
{
	struct qp_flow *flow = nic_flow_of(nic, qp);
	uint64_t message = qp->acked_msg;

	qp_acknowledge(qp, flow, nic_qpn(nic, qp), seq);
	if (!workload_is_fixed(&flow->params.work))
		for (uint64_t m = message; m < qp->acked_msg; m++)
			nic->acked_bytes[qp - nic->qps] += qp_bytes(flow, nic_qpn(nic, qp), m);
	if (flow->times != NULL && qp->acked_msg != message)
		nic_measure_completed(nic, (uint32_t)(qp - nic->qps), message, now_ns);
	/* A QP that has been reset may be behind. */
	if (flow->in_rounds && message <= flow->round && qp->acked_msg > flow->round)
		flow->round_left--;
}

void
nic_acknowledge(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	struct cc_ack ack = {.acked_seq = seq, .packets = seq - qp->acked_seq};

	if (nic->measure->rtts != NULL)
		ack.rtt_ns = nic_measure_rtt(nic, item, seq, now_ns);
	if (nic->in_flight_bytes != NULL)
		nic_cc_before_acked(nic, item, seq);
	mark_acknowledged(nic, qp, seq, now_ns);
	/* The responder sends the data of a READ, so its congestion control applies, not ours. */
	if (nic_cc_of(nic, qp)->hears_acks && !(qp->flags & QP_READS))
		nic_cc_acked(nic, item, &ack, now_ns);
	else if (nic->params.rate_window_bytes > 0)
		nic_cc_apply_window(nic, item);
}

/*
 * The packets to retransmit have arrived. The QP may still be in the wheel until it has tokens for
 * them, or until an RNR wait ends. Both may take long, so release the QP now.
 */
static __rte_noinline void
leave_wheel(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	nic_flush(nic);
	timing_wheel_hurry(nic->wheel, item, now_ns);
	node_wake(&nic->node, 0);
}

void
nic_progress(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	struct qp_flow *flow = nic_flow_of(nic, qp);
	bool was_refused = qp->flags & QP_RNR, had_packets = qp->left_packets > 0;

	/* Congestion control may make the window smaller. */
	qp->limit_seq = seq + nic->window_packets;
	nic_acknowledge(nic, item, seq, now_ns);
	if (!qp_awaits_ack(qp, nic->params.ack_every))
		qp->flags &= (uint16_t)~QP_AWAITS;
	qp->progress_tick = (uint32_t)nic_timers_tick(&nic->timers, now_ns);
	qp->retries = 0;
	qp->rnr_retries = 0;
	/* Progress ends an RNR wait: a duplicate of the refused packet may have been accepted. */
	qp->flags &= (uint16_t)~QP_RNR;
	if (qp->place == QP_BLOCKED)
		nic_settle(nic, item, now_ns);
	else if (unlikely(qp->place == QP_PACED &&
			  (was_refused || (had_packets && qp->left_packets == 0))))
		leave_wheel(nic, item, now_ns);
	if (flow->in_rounds)
		nic_next_round(nic, flow, now_ns);
	if (unlikely(nic->jobs != NULL))
		nic_job_acked(nic, item, now_ns);
}

void
nic_go_back(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);

	/* A message without a sent packet will begin again: restore its arrival. */
	if (workload_is_open(&flow->params.work) &&
	    (qp->flags & (QP_FIRST | QP_RESEND)) == QP_FIRST) {
		nic->arrivals[item].next_ns = nic->arrivals[item].begun_ns;
		nic->arrivals[item].free = true; /* counted already, if it waited */
	}
	qp_go_back(qp, flow, nic_qpn(nic, qp));
	if (nic->measure->rtts != NULL)
		rtt_on_loss(&nic->measure->rtts[item]);
	nic_cc_went_back(nic, item);
}

void
nic_resend(struct nic *nic, uint32_t item, enum cc_loss by, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	nic_go_back(nic, item);
	if (!(qp->flags & QP_READS))
		nic_cc_lost(nic, item, by, now_ns);
	if (qp->place == QP_BLOCKED)
		nic_settle(nic, item, now_ns);
}

void
nic_retry(struct nic *nic, uint32_t item, enum cc_loss by, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (qp->retries >= nic->params.retry_cnt) {
		nic_fail(nic, item, now_ns);
		return;
	}
	qp->retries++;
	nic_resend(nic, item, by, now_ns);
}

void
nic_unanswered(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	struct qp_flow *flow = nic_flow_of(nic, qp);

	/*
	 * Do not call nic_acknowledge(): no ACK has arrived, and congestion control must not count
	 * one.
	 */
	mark_acknowledged(nic, qp, qp->next_seq, now_ns);
	qp->limit_seq = qp->next_seq + nic->window_packets;
	if (flow->in_rounds)
		nic_next_round(nic, flow, now_ns);
}

void
nic_on_timer(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint64_t now_tick = nic->timers.now_tick;
	int32_t early = (int32_t)(qp->progress_tick + NIC_TIMEOUT_TICKS - (uint32_t)now_tick);

	nic_touch(nic, item, qp);
	qp->flags &= (uint16_t)~QP_TIMED;
	/* No ACK is outstanding: the next packet with AckReq starts the timer. */
	if (qp->flags & (QP_ERROR | QP_DONE) || !(qp->flags & QP_AWAITS))
		return;
	if (early > 0) {
		qp->flags |= QP_TIMED;
		nic_timers_insert(&nic->timers, nic->qps, item, now_tick + (uint32_t)early);
		return;
	}
	counter_inc(&nic->stats.local_ack_timeout_err);
	qp->rx_flags &= (uint8_t)~QP_RX_ASKED;
	nic_retry(nic, item, CC_LOSS_TIMEOUT, now_ns);
	if (nic->measure->rtts != NULL)
		rtt_on_timeout(&nic->measure->rtts[item]);
}

void
nic_arm_timer(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint64_t tick;

	qp->flags |= QP_AWAITS;
	if (nic->timers.slot_log2 == 0)
		return;
	tick = nic_timers_tick(&nic->timers, now_ns);
	qp->progress_tick = (uint32_t)tick;
	if (qp->flags & QP_TIMED)
		return;
	qp->flags |= QP_TIMED;
	nic_timers_insert(&nic->timers, nic->qps, item, tick + NIC_TIMEOUT_TICKS);
}
