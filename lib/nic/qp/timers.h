/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Retransmission timers. All QPs have the same timeout, so a ring of lists is enough; a slot is
 * 1/16 of the timeout. A timer is never stopped: if it fires too early, the caller inserts it
 * again.
 *
 * Invariant: a QP in the list of slot s is due at a tick t with t mod NIC_TIMER_SLOTS = s and
 * now_tick <= t < now_tick + NIC_TIMER_SLOTS.
 */
#ifndef QUENCH_NIC_QP_TIMERS_H
#define QUENCH_NIC_QP_TIMERS_H

#include <stdbool.h>

#include "base/numbers/units.h"
#include "nic/qp/qp.h"

#define NIC_TIMER_SLOTS 32u
#define NIC_TIMEOUT_TICKS 16u

struct nic_timers {
	uint64_t now_tick;
	uint32_t busy;     /* mask of slots that hold QPs */
	uint8_t slot_log2; /* a slot is 2^slot_log2 ns; 0: no timers */
	struct qp_list slots[NIC_TIMER_SLOTS];
};

/** @param n  The timeout is 4.096 us x 2^n; 0: never. */
void nic_timers_init(struct nic_timers *t, uint8_t n);

/** Insert a QP. If tick is beyond the ring, the QP gets the last tick of the ring. */
void nic_timers_insert(struct nic_timers *t, struct nic_qp *qps, uint32_t item, uint64_t tick);

/** Remove up to budget QPs whose tick has begun. @return how many. */
uint32_t nic_timers_advance(struct nic_timers *t, struct nic_qp *qps, uint32_t *items,
			    uint32_t budget, uint64_t now_ns);

/** When advance() will return a QP; NEVER_NS: none. */
uint64_t nic_timers_next_ns(const struct nic_timers *t);

/* Inline definitions */

/** First tick that begins at or after at_ns. */
static inline uint64_t
nic_timers_tick(const struct nic_timers *t, uint64_t at_ns)
{
	return (at_ns + (1ull << t->slot_log2) - 1) >> t->slot_log2;
}

/** May advance() return a QP? If false, a call would do nothing. Only if timers are in use. */
static inline bool
nic_timers_may_be_due(const struct nic_timers *t, uint64_t now_ns)
{
	uint64_t now_tick = now_ns >> t->slot_log2;

	return now_tick > t->now_tick || t->busy >> now_tick % NIC_TIMER_SLOTS & 1;
}

#endif
