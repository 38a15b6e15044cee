/* SPDX-License-Identifier: BSD-3-Clause */
/* Where QPs wait: deciding the one place of a QP, and taking it there. */
#include "nic/nic_place.h"

/* How often a QP is looked at that has packets in flight and waits for its next message. */
#define LOOK_AGAIN_NS (64 * NS_PER_US)
/* A few times what memory takes to answer, and what passes between two calls. */
#define AHEAD_NS NS_PER_US

/* A QP that may have to leave its place does not wait in the wheel for hours. */
static uint64_t
look_again_ns(const struct nic *nic, uint64_t now_ns)
{
	return nic->look_again_ns == NEVER_NS ? NEVER_NS : now_ns + nic->look_again_ns;
}

/*
 * The state machine of a requester: its place at now_ns. For QP_PACED, until when; between two
 * messages, the caller has put that there.
 */
static enum qp_place
decide(const struct nic *nic, const struct nic_qp *qp, uint64_t now_ns, uint64_t *deadline_ns)
{
	if (!(qp->flags & (QP_REQUESTER | QP_SERVES)) ||
	    qp->flags & (QP_ERROR | QP_DONE | QP_UNRESOLVED))
		return QP_IDLE;
	if (!(qp->flags & QP_STARTED)) {
		*deadline_ns = min_u64(qp->bucket.updated_ns, look_again_ns(nic, now_ns));
		return QP_PACED;
	}
	if (qp->left_packets == 0)
		return *deadline_ns == NEVER_NS ? QP_BLOCKED : QP_PACED;
	if (!qp_in_window(qp))
		return QP_BLOCKED;
	return nic_must_wait(nic, qp, nic_flow_of(nic, qp), now_ns, deadline_ns) ? QP_PACED
										 : QP_READY;
}

static void
mark_end(struct nic *nic, struct nic_qp *qp, uint16_t flag)
{
	struct qp_flow *flow = nic_flow_of(nic, qp);

	if (flow->params.arrival == WORKLOAD_INCAST) {
		flow->round_members--;
		if (qp->acked_msg <= flow->round)
			flow->round_left--;
	}
	assert(!(qp->flags & (QP_ERROR | QP_DONE)));
	qp->flags |= flag;
	nic_becomes_idle(nic);
	if (qp->flags & QP_ENDS)
		nic->pending--;
	if (flag == QP_ERROR) {
		nic->failed++;
		counter_inc(&nic->stats.qp_errors);
	}
}

/* When the next message may be begun; NEVER_NS: not before others are acknowledged. */
static uint64_t
may_begin_ns(const struct nic *nic, const struct nic_qp *qp, uint64_t now_ns)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct workload *w = &flow->params.work;

	if (qp->flags & QP_READS && !nic_read_may_ask(nic, qp))
		return NEVER_NS;
	if (workload_is_open(w))
		return nic->arrivals[qp - nic->qps].next_ns;
	if (w->arrival == WORKLOAD_INCAST)
		return qp_next_message(qp) <= flow->round ? now_ns : NEVER_NS;
	if (qp->next_msg - (uint32_t)qp->acked_msg >= w->depth)
		return NEVER_NS;
	if (unlikely(nic->chains != NULL) &&
	    !nic_chain_may_begin(nic, (uint32_t)(qp - nic->qps), qp_next_message(qp)))
		return NEVER_NS;
	return workload_on_at_ns(w, now_ns);
}

/* Have the messages before this one as much payload as the flow's limit? */
static bool
bytes_are_begun(const struct nic *nic, const struct nic_qp *qp, uint64_t message)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct workload *w = &flow->params.work;
	uint64_t largest_bytes = workload_largest_bytes(w), sum_bytes;

	if (workload_is_fixed(w))
		return message * largest_bytes >= w->bytes;
	sum_bytes = nic->acked_bytes[qp - nic->qps];
	/* Mostly what is in flight matters not. */
	if (sum_bytes + (message - qp->acked_msg) * largest_bytes < w->bytes)
		return false;
	for (uint64_t m = qp->acked_msg; m < message; m++)
		sum_bytes += qp_bytes(flow, nic_qpn(nic, qp), m);
	return sum_bytes >= w->bytes;
}

