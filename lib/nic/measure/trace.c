/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/measure/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "nic/core/core.h"
#include "nic/measure/measure.h"

static struct nic_trace *
create(uint32_t index, uint32_t capacity)
{
	struct nic_trace *trace = calloc(1, sizeof(*trace));

	assert(capacity > 0);
	if (trace == NULL)
		return NULL;
	trace->index = index;
	trace->capacity = capacity;
	trace->rows = calloc(capacity, sizeof(*trace->rows));
	if (trace->rows != NULL)
		return trace;
	free(trace);
	return NULL;
}

struct nic_trace *
nic_trace_create(uint32_t index, uint32_t capacity)
{
	struct nic_trace *trace = create(index, capacity);

	if (trace == NULL)
		return NULL;
	trace->wants_state = true;
	/* Write to each page now, so that the node's owner takes no page faults later. */
	for (uint32_t i = 0; i < capacity; i++)
		__atomic_store_n(&trace->rows[i].at_ns, NEVER_NS, __ATOMIC_RELAXED);
	return trace;
}

void
nic_trace_destroy(struct nic_trace *trace)
{
	if (trace == NULL)
		return;
	free(trace->rows);
	free(trace);
}

void
nic_traces_add(struct nic_traces *traces, struct nic_trace *trace)
{
	assert(traces->n < NIC_MAX_TRACES);
	traces->index[traces->n] = trace->index;
	traces->trace[traces->n++] = trace;
}

int
nic_trace_qp(struct node *node, uint32_t index, uint32_t capacity)
{
	struct nic *nic = nic_of(node);
	struct nic_trace *trace;

	assert(index < nic->n_qps);
	if (nic->traces->n == NIC_MAX_TRACES)
		return -ENOSPC;
	trace = create(index, capacity);
	if (trace == NULL)
		return -ENOMEM;
	trace->owned = true;
	nic_traces_add(nic->traces, trace);
	return 0;
}

const struct nic_traces *
nic_traces(const struct node *node)
{
	return nic_of_const(node)->traces;
}

uint32_t
nic_trace_rows(const struct nic_trace *trace)
{
	return (uint32_t)min_u64(trace->written, trace->capacity);
}

const struct nic_trace_row *
nic_trace_row(const struct nic_trace *trace, uint32_t i)
{
	uint64_t first = trace->written - nic_trace_rows(trace);

	assert(i < nic_trace_rows(trace));
	return &trace->rows[(first + i) % trace->capacity];
}

/*
 * Release per member, and acquire in the reader: a reader that has seen a new member also sees the
 * new `begun`.
 */
#define PUT(member) __atomic_store_n(&to->member, from->member, __ATOMIC_RELEASE)
#define GET(member) to->member = __atomic_load_n(&from->member, __ATOMIC_ACQUIRE)

static void
put_row(struct nic_trace_row *to, const struct nic_trace_row *from)
{
	PUT(at_ns);
	PUT(did);
	PUT(view.rate_bps);
	PUT(view.target_rate_bps);
	PUT(view.alpha_q32);
	PUT(view.rtt_ns);
	PUT(view.window_bytes);
	PUT(view.time_stage);
	PUT(view.byte_stage);
	PUT(view.limited);
}

static void
get_row(struct nic_trace_row *to, const struct nic_trace_row *from)
{
	GET(at_ns);
	GET(did);
	GET(view.rate_bps);
	GET(view.target_rate_bps);
	GET(view.alpha_q32);
	GET(view.rtt_ns);
	GET(view.window_bytes);
	GET(view.time_stage);
	GET(view.byte_stage);
	GET(view.limited);
}

uint64_t
nic_trace_written(const struct nic_trace *trace)
{
	return __atomic_load_n(&trace->written, __ATOMIC_ACQUIRE);
}

bool
nic_trace_read(const struct nic_trace *trace, uint64_t number, struct nic_trace_row *row)
{
	get_row(row, &trace->rows[number % trace->capacity]);
	return __atomic_load_n(&trace->begun, __ATOMIC_RELAXED) <= number + trace->capacity;
}

static void
write_row(struct nic *nic, struct nic_trace *trace, uint32_t did, uint64_t now_ns)
{
	const struct nic_qp *qp = &nic->qps[trace->index];
	struct nic_trace_row row = {.at_ns = now_ns, .did = did};

	cc_read(&qp->cc, nic_cc_of(nic, qp), &row.view, now_ns);
	if (nic->measure->rtts != NULL)
		row.view.rtt_ns = nic->measure->rtts[trace->index].last_ns;
	__atomic_store_n(&trace->begun, trace->begun + 1, __ATOMIC_RELAXED);
	put_row(&trace->rows[trace->written % trace->capacity], &row);
	__atomic_store_n(&trace->written, trace->written + 1, __ATOMIC_RELEASE);
}

void
nic_trace_add(struct nic *nic, uint32_t item, uint32_t did, uint64_t now_ns)
{
	const struct nic_traces *traces = nic->traces;

	for (uint32_t i = 0; i < traces->n; i++) {
		if (traces->index[i] != item)
			continue;
		write_row(nic, traces->trace[i], did, now_ns);
		return;
	}
}

void
nic_set_traces(struct node *node, const struct nic_traces *traces)
{
	struct nic *nic = nic_of(node);

	assert(nic_traces_are_set(node));
	__atomic_store_n(&nic->requests.traces, traces, __ATOMIC_RELEASE);
	nic_request(nic, NIC_REQUEST_TRACES);
}

bool
nic_traces_are_set(const struct node *node)
{
	return __atomic_load_n(&nic_of_const(node)->requests.traces, __ATOMIC_ACQUIRE) == NULL;
}

void
nic_traces_take(struct nic *nic)
{
	struct nic_traces *traces = nic->traces;

	*traces = *__atomic_load_n(&nic->requests.traces, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < traces->n; i++)
		if (traces->trace[i]->ended)
			traces->index[i] = QP_NONE;
}

bool
nic_trace_wants_state(struct nic *nic, uint32_t i)
{
	struct nic_trace *trace = nic->traces->trace[i];

	if (trace->ended || !trace->wants_state)
		return false;
	trace->wants_state = false;
	/* The trace of a QP that does not exist yet begins when the QP starts. */
	return nic_qp_exists(nic, trace->index);
}

void
nic_trace_state(struct nic *nic, uint32_t i, uint64_t now_ns)
{
	write_row(nic, nic->traces->trace[i], 0, now_ns);
}

void
nic_traces_taken(struct nic *nic)
{
	nic_request_served(nic, NIC_REQUEST_TRACES);
	__atomic_store_n(&nic->requests.traces, NULL, __ATOMIC_RELEASE);
}

bool
nic_trace_has_ended(const struct nic_trace *trace)
{
	return __atomic_load_n(&trace->ended, __ATOMIC_RELAXED);
}

void
nic_trace_end(struct nic *nic, uint32_t item)
{
	for (uint32_t i = 0; i < nic->traces->n; i++) {
		if (nic->traces->index[i] != item)
			continue;
		nic->traces->index[i] = QP_NONE;
		__atomic_store_n(&nic->traces->trace[i]->ended, true, __ATOMIC_RELAXED);
	}
}

void
nic_traces_free(struct nic *nic)
{
	for (uint32_t i = 0; i < nic->traces->n; i++)
		if (nic->traces->trace[i]->owned)
			nic_trace_destroy(nic->traces->trace[i]);
}
