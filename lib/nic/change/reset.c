/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/change/reset.h"

#include "base/threads/seq.h"
#include "nic/core/core.h"
#include "nic/core/skipped.h"
#include "nic/jobs/job_ranks.h"
#include "nic/rate/nic_cc.h"
#include "nic/place/place.h"
#include "nic/answers/reads.h"
#include "nic/rate/version.h"
#include "nic/port/port_state.h"
#include "nic/transport/requester.h"
#include "nic/transport/responder.h"

/* QPs processed in one call. */
#define STEP_QPS 64u

int
nic_reset_flow(struct node *node, uint32_t flow_id)
{
	struct nic *nic = nic_of(node);
	int rc = nic_skipped_reserve(nic);

	assert(nic_reset_is_done(node));
	if (rc != 0)
		return rc;
	nic->reset->item = 0;
	__atomic_store_n(&nic->requests.reset, flow_id + 1, __ATOMIC_RELEASE);
	nic_request(nic, NIC_REQUEST_RESET);
	return 0;
}

bool
nic_reset_is_done(const struct node *node)
{
	return __atomic_load_n(&nic_of_const(node)->requests.reset, __ATOMIC_ACQUIRE) == 0;
}

/* Clear the error of a QP that gave up. */
static void
revive(struct nic *nic, struct nic_qp *qp)
{
	struct qp_flow *flow = nic_flow_of(nic, qp);

	qp->flags &= (uint16_t)~QP_ERROR;
	nic->failed--;
	nic_becomes_active(nic->port);
	if (qp->flags & QP_ENDS)
		nic->pending++;
	if (flow->in_rounds) {
		flow->round_members++;
		if (qp->acked_msg <= flow->round)
			flow->round_left++;
		/* All may have ended, so that others have gone on without them. */
		__atomic_store_n(&flow->rounds_ended, flow->round + (flow->round_left == 0),
				 __ATOMIC_RELEASE);
	}
}

/* Send everything in flight again, from the start of the oldest message on. */
static void
rewind_requester(struct nic *nic, uint32_t item, struct nic_skipped *skipped)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	uint32_t packets = qp_packets(flow, nic_qpn(nic, qp), qp->acked_msg);
	uint32_t start = qp->acked_end - packets, sent, passed;

	nic_go_back(nic, item);
	sent = qp_sent_seq(qp);
	passed = nic_to_psn(flow->params.initial_psn, start);
	if (sent + passed < sent)
		qp_wrapped(qp);
	counter_add(&skipped->sent, passed);
	counter_add(&skipped->acked, (uint64_t)passed - (qp->acked_seq - start));
	if (sent != start) {
		qp->flags |= QP_RESEND | QP_FIRST;
		qp->left_packets = packets;
	}
	qp->acked_end += passed;
	qp->acked_seq = qp->next_seq = start + passed;
	qp->sent_seq = sent + passed;
}

/* Of a job, which begins again: what was sent counts as passed, and no message is in flight. */
static void
drop_messages(struct nic *nic, uint32_t item, struct nic_skipped *skipped)
{
	struct nic_qp *qp = &nic->qps[item];
	uint32_t sent = qp_sent_seq(qp);
	uint32_t passed = nic_to_psn(nic_flow_of(nic, qp)->params.initial_psn, sent);

	nic_job_drop(nic, item);
	nic_go_back(nic, item);
	if (sent + passed < sent)
		qp_wrapped(qp);
	counter_add(&skipped->sent, passed);
	counter_add(&skipped->acked, (uint64_t)passed + (sent - qp->acked_seq));
	qp->flags &= (uint16_t) ~(QP_RESEND | QP_FIRST);
	qp->left_packets = 0;
	qp->next_msg = (uint32_t)qp->acked_msg;
	qp->acked_seq = qp->next_seq = qp->sent_seq = sent + passed;
	/* Set when a message is posted; until then no ACK reaches it. */
	qp->acked_end = qp->acked_seq + 1;
}

static void
reset_requester(struct nic *nic, uint32_t item, struct nic_skipped *skipped, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (!(qp->flags & QP_STARTED))
		return;
	if (qp->flags & QP_ERROR)
		revive(nic, qp);
	if (nic_flow_of(nic, qp)->params.arrival == WORKLOAD_OF_JOB)
		drop_messages(nic, item, skipped);
	else
		rewind_requester(nic, item, skipped);
	/* Keep QP_TIMED: the QP stays in its list of timers until its tick. */
	qp->flags &= (uint16_t) ~(QP_RNR | QP_AWAITS);
	qp->limit_seq = qp->acked_seq + nic->window_packets;
	nic_cc_apply_window(nic, item);
	qp->ack_countdown = nic->params.ack_every;
	qp->retries = 0;
	qp->rnr_retries = 0;
	/* A QP in the wheel or in a ready ring is settled when its turn comes. */
	if (qp->place == QP_IDLE || qp->place == QP_BLOCKED)
		nic_settle(nic, item, now_ns);
}

/* Forget the READs that are not answered: the requester has lost them too. */
static void
forget_reads(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	qp->next_msg = nic->reads[item].received;
	qp->left_packets = 0;
	qp->flags &= (uint16_t) ~(QP_RESEND | QP_FIRST);
	qp->next_seq = qp->limit_seq = (uint32_t)qp->rx_seq;
	if (qp->place == QP_IDLE || qp->place == QP_BLOCKED)
		nic_settle(nic, item, now_ns);
}

static void
reset_responder(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	/* It follows its peer, which may be reset before or after it. */
	if (nic->jobs != NULL && nic_job_hears(nic, item))
		return;
	nic_expect_first(nic, item);
	if (nic->qps[item].flags & QP_SERVES)
		forget_reads(nic, item, now_ns);
}

static void
reset_qp(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	struct nic_skipped *skipped = &nic->skipped[item];

	/* UD has no connection. */
	if (qp->place == QP_FREE || qp->flags & QP_UD)
		return;
	nic_touch(nic, item, qp);
	seq_begin(&skipped->seq);
	reset_responder(nic, item, now_ns);
	if (qp->flags & QP_REQUESTER)
		reset_requester(nic, item, skipped, now_ns);
	seq_end(&skipped->seq);
}

void
nic_ask_step(struct nic *nic, uint64_t now_ns)
{
	uint32_t asks = __atomic_load_n(&nic->requests.job_asks, __ATOMIC_ACQUIRE);
	const struct nic_qp *qp;

	if (asks == 0)
		return;
	qp = &nic->qps[asks - 1];
	if (qp->place != QP_FREE && qp->flags & QP_ERROR)
		reset_qp(nic, asks - 1, now_ns);
	nic_flush(nic);
	__atomic_store_n(&nic->requests.job_asks, 0, __ATOMIC_RELEASE);
}

void
nic_reset_step(struct nic *nic, uint64_t now_ns)
{
	uint32_t id = __atomic_load_n(&nic->requests.reset, __ATOMIC_ACQUIRE) - 1, n = 0;
	const struct qp_flow *flow = nic_find_flow(nic, id);

	while (n < STEP_QPS && flow != NULL && flow->life == FLOW_CONFIGURED &&
	       nic->reset->item < flow->n_qps) {
		reset_qp(nic, flow->first_item + nic->reset->item++, now_ns);
		n++;
	}
	nic_flush(nic);
	if (n < STEP_QPS) {
		nic_request_served(nic, NIC_REQUEST_RESET);
		__atomic_store_n(&nic->requests.reset, 0, __ATOMIC_RELEASE);
	}
}
