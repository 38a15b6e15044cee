/* SPDX-License-Identifier: BSD-3-Clause */
/* What a policy-map of type queuing says about the queues. Private to lib/import. */
#ifndef QUENCH_IMPORT_NXOS_QUEUING_H
#define QUENCH_IMPORT_NXOS_QUEUING_H

#include "import/nxos/parts.h"

struct nx_queue {
	bool is_read;
	int curve_line; /* of its last random-detect line; -1: no curve */
	struct wred_params curve;
	int limit_line; /* -1: no limit */
	struct buffer_profile limit;
	uint64_t min_rate_bps, max_rate_bps; /* 0: none */
};

struct nx_queuing {
	struct sched_params sched;
	struct nx_queue queues[NX_GROUPS];
};

/**
 * @param policy  Line of the policy-map, or NX_NO_POLICY: queues with equal shares.
 * @return        0, or -EINVAL after a refusal.
 */
int nxos_read_queuing(struct nxos *x, int policy, struct nx_queuing *out);

#endif