/* How often a QP of a stopped flow is looked at that nothing else would bring back. */
static uint64_t
stopped_look_ns(const struct nic *nic, uint64_t now_ns)
{
	return now_ns + max_u64(NS_PER_MS, nic->n_qps * NS_PER_US);
}

/* A QP that waits for nothing else is set free by whoever lets its flow go on. */
static uint64_t
stopped_until_ns(const struct nic *nic, const struct workload *w, bool idle, uint64_t now_ns)
{
	if (w->stop_ns == NEVER_NS)
		return NEVER_NS;
	return min_u64(w->stop_ns, idle ? stopped_look_ns(nic, now_ns) : now_ns + LOOK_AGAIN_NS);
}

/* The message that an open loop begins came before or now. */
static void
take_arrival(struct nic *nic, const struct nic_qp *qp, const struct qp_flow *flow, uint64_t message)
{
	struct nic_arrival *a = &nic->arrivals[qp - nic->qps];

	a->begun_ns = a->next_ns;
	a->next_ns = arrivals_next_ns(&flow->arrivals, &flow->params.work, nic_qpn(nic, qp),
				      message + 1, a->begun_ns);
}

/*
 * Between two messages: begin the next one, if it may begin. @return when to look again; NEVER_NS
 * when it was begun, or nothing but an ACK matters.
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
	if (!(qp->flags & QP_RESEND)) {
		bool idle = qp->acked_seq == qp->next_seq;

		if ((w->messages > 0 && message >= w->messages) || now_ns >= w->stop_ns ||
		    (w->bytes > 0 && bytes_are_begun(nic, qp, message)) ||
		    unlikely(flow->life == FLOW_LEAVES))
			qp->flags |= QP_LAST;
		if (qp->flags & QP_LAST && idle)
			mark_end(nic, qp, QP_DONE);
		if (qp->flags & QP_LAST)
			return NEVER_NS;
		if (unlikely(flow->stopped))
			return stopped_until_ns(nic, w, idle, now_ns);
		begin_ns = may_begin_ns(nic, qp, now_ns);
		if (begin_ns == NEVER_NS)
			return NEVER_NS;
		if (begin_ns > now_ns) {
			begin_ns = min_u64(begin_ns, w->stop_ns);
			begin_ns = min_u64(begin_ns, look_again_ns(nic, now_ns));
			/* What has to be sent again does not wait for what is still to come. */
			return idle ? begin_ns : min_u64(begin_ns, now_ns + LOOK_AGAIN_NS);
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
nic_next_round(struct nic *nic, struct qp_flow *flow, uint64_t now_ns)
{
	while (flow->round_left == 0 && flow->round_members > 0) {
		flow->round++;
		flow->round_left = flow->round_members;
		for (uint32_t i = 0; i < flow->n_qps; i++) {
			if (nic->qps[flow->first_item + i].place == QP_BLOCKED)
				nic_settle(nic, flow->first_item + i, now_ns);
		}
	}
}

void
nic_flush_paced(struct nic *nic)
{
	timing_wheel_insert_burst(nic->wheel, nic->paced, nic->paced_until_ns, nic->n_paced);
	nic->n_paced = 0;
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
	    nic_rnr_waits(qp, now_ns, &deadline_ns)) {
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
	/* The rate was to change while the QP waited for something else. */
	if (unlikely(place == QP_PACED && deadline_ns <= now_ns && qp->flags & QP_STARTED)) {
		nic_cc_catch_up(nic, item, now_ns);
		place = decide(nic, qp, now_ns, &deadline_ns);
	}
	qp->place = (uint8_t)place;
	/* What waits for an ACK, or for a message to come, is not due at any time. */
	if (unlikely(nic->due_ns != NULL) &&
	    (place == QP_BLOCKED || place == QP_IDLE || qp->left_packets == 0))
		nic->due_ns[item] = 0;
	if (place == QP_READY)
		nic_make_ready(nic, item, qp);
	else if (place == QP_PACED)
		nic_make_paced(nic, item, deadline_ns);
	/* The last that others wait for may have ended here. */
	if (qp->flags & QP_DONE && nic_flow_of(nic, qp)->params.arrival == WORKLOAD_INCAST)
		nic_next_round(nic, nic_flow_of(nic, qp), now_ns);
}

