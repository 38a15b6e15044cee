/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The answer that a QP owes its peer: an ACK or a NAK.
 *
 * Invariant: a QP that owes an answer is either in nic->acks, once, or has QP_RX_DEFERRED, which
 * means that the answer waits for earlier READs.
 */
#ifndef QUENCH_NIC_ANSWERS_OWED_H
#define QUENCH_NIC_ANSWERS_OWED_H

#include <stdint.h>

#include "nic/core/core.h"

static inline void
nic_queue_answer(struct nic *nic, uint32_t item)
{
	nic_queues_push(nic, &nic->acks, nic_flow_of(nic, &nic->qps[item])->ack_queue, item,
			offsetof(struct nic_qp, ack_link));
}

/** Owe an answer. It replaces an answer that has not left yet, because answers are cumulative. */
static inline void
nic_owe(struct nic *nic, uint32_t item, enum qp_owed owed)
{
	struct nic_qp *qp = &nic->qps[item];

	if (qp->owed == QP_OWES_NOTHING) {
		if (unlikely(qp->flags & QP_SERVES))
			qp->rx_flags |= QP_RX_DEFERRED;
		else
			nic_queue_answer(nic, item);
	}
	qp->owed = owed & 7;
}

/** The earlier READs are answered: queue the deferred answer, if there is one. */
static inline void
nic_release_answer(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];

	if (qp->rx_flags & QP_RX_DEFERRED) {
		qp->rx_flags &= (uint8_t)~QP_RX_DEFERRED;
		nic_queue_answer(nic, item);
	}
}

#endif
