/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/rate/version.h"

#include "nic/core/core.h"
#include "nic/rate/nic_cc.h"

/* Apply the flow's part of the change, together with the first of its QPs. */
static void
change_flow(struct nic *nic, struct qp_flow *flow)
{
	const struct nic_flow_update *next;
	uint32_t id = flow->params.flow_id;

	flow->version = nic->version;
	flow->cap_before_bps = flow->rate_cap_bps;
	flow->arrivals.moved_bps = 0;
	flow->resumed = false;
	if (id >= nic->before->n_flows || flow->life != FLOW_CONFIGURED)
		return;
	next = &nic->before->flows[id];
	__atomic_store_n(&flow->rate_cap_bps, next->rate_cap_bps, __ATOMIC_RELAXED);
	flow->resumed = flow->stopped && !next->stopped;
	__atomic_store_n(&flow->stopped, next->stopped, __ATOMIC_RELAXED);
	if (flow->params.requester && workload_is_open(&flow->params.work))
		arrivals_change(&flow->arrivals, next->load_bps, next->stopped,
				nic->before->until_ns);
}

/* When a QP in the wheel is due. */
static uint64_t
due_ns(const struct nic *nic, uint32_t item)
{
	const struct nic_qp *qp = &nic->qps[item];

	if (qp->left_packets > 0)
		return token_account_next_ns(&qp->bucket);
	if ((qp->flags & QP_REQUESTER) && workload_is_open(&nic_flow_of(nic, qp)->params.work))
		return nic->arrivals[item].next_ns;
	return NEVER_NS;
}

/*
 * Advance the QP to the instant of the change under the old parameters, and apply the new ones from
 * there on. The result does not depend on when the QP is touched.
 */
void
nic_bring_along(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];
	struct qp_flow *flow = nic_flow_of(nic, qp);
	uint64_t was_due_ns, is_due_ns;

	qp->version = nic->version & 1;
	if (qp->place == QP_FREE)
		return;
	if (flow->version != nic->version)
		change_flow(nic, flow);
	was_due_ns = due_ns(nic, item);
	if ((qp->flags & QP_REQUESTER) && workload_is_open(&flow->params.work))
		nic->arrivals[item].next_ns =
			arrivals_moved_ns(&flow->arrivals, nic->arrivals[item].next_ns);
	if (!(qp->flags & QP_STARTED))
		return;
	nic_cc_change(nic, item);
	if (flow->resumed)
		nic_cc_spread(nic, item);
	/*
	 * If the wait has become longer, that is noticed when the old one ends. If it has become
	 * shorter, the QP needs an earlier deadline.
	 */
	is_due_ns = due_ns(nic, item);
	if (is_due_ns < was_due_ns && (qp->place == QP_PACED || qp->place == QP_READY) &&
	    !(qp->flags & QP_RNR)) {
		timing_wheel_hurry(nic->wheel, item, is_due_ns);
		node_wake(&nic->node, 0);
	}
}
