/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Retransmission timers. All QPs wait equally long, so a ring of lists is enough: one slot is a
 * sixteenth of the timeout. A timer is not stopped: when it fires early, it is set again.
 */
#ifndef QUENCH_NIC_QP_TIMERS_H
#define QUENCH_NIC_QP_TIMERS_H

#include <stdbool.h>

#include "base/units.h"
#include "nic/qp/qp.h"

#define NIC_TIMER_SLOTS 32u
#define NIC_TIMEOUT_TICKS 16u

struct nic_timers {
	uint64_t now_tick;
	uint32_t busy;     /* slots that hold QPs */
	uint8_t slot_log2; /* nanoseconds of a slot; 0: there are no timers */
	struct qp_list slots[NIC_TIMER_SLOTS];
};

/** @param n  The timeout is 4.096 us x 2^n; 0: never. */
void nic_timers_init(struct nic_timers *t, uint8_t n);

/** Put a QP in; of ticks that are too far away, the last that is not. */
void nic_timers_insert(struct nic_timers *t, struct nic_qp *qps, uint32_t item, uint64_t tick);

/** Take out up to budget QPs whose tick has begun. @return how many. */
uint32_t nic_timers_advance(struct nic_timers *t, struct nic_qp *qps, uint32_t *items,
			    uint32_t budget, uint64_t now_ns);

/** When advance() will have a QP; NEVER_NS when there is none. */
uint64_t nic_timers_next_ns(const struct nic_timers *t);

/* Inline definitions */

/** First tick that begins at or after a time. */
static inline uint64_t
nic_timers_tick(const struct nic_timers *t, uint64_t at_ns)
{
	return (at_ns + (1ull << t->slot_log2) - 1) >> t->slot_log2;
}

/** May advance() have a QP? Where there are timers; no means that it would do nothing at all. */
static inline bool
nic_timers_may_be_due(const struct nic_timers *t, uint64_t now_ns)
{
	uint64_t now_tick = now_ns >> t->slot_log2;

	return now_tick > t->now_tick || t->busy >> now_tick % NIC_TIMER_SLOTS & 1;
}

#endif
