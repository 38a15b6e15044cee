/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/nic_trace.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fixed.h"
#include "nic/nic_internal.h"

int
nic_trace_qp(struct node *node, uint32_t index, uint32_t capacity)
{
	struct nic *nic = nic_of(node);
	struct nic_trace *trace;

	assert(index < nic->n_qps && capacity > 0);
	if (nic->n_traces == NIC_MAX_TRACES)
		return -ENOSPC;
	trace = &nic->traces[nic->n_traces];
	*trace = (struct nic_trace){
		.index = index,
		.capacity = capacity,
		.rows = calloc(capacity, sizeof(*trace->rows)),
	};
	if (trace->rows == NULL)
		return -ENOMEM;
	nic->n_traces++;
	return 0;
}

const struct nic_trace *
nic_traces(const struct node *node, unsigned int *n)
{
	*n = nic_of_const(node)->n_traces;
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

void
nic_trace_add(struct nic *nic, uint32_t item, uint32_t did, uint64_t now_ns)
{
	for (unsigned int i = 0; i < nic->n_traces; i++) {
		struct nic_trace *trace = &nic->traces[i];
		struct nic_trace_row *row = &trace->rows[trace->written % trace->capacity];

		if (trace->index != item)
			continue;
		row->at_ns = now_ns;
		row->did = did;
		cc_read(&nic->qps[item].cc, &nic->cc, &row->view, now_ns);
		if (nic->measure.rtts != NULL)
			row->view.rtt_ns = nic->measure.rtts[item].last_ns;
		trace->written++;
		return;
	}
}

void
nic_traces_free(struct nic *nic)
{
	for (unsigned int i = 0; i < nic->n_traces; i++)
		free(nic->traces[i].rows);
}
