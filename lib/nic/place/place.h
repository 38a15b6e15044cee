/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where QPs wait: decides the place of a QP (enum qp_place) and moves it there. The per-packet part
 * is inline, because a call would cost as much as the work.
 *
 * Invariant: after nic_settle() a QP is in exactly one place, and qp->place names it. Per-packet
 * moves between the wheel and the ready ring do not update qp->place.
 */
#ifndef QUENCH_NIC_PLACE_PLACE_H
#define QUENCH_NIC_PLACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <rte_branch_prediction.h>

#include "base/numbers/fixed.h"
#include "nic/core/core.h"

/** Decide a QP's place and put it there. The caller has removed it from ring and wheel. */
void nic_settle(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Incast: if all QPs of the flow have completed their message, begin the next round. */
void nic_next_round(struct nic *nic, struct qp_flow *flow, uint64_t now_ns);
/** Let message `round` of the QPs of a flow in rounds begin at begin_ns. Settles none of them. */
void nic_open_round(struct qp_flow *flow, uint64_t round, uint64_t begin_ns);
/** Settle a QP whose round has been opened, if it waits for it. */
void nic_enter_round(struct nic *nic, uint32_t item, uint64_t now_ns);
/** A QP starts: it becomes active and gets its initial rate. */
void nic_start(struct nic *nic, uint32_t item, uint64_t now_ns);
/** A requester gives up. */
void nic_fail(struct nic *nic, uint32_t item, uint64_t now_ns);
/** When to check a QP of a stopped flow again, if no other event wakes it. */
uint64_t nic_stopped_look_ns(const struct nic *nic, uint64_t now_ns);
/**
 * The work of nic_flush(), if nic->paced is not empty.
 */
void nic_flush_paced(struct nic *nic);

/* Inline definitions */

/** Insert the collected QPs into the wheel: before a call of the node returns. */
static inline void
nic_flush(struct nic *nic)
{
	if (nic->paced.n > 0)
		nic_flush_paced(nic);
}

/** Does the QP have a packet that only pause, tokens or the wire can delay? */
static inline bool
nic_has_packet(const struct nic_qp *qp)
{
	return likely(!(qp->flags & (QP_ERROR | QP_DONE | QP_UNRESOLVED | QP_RNR))) &&
	       likely(qp->left_packets > 0) && likely(qp_in_window(qp));
}

/**
 * Must a QP that has a packet wait in the wheel? Then *deadline_ns is the end of the wait. If the
 * tokens suffice by the time at which the wire is free, the QP need not wait in the wheel, which
 * would round the time up to a slot.
 *
 * @param free_ns  When the wire is free, from now on.
 */
static inline bool
nic_must_wait(const struct nic_qp *qp, const struct qp_flow *flow, uint64_t free_ns,
	      uint64_t *deadline_ns)
{
	uint64_t due_ns;
	bool capped;

	if (token_account_can_send(&qp->bucket))
		return false;
	due_ns = token_account_next_ns(&qp->bucket);
	if (due_ns <= free_ns)
		return false;
	/*
	 * During a long wait a timer event may raise the rate, unless the cap limits it. So wait at
	 * most until the next timer event. Branch-free, because a branch would be mispredicted half
	 * of the time.
	 */
	capped = qp->bucket.rate_bps == flow->rate_cap_bps;
	*deadline_ns = min_u64(due_ns, qp->cc.head.next_event_ns | -(uint64_t)capped);
	return true;
}

/** When is the wire free, by its shaper, from now on? */
static inline uint64_t
nic_wire_free_ns(const struct nic *nic, uint64_t now_ns)
{
	return max_u64(now_ns, token_bucket_next_ns(&nic->wire.shaper));
}

/** Append a QP to the ready ring of its queue. */
static inline void
nic_make_ready(struct nic *nic, uint32_t item, struct nic_qp *qp)
{
	uint8_t queue = nic_flow_of(nic, qp)->data_queue;

	qp_ring_push(&nic->ready.ring[queue], item);
	nic->ready.backlogged |= (uint8_t)(1u << queue);
	node_wake(&nic->node, 0);
}

/** Collect a QP for the wheel; nic_flush() inserts it. */
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
