/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/change/requests.h"

#include "nic/place/version.h"

void
nic_take_traces(struct nic *nic, uint64_t now_ns)
{
	nic_traces_take(nic);
	for (uint32_t i = 0; i < nic->traces->n; i++) {
		uint32_t item = nic->traces->trace[i]->index;

		if (!nic_trace_wants_state(nic, i))
			continue;
		nic_touch(nic, item, &nic->qps[item]);
		nic_trace_state(nic, i, now_ns);
	}
	nic_traces_taken(nic);
}
