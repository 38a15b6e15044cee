/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows of a running NIC that wait for others: those with `after` until the flows that they name
 * have ended, those with a barrier in each round until all flows of it have ended the round before.
 * The flows may be on all nodes of the NIC. Each node looks at what the others publish (done_qps
 * and rounds_ended of struct qp_flow), so that nobody waits for a signal.
 *
 * A barrier counts its rounds from its first flow on. A flow that is added later begins with the
 * round of this time, on each node with the node's own: if a round opens while the nodes take the
 * change one after another, the parts of the new flow are one round apart from then on.
 *
 * Invariant: no part of a flow is in a round before all parts of the barrier have ended the one
 * before, those of such a flow excepted.
 */
#ifndef QUENCH_NIC_CHANGE_AWAIT_H
#define QUENCH_NIC_CHANGE_AWAIT_H

#include <stdint.h>

struct nic;

/* Some flow_ids in ids[] of struct nic_awaits. */
struct nic_await_list {
	uint32_t flow; /* that waits for them; of a barrier: not used */
	uint32_t first, n;
};

/* Which flows wait for which. */
struct nic_awaits {
	uint32_t *ids;
	struct nic_await_list *after, *barriers;
	uint32_t n_after, n_barriers;
};

struct nic_awaiting {
	const struct nic_awaits *awaits; /* in force; NULL: no flow waits */
	/* where the next step goes on in after[] and barriers[] */
	uint32_t next_after, next_barrier;
	uint32_t n_waits; /* flows of after[] that wait here */
	uint64_t look_ns; /* when to look again */
};

/** A change begins, before its flows are added: these lists apply from now on. NULL: none. */
void nic_await_change(struct nic *nic, const struct nic_awaits *awaits);
/** Let some of the flows that wait begin, or begin their next round. */
void nic_await_step(struct nic *nic, uint64_t now_ns);

#endif
