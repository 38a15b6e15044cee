/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows that wait for the ends of others (the key `after`). No frame carries the signal: the run
 * stops at each multiple of signal_delay_ns and looks which flows have ended. A flow that waited
 * for them begins signal_delay_ns after the last of these ends. That is later than the stop, so the
 * start is exact, and is the same with any number of threads.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"
#include "fabric/net/net_state.h"

/* One [flow NAME]. */
struct section {
	uint32_t first, end; /* its flows */
	bool is_awaited, waits;
	/* The first flow with a QP that has not ended, and this QP. */
	uint32_t flow, qp;
	uint64_t ended_ns; /* of all flows: NEVER_NS: not yet */
};

struct net_after {
	struct section *sections;
	uint32_t n, n_waiting;
	uint64_t next_ns;
	struct net_turn *turns; /* of requesters that wait, in their order at each host */
	uint32_t n_turns;
};

/* Which section a flow is of. */
static struct section *
section_of(const struct net *net, uint32_t flow)
{
	return &net->after->sections[net->flows[flow].params - net->scenario->flows];
}

static bool
is_awaited(const struct scenario *s, const struct flow_params *flow)
{
	for (uint32_t i = 0; i < s->n_flow_sections; i++)
		if (scenario_is_after(&s->flows[i], flow))
			return true;
	return false;
}

int
net_create_after(struct net *net)
{
	const struct scenario *s = net->scenario;
	struct net_after *a = calloc(1, sizeof(*a));
	uint32_t flow = 0;
	uint64_t qps = 0;

	net->after = a;
	if (a == NULL)
		return -ENOMEM;
	a->n = s->n_flow_sections;
	a->sections = calloc(a->n + 1u, sizeof(*a->sections));
	if (a->sections == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->n; i++) {
		struct section *of = &a->sections[i];

		*of = (struct section){.first = flow,
				       .flow = flow,
				       .end = flow + s->flows[i].n_pairs,
				       .waits = scenario_has_after(&s->flows[i]),
				       .is_awaited = is_awaited(s, &s->flows[i]),
				       .ended_ns = NEVER_NS};
		flow = of->end;
		a->n_waiting += of->waits;
		for (uint32_t k = of->first; of->waits && k < of->end; k++)
			qps += net->flows[k].qps;
	}
	a->turns = malloc((qps + 1) * sizeof(*a->turns));
	a->next_ns = a->n_waiting > 0 ? s->fabric.signal_delay_ns : NEVER_NS;
	return a->turns == NULL ? -ENOMEM : 0;
}

void
net_free_after(struct net *net)
{
	if (net->after == NULL)
		return;
	free(net->after->turns);
	free(net->after->sections);
	free(net->after);
}

void
net_keep_turn(struct net *net, struct net_turn turn)
{
	if (scenario_has_after(net->flows[turn.flow].params))
		net->after->turns[net->after->n_turns++] = turn;
}

uint64_t
net_after_next_ns(const struct net *net)
{
	return net->after->next_ns;
}

static uint64_t
flow_end_ns(const struct net *net, uint32_t flow)
{
	struct nic_flow_info info = {0};

	nic_flow_info(net_host(net, net->flows[flow].src), flow, &info);
	return info.ended_ns;
}

/* Has the section ended by now? QPs end once, so none is looked at again after its end. */
static void
look(const struct net *net, struct section *of)
{
	uint64_t last_ns = 0;

	while (of->flow < of->end) {
		const struct net_flow *flow = &net->flows[of->flow];

		for (; of->qp < flow->qps; of->qp++) {
			struct nic_qp_info info;

			nic_qp_info(net_host(net, flow->src), flow->src_qp + of->qp, &info);
			if (!info.done)
				return;
		}
		of->flow++;
		of->qp = 0;
	}
	for (uint32_t i = of->first; i < of->end; i++)
		last_ns = max_u64(last_ns, flow_end_ns(net, i));
	of->ended_ns = last_ns;
}

uint32_t
net_after_awaits(const struct net *net, uint32_t section)
{
	const struct flow_params *flows = net->scenario->flows;
	const struct net_after *a = net->after;

	for (uint32_t i = 0; a->sections[section].waits && i < a->n; i++)
		if (a->sections[i].ended_ns == NEVER_NS &&
		    scenario_is_after(&flows[section], &flows[i]))
			return i;
	return UINT32_MAX;
}

/* When the last flow that this one waits for ended; NEVER_NS: not all have. */
static uint64_t
last_end_ns(const struct net *net, uint32_t index)
{
	const struct flow_params *flows = net->scenario->flows;
	uint64_t last_ns = 0;

	for (uint32_t i = 0; i < net->after->n; i++)
		if (scenario_is_after(&flows[index], &flows[i]))
			last_ns = max_u64(last_ns, net->after->sections[i].ended_ns);
	return last_ns;
}

/* Let the flows of a section begin at begin_ns, plus the start of each QP. */
static void
begin(struct net *net, struct section *of, uint64_t begin_ns, uint64_t now_ns)
{
	of->waits = false;
	net->after->n_waiting--;
	for (uint32_t i = 0; i < net->after->n_turns; i++) {
		const struct net_turn *turn = &net->after->turns[i];
		const struct net_flow *flow = &net->flows[turn->flow];
		const struct flow_pair *pair = &flow->params->pairs[turn->flow - of->first];

		if (section_of(net, turn->flow) == of)
			nic_start_qp_at(net->hosts[flow->src - 1], flow->src_qp + turn->qp,
					begin_ns + net_qp_start_ns(flow, pair, turn->qp), now_ns);
	}
	for (uint32_t i = of->first; i < of->end; i++)
		net_poke_host(net, net->flows[i].src, now_ns);
}

void
net_after_run(struct net *net, uint64_t now_ns)
{
	struct net_after *a = net->after;
	uint64_t delay_ns = net->scenario->fabric.signal_delay_ns;

	for (uint32_t i = 0; i < a->n; i++)
		if (a->sections[i].is_awaited && a->sections[i].ended_ns == NEVER_NS)
			look(net, &a->sections[i]);
	for (uint32_t i = 0; i < a->n; i++) {
		uint64_t last_ns = a->sections[i].waits ? last_end_ns(net, i) : NEVER_NS;

		if (last_ns != NEVER_NS)
			begin(net, &a->sections[i], last_ns + delay_ns, now_ns);
	}
	a->next_ns = a->n_waiting > 0 ? now_ns + delay_ns : NEVER_NS;
}
