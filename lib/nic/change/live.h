/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows that are added and removed while the node runs.
 *
 * Another thread prepares the memory (nic_prepare_flow(), in a slot that no QP names); the owner
 * makes the QPs, some in each call. A flow that leaves begins no message. Each of its QPs is hidden
 * once it has nothing to send: then no frame finds it. When all are hidden, and the answers, CNPs,
 * windows and timers that name them have passed, the flow is free.
 *
 * Invariant: until a flow is free, its QPs and its slot are not reused, and their counters can be
 * read.
 */
#ifndef QUENCH_NIC_CHANGE_LIVE_H
#define QUENCH_NIC_CHANGE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

struct nic;

/* A list of the flows that leave, each looked at in its turn. */
struct nic_removing {
	uint32_t head, tail; /* FLOW_NONE: none */
	uint64_t look_ns;
};

/*
 * A flow that is removed begins no message. Messages in flight end, or are given up after their
 * timeouts. Its QPs are free when it is quiet; their counters stay until then. A flow that is added
 * starts at its start_ns, or when it is added if that is later.
 */

/** Add flows by nic_reload() only, at most max_flows at a time, with flow_id below it. Before
 * the first. @return 0 or -ENOMEM. */
int nic_take_flows(struct node *node, uint32_t max_flows);

/** Is a removed flow quiet? From any thread. */
bool nic_flow_is_free(const struct node *node, uint32_t flow_id);
/** Free the number and the QPs of a flow that is free, or was prepared and not added. */
void nic_forget_flow(struct node *node, uint32_t flow_id);

/* Inside lib/nic. */

/** Make QPs of a flow that is added, at most budget. @return how many; fewer than budget: all
 * are made. */
uint32_t nic_flow_make_qps(struct nic *nic, uint32_t flow_id, uint32_t budget, uint64_t now_ns);
/** A flow that begins no message any more: free its QPs as they become quiet. */
void nic_flow_remove(struct nic *nic, uint32_t flow_id, uint64_t now_ns);
/** The same for one of its QPs, which nothing else may bring back. */
void nic_qp_remove(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Free some QPs of nic->removing. */
void nic_remove_step(struct nic *nic, uint64_t now_ns);

#endif
