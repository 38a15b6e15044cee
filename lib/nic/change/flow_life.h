/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adding and removing flows while the node runs.
 *
 * Adding: another thread prepares the memory (nic_prepare_flow(), in an unused slot of flows[]);
 * the owner makes the QPs, some in each call. The flow starts at its start_ns, or when it is added
 * if that is later.
 *
 * Removing: the flow begins no further message; messages in flight complete, or are given up after
 * their timeouts. A QP with nothing left to send is hidden: no frame finds it. When all QPs are
 * hidden, and no answer, CNP, CNP interval or timer refers to them any more, the flow is free.
 *
 * Invariant: until a flow is free, its QPs and its slot are not reused, and its counters can be
 * read.
 */
#ifndef QUENCH_NIC_CHANGE_FLOW_LIFE_H
#define QUENCH_NIC_CHANGE_FLOW_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"

struct nic;

/* FIFO of the flows being removed. */
struct nic_removing {
	uint32_t head, tail; /* FLOW_NONE: none */
	uint64_t look_ns;    /* when to check the head again */
};

/**
 * From now on, only nic_reload() adds flows: at most max_flows at a time, with flow_id < max_flows.
 * Call before the first flow.
 * @return 0 or -ENOMEM.
 */
int nic_reserve_flows(struct node *node, uint32_t max_flows);

/** Is a removed flow free? Any thread may call this. */
bool nic_flow_is_free(const struct node *node, uint32_t flow_id);
/** Release the slot and the QPs of a flow that is free, or that was prepared and not added. */
void nic_forget_flow(struct node *node, uint32_t flow_id);

/* Inside lib/nic. */

/**
 * Make up to budget QPs of a flow being added.
 * @return their number; if below budget, all exist.
 */
uint32_t nic_flow_make_qps(struct nic *nic, uint32_t flow_id, uint32_t budget, uint64_t now_ns);
/** Append a flow in FLOW_REMOVING to nic->removing. */
void nic_flow_remove(struct nic *nic, uint32_t flow_id, uint64_t now_ns);
/** End a QP of a flow in FLOW_REMOVING, unless a later event will settle the QP anyway. */
void nic_qp_remove(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Process some QPs of the first flow of nic->removing. */
void nic_remove_step(struct nic *nic, uint64_t now_ns);

#endif
