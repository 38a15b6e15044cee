/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters, times and pacing of one flow on a node, for readers in other threads.
 *
 * Invariant: qps_done <= qps, qps_failed <= qps, and each count of sum is the sum over the QPs.
 */
#ifndef QUENCH_NIC_OBSERVE_FLOW_INFO_H
#define QUENCH_NIC_OBSERVE_FLOW_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/measure/pacing.h"
#include "nic/measure/times.h"
#include "nic/observe/qp_info.h"
#include "node/node.h"

struct nic_flow_info {
	uint32_t qps, qps_done, qps_failed;
	/* Of a requester: its first QP has started, at started_ns; ended_ns: when the last one of
	 * those that are done or failed ended. */
	bool started;
	uint64_t started_ns, ended_ns;
	/* sums of counts and rates; for rtt_ns and completion_max_ns the maximum */
	struct nic_qp_info sum;
};

/** Does the node measure times? */
bool nic_measures_times(const struct node *node);

/** Add the counters of a flow on this node to *out, which is zero or filled by other nodes. */
void nic_flow_info(const struct node *node, uint32_t flow_id, struct nic_flow_info *out);

/** When a requester's first QP on this node started; NEVER_NS: not yet. From any thread. */
uint64_t nic_flow_started_ns(const struct node *node, uint32_t flow_id);

/* The rounds of a requester with a barrier. */
struct nic_rounds {
	uint64_t ended; /* rounds that all its QPs have completed; NEVER_NS: all QPs have ended */
	uint64_t ended_ns; /* when the last of these rounds ended */
};

/** The rounds of a flow on this node, from any thread. */
struct nic_rounds nic_flow_rounds(const struct node *node, uint32_t flow_id);

/** Has each QP of a flow on this node sent everything? From any thread, of a flow that has been
 * prepared or added. */
bool nic_flow_has_ended(const struct node *node, uint32_t flow_id);

/** Times of a flow on this node, from any thread; NULL: not measured, or no such flow. */
const struct nic_times *nic_flow_times(const struct node *node, uint32_t flow_id);

/** Pacing of a flow on this node, up to the last call of tx() but one; NULL: not measured, or no
 * such flow. */
const struct nic_pacing *nic_flow_pacing(const struct node *node, uint32_t flow_id);

/**
 * Total time for which the priority that pauses the flow's data queue was paused; of several such
 * priorities, the longest; 0: no such flow.
 */
uint64_t nic_flow_paused_ns(const struct node *node, uint32_t flow_id, uint64_t now_ns);

#endif
