/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why did the rate of this QP change? Each event of its congestion control, with the state after
 * it.
 *
 * A traced QP has a ring of rows. When it is full, a new row replaces the oldest, which is
 * counted. A row is written when the algorithm did something, never per packet, so tracing costs
 * a sender nothing between events; a QP that is not traced pays one comparison per event. Timers
 * are evaluated when the NIC looks at the QP, so a row may stand for several events of timers,
 * and then names all reasons.
 *
 * One writer, the node's owner. Any thread may read without locks. Another thread may change the
 * set of traces; the owner takes the new set over between two bursts.
 *
 * Invariant (tested): a reader never gets half a row.
 */
#ifndef QUENCH_NIC_MEASURE_TRACE_H
#define QUENCH_NIC_MEASURE_TRACE_H

#include <stdbool.h>
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
	uint32_t did; /* mask of enum cc_did: why; 0: the state when the trace began */
	struct cc_view view;
};

struct nic_trace {
	uint32_t index; /* of the QP, as for nic_qp_info() */
	uint32_t capacity;
	bool owned;       /* by the node */
	bool wants_state; /* begins with a row of the state; the node's while it traces */
	bool ended;       /* the QP is removed: its index may belong to another one */
	uint64_t begun;   /* rows written, or being written */
	uint64_t written; /* rows since the start; the last capacity of them are there */
	struct nic_trace_row *rows;
};

/* What a node traces. */
struct nic_traces {
	uint32_t n;
	uint32_t index[NIC_MAX_TRACES]; /* of each trace: read at each event */
	struct nic_trace *trace[NIC_MAX_TRACES];
};

/**
 * Before the run: trace a QP. @param capacity  Rows kept, at least 1.
 * @return 0, -ENOSPC (NIC_MAX_TRACES are traced) or -ENOMEM.
 */
int nic_trace_qp(struct node *node, uint32_t index, uint32_t capacity);

/** The traces so far, in the order in which they were asked for: of the owner, or after the run. */
const struct nic_traces *nic_traces(const struct node *node);

/**
 * A trace for nic_set_traces(), whose memory the owner need not touch first. Its first row is the
 * state when it begins. @return the caller's, or NULL: no memory.
 */
struct nic_trace *nic_trace_create(uint32_t index, uint32_t capacity);
/** When no node traces by it any more. NULL: nothing. */
void nic_trace_destroy(struct nic_trace *trace);

/** Add one to a list that is not full. */
void nic_traces_add(struct nic_traces *traces, struct nic_trace *trace);

/**
 * While the node runs: trace these from its next rx() or tx() on, and no others. From any thread,
 * one at a time.
 *
 * @param traces  Those of nic_trace_qp() among them. Must stay until nic_traces_are_set(), and so
 *                must traces that are no longer among them.
 */
void nic_set_traces(struct node *node, const struct nic_traces *traces);
/** From any thread. */
bool nic_traces_are_set(const struct node *node);

/** Rows that are there, and row i of them, oldest first: of the owner, or after the run. */
uint32_t nic_trace_rows(const struct nic_trace *trace);
const struct nic_trace_row *nic_trace_row(const struct nic_trace *trace, uint32_t i);

/** Rows so far, from any thread. */
uint64_t nic_trace_written(const struct nic_trace *trace);
/**
 * Copy a row, from any thread. @param number  Below nic_trace_written(), counted from the start.
 * @return false: it is lost, a newer one has its place.
 */
bool nic_trace_read(const struct nic_trace *trace, uint64_t number, struct nic_trace_row *row);

/** Is its QP removed? Then no row follows. From any thread. */
bool nic_trace_has_ended(const struct nic_trace *trace);

/* Inside lib/nic. */

/** Something was done to this QP's congestion control. */
void nic_trace_add(struct nic *nic, uint32_t item, uint32_t did, uint64_t now_ns);
/** Take over what nic_set_traces() was given; nic_traces_taken() ends it. */
void nic_traces_take(struct nic *nic);
/** Does trace i begin with the state of its QP, which is there? It is asked once. */
bool nic_trace_wants_state(struct nic *nic, uint32_t i);
/** Begin trace i with the state of its QP. */
void nic_trace_state(struct nic *nic, uint32_t i, uint64_t now_ns);
void nic_traces_taken(struct nic *nic);
/** The QP is removed: its trace ends, and another QP with its index is not traced by it. */
void nic_trace_end(struct nic *nic, uint32_t item);
void nic_traces_free(struct nic *nic);

#endif
