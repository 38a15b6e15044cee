/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/measure/pacing.h"

#include "base/threads/seq.h"
#include "base/threads/words.h"

static unsigned __int128
wide(const struct nic_wide *sum)
{
	return (unsigned __int128)sum->high << 64 | sum->low;
}

static struct nic_wide
narrow(unsigned __int128 sum)
{
	return (struct nic_wide){.low = (uint64_t)sum, .high = (uint64_t)(sum >> 64)};
}

void
nic_pacing_merge(struct nic_pacing *to, const struct nic_pacing *from)
{
	struct nic_wide gap_ns, expected_ps;
	uint32_t before;

	to->has |= from->has;
	hist_merge(&to->jitter_ns, &from->jitter_ns);
	hist_merge(&to->burst_gap_ns, &from->burst_gap_ns);
	hist_merge(&to->one_way_ns, &from->one_way_ns);
	do {
		before = seq_read(&from->seq);
		words_read(&gap_ns, &from->gap_ns, sizeof(gap_ns));
		words_read(&expected_ps, &from->expected_ps, sizeof(expected_ps));
	} while (seq_changed(&from->seq, before));
	to->gap_ns = narrow(wide(&to->gap_ns) + wide(&gap_ns));
	to->expected_ps = narrow(wide(&to->expected_ps) + wide(&expected_ps));
}

int64_t
nic_pacing_error_ppm(const struct nic_pacing *pacing)
{
	__int128 gap_ps = (__int128)wide(&pacing->gap_ns) * 1000;
	__int128 ahead_ps = (__int128)wide(&pacing->expected_ps) - gap_ps;

	/* No overflow: a million QPs for 584 years have 2^94 ps, times 10^6 that is 2^114. */
	return gap_ps == 0 ? 0 : (int64_t)(ahead_ps * 1000000 / gap_ps);
}
