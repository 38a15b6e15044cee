/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/change/await.h"

#include <stdbool.h>

#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "nic/change/setup.h"
#include "nic/core/core.h"
#include "nic/place/place.h"
#include "nic/port/share.h"

/* QPs that begin in one call, and flows and barriers that are looked at. */
#define STEP_QPS 64u
#define STEP_LISTS 64u
/* Interval between two looks, and while nobody waits: a QP may come back by a reset. */
#define LOOK_NS NS_PER_US
#define REST_NS NS_PER_MS

static bool
is_new(const struct qp_flow *flow)
{
	return flow->life == FLOW_ADDING && flow->n_qps == 0;
}

/* All older flows of a barrier are in one round. */
static void
join_barrier(struct nic *nic, const struct nic_awaits *a, const struct nic_await_list *b)
{
	const uint32_t *ids = &a->ids[b->first];
	uint64_t round = 0;

	for (uint32_t i = 0; i < b->n; i++)
		if (!is_new(&nic->flows[ids[i]]))
			round = nic->flows[ids[i]].round_base + nic->flows[ids[i]].round;
	for (uint32_t i = 0; i < b->n; i++)
		if (is_new(&nic->flows[ids[i]]))
			__atomic_store_n(&nic->flows[ids[i]].round_base, round, __ATOMIC_RELEASE);
	nic->flows[ids[0]].looked_at = 0;
}

void
nic_await_change(struct nic *nic, const struct nic_awaits *awaits)
{
	struct nic_awaiting *w = nic->awaiting;

	*w = (struct nic_awaiting){.awaits = awaits};
	if (awaits == NULL)
		return;
	for (uint32_t i = 0; i < awaits->n_after; i++) {
		struct qp_flow *flow = &nic->flows[awaits->after[i].flow];

		if (is_new(flow))
			flow->awaits = true;
		w->n_waits += flow->awaits;
	}
	for (uint32_t i = 0; i < awaits->n_barriers; i++)
		join_barrier(nic, awaits, &awaits->barriers[i]);
	nic_request(nic, NIC_REQUEST_AWAIT);
}

static bool
have_ended(const struct nic *nic, const uint32_t *ids, uint32_t n)
{
	const struct nic *at;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; (at = nic_share_node(nic, k)) != NULL; k++)
			if (!qp_flow_has_ended(&at->flows[ids[i]]))
				return false;
	return true;
}

/* @return the number of QPs that begin. */
static uint32_t
begin_flow(struct nic *nic, struct qp_flow *flow, uint64_t now_ns)
{
	uint32_t n = 0;

	if (flow->begun_qps == 0)
		flow->params.start_ns = add_sat(now_ns, flow->params.start_ns);
	for (; n < STEP_QPS && flow->begun_qps < flow->n_qps; n++)
		nic_start_qp_at(&nic->node, flow->first_item + flow->begun_qps++,
				flow->params.start_ns, now_ns);
	if (flow->begun_qps == flow->n_qps) {
		flow->awaits = false;
		nic->awaiting->n_waits--;
	}
	return n;
}

static void
look_at_flows(struct nic *nic, uint64_t now_ns)
{
	struct nic_awaiting *w = nic->awaiting;
	const struct nic_awaits *a = w->awaits;
	uint32_t begun = 0;

	for (uint32_t i = 0; i < STEP_LISTS && i < a->n_after && begun < STEP_QPS; i++) {
		const struct nic_await_list *l = &a->after[w->next_after];
		struct qp_flow *flow = &nic->flows[l->flow];

		if (flow->awaits && flow->life == FLOW_CONFIGURED &&
		    (flow->begun_qps > 0 || have_ended(nic, &a->ids[l->first], l->n)))
			begun += begin_flow(nic, flow, now_ns);
		if (!flow->awaits || flow->begun_qps == 0)
			w->next_after = w->next_after + 1 < a->n_after ? w->next_after + 1 : 0;
	}
}

/* Rounds of its barrier that a flow has ended on all nodes. */
static uint64_t
rounds_of(const struct nic *nic, uint32_t flow_id)
{
	uint64_t least = NEVER_NS;
	const struct nic *at;

	for (uint32_t k = 0; (at = nic_share_node(nic, k)) != NULL; k++)
		least = min_u64(least, qp_flow_rounds(&at->flows[flow_id]));
	return least;
}

static void
open_round(struct nic *nic, struct qp_flow *flow, uint64_t round, uint64_t now_ns)
{
	nic_open_round(flow, round - flow->round_base, now_ns);
	for (uint32_t i = 0; i < flow->n_qps; i++)
		nic_enter_round(nic, flow->first_item + i, now_ns);
}

/* The first flow keeps how many are known to have ended the round. @return false: all QPs ended. */
static bool
look_at_barrier(struct nic *nic, const struct nic_await_list *b, uint64_t now_ns)
{
	const uint32_t *ids = &nic->awaiting->awaits->ids[b->first];
	struct qp_flow *lead = &nic->flows[ids[0]];
	uint64_t round = lead->round_base + lead->round;
	bool goes_on = false;

	for (; lead->looked_at < b->n; lead->looked_at++)
		if (rounds_of(nic, ids[lead->looked_at]) <= round)
			return true;
	lead->looked_at = 0;
	for (uint32_t i = 0; i < b->n; i++)
		goes_on = goes_on || rounds_of(nic, ids[i]) != NEVER_NS;
	for (uint32_t i = 0; goes_on && i < b->n; i++)
		open_round(nic, &nic->flows[ids[i]], round + 1, now_ns);
	return goes_on;
}

void
nic_await_step(struct nic *nic, uint64_t now_ns)
{
	struct nic_awaiting *w = nic->awaiting;
	const struct nic_awaits *a = w->awaits;
	bool waits;

	if (a == NULL || (w->n_waits == 0 && a->n_barriers == 0)) {
		nic_request_served(nic, NIC_REQUEST_AWAIT);
		return;
	}
	waits = w->n_waits > 0 || a->n_barriers > STEP_LISTS;
	if (w->n_waits > 0)
		look_at_flows(nic, now_ns);
	for (uint32_t i = 0; i < STEP_LISTS && i < a->n_barriers; i++) {
		waits |= look_at_barrier(nic, &a->barriers[w->next_barrier], now_ns);
		w->next_barrier = w->next_barrier + 1 < a->n_barriers ? w->next_barrier + 1 : 0;
	}
	w->look_ns = now_ns + (waits ? LOOK_NS : REST_NS);
	nic_flush(nic);
}
