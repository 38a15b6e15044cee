/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CNP moderation per pair of addresses or per port: windows that the nodes of a NIC share.
 *
 * The window of such a unit is a gate in nic_shared. A node knows only which of them it has a
 * mark for that waits. Invariant: a unit is in the heap just as long as its due_ns is not 0.
 */
#ifndef QUENCH_NIC_NP_NP_UNITS_H
#define QUENCH_NIC_NP_NP_UNITS_H

#include <stdbool.h>
#include <stdint.h>

struct nic;
struct qp_flow;

struct nic_np_unit {
	uint64_t due_ns; /* when the gate opens for a mark that waits; 0: none does */
	uint32_t marked; /* QP marked last */
};

struct nic_np_units {
	struct nic_np_unit *unit;
	uint32_t *heap; /* units with a mark that waits, the earliest first */
	uint32_t n_due, room;
};

void nic_np_units_free(struct nic_np_units *units);

/** As nic_np_add_flow(). */
int nic_np_units_add(struct nic_np_units *units, const struct nic *nic, struct qp_flow *flow);
/** As nic_np_reserve(). */
int nic_np_units_reserve(struct nic_np_units *units, const struct nic *nic, uint32_t n_flows);
/** A mark came. @return true: send a CNP now. */
bool nic_np_units_on_ce(struct nic_np_units *units, struct nic *nic, uint32_t unit, uint32_t item,
			uint64_t now_ns);
/** The next QP that is to send a CNP by now, since its unit's window is over; QP_NONE: none. */
uint32_t nic_np_units_next(struct nic_np_units *units, const struct nic *nic, uint64_t now_ns);

/** When that has one; there is a mark that waits. */
static inline uint64_t
nic_np_units_next_ns(const struct nic_np_units *units)
{
	return units->unit[units->heap[0]].due_ns;
}

#endif
