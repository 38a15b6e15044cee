/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/measure/times.h"

#include "base/threads/counter.h"

void
nic_times_merge(struct nic_times *to, const struct nic_times *from)
{
	uint64_t least_ns = counter_read(&from->least_rtt_ns);

	hist_merge(&to->completion_ns, &from->completion_ns);
	hist_merge(&to->slowdown_milli, &from->slowdown_milli);
	hist_merge(&to->rtt_ns, &from->rtt_ns);
	if (to->least_rtt_ns == 0 || (least_ns != 0 && least_ns < to->least_rtt_ns))
		to->least_rtt_ns = least_ns;
	to->waited += counter_read(&from->waited);
	to->ideal_from = from->ideal_from;
}

void
nic_times_since(const struct nic_times *times, struct nic_times *earlier, struct nic_times *out)
{
	hist_since(&times->completion_ns, &earlier->completion_ns, &out->completion_ns);
	hist_since(&times->slowdown_milli, &earlier->slowdown_milli, &out->slowdown_milli);
	hist_since(&times->rtt_ns, &earlier->rtt_ns, &out->rtt_ns);
	out->least_rtt_ns = times->least_rtt_ns;
	out->waited = times->waited;
	out->ideal_from = times->ideal_from;
}
