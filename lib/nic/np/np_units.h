/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CNP moderation per address pair or per port: windows that the nodes of a NIC share.
 *
 * The window of a unit is a gate in nic_port_state. A node stores only its own pending marks: those
 * that wait for the gate of their unit to open.
 *
 * Invariant: a unit is in the heap if and only if seen_ns != 0.
 */
#ifndef QUENCH_NIC_NP_NP_UNITS_H
#define QUENCH_NIC_NP_NP_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "cc/points/np.h"

struct nic;
struct qp_flow;

struct nic_np_unit {
	uint64_t seen_ns; /* last pass of the gate that a pending mark waits for; 0: none */
	uint32_t marked;  /* last QP with a mark */
};

struct nic_np_units {
	struct nic_np_unit *unit;
	uint32_t *heap; /* units with a pending mark, the earliest seen_ns first */
	uint32_t n_due, capacity;
	uint64_t interval_ns; /* as that of struct nic_np */
};

void nic_np_units_free(struct nic_np_units *units);

/** As nic_np_add_flow(). */
int nic_np_units_add(struct nic_np_units *units, const struct nic *nic, struct qp_flow *flow);
/** As nic_np_reserve(). */
int nic_np_units_reserve(struct nic_np_units *units, const struct nic *nic, uint32_t n_flows);
/** Handle a mark. @return true: send a CNP now. */
bool nic_np_units_on_ce(struct nic_np_units *units, struct nic *nic, uint32_t unit, uint32_t item,
			uint64_t now_ns);
/** The next QP that has to send a CNP because its unit's window is over; QP_NONE: none. */
uint32_t nic_np_units_next(struct nic_np_units *units, const struct nic *nic, uint64_t now_ns);

/**
 * When nic_np_units_next() will return a QP, unless a CNP of another node answers the mark. Only if
 * a mark is pending.
 */
static inline uint64_t
nic_np_units_next_ns(const struct nic_np_units *units)
{
	return np_gate_opens_ns(units->unit[units->heap[0]].seen_ns, units->interval_ns);
}

#endif
