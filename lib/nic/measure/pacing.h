/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How evenly paced packets leave.
 *
 * The gap between two packets of a QP that both waited for tokens only is compared with the time
 * that the first takes at the QP's rate. Measured by the clock of the node's tx(), if
 * measure_pacing says so. The deviation of one gap is jitter as in RFC 3550 section 6.4.1,
 * before averaging.
 */
#ifndef QUENCH_NIC_MEASURE_PACING_H
#define QUENCH_NIC_MEASURE_PACING_H

#include <stdint.h>

#include "base/hist.h"

struct nic_pacing {
	/* On one page with the histogram's first microsecond: of many flows each is a cache
	 * miss. */
	uint64_t gap_ns;      /* sum of the gaps */
	uint64_t expected_ps; /* and of what they should have been */
	uint32_t seq;         /* of both: base/seq.h */
	struct hist jitter_ns;
};

/** Add the pacing of another node, or copy into what is zero. */
void nic_pacing_merge(struct nic_pacing *to, const struct nic_pacing *from);

/** Rate achieved over rate set, less one, in millionths; 0: no gap was measured. */
int64_t nic_pacing_error_ppm(const struct nic_pacing *pacing);

#endif
