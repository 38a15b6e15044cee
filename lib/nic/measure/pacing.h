/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regularity of pacing, with measure_pacing.
 *
 * For two consecutive packets of a QP that both waited for tokens alone, the measured gap is
 * compared with the expected one, 8 * wire bytes of the first / rate of the QP. Times are the
 * now_ns of tx(). jitter = |gap - expected|, as in RFC 3550 section 6.4.1 before averaging.
 */
#ifndef QUENCH_NIC_MEASURE_PACING_H
#define QUENCH_NIC_MEASURE_PACING_H

#include <stdint.h>

#include "base/sets/hist.h"

struct nic_pacing {
	/*
	 * On the same page as the histogram's first microsecond, which saves TLB misses with many
	 * flows.
	 */
	uint64_t gap_ns;      /* sum of the gaps */
	uint64_t expected_ps; /* sum of the expected gaps */
	uint32_t seq;         /* protects both: base/threads/seq.h */
	struct hist jitter_ns;
};

/** Add the pacing measured on another node; *to may be zero-initialised. */
void nic_pacing_merge(struct nic_pacing *to, const struct nic_pacing *from);

/** (achieved rate / configured rate - 1) in millionths; 0: no gap was measured. */
int64_t nic_pacing_error_ppm(const struct nic_pacing *pacing);

#endif
