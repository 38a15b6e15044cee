/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/place/place.h"

#include "nic/measure/measure.h"
#include "nic/rate/nic_cc.h"
#include "nic/answers/reads.h"
#include "nic/messages/nic_shared.h"
#include "nic/rate/version.h"
#include "nic/port/port_state.h"

/* Longest time in the wheel of a QP that has packets in flight and waits for its next message. */
#define MAX_WAIT_IN_FLIGHT_NS (64 * NS_PER_US)

/*
 * When to look at a QP in the wheel again, at the latest: a QP cannot be taken out of the wheel,
 * and its flow may be being removed.
 */
static uint64_t
look_again_at_ns(const struct nic *nic, uint64_t now_ns)
{
	return nic->max_wait_ns == NEVER_NS ? NEVER_NS : now_ns + nic->max_wait_ns;
}

/*
 * The state machine of a QP that sends (a requester, or a responder that serves READs): its place
 * at now_ns. All other QPs are QP_IDLE. *deadline_ns, in: for a started QP between two messages,
 * when to check again (NEVER_NS: no check by time); out: if the place is QP_PACED, the end of the
 * wait.
 */
static enum qp_place
decide(const struct nic *nic, const struct nic_qp *qp, uint64_t now_ns, uint64_t *deadline_ns)
{
	if (!(qp->flags & (QP_REQUESTER | QP_SERVES)) ||
	    qp->flags & (QP_ERROR | QP_DONE | QP_UNRESOLVED))
		return QP_IDLE;
	if (!(qp->flags & QP_STARTED)) {
		/* Before the start, updated_ns is the start time; the last one: by an event. */
		if (qp->bucket.updated_ns == ARRIVALS_LAST_NS)
			return QP_BLOCKED;
		*deadline_ns = min_u64(qp->bucket.updated_ns, look_again_at_ns(nic, now_ns));
		return QP_PACED;
	}
	if (qp->left_packets == 0)
		return *deadline_ns == NEVER_NS ? QP_BLOCKED : QP_PACED;
	if (!qp_in_window(qp))
		return QP_BLOCKED;
	return nic_must_wait(qp, nic_flow_of(nic, qp), nic_wire_free_ns(nic, now_ns), deadline_ns)
		       ? QP_PACED
		       : QP_READY;
}

static void
mark_end(struct nic *nic, struct nic_qp *qp, uint16_t flag, uint64_t now_ns)
{
	struct qp_flow *flow = nic_flow_of(nic, qp);

	if (flow->in_rounds) {
		flow->round_members--;
		if (qp->acked_msg <= flow->round)
			flow->round_left--;
	}
	assert(!(qp->flags & (QP_ERROR | QP_DONE)));
	qp->flags |= flag;
	__atomic_store_n(&flow->ended_ns, now_ns + nic->skipped_ns, __ATOMIC_RELAXED);
	if (flag == QP_DONE) {
		__atomic_store_n(&flow->done_qps, flow->done_qps + 1, __ATOMIC_RELEASE);
		nic_measure_end(nic, (uint32_t)(qp - nic->qps), now_ns);
	}
	nic_becomes_idle(nic->port);
	if (qp->flags & QP_ENDS)
		nic->pending--;
	if (flag == QP_ERROR) {
		nic->failed++;
		counter_inc(&nic->stats.qp_errors);
	}
}

/* When the next message may begin. NEVER_NS: after an event, which then settles the QP. */
static uint64_t
may_begin_ns(const struct nic *nic, const struct nic_qp *qp, uint64_t now_ns)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct workload *w = &flow->params.work;

	if (qp->flags & QP_READS && !nic_read_may_ask(nic, qp))
		return NEVER_NS;
	if (workload_is_open(w))
		return nic->arrivals[qp - nic->qps].next_ns;
	if (w->arrival == WORKLOAD_OF_JOB)
		return workload_is_posted(w, nic_qpn(nic, qp), qp_next_message(qp)) ? now_ns
										    : NEVER_NS;
	if (flow->in_rounds) {
		uint64_t message = qp_next_message(qp);

		if (message > flow->round)
			return NEVER_NS;
		return message < flow->round ? now_ns : max_u64(now_ns, flow->round_begin_ns);
	}
	if (qp->next_msg - (uint32_t)qp->acked_msg >= w->depth)
		return NEVER_NS;
	return workload_on_at_ns(w, now_ns);
}

/*
 * Do this QP's messages before this one reach the flow's payload limit, which applies to each QP?
 */
