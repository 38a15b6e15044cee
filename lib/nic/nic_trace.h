/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why did the rate of this QP move? Each event of its congestion control, with the state after it.
 *
 * A traced QP has a ring of rows; when it is full the oldest row goes, and is counted. A row is
 * written when the algorithm did something, never per packet, so tracing costs a sender nothing
 * between events; a QP that is not traced pays one comparison per event. Timers are evaluated when
 * the NIC looks at the QP: a row may stand for several of their events, and then names all their
 * reasons.
 */
#ifndef QUENCH_NIC_NIC_TRACE_H
#define QUENCH_NIC_NIC_TRACE_H

#include <stdint.h>

#include "cc/cc.h"
#include "node/node.h"

struct nic;

/* QPs that one NIC can trace: each event looks through their list. */
#define NIC_MAX_TRACES 64
/* Rows that programs keep of each. */
#define NIC_TRACE_ROWS 65536u

struct nic_trace_row {
	uint64_t at_ns;
	uint32_t did; /* mask of enum cc_did: why */
	struct cc_view view;
};

struct nic_trace {
	uint32_t index; /* of the QP, as for nic_qp_info() */
	uint32_t capacity;
	uint64_t written; /* rows since the start; the last capacity of them are there */
	struct nic_trace_row *rows;
};

/**
 * Trace a QP from now on. @param capacity  Rows kept, at least 1.
 * @return 0, -ENOSPC (NIC_MAX_TRACES are traced) or -ENOMEM.
 */
int nic_trace_qp(struct node *node, uint32_t index, uint32_t capacity);

/** The traces so far, in the order in which they were asked for. */
const struct nic_trace *nic_traces(const struct node *node, unsigned int *n);

/** Rows that are there, and row i of them, oldest first. */
uint32_t nic_trace_rows(const struct nic_trace *trace);
const struct nic_trace_row *nic_trace_row(const struct nic_trace *trace, uint32_t i);

/* Inside lib/nic. */

/** Something was done to this QP's congestion control. */
void nic_trace_add(struct nic *nic, uint32_t item, uint32_t did, uint64_t now_ns);
void nic_traces_free(struct nic *nic);

#endif
