/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces of congestion control: why did the rate of a QP change? Each row is one event and the
 * state after it.
 *
 * A traced QP has a ring of rows; when the ring is full, a new row replaces the oldest. A row is
 * written when the algorithm has acted, never per packet, so tracing costs nothing between events.
 * For an untraced QP an event costs one comparison per trace. Timers are evaluated when the NIC
 * processes the QP, so one row may cover several timer events, and then names all reasons.
 *
 * The only writer is the node's owner. Any thread may read without locks. Another thread may change
 * the set of traces; the owner takes the new set over between two bursts.
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

/* Largest number of traces of a NIC. It is small, because each event searches their list. */
#define NIC_MAX_TRACES 64
/* Rows per trace in the programs. */
#define NIC_TRACE_ROWS 65536u

struct nic_trace_row {
	uint64_t at_ns;
	uint32_t did; /* mask of enum cc_did: why; 0: the state when the trace began */
	struct cc_view view;
};

struct nic_trace {
	uint32_t index; /* of the QP, as for nic_qp_info() */
	uint32_t capacity;
	bool owned; /* by the node */
	/* the trace shall begin with a row of the QP's state; the node clears this */
	bool wants_state;
	bool ended;       /* the QP is removed: its index may belong to another one */
	uint64_t begun;   /* rows written, including one being written */
	uint64_t written; /* rows since the start; the last `capacity` of them are stored */
	struct nic_trace_row *rows;
};

/* The set of traces of a node. */
struct nic_traces {
	uint32_t n;
	uint32_t index[NIC_MAX_TRACES]; /* of each trace: searched at each event */
	struct nic_trace *trace[NIC_MAX_TRACES];
};

/**
 * Before the run: trace a QP. @param capacity  Rows kept, at least 1.
 * @return 0, -ENOSPC (NIC_MAX_TRACES are traced) or -ENOMEM.
 */
int nic_trace_qp(struct node *node, uint32_t index, uint32_t capacity);

/** The traces in the order of their requests. For the owner, or after the run. */
const struct nic_traces *nic_traces(const struct node *node);

/**
 * Create a trace for nic_set_traces(), with all its pages touched. Its first row is the state when
 * it begins. @return owned by the caller, or NULL: no memory.
 */
struct nic_trace *nic_trace_create(uint32_t index, uint32_t capacity);
/** Free a trace that no node uses any more. NULL is allowed. */
void nic_trace_destroy(struct nic_trace *trace);

/** Add a trace to a list that is not full. */
void nic_traces_add(struct nic_traces *traces, struct nic_trace *trace);

/**
 * Replace the set of traces in the next rx() or tx(), while the node runs. From any thread, one at
 * a time.
 *
 * @param traces  The new set, including the traces of nic_trace_qp(). The set and the traces that
 *                it drops must stay until nic_traces_are_set().
 */
void nic_set_traces(struct node *node, const struct nic_traces *traces);
/** From any thread. */
bool nic_traces_are_set(const struct node *node);

/** Number of stored rows, and row i of them, oldest first. For the owner, or after the run. */
uint32_t nic_trace_rows(const struct nic_trace *trace);
const struct nic_trace_row *nic_trace_row(const struct nic_trace *trace, uint32_t i);

/** Rows written so far, from any thread. */
uint64_t nic_trace_written(const struct nic_trace *trace);
/**
 * Copy a row, from any thread. @param number  Below nic_trace_written(), counted from the start.
 * @return false: a newer row has replaced it.
 */
bool nic_trace_read(const struct nic_trace *trace, uint64_t number, struct nic_trace_row *row);

/** Is the QP removed? Then no row follows. From any thread. */
bool nic_trace_has_ended(const struct nic_trace *trace);

/* Inside lib/nic. */

/** Add a row, if the QP is traced: its congestion control did something (mask of enum cc_did). */
void nic_trace_add(struct nic *nic, uint32_t item, uint32_t did, uint64_t now_ns);
/** Take over the set of nic_set_traces(); nic_traces_taken() ends the request. */
void nic_traces_take(struct nic *nic);
/** Should trace i begin with the state of its QP? True at most once per trace. */
bool nic_trace_wants_state(struct nic *nic, uint32_t i);
/** Add a row with the state of the QP of trace i. */
void nic_trace_state(struct nic *nic, uint32_t i, uint64_t now_ns);
void nic_traces_taken(struct nic *nic);
/** The QP is removed: end its trace, so that it does not continue with another QP of this index. */
void nic_trace_end(struct nic *nic, uint32_t item);
void nic_traces_free(struct nic *nic);

#endif
