/* SPDX-License-Identifier: BSD-3-Clause */
/* Other parameters while the node runs: the node's at once, those of flows and QPs in steps. */
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
	uint64_t max_rate_bps = next->rp.rp_max_rate_bps;

	p->rp = next->rp;
	p->rp.rp_max_rate_bps = max_rate_bps > 0 ? max_rate_bps : p->link_speed_bps;
	p->dctcp = next->dctcp;
	p->timely = next->timely;
	p->np.np_min_time_between_cnps_us = next->np.np_min_time_between_cnps_us;
	p->np.np_min_port_cnp_interval_ns = next->np.np_min_port_cnp_interval_ns;
	p->qp_burst_bytes = next->qp_burst_bytes;
	p->icrc_check = next->icrc_check;
	p->initial_rate = next->initial_rate;
	p->initial_rate_bps = next->initial_rate_bps;
	p->retry_cnt = next->retry_cnt;
	p->rnr_retry = next->rnr_retry;
	p->min_rnr_timer = next->min_rnr_timer;
	nic->qp_burst_nanobits = token_burst_nanobits(p->qp_burst_bytes);
	nic_cc_init(nic);
}

static void
set_flow(struct nic *nic, struct qp_flow *flow)
{
	const struct nic_flow_live *next;

	if (flow->params.flow_id >= nic->reload->n_flows || flow->life != FLOW_STAYS)
		return;
	next = &nic->reload->flows[flow->params.flow_id];
	flow->rate_cap_bps = flow->params.rate_cap_bps = next->rate_cap_bps;
	flow->params.load_bps = next->load_bps;
	flow->stopped = flow->params.stopped = next->stopped;
}

static void
go_on(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	const struct nic_qp *qp = &nic->qps[item];

	/* An open loop's messages of the time in between do not come all at once. */
	if (workload_is_open(&nic_flow_of(nic, qp)->params.work))
		nic->arrivals_ns[item] = max_u64(nic->arrivals_ns[item], now_ns);
	if (qp->place == QP_BLOCKED && qp->left_packets == 0)
		nic_settle(nic, item, now_ns);
}

static void
set_qp(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	struct qp_flow *flow = nic_flow_of(nic, qp);
	uint32_t did;

	if (qp->place == QP_FREE)
		return;
	/* QPs of a flow stand side by side. */
	if (item == flow->first_item)
		set_flow(nic, flow);
	if (flow->life == FLOW_LEAVES)
		nic_qp_leave(nic, item, now_ns);
	if (!(qp->flags & QP_STARTED))
		return;
	did = cc_on_params(&qp->cc, &nic->cc);
	nic_cc_reload(nic, item, did, now_ns);
	if ((qp->flags & QP_REQUESTER) && !flow->stopped && flow->life == FLOW_STAYS)
		go_on(nic, item, now_ns);
}

/* QPs that come are none of those that were there. */
static void
begin(struct nic *nic, const struct nic_reload *r)
{
	nic->reload_begun = true;
	nic->reload_items = nic->n_qps;
	set_params(nic, &r->params);
}

void
nic_reload_step(struct nic *nic, uint64_t now_ns)
{
	const struct nic_reload *r = __atomic_load_n(&nic->reload, __ATOMIC_ACQUIRE);
	uint32_t n = 0;

	if (!nic->reload_begun)
		begin(nic, r);
	for (; n < STEP_QPS && nic->reload_go < r->n_go; n++)
		nic_flow_leave(nic, r->go[nic->reload_go++], now_ns);
	for (; n < STEP_QPS && nic->reload_item < nic->reload_items; n++)
		set_qp(nic, nic->reload_item++, now_ns);
	for (; n < STEP_QPS && nic->reload_come < r->n_come; n++) {
		n += nic_flow_come(nic, r->come[nic->reload_come], STEP_QPS - n, now_ns);
		if (n < STEP_QPS)
			nic->reload_come++;
	}
	nic_flush(nic);
	if (n < STEP_QPS)
		__atomic_store_n(&nic->reload, NULL, __ATOMIC_RELEASE);
}
