/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows that send in rounds together (the key `barrier`). As in net_after.c, the run stops at each
 * multiple of signal_delay_ns, and a round begins signal_delay_ns after the last QP has ended the
 * one before.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "fabric/net/net_state.h"

struct barrier {
	/* flows[first] to flows[first + n - 1]; the first `looked_at` have ended the round */
	uint32_t first, n, looked_at;
	uint64_t round, last_ns; /* last_ns: of these ends */
	bool over;
};

struct net_rounds {
	struct barrier *barriers;
	uint32_t n, n_left; /* n_left: not over */
	uint32_t *flows;
	struct nic_rounds *far; /* by place in flows[], of all ranks; NULL: there is one */
	uint64_t next_ns;
	/* of requesters with a barrier, in their order at each host */
	struct net_turn *turns;
	uint32_t n_turns;
};

/* The barrier of a flow, from 1 on; 0: none. */
static uint32_t
barrier_of(const struct net *net, uint32_t flow)
{
	const struct flow_params *params = net->flows[flow].params;

	return params->job != NULL ? 0
				   : flow_order_barrier(&net->scenario->order,
							(uint32_t)(params - net->scenario->flows));
}

int
net_create_rounds(struct net *net)
{
	uint32_t n = net->scenario->order.n_barriers, first = 0;
	struct net_rounds *r = calloc(1, sizeof(*r));
	uint64_t qps = 0;

	net->rounds = r;
	if (r == NULL)
		return -ENOMEM;
	r->next_ns = NEVER_NS;
	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < net->n_flows; i++)
		qps += barrier_of(net, i) > 0 ? net->flows[i].qps : 0;
	r->barriers = calloc(n, sizeof(*r->barriers));
	r->flows = calloc(net->n_flows, sizeof(*r->flows));
	r->turns = malloc((qps + 1) * sizeof(*r->turns));
	if (net->ranks != NULL)
		r->far = calloc(net->n_flows, sizeof(*r->far));
	if (r->barriers == NULL || r->flows == NULL || r->turns == NULL ||
	    (net->ranks != NULL && r->far == NULL))
		return -ENOMEM;
	r->n = r->n_left = n;
	for (uint32_t i = 0; i < net->n_flows; i++)
		if (barrier_of(net, i) > 0)
			r->barriers[barrier_of(net, i) - 1].n++;
	for (uint32_t b = 0; b < n; b++) {
		r->barriers[b].first = first;
		first += r->barriers[b].n;
		r->barriers[b].n = 0;
	}
	for (uint32_t i = 0; i < net->n_flows; i++) {
		struct barrier *b;

		if (barrier_of(net, i) == 0)
			continue;
		b = &r->barriers[barrier_of(net, i) - 1];
		r->flows[b->first + b->n++] = i;
	}
	r->next_ns = net->scenario->fabric.signal_delay_ns;
	return 0;
}

void
net_free_rounds(struct net *net)
{
	if (net->rounds == NULL)
		return;
	free(net->rounds->far);
	free(net->rounds->turns);
	free(net->rounds->flows);
	free(net->rounds->barriers);
	free(net->rounds);
}

void
net_rounds_keep(struct net *net, struct net_turn turn)
{
	if (barrier_of(net, turn.flow) > 0)
		net->rounds->turns[net->rounds->n_turns++] = turn;
}

uint64_t
net_rounds_next_ns(const struct net *net)
{
	return net->rounds->next_ns;
}

/* The rounds of a flow, by its place in flows[]. */
static struct nic_rounds
rounds_of(const struct net *net, uint32_t place)
{
	const struct net_rounds *r = net->rounds;
	uint32_t flow = r->flows[place];

	return r->far != NULL ? r->far[place]
			      : nic_flow_rounds(net_host(net, net->flows[flow].src), flow);
}

/* The rounds of a flow at its rank. */
struct far_rounds {
	struct nic_rounds rounds;
	uint32_t place;
};

/* All ranks know the rounds of all flows. */
static void
share_rounds(struct net *net)
{
	struct net_rounds *r = net->rounds;
	struct ranks *ranks = net->ranks;
	uint32_t n = r->barriers[r->n - 1].first + r->barriers[r->n - 1].n;
	struct rank_bytes own = {0};

	for (uint32_t i = 0; i < n; i++) {
		const struct net_flow *flow = &net->flows[r->flows[i]];
		struct far_rounds far;

		if (!net_owns_host(net, flow->src))
			continue;
		memset(&far, 0, sizeof(far));
		far.rounds = r->far[i] = nic_flow_rounds(net_host(net, flow->src), r->flows[i]);
		far.place = i;
		rank_bytes_add(&own, &far, sizeof(far));
	}
	/* If it fails, the next run does, too. */
	if (ranks_share(ranks, &own) < 0)
		own.n = 0;
	for (uint32_t q = 0; q < ranks->n; q++) {
		struct rank_reader in = rank_reader_of(&ranks->in[q]);

		while (q != ranks->self && !in.bad && in.at < in.end) {
			struct far_rounds far;

			rank_reader_copy(&in, &far, sizeof(far));
			if (far.place < n)
				r->far[far.place] = far.rounds;
		}
	}
	rank_bytes_free(&own);
}

/* Have all flows ended the round? None is looked at again after that. */
static bool
has_ended(const struct net *net, struct barrier *b)
{
	for (; b->looked_at < b->n; b->looked_at++) {
		struct nic_rounds of = rounds_of(net, b->first + b->looked_at);

		if (of.ended <= b->round)
			return false;
		b->last_ns = max_u64(b->last_ns, of.ended_ns);
	}
	return true;
}

static void
begin_round(struct net *net, struct barrier *b, uint32_t number, uint64_t now_ns)
{
	struct net_rounds *r = net->rounds;
	uint64_t begin_ns = b->last_ns + net->scenario->fabric.signal_delay_ns;

	b->round++;
	b->looked_at = 0;
	b->last_ns = 0;
	b->over = true;
	for (uint32_t i = b->first; i < b->first + b->n; i++) {
		const struct net_flow *flow = &net->flows[r->flows[i]];

		if (rounds_of(net, i).ended == NEVER_NS)
			continue;
		b->over = false;
		if (net_owns_host(net, flow->src))
			nic_begin_round(net->hosts[flow->src - 1], r->flows[i], b->round, begin_ns);
	}
	for (uint32_t i = 0; !b->over && i < r->n_turns; i++) {
		const struct net_flow *flow = &net->flows[r->turns[i].flow];

		if (barrier_of(net, r->turns[i].flow) == number && net_owns_host(net, flow->src))
			nic_turn_of_round(net->hosts[flow->src - 1], flow->src_qp + r->turns[i].qp,
					  now_ns);
	}
	for (uint32_t i = b->first; !b->over && i < b->first + b->n; i++)
		net_poke_host(net, net->flows[r->flows[i]].src, now_ns);
	r->n_left -= b->over;
}

void
net_rounds_run(struct net *net, uint64_t now_ns)
{
	struct net_rounds *r = net->rounds;

	if (r->next_ns > now_ns)
		return;
	if (net->ranks != NULL)
		share_rounds(net);
	for (uint32_t b = 0; b < r->n; b++)
		if (!r->barriers[b].over && has_ended(net, &r->barriers[b]))
			begin_round(net, &r->barriers[b], b + 1, now_ns);
	r->next_ns = r->n_left > 0 ? now_ns + net->scenario->fabric.signal_delay_ns : NEVER_NS;
}
