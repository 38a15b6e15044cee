/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The QPs of a flow may share its messages: each message is sent by an idle QP, as in simulators
 * that give each message a flow of its own. After its message, a QP rests in the state of before
 * its start. With the next message it starts with the congestion control of a new QP; only its PSNs
 * continue. The QP that has rested longest takes the next message, so that consecutive messages
 * have different QP numbers, and therefore different paths.
 *
 * A message that arrives while no QP rests waits for the first QP that does, and is counted
 * (nic_times.waited).
 *
 * Invariant: at most one QP is in the wheel until the next arrival (`awaiting`); if none is, and
 * there is a next message, then no QP rests.
 */
#ifndef QUENCH_NIC_QP_QP_SHARED_H
#define QUENCH_NIC_QP_QP_SHARED_H

#include <stdint.h>

#include "nic/workload/open_loop.h"

struct shared_taken {
	uint64_t n;          /* messages that the QP has taken */
	uint64_t arrived_ns; /* of the last one */
};

struct nic_shared {
	uint32_t first, n; /* the QPs */
	uint32_t awaiting; /* QP in the wheel until the next arrival, or QP_NONE */
	uint32_t *resting; /* in the order of their ends; room for n */
	uint32_t head, n_resting;
	struct shared_taken *taken; /* by QP */
	struct open_loop *loops;
	uint32_t n_loops;
};

/** The loop that has the next message. */
static inline struct open_loop *
shared_earliest(struct open_loop *loops, uint32_t n_loops)
{
	struct open_loop *earliest = &loops[0];

	for (uint32_t i = 1; i < n_loops; i++)
		if (loops[i].next_ns < earliest->next_ns)
			earliest = &loops[i];
	return earliest;
}

static inline uint64_t
shared_next_ns(const struct nic_shared *s)
{
	return shared_earliest(s->loops, s->n_loops)->next_ns;
}

#endif
