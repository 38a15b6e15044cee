/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/change/nic_reload.h"

#include "nic/change/await.h"
#include "nic/change/flow_life.h"
#include "nic/core/core.h"
#include "nic/frames/frames.h"
#include "nic/np/nic_np.h"
#include "nic/rate/nic_cc.h"
#include "nic/place/place.h"
#include "nic/rate/version.h"

/* QPs processed in one call: about 10 us at a few cache misses per QP. */
#define STEP_QPS 64u

void
nic_reload(struct node *node, const struct nic_reload *r)
{
	struct nic *nic = nic_of(node);

	assert(nic_reload_is_done(node));
	nic->reload->begun = false;
	nic->reload->item = nic->reload->n_removed = nic->reload->n_added = 0;
	__atomic_store_n(&nic->requests.reload, r, __ATOMIC_RELEASE);
	nic_request(nic, NIC_REQUEST_RELOAD);
}

bool
nic_reload_is_done(const struct node *node)
{
	return __atomic_load_n(&nic_of_const(node)->requests.reload, __ATOMIC_ACQUIRE) == NULL;
}

static void
set_params(struct nic *nic, const struct nic_params *next)
{
	struct nic_params params = nic->params;

	field_sections_copy_live(nic_sections, nic_live_sections_n, next, &params);
	if (params.rp.rp_max_rate_bps == 0)
		params.rp.rp_max_rate_bps = params.link_speed_bps;
	/* Others read these words; the rest is the owner's. */
	words_write(&nic->params.cc_params, &params.cc_params, sizeof(params.cc_params));
	field_sections_copy_live(nic_sections, nic_live_sections_n, &params, &nic->params);
	nic_np_take_params(nic);
	/* A shorter interval may be over. */
	node_wake(&nic->node, 0);
	nic->qp_burst_nanobits = token_burst_nanobits(params.qp_burst_bytes);
	nic_cc_take_params(nic);
}

static void
sweep_qp(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);

	nic_touch(nic, item, qp);
	if (qp->place == QP_FREE)
		return;
	if (flow->life == FLOW_REMOVING)
		nic_qp_remove(nic, item, now_ns);
	else if ((qp->flags & (QP_REQUESTER | QP_STARTED)) == (QP_REQUESTER | QP_STARTED) &&
		 !flow->stopped && qp->place == QP_BLOCKED && qp->left_packets == 0)
		nic_settle(nic, item, now_ns);
}

/*
 * The instant of the change: flip the node's version. QPs that are made later have the new version.
 */
static void
begin(struct nic *nic, const struct nic_reload *r, uint64_t now_ns)
{
	nic->reload->begun = true;
	nic->reload->items = nic->n_qps;
	nic_cc_keep_before(nic, now_ns);
	nic->before->flows = r->flows;
	nic->before->n_flows = r->n_flows;
	set_params(nic, &r->params);
	nic->version ^= 1;
	if (nic->frames != NULL && r->streams != NULL)
		nic_frames_update(nic, r->streams, now_ns);
	/* Do this before any QP is touched: r->flows has no entries for these flows. */
	for (uint32_t i = 0; i < r->n_removed; i++) {
		assert(nic->flows[r->removed[i]].life == FLOW_CONFIGURED);
		nic->flows[r->removed[i]].life = FLOW_REMOVING;
	}
	nic_await_change(nic, r->awaits);
}

void
nic_reload_step(struct nic *nic, uint64_t now_ns)
{
	const struct nic_reload *r = __atomic_load_n(&nic->requests.reload, __ATOMIC_ACQUIRE);
	uint32_t n = 0;

	if (!nic->reload->begun)
		begin(nic, r, now_ns);
	for (; n < STEP_QPS && nic->reload->n_removed < r->n_removed; n++)
		nic_flow_remove(nic, r->removed[nic->reload->n_removed++], now_ns);
	for (; n < STEP_QPS && nic->reload->item < nic->reload->items; n++)
		sweep_qp(nic, nic->reload->item++, now_ns);
	for (; n < STEP_QPS && nic->reload->n_added < r->n_added; n++) {
		n += nic_flow_make_qps(nic, r->added[nic->reload->n_added], STEP_QPS - n, now_ns);
		if (n < STEP_QPS)
			nic->reload->n_added++;
	}
	nic_flush(nic);
	if (n < STEP_QPS) {
		nic_request_served(nic, NIC_REQUEST_RELOAD);
		__atomic_store_n(&nic->requests.reload, NULL, __ATOMIC_RELEASE);
	}
}
