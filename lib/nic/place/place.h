/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where QPs wait: deciding the one place of a QP, and taking it there. What each packet needs of
 * that is inline, because a call per packet and question costs as much as its answer.
 *
 * Invariant: after nic_settle() a QP is in exactly one place, and qp->place names it. Between
 * wheel and ready ring a packet moves it without a note.
 */
#ifndef QUENCH_NIC_PLACE_PLACE_H
#define QUENCH_NIC_PLACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_branch_prediction.h>

#include "base/fixed.h"
#include "nic/core/core.h"

/** Put a QP where it belongs now; it is in no list and not in the wheel. */
void nic_settle(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Incast: when all QPs of a flow have done their message, each begins the next. */
void nic_next_round(struct nic *nic, struct qp_flow *flow, uint64_t now_ns);
/** A QP sends for the first time: it becomes active, and gets its first rate. */
void nic_start(struct nic *nic, uint32_t item, uint64_t now_ns);
/** A requester gives up. */
void nic_fail(struct nic *nic, uint32_t item, uint64_t now_ns);
/** When to look at a QP of a stopped flow that no other event wakes. */
uint64_t nic_stopped_look_ns(const struct nic *nic, uint64_t now_ns);
/** As nic_flush(), when there are some. */
void nic_flush_paced(struct nic *nic);

/* Inline definitions */

/** Put into the wheel what nic_settle() has kept for it: before a call of the node returns. */
static inline void
nic_flush(struct nic *nic)
{
	if (nic->paced.n > 0)
		nic_flush_paced(nic);
}

/** Has a QP a packet that only pause, tokens or the wire may hold back? */
static inline bool
nic_has_packet(const struct nic_qp *qp)
{
	return likely(!(qp->flags & (QP_ERROR | QP_DONE | QP_UNRESOLVED | QP_RNR))) &&
	       likely(qp->left_packets > 0) && likely(qp_in_window(qp));
}

/**
 * Must a QP that has a packet wait in the wheel? Then *deadline_ns is the end of the wait.
 *
 * Tokens that come while the wire is still busy need no wheel and lose no slot to rounding.
 */
static inline bool
nic_must_wait(const struct nic *nic, const struct nic_qp *qp, const struct qp_flow *flow,
	      uint64_t now_ns, uint64_t *deadline_ns)
{
	uint64_t due_ns;
	bool capped;

	if (token_account_can_send(&qp->bucket))
		return false;
	due_ns = token_account_next_ns(&qp->bucket);
	if (due_ns <= now_ns)
		return false;
	if (!token_bucket_can_send(&nic->wire.shaper) &&
	    due_ns <= token_bucket_next_ns(&nic->wire.shaper))
		return false;
	/* At a low rate the wait is long, and the rate may rise before it is over, unless the cap
	 * holds it. Not a branch: it would be predicted wrongly half of the time. */
	capped = qp->bucket.rate_bps == flow->rate_cap_bps;
	*deadline_ns = min_u64(due_ns, qp->cc.head.next_event_ns | -(uint64_t)capped);
	return true;
}

/** To the end of the ready ring of its queue. */
static inline void
nic_make_ready(struct nic *nic, uint32_t item, struct nic_qp *qp)
{
	uint8_t queue = nic_flow_of(nic, qp)->data_queue;

	qp_ring_push(&nic->ready.ring[queue], item);
	nic->ready.backlogged |= (uint8_t)(1u << queue);
	node_wake(&nic->node, 0);
}

/** Into the wheel, with others that follow: nic_flush(). */
static inline void
nic_make_paced(struct nic *nic, uint32_t item, uint64_t deadline_ns)
{
	uint32_t n = nic->paced.n;

	nic->paced.item[n] = item;
	nic->paced.until_ns[n] = deadline_ns;
	nic->paced.n = n + 1;
	if (unlikely(n + 1 == NIC_BURST))
		nic_flush(nic);
}

#endif