static bool
byte_limit_reached(const struct nic *nic, const struct nic_qp *qp, uint64_t message)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct workload *w = &flow->params.work;
	uint64_t largest_bytes = workload_largest_bytes(w), sum_bytes;

	if (workload_is_fixed(w))
		return message * largest_bytes >= w->bytes;
	sum_bytes = nic->acked_bytes[qp - nic->qps];
	/* Fast path: bytes in flight cannot reach the limit. */
	if (sum_bytes + (message - qp->acked_msg) * largest_bytes < w->bytes)
		return false;
	for (uint64_t m = qp->acked_msg; m < message; m++)
		sum_bytes += qp_bytes(flow, nic_qpn(nic, qp), m);
	return sum_bytes >= w->bytes;
}

uint64_t
nic_stopped_look_ns(const struct nic *nic, uint64_t now_ns)
{
	return now_ns + max_u64(NS_PER_MS, nic->n_qps * NS_PER_US);
}

/* When to check a QP of a stopped flow. Without stop_ns no check is needed: the reload that resumes
 * the flow settles its QPs. */
static uint64_t
stopped_until_ns(const struct nic *nic, const struct workload *w, bool idle, uint64_t now_ns)
{
	if (w->stop_ns == NEVER_NS)
		return NEVER_NS;
	return min_u64(w->stop_ns,
		       idle ? nic_stopped_look_ns(nic, now_ns) : now_ns + MAX_WAIT_IN_FLIGHT_NS);
}

/* An open loop begins a message: compute the arrival of the next one. */
static void
take_arrival(struct nic *nic, const struct nic_qp *qp, const struct qp_flow *flow, uint64_t message)
{
	struct nic_arrival *a = &nic->arrivals[qp - nic->qps];

	if (!a->free && message > 0 && flow->times != NULL)
		counter_inc(&flow->times->waited);
	a->free = false;
	a->begun_ns = a->next_ns;
	a->next_ns = arrivals_next_ns(&flow->arrivals, &flow->params.work, nic_qpn(nic, qp),
				      message + 1, a->begun_ns);
}

/*
 * Between two messages: begin the next one, if allowed.
 * @return when to check again; NEVER_NS: no check by time is needed.
 */
static uint64_t
next_message(struct nic *nic, struct nic_qp *qp, uint64_t now_ns)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct workload *w = &flow->params.work;
	uint64_t begin_ns, message = qp_next_message(qp);

	if (!(qp->flags & QP_REQUESTER)) {
		nic_read_next(nic, (uint32_t)(qp - nic->qps));
		return NEVER_NS;
	}
	if (unlikely(flow->shared != NULL) && !(qp->flags & QP_RESEND)) {
		if (!nic_shared_next(nic, (uint32_t)(qp - nic->qps), &begin_ns, now_ns))
			return NEVER_NS;
		if (flow->times != NULL)
			nic_measure_begun(nic, (uint32_t)(qp - nic->qps), message, begin_ns);
	} else if (!(qp->flags & QP_RESEND)) {
		bool idle = qp->acked_seq == qp->next_seq;

		if ((w->messages > 0 && message >= w->messages) || now_ns >= w->stop_ns ||
		    (w->bytes > 0 && byte_limit_reached(nic, qp, message)) ||
		    unlikely(flow->life == FLOW_REMOVING))
			qp->flags |= QP_LAST;
		if (qp->flags & QP_LAST && idle)
			mark_end(nic, qp, QP_DONE, now_ns);
		if (qp->flags & QP_LAST)
			return NEVER_NS;
		if (unlikely(flow->stopped))
			return stopped_until_ns(nic, w, idle, now_ns);
		begin_ns = may_begin_ns(nic, qp, now_ns);
		if (begin_ns == NEVER_NS)
			return NEVER_NS;
		if (begin_ns > now_ns) {
			if (workload_is_open(w))
				nic->arrivals[qp - nic->qps].free = true;
			begin_ns = min_u64(begin_ns, w->stop_ns);
			begin_ns = min_u64(begin_ns, look_again_at_ns(nic, now_ns));
			/* With packets in flight, check early: a retransmission must not wait for
			 * the next arrival. */
			return idle ? begin_ns : min_u64(begin_ns, now_ns + MAX_WAIT_IN_FLIGHT_NS);
		}
		if (workload_is_open(w))
			take_arrival(nic, qp, flow, message);
		if (flow->times != NULL)
			nic_measure_begun(nic, (uint32_t)(qp - nic->qps), message, now_ns);
	}
	qp_begin(qp, flow, nic_qpn(nic, qp));
	return NEVER_NS;
}

void
nic_open_round(struct qp_flow *flow, uint64_t round, uint64_t begin_ns)
{
	flow->round = round;
	flow->round_begin_ns = begin_ns;
	flow->round_left = flow->round_members;
}

