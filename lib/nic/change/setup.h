/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creating flows and QPs: headers, payload, memory and neighbours that sending and answering need.
 *
 * Invariant: all arrays that a QP uses are allocated before its place changes from QP_FREE.
 */
#ifndef QUENCH_NIC_CHANGE_SETUP_H
#define QUENCH_NIC_CHANGE_SETUP_H

#include <stdint.h>

#include "nic/params/nic_params.h"
#include "nic/workload/open_loop.h"
#include "node/node.h"

struct nic;

/** Add a QP before the first rx/tx. @return its local QPN, or -EINVAL, -ENOSPC, -ENOMEM. */
int64_t nic_add_qp(struct node *node, const struct nic_qp_params *params, uint64_t now_ns);

/** Let a QP that was added with `held` take its turns: of QPs that are due at one time, the first
 * ones to be let are first. */
void nic_unhold_qp(struct node *node, uint32_t item, uint64_t now_ns);

/** Let a requester that was added with `held` wait for nic_start_qp_at(). */
void nic_await_start(struct node *node, uint32_t item);
/** Let it start, now or later. start_ns of its flow becomes this time. */
void nic_start_qp_at(struct node *node, uint32_t item, uint64_t start_ns, uint64_t now_ns);

/** Let the QPs of a requester with a barrier begin a round: message `round`, at begin_ns. Call
 * nic_turn_of_round() for each of them then, in the order of their turns. */
void nic_begin_round(struct node *node, uint32_t flow_id, uint64_t round, uint64_t begin_ns);
void nic_turn_of_round(struct node *node, uint32_t item, uint64_t now_ns);

/**
 * Before the first rx/tx: requesters share the messages of open loops (qp/qp_shared.h). They are
 * all requesters of one flow, were added with `held`, messages > 0, depth = 1 and sizes by QP
 * (WORKLOAD_BY_QP), send no READs, and take their turns afterwards.
 *
 * @param first  Index of the first of n QPs, which are numbered in the order in which they were
 *               added.
 * @param loops  Copied.
 * @return       0 or -ENOMEM.
 */
int nic_share_messages(struct node *node, uint32_t first, uint32_t n, const struct open_loop *loops,
		       uint32_t n_loops);

/* The QPs of a flow on one node. */
struct nic_flow_place {
	uint32_t
		first_number; /* number of the flow's first QP in the NIC, counted from first_qpn */
	uint32_t first_item, n_qps;
};

/**
 * Allocate the memory for a flow, which nic_reload() then adds. One thread at a time may call this;
 * it need not be the owner. No other flow may have this flow_id or these QPs.
 *
 * @param params  Of the QP with first_number. peer_qpn counts up from there for the other QPs.
 * @return        0 or -ENOMEM: nic_forget_flow() in both cases; -EINVAL: nothing was allocated.
 */
int nic_prepare_flow(struct node *node, const struct nic_qp_params *params,
		     const struct nic_flow_place *place);

/* Inside lib/nic. */

/** Make a QP of a flow. The caller calls nic_flush() afterwards. @return 0 or -ENOMEM. */
int nic_qp_begin(struct nic *nic, uint32_t item, uint32_t flow, const struct nic_qp_params *params,
		 uint64_t now_ns);

#endif
