/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/change/requests.h"

#include "nic/change/await.h"
#include "nic/change/reset.h"
#include "nic/gsi/gsi.h"
#include "nic/jobs/job_ranks.h"
#include "nic/rate/version.h"

static void
take_traces(struct nic *nic, uint64_t now_ns)
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

uint64_t
nic_requests_next_ns(const struct nic *nic)
{
	uint32_t pending = __atomic_load_n(&nic->requests.pending, __ATOMIC_RELAXED);

	return pending == NIC_REQUEST_AWAIT ? nic->awaiting->look_ns : 0;
}

void
nic_serve_requests(struct nic *nic, uint64_t now_ns)
{
	uint32_t pending = __atomic_load_n(&nic->requests.pending, __ATOMIC_ACQUIRE);

	if (pending & NIC_REQUEST_RELOAD)
		nic_reload_step(nic, now_ns);
	if (pending & NIC_REQUEST_TRACES)
		take_traces(nic, now_ns);
	if (pending & NIC_REQUEST_RESET)
		nic_reset_step(nic, now_ns);
	if (pending & NIC_REQUEST_JOB) {
		nic_job_request_step(nic, now_ns);
		nic_ask_step(nic, now_ns);
	}
	if (pending & NIC_REQUEST_AWAIT && now_ns >= nic->awaiting->look_ns)
		nic_await_step(nic, now_ns);
	if (pending & NIC_REQUEST_DATAGRAMS)
		nic_gsi_send(nic, now_ns);
}
