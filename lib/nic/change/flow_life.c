/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/change/flow_life.h"

#include <errno.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/threads/pages.h"
#include "nic/address/addresses.h"
#include "nic/change/reset.h"
#include "nic/change/setup.h"
#include "nic/core/core.h"
#include "nic/core/skipped.h"
#include "nic/measure/measure.h"
#include "nic/measure/trace.h"
#include "nic/np/echo.h"
#include "nic/np/nic_np.h"
#include "nic/place/place.h"
#include "nic/answers/reads.h"
#include "nic/neighbour/nic_resolve.h"

/* QPs processed in one call. */
#define STEP_QPS 64u
/* Interval between two checks of a flow that waits for ACKs. */
#define LOOK_NS (100 * NS_PER_US)
/*
 * Longest time in the wheel for a QP before its start or its next message. Longer waits are split,
 * so that the flow can be removed meanwhile.
 */
#define MAX_WAIT_NS NS_PER_SEC

int
nic_reserve_flows(struct node *node, uint32_t max_flows)
{
	struct nic *nic = nic_of(node);

	assert(nic->n_flows == 0 && nic->flows == NULL);
	nic->flows = pages_alloc(max_flows * sizeof(*nic->flows));
	if (nic->flows == NULL)
		return -ENOMEM;
	nic->flows_capacity = max_flows;
	nic->flows_by_id = true;
	nic->max_wait_ns = MAX_WAIT_NS;
	if (nic_addresses_reserve(nic, max_flows) != 0)
		return -ENOMEM;
	/* A flow has one peer, so it needs at most one neighbour. */
	if (nic_resolve_reserve(nic, max_flows) != 0)
		return -ENOMEM;
	return nic_np_reserve(nic, max_flows);
}

bool
nic_flow_is_free(const struct node *node, uint32_t flow_id)
{
	return __atomic_load_n(&nic_of_const(node)->flows[flow_id].life, __ATOMIC_ACQUIRE) ==
	       FLOW_FREE;
}

void
nic_forget_flow(struct node *node, uint32_t flow_id)
{
	struct nic *nic = nic_of(node);
	struct qp_flow *flow = &nic->flows[flow_id];

	nic_measure_remove_flow(flow);
	nic_np_remove_flow(nic, flow);
	memset(flow, 0, sizeof(*flow));
}

/* Clear the state of the previous QP of this index, except struct nic_qp. */
static void
clear(struct nic *nic, uint32_t item)
{
	memset(&nic->tallies[item], 0, sizeof(nic->tallies[item]));
	nic_measure_clear(nic, item);
	if (nic->acked_bytes != NULL)
		nic->acked_bytes[item] = 0;
	if (nic->arrivals != NULL)
		memset(&nic->arrivals[item], 0, sizeof(nic->arrivals[item]));
	if (nic->recv_full_ns != NULL)
		nic->recv_full_ns[item] = 0;
	if (nic->skipped != NULL)
		memset(&nic->skipped[item], 0, sizeof(nic->skipped[item]));
	if (nic->reads != NULL)
		memset(&nic->reads[item], 0, sizeof(nic->reads[item]));
	if (nic->echoes != NULL)
		memset(&nic->echoes[item], 0, sizeof(nic->echoes[item]));
	if (nic->np->told != NULL)
		memset(&nic->np->told[item], 0, sizeof(nic->np->told[item]));
	if (nic->np->windows != NULL)
		memset(&nic->np->windows[item], 0, sizeof(nic->np->windows[item]));
}

uint32_t
nic_flow_make_qps(struct nic *nic, uint32_t flow_id, uint32_t budget, uint64_t now_ns)
{
	struct qp_flow *flow = &nic->flows[flow_id];
	uint32_t n = 0;

	if (flow->n_qps == 0 && !flow->awaits)
		flow->params.start_ns = max_u64(flow->params.start_ns, now_ns);
	for (; n < budget && flow->n_qps < flow->planned_qps; n++) {
		uint32_t item = flow->first_item + flow->n_qps;
		struct nic_qp_params params = flow->params;
		int rc;

		params.peer_qpn +=
			nic_local_qpn(nic, item) - nic->params.first_qpn - flow->first_number;
		clear(nic, item);
		params.held = flow->awaits;
		rc = nic_qp_begin(nic, item, flow_id, &params, now_ns);
		assert(rc == 0); /* nic_reserve_flows() has reserved its neighbour */
		RTE_SET_USED(rc);
		if (flow->awaits) {
			nic_await_start(&nic->node, item);
			nic_settle(nic, item, now_ns);
		}
	}
	if (flow->n_qps == flow->planned_qps)
		flow->life = FLOW_CONFIGURED;
	return n;
}