void
nic_enter_round(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	if (nic->qps[item].place == QP_BLOCKED)
		nic_settle(nic, item, now_ns);
}

/* With a barrier: the round has ended here. */
static void
end_round(struct qp_flow *flow, uint64_t now_ns)
{
	uint64_t ended = flow->round_members > 0 ? flow->round + 1 : NEVER_NS;

	if (ended == flow->rounds_ended)
		return;
	flow->round_ended_ns = now_ns;
	__atomic_store_n(&flow->rounds_ended, ended, __ATOMIC_RELEASE);
}

void
nic_next_round(struct nic *nic, struct qp_flow *flow, uint64_t now_ns)
{
	/* QPs that are still to be made belong to the first round, too. */
	if (flow->round_left > 0 || flow->n_qps < flow->planned_qps)
		return;
	if (flow->has_barrier) {
		end_round(flow, now_ns);
		return;
	}
	while (flow->round_left == 0 && flow->round_members > 0) {
		nic_open_round(flow, flow->round + 1, now_ns);
		for (uint32_t i = 0; i < flow->n_qps; i++)
			nic_enter_round(nic, flow->first_item + i, now_ns);
	}
}

void
nic_flush_paced(struct nic *nic)
{
	timing_wheel_insert_burst(nic->wheel, nic->paced.item, nic->paced.until_ns, nic->paced.n);
	nic->paced.n = 0;
	node_wake(&nic->node, 0);
}

void
nic_settle(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint64_t deadline_ns = NEVER_NS;
	enum qp_place place;

	nic_touch(nic, item, qp);
	if (unlikely(qp->flags & QP_RNR) && !(qp->flags & QP_ERROR) &&
	    qp_in_rnr_wait(qp, now_ns, &deadline_ns)) {
		qp->place = QP_PACED;
		nic_make_paced(nic, item, deadline_ns);
		if (nic->due_ns != NULL)
			nic->due_ns[item] = 0;
		return;
	}

	if (qp->left_packets == 0 && (qp->flags & QP_STARTED) &&
	    !(qp->flags & (QP_ERROR | QP_DONE)))
		deadline_ns = next_message(nic, qp, now_ns);
	place = decide(nic, qp, now_ns, &deadline_ns);
	/*
	 * A timer of congestion control is overdue, because the QP was waiting for something else:
	 * run it, and decide again.
	 */
	if (unlikely(place == QP_PACED && deadline_ns <= now_ns && qp->flags & QP_STARTED)) {
		nic_cc_catch_up(nic, item, now_ns);
		place = decide(nic, qp, now_ns, &deadline_ns);
	}
	qp->place = (uint8_t)place;
	/* No packet is due while the QP waits for an ACK or a message. */
	if (unlikely(nic->due_ns != NULL) &&
	    (place == QP_BLOCKED || place == QP_IDLE || qp->left_packets == 0))
		nic->due_ns[item] = 0;
	if (place == QP_READY)
		nic_make_ready(nic, item, qp);
	else if (place == QP_PACED)
		nic_make_paced(nic, item, deadline_ns);
	/* The QP may have been the last one of the round. */
	if (qp->flags & QP_DONE && nic_flow_of(nic, qp)->in_rounds)
		nic_next_round(nic, nic_flow_of(nic, qp), now_ns);
}

void
nic_fail(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	mark_end(nic, qp, QP_ERROR, now_ns);
	/*
	 * A paced or ready QP cannot be taken out of the middle of wheel or ring: it becomes idle
	 * when its turn comes.
	 */
	if (qp->place == QP_BLOCKED)
		qp->place = QP_IDLE;
	if (nic_flow_of(nic, qp)->in_rounds)
		nic_next_round(nic, nic_flow_of(nic, qp), now_ns);
}

void
nic_start(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	struct qp_flow *flow = nic_flow_of(nic, qp);
	uint32_t others = nic_becomes_active(nic->port);

	if (unlikely(flow->shared != NULL)) {
		uint32_t next = nic_shared_take(nic, item, now_ns);

		if (next != QP_NONE)
			nic_settle(nic, next, now_ns);
	}
	qp->flags |= QP_STARTED;
	if (flow->started_ns == NEVER_NS)
		__atomic_store_n(&flow->started_ns, now_ns + nic->skipped_ns, __ATOMIC_RELAXED);
	qp->ack_countdown = nic->params.ack_every;
	qp->limit_seq = qp->acked_seq + nic->window_packets;
	nic_cc_start(nic, item, others, now_ns);
}
