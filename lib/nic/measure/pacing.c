/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/measure/pacing.h"

#include "base/threads/counter.h"
#include "base/threads/seq.h"

void
nic_pacing_merge(struct nic_pacing *to, const struct nic_pacing *from)
{
	uint64_t gap_ns, expected_ps;
	uint32_t before;

	to->has |= from->has;
	hist_merge(&to->jitter_ns, &from->jitter_ns);
	hist_merge(&to->burst_gap_ns, &from->burst_gap_ns);
	hist_merge(&to->one_way_ns, &from->one_way_ns);
	do {
		before = seq_read(&from->seq);
		gap_ns = counter_read(&from->gap_ns);
		expected_ps = counter_read(&from->expected_ps);
	} while (seq_changed(&from->seq, before));
	to->gap_ns += gap_ns;
	to->expected_ps += expected_ps;
}

int64_t
nic_pacing_error_ppm(const struct nic_pacing *pacing)
{
	__int128 gap_ps = (__int128)pacing->gap_ns * 1000;

	return gap_ps == 0 ? 0 : (int64_t)((pacing->expected_ps - gap_ps) * 1000000 / gap_ps);
}