void
nic_fail(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	mark_end(nic, qp, QP_ERROR);
	/* Out of the middle of a list nothing is taken: the QP is looked at in its turn. */
	if (qp->place == QP_BLOCKED)
		qp->place = QP_IDLE;
	if (nic_flow_of(nic, qp)->params.arrival == WORKLOAD_INCAST)
		nic_next_round(nic, nic_flow_of(nic, qp), now_ns);
}

void
nic_start(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint32_t others = nic_becomes_active(nic);

	qp->flags |= QP_STARTED;
	qp->ack_countdown = nic->params.ack_every;
	qp->limit_seq = qp->acked_seq + nic->window_packets;
	nic_cc_start(nic, item, others, now_ns);
}

/* Else it is looked at again. */
static bool
may_start(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	const struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);

	/* One that leaves starts only to end. */
	if (flow->life == FLOW_LEAVES)
		return true;
	if (qp->bucket.updated_ns > now_ns) {
		nic_settle(nic, item, now_ns);
		return false;
	}
	/* It starts when its flow goes on, at the rate that is right then. */
	if (flow->stopped && qp->flags & QP_REQUESTER) {
		nic_make_paced(nic, item, stopped_look_ns(nic, now_ns));
		return false;
	}
	return true;
}

/* Out of the wheel, for whatever reason. */
static __rte_noinline void
release_other(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (!(qp->flags & QP_STARTED)) {
		if (!may_start(nic, item, now_ns))
			return;
		nic_start(nic, item, now_ns);
	} else if (now_ns >= qp->cc.head.next_event_ns)
		nic_cc_catch_up(nic, item, now_ns);
	token_account_update(&qp->bucket, nic->qp_burst_nanobits, now_ns);
	if (nic_has_packet(qp) && token_account_can_send(&qp->bucket))
		nic_make_ready(nic, item, qp);
	else
		nic_settle(nic, item, now_ns);
}

static inline void
release(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	const uint16_t states = QP_STARTED | QP_ERROR | QP_DONE | QP_UNRESOLVED | QP_RNR;
	struct nic_qp *qp = &nic->qps[item];

	nic_touch(nic, item, qp);
	/* Mostly it waited for tokens, which are there; if its rate was cut, its turn shows it. */
	if (likely((qp->flags & states) == QP_STARTED) && likely(qp->left_packets > 0) &&
	    likely(qp_in_window(qp)) && likely(now_ns < qp->cc.head.next_event_ns))
		nic_make_ready(nic, item, qp);
	else
		release_other(nic, item, now_ns);
}

/* What the next calls will need comes into the cache while this one sends. */
static void
prefetch_next(const struct nic *nic, uint64_t now_ns)
{
	uint32_t items[2 * NIC_BURST];
	uint32_t n = timing_wheel_upcoming(nic->wheel, items, 2 * NIC_BURST, now_ns + AHEAD_NS);

	for (uint32_t i = 0; i < n; i++)
		nic_prefetch(nic, items[i]);
}

/* @return as nic_release(). */
static __rte_noinline bool
fire_timers(struct nic *nic, uint64_t now_ns)
{
	uint32_t items[NIC_BURST];
	uint32_t n = nic_timers_advance(&nic->timers, nic->qps, items, NIC_BURST, now_ns);

	for (uint32_t i = 0; i < n; i++)
		nic_on_timer(nic, items[i], now_ns);
	return n == NIC_BURST;
}

bool
nic_release(struct nic *nic, uint64_t now_ns)
{
	uint32_t items[NIC_BURST];
	uint32_t n = timing_wheel_advance(nic->wheel, items, NIC_BURST, now_ns);
	bool more = n == NIC_BURST, cached = nic->n_qps <= NIC_CACHED_QPS;

	for (uint32_t i = 0; i < n && !cached; i++)
		nic_prefetch(nic, items[i]);
	for (uint32_t i = 0; i < n; i++)
		release(nic, items[i], now_ns);
	if (n > 1 && !cached)
		prefetch_next(nic, now_ns);
	if (nic->timers.busy != 0 && unlikely(nic_timers_may_be_due(&nic->timers, now_ns)))
		more |= fire_timers(nic, now_ns);
	if (nic_np_next_ns(&nic->np) <= now_ns)
		nic_np_run(nic, now_ns);
	return more;
}
