/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows of an order (flow_order.h) while they run: which one each waits for now, and which wait in
 * vain. The work is proportional to the flows and to the names of their keys `after`.
 */
#ifndef QUENCH_NIC_WORKLOAD_FLOW_WAITS_H
#define QUENCH_NIC_WORKLOAD_FLOW_WAITS_H

#include "nic/workload/flow_order.h"

/* What one flow has reached. */
struct flow_reached {
	uint64_t rounds; /* of its barrier that it has ended */
	bool ended;      /* all of it */
	bool failed;     /* QPs of it gave up */
};

/**
 * Find what each flow waits for: a flow of its key `after` that has not ended, or the one of its
 * barrier that has ended the fewest rounds, if these are fewer than its own.
 *
 * @param reached  Of each of the order's flows.
 * @param awaited  Receives the index of a flow for each; its own: it does not wait.
 * @return         0 or -ENOMEM.
 */
int flow_waits_for(const struct flow_order *o, const struct flow_reached *reached,
		   uint32_t *awaited);

/**
 * Find the flows that wait in vain: for one that has not ended, and of which QPs gave up or which
 * waits in vain itself; or in one barrier with such a flow.
 *
 * @param in_vain  Receives a value for each flow.
 * @return         0 or -ENOMEM.
 */
int flow_waits_in_vain(const struct flow_order *o, const struct flow_reached *reached,
		       bool *in_vain);

#endif
