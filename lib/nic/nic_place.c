/* SPDX-License-Identifier: BSD-3-Clause */
/* Where QPs wait: deciding the one place of a QP, and taking it there. */
#include "nic/nic_internal.h"

#include "base/fixed.h"

/* QPs taken out of a wheel by one call: enough for a burst, and bounded. */
#define RELEASE_BURST 32

/* The state machine of a requester: its place at now_ns. For QP_PACED, until when. */
static enum qp_place
decide(const struct nic *nic, const struct nic_qp *qp, uint64_t now_ns, uint64_t *deadline_ns)
{
	uint64_t due_ns;

	if (!(qp->flags & QP_REQUESTER) || qp->flags & (QP_ERROR | QP_DONE | QP_UNRESOLVED))
		return QP_IDLE;
	if (!(qp->flags & QP_STARTED)) {
		*deadline_ns = qp->start_ns;
		return QP_PACED;
	}
	if (qp->next_seq >= qp->limit_seq)
		return QP_BLOCKED;
	if (token_bucket_can_send(&qp->bucket))
		return QP_READY;
	/* Tokens that come while the wire is still busy need no wheel and lose no slot to rounding.
	 */
	due_ns = token_bucket_next_ns(&qp->bucket);
	if (due_ns <= now_ns || due_ns <= token_bucket_next_ns(&nic->shaper))
		return QP_READY;
	/* At a low rate the wait is long, and the rate may rise before it is over. */
	*deadline_ns = min_u64(due_ns, qp->cc.head.next_event_ns);
	return QP_PACED;
}

void
nic_settle(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint64_t deadline_ns = NEVER_NS;
	enum qp_place place = decide(nic, qp, now_ns, &deadline_ns);

	qp->place = (uint8_t)place;
	/* What waits for an ACK is not due at any time. */
	if (unlikely(nic->due_ns != NULL) && (place == QP_BLOCKED || place == QP_IDLE))
		nic->due_ns[item] = 0;
	if (place == QP_READY) {
		nic_queues_push(nic, &nic->ready, qp->data_queue, item,
				offsetof(struct nic_qp, ready_link));
	} else if (place == QP_PACED) {
		timing_wheel_insert(nic->wheel, item, deadline_ns);
		node_wake(&nic->node, 0);
	}
}

void
nic_end(struct nic *nic, uint32_t item, uint8_t flag, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	assert(!(qp->flags & (QP_ERROR | QP_DONE)));
	qp->flags |= flag;
	nic->active--;
	if (qp->flags & QP_ENDS)
		nic->pending--;
	if (flag == QP_ERROR)
		counter_inc(&nic->stats.qp_errors);
	/* Out of the middle of a ready list nothing is taken: the QP is looked at in its turn. */
	if (qp->place == QP_READY)
		return;
	timing_wheel_remove(nic->wheel, item);
	nic_settle(nic, item, now_ns);
}

static void
start(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	qp->flags |= QP_STARTED;
	qp->ack_countdown = nic->params.ack_every;
	nic_cc_start(nic, item, now_ns);
	qp_update_limit(qp, nic->window_packets);
	nic->active++;
}

static void
release(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (!(qp->flags & QP_STARTED))
		start(nic, item, now_ns);
	else if (now_ns >= qp->cc.head.next_event_ns)
		nic_cc_catch_up(nic, item, now_ns);
	token_bucket_update(&qp->bucket, now_ns);
	nic_settle(nic, item, now_ns);
}

bool
nic_release(struct nic *nic, uint64_t now_ns)
{
	uint32_t items[RELEASE_BURST];
	uint32_t n = timing_wheel_advance(nic->wheel, items, RELEASE_BURST, now_ns);
	bool more = n == RELEASE_BURST;

	for (uint32_t i = 0; i < n; i++)
		nic_prefetch(nic, items[i]);
	for (uint32_t i = 0; i < n; i++)
		release(nic, items[i], now_ns);
	if (nic->timers) {
		n = timing_wheel_advance(nic->timers, items, RELEASE_BURST, now_ns);
		more |= n == RELEASE_BURST;
		for (uint32_t i = 0; i < n; i++)
			nic_on_timer(nic, items[i], now_ns);
	}
	nic_np_run(nic, now_ns);
	return more;
}
