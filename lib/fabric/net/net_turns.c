/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which the QPs of a host take their first turns. QPs that start at one time are
 * served in it, and with one rate for ever after, so the seed of the run draws it: neither the
 * order of flows in a file nor the number of a QP favours anybody.
 *
 * An all-to-all keeps its rounds, in which each host sends to another one and receives from
 * another one, and the seed draws the order of the rounds.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/numbers/prng.h"
#include "fabric/net/net_state.h"

struct turn {
	uint64_t drawn;
	uint32_t qp;
	uint32_t host;
	bool requester;
	struct net_turn of;
};

static int
by_draw(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	const uint64_t of_x[] = {x->host, x->drawn, x->qp};
	const uint64_t of_y[] = {y->host, y->drawn, y->qp};

	for (unsigned int i = 0; i < 3; i++)
		if (of_x[i] != of_y[i])
			return of_x[i] < of_y[i] ? -1 : 1;
	return 0;
}

/* Flows from one to the next round of an all-to-all; otherwise each flow is a round of its own. */
static uint32_t
flows_of_round(const struct flow_params *p)
{
	uint32_t hosts = 1;

	if (p->pattern != FLOW_ALL_TO_ALL || p->messages_of_pairs != NULL || p->shares_qps)
		return 1;
	for (uint32_t i = 1; i < p->n_pairs && p->pairs[i].src != p->pairs[0].src; i++)
		hosts++;
	return hosts;
}

/* The turns of both ends of a flow's QPs. @return where the next flow's begin. */
static struct turn *
draw(const struct net *net, uint32_t index, uint32_t round, struct turn *turn)
{
	const struct net_flow *flow = &net->flows[index];

	for (uint32_t i = 0; i < flow->qps; i++) {
		struct prng rnd;
		uint64_t drawn;

		prng_seed(&rnd, net->scenario->fabric.seed, (uint64_t)round << 32 | i);
		drawn = prng_u64(&rnd);
		*turn++ = (struct turn){drawn, flow->src_qp + i, flow->src, true, {index, i}};
		*turn++ = (struct turn){drawn, flow->dst_qp + i, flow->dst, false, {index, i}};
	}
	return turn;
}

int
net_give_turns(struct net *net)
{
	uint64_t n = 0;
	struct turn *turns, *end;

	for (uint32_t i = 0; i < net->n_flows; i++)
		n += 2ull * net->flows[i].qps;
	turns = end = malloc((n + 1) * sizeof(*turns));
	if (turns == NULL)
		return -ENOMEM;
	for (uint32_t first = 0, i; first < net->n_flows; first = i) {
		uint32_t of_round = flows_of_round(net->flows[first].params);

		for (i = first; i < first + of_round; i++)
			end = draw(net, i, first, end);
	}
	qsort(turns, n, sizeof(*turns), by_draw);
	for (const struct turn *t = turns; t < end; t++) {
		if (net_has_host(net, t->host))
			nic_unhold_qp(net->hosts[t->host - 1], t->qp, 0);
		if (!t->requester)
			continue;
		net_after_keep(net, t->of);
		net_rounds_keep(net, t->of);
	}
	free(turns);
	return 0;
}
