/* SPDX-License-Identifier: BSD-3-Clause */
/* The QPs of one flow of a node together: what they have done, their times and their pacing. */
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
	struct nic_qp_info sum; /* counts and rates added up; rtt_ns is the longest */
};

/** Does the node measure times? */
bool nic_measures_times(const struct node *node);

/** Add what the QPs of a flow have done on this node; out is zero or of another node. */
void nic_flow_info(const struct node *node, uint32_t flow_id, struct nic_flow_info *out);

/** The times of a flow on this node, read by anyone; NULL: not measured, or no such flow. */
const struct nic_times *nic_flow_times(const struct node *node, uint32_t flow_id);

/** The pacing of a flow on this node, up to the call of tx() before the last; NULL: not measured,
 * or no such flow. */
const struct nic_pacing *nic_flow_pacing(const struct node *node, uint32_t flow_id);

/** Time in which pauses have held the queue of the flow's data so far; 0: no such flow. */
uint64_t nic_flow_paused_ns(const struct node *node, uint32_t flow_id, uint64_t now_ns);

#endif
