/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of an open loop of constant load, one after another: when each arrives, and its
 * size. They are those of a QP of this number with this workload, which sends them in turn.
 */
#ifndef QUENCH_NIC_WORKLOAD_OPEN_LOOP_H
#define QUENCH_NIC_WORKLOAD_OPEN_LOOP_H

#include <stdint.h>

#include "nic/workload/arrivals.h"

struct open_loop {
	const struct workload *work; /* outlives the loop */
	uint64_t seed;               /* in place of that of the workload */
	uint64_t end_ns;             /* no message arrives from then on, nor from stop_ns on */
	uint32_t qpn;
	struct arrivals arrivals;
	/* the next message */
	uint64_t number, next_ns; /* NEVER_NS: there is none */
	uint64_t sum_bytes;       /* of those before it */
};

void open_loop_init(struct open_loop *l, const struct workload *work, uint64_t seed,
		    uint64_t end_ns, uint32_t qpn);

/** Take the next message, of which there must be one. @return its payload. */
uint32_t open_loop_take(struct open_loop *l);

#endif