void
nic_flow_remove(struct nic *nic, uint32_t flow_id, uint64_t now_ns)
{
	struct qp_flow *flow = &nic->flows[flow_id];
	struct nic_removing *l = nic->removing;

	assert(flow->life == FLOW_REMOVING);
	flow->checked_qps = 0;
	flow->next_removing = FLOW_NONE;
	if (l->head == FLOW_NONE)
		l->head = flow_id;
	else
		nic->flows[l->tail].next_removing = flow_id;
	l->tail = flow_id;
	l->look_ns = now_ns;
	node_wake(&nic->node, 0);
}

void
nic_qp_remove(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (!(qp->flags & QP_REQUESTER) || qp->flags & (QP_DONE | QP_ERROR))
		return;
	/* Nothing is in flight: the peer's address is unknown, or the QP waits for other flows. */
	if (qp->flags & QP_UNRESOLVED || qp->bucket.updated_ns == ARRIVALS_LAST_NS) {
		nic_start(nic, item, now_ns);
		nic_settle(nic, item, now_ns);
	} else if (qp->place == QP_BLOCKED && qp->left_packets == 0) {
		nic_settle(nic, item, now_ns);
	}
}

/* Hide a QP from received frames. @return false: it still has something to send. */
static bool
hide(struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];

	if (qp->place != QP_IDLE || qp->flags & QP_SERVES ||
	    ((qp->flags & QP_REQUESTER) && !(qp->flags & (QP_DONE | QP_ERROR))))
		return false;
	qp->place = QP_FREE;
	if (qp->rx_flags & QP_RX_BY_ADDRESS)
		nic_resolve_release(nic, item);
	if (unlikely(nic->traces->n > 0))
		nic_trace_end(nic, item);
	return true;
}

/* Does no answer, CNP, window or timer refer to the hidden QP any more? */
static bool
is_quiet(const struct nic *nic, const struct qp_flow *flow, uint32_t item)
{
	const struct nic_qp *qp = &nic->qps[item];

	return qp->owed == QP_OWES_NOTHING && !(qp->flags & QP_TIMED) &&
	       !(qp->rx_flags & (QP_RX_OWES_CNP | QP_RX_DEFERRED)) &&
	       nic_np_is_quiet(nic, flow, item);
}

/*
 * Process some QPs of a flow that is being removed.
 * @return false: a QP is not ready, and must be checked again.
 */
static bool
advance(struct nic *nic, struct qp_flow *flow, uint64_t now_ns)
{
	for (uint32_t i = 0; i < STEP_QPS && flow->checked_qps < flow->n_qps;
	     i++, flow->checked_qps++) {
		uint32_t item = flow->first_item + flow->checked_qps;

		if (flow->life == FLOW_REMOVING ? !hide(nic, item) : !is_quiet(nic, flow, item))
			return false;
	}
	if (flow->checked_qps == flow->n_qps && flow->life == FLOW_REMOVING) {
		__atomic_store_n(&flow->life, FLOW_HIDDEN, __ATOMIC_RELAXED);
		flow->hidden_ns = now_ns;
		if (flow->n_qps > 0) {
			nic_address_release(nic, &flow->path);
			nic_resolve_drop_asker(nic, (uint32_t)(flow - nic->flows));
		}
		flow->checked_qps = 0;
		return flow->n_qps > 0;
	}
	return true;
}

void
nic_remove_step(struct nic *nic, uint64_t now_ns)
{
	struct nic_removing *l = nic->removing;
	uint32_t id = l->head;
	struct qp_flow *flow = &nic->flows[id];
	bool progress = advance(nic, flow, now_ns);

	nic_flush(nic);
	/*
	 * A flow that makes progress is processed again at once. The others take turns, with a wait
	 * between two checks.
	 */
	l->look_ns = now_ns + (progress ? 1 : LOOK_NS);
	if (progress && flow->checked_qps < flow->n_qps)
		return;
	l->head = flow->next_removing;
	flow->next_removing = FLOW_NONE;
	if (flow->life == FLOW_HIDDEN && flow->checked_qps == flow->n_qps) {
		/* Pending gaps refer to the flow's histogram. */
		nic_measure_gaps(nic);
		__atomic_store_n(&flow->life, FLOW_FREE, __ATOMIC_RELEASE);
		return;
	}
	if (l->head == FLOW_NONE)
		l->head = id;
	else
		nic->flows[l->tail].next_removing = id;
	l->tail = id;
}
