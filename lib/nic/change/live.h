/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows that are added and removed while the node runs.
 *
 * What takes memory is prepared by another thread (nic_prepare_flow(), in a slot that no QP names);
 * the owner makes the QPs, some in each call. A flow that leaves begins no message. Each of its QPs
 * is hidden when it has nothing to send any more: no frame finds it then. When all are, and what
 * they still owed (ACKs, CNPs, windows, timers) has passed, the flow is free: its QPs and its slot
 * may be another one's, and until then what they counted can be read.
 */
#ifndef QUENCH_NIC_CHANGE_LIVE_H
#define QUENCH_NIC_CHANGE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

struct nic;

/* Flows that leave, each looked at in its turn. */
struct nic_leaving {
	uint32_t head, tail; /* FLOW_NONE: none */
	uint64_t look_ns;
};

/*
 * Flows that come and go while the node runs.
 *
 * One that goes begins no message; what is in flight is ended, or given up after its timeouts. Its
 * QPs are free when it is quiet; what they counted stays until then. One that comes starts at its
 * start_ns, or when it comes if that is later.
 */

/** Let flows come by nic_reload() only, so many at a time, flow_id below that. Before the first.
 * @return 0 or -ENOMEM. */
int nic_take_flows(struct node *node, uint32_t max_flows);

/** Has a flow that was let go come to rest? From any thread. */
bool nic_flow_is_free(const struct node *node, uint32_t flow_id);
/** Its number and its QPs may be another's. Of one that is free, or was prepared and not let come.
 */
void nic_forget_flow(struct node *node, uint32_t flow_id);

/* Inside lib/nic. */

/** Make QPs of a flow that comes, at most budget. @return how many; fewer: it is whole. */
uint32_t nic_flow_come(struct nic *nic, uint32_t flow_id, uint32_t budget, uint64_t now_ns);
/** A flow that begins no message any more: its QPs are freed as they come to rest. */
void nic_flow_leave(struct nic *nic, uint32_t flow_id, uint64_t now_ns);
/** The same for one of its QPs, which nothing else may bring back. */
void nic_qp_leave(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Free some QPs of nic->leaving. */
void nic_leave_step(struct nic *nic, uint64_t now_ns);

#endif
