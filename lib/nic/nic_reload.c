/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other parameters while the node runs. All are in force from one instant on. With a million QPs
 * the owner cannot visit each of them then, so each knows the version that its state is of, and is
 * brought along when it is touched next; steps of a few QPs in each call visit those that nothing
 * touches. doc/architecture.md, "A change while it runs".
 */
#include "nic/nic_place.h"

#include "base/fixed.h"

/* Looked at in one call: some 10 us where each QP is a few cache misses. */
#define STEP_QPS 64u

void
nic_reload(struct node *node, const struct nic_reload *r)
{
	struct nic *nic = nic_of(node);

	assert(nic_reload_is_done(node));
	nic->reload_begun = false;
	nic->reload_item = nic->reload_go = nic->reload_come = 0;
	__atomic_store_n(&nic->reload, r, __ATOMIC_RELEASE);
}

bool
nic_reload_is_done(const struct node *node)
{
	return __atomic_load_n(&nic_of_const(node)->reload, __ATOMIC_ACQUIRE) == NULL;
}

static void
set_params(struct nic *nic, const struct nic_params *next)
{
	struct nic_params *p = &nic->params;
	struct rp_params rp = next->rp;

	if (rp.rp_max_rate_bps == 0)
		rp.rp_max_rate_bps = p->link_speed_bps;
	words_write(&p->rp, &rp, sizeof(rp));
	p->dctcp = next->dctcp;
	p->timely = next->timely;
	p->np.np_min_time_between_cnps_us = next->np.np_min_time_between_cnps_us;
	if (p->np.np_min_port_cnp_interval_ns != next->np.np_min_port_cnp_interval_ns) {
		p->np.np_min_port_cnp_interval_ns = next->np.np_min_port_cnp_interval_ns;
		/* The time was computed with the old interval: a waiting CNP asks the gate again. */
		nic->np.gate_ns = 0;
		node_wake(&nic->node, 0);
	}
	p->qp_burst_bytes = next->qp_burst_bytes;
	p->icrc_check = next->icrc_check;
	p->initial_rate = next->initial_rate;
	p->initial_rate_bps = next->initial_rate_bps;
	p->retry_cnt = next->retry_cnt;
	p->rnr_retry = next->rnr_retry;
	p->min_rnr_timer = next->min_rnr_timer;
	nic->qp_burst_nanobits = token_burst_nanobits(p->qp_burst_bytes);
	cc_take_params(&nic->cc);
}

/* The flow's part of the change, when the first of its QPs is brought along. */
static void
change_flow(struct nic *nic, struct qp_flow *flow)
{
	const struct nic_flow_live *next;
	const struct nic_reload *r = nic->reload;
	uint32_t id = flow->params.flow_id;

	flow->version = nic->version;
	flow->cap_before_bps = flow->rate_cap_bps;
	flow->arrivals.moved_bps = 0;
	if (id >= r->n_flows || flow->life != FLOW_STAYS)
		return;
	next = &r->flows[id];
	__atomic_store_n(&flow->rate_cap_bps, next->rate_cap_bps, __ATOMIC_RELAXED);
	__atomic_store_n(&flow->stopped, next->stopped, __ATOMIC_RELAXED);
	if (flow->params.requester && workload_is_open(&flow->params.work))
		arrivals_change(&flow->arrivals, next->load_bps, next->stopped,
				nic->before.until_ns);
}

/* When the wheel has to release a QP that is in it. */
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
 * One version at a time: the QP is left where it was at the instant of the change, under the
 * parameters of before, and goes on from there under those in force. So it does not matter when the
 * QP is looked at, and no call sees new parameters with old state.
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
	/* A wait that got longer shows when it ends; one that got shorter must end earlier. */
	is_due_ns = due_ns(nic, item);
	if (is_due_ns < was_due_ns && (qp->place == QP_PACED || qp->place == QP_READY) &&
	    !(qp->flags & QP_RNR)) {
		timing_wheel_hurry(nic->wheel, item, is_due_ns);
		node_wake(&nic->node, 0);
	}
}

static void
sweep_qp(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);

	nic_touch(nic, item, qp);
	if (qp->place == QP_FREE)
		return;
	if (flow->life == FLOW_LEAVES)
		nic_qp_leave(nic, item, now_ns);
	else if ((qp->flags & (QP_REQUESTER | QP_STARTED)) == (QP_REQUESTER | QP_STARTED) &&
		 !flow->stopped && qp->place == QP_BLOCKED && qp->left_packets == 0)
		nic_settle(nic, item, now_ns);
}

/*
 * The instant of the change. QPs are brought along as they are touched, and all others by the
 * steps; those that come are none of those that were there.
 */
static void
begin(struct nic *nic, const struct nic_reload *r, uint64_t now_ns)
{
	nic->reload_begun = true;
	nic->reload_items = nic->n_qps;
	nic_cc_keep_before(nic, now_ns);
	set_params(nic, &r->params);
	nic->version ^= 1;
	/* r->flows says nothing of these. */
	for (uint32_t i = 0; i < r->n_go; i++) {
		assert(nic->flows[r->go[i]].life == FLOW_STAYS);
		nic->flows[r->go[i]].life = FLOW_LEAVES;
	}
}

void
nic_reload_step(struct nic *nic, uint64_t now_ns)
{
	const struct nic_reload *r = __atomic_load_n(&nic->reload, __ATOMIC_ACQUIRE);
	uint32_t n = 0;

	if (!nic->reload_begun)
		begin(nic, r, now_ns);
	for (; n < STEP_QPS && nic->reload_go < r->n_go; n++)
		nic_flow_leave(nic, r->go[nic->reload_go++], now_ns);
	for (; n < STEP_QPS && nic->reload_item < nic->reload_items; n++)
		sweep_qp(nic, nic->reload_item++, now_ns);
	for (; n < STEP_QPS && nic->reload_come < r->n_come; n++) {
		n += nic_flow_come(nic, r->come[nic->reload_come], STEP_QPS - n, now_ns);
		if (n < STEP_QPS)
			nic->reload_come++;
	}
	nic_flush(nic);
	if (n < STEP_QPS)
		__atomic_store_n(&nic->reload, NULL, __ATOMIC_RELEASE);
}
