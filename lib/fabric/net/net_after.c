/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows that wait for the ends of others (the key `after`), and messages of traces that wait for
 * earlier ones. No frame carries the signal: the run stops at each multiple of signal_delay_ns and
 * looks which QPs have ended. What waited for them begins signal_delay_ns after the last of these
 * ends. That is later than the stop, so the start is exact, and is the same with any number of
 * threads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "fabric/net/net_state.h"

#define NONE UINT32_MAX

/* QPs that others wait for: those of a [flow NAME], or of a message of a trace. */
struct awaited {
	uint32_t left; /* that have not ended */
	uint64_t last_ns;
	/* of a message: turns of the messages that wait for it, linked by next_turn[] */
	uint32_t first_turn, last_turn;
};

/* One [flow NAME]. */
struct section {
	struct awaited all;
	struct awaited *messages; /* by their number in the file; NULL: none waits for another */
	uint32_t first, end;      /* its flows */
	bool waits;
};

/* Where the QPs of a flow are, as a requester. */
struct place {
	uint32_t first_qp, flow;
};

struct net_after {
	struct section *sections;
	uint32_t n;
	/* The flows that host h sends: places[of_host[h - 1]] to places[of_host[h] - 1], by QP. */
	struct place *places;
	uint32_t *of_host;
	uint64_t next_ns;
	/* of requesters that wait, in their order at each host */
	struct net_turn *turns;
	uint32_t *next_turn;
	uint32_t n_turns, n_waiting;
	/* turns whose message may begin, and when */
	struct released {
		uint32_t turn;
		uint64_t begin_ns;
	} * released;
	uint32_t n_released;
};

/* Which section a flow is of. */
static struct section *
section_of(const struct net *net, uint32_t flow)
{
	return &net->after->sections[net->flows[flow].params - net->scenario->flows];
}

static bool
has_section(const struct net *net, uint32_t flow)
{
	return net->flows[flow].params->job == NULL;
}

static int
place_flows(struct net *net)
{
	struct net_after *a = net->after;
	uint32_t hosts = net->scenario->topology->n_hosts, *at;

	a->places = calloc(net->n_flows + 1u, sizeof(*a->places));
	a->of_host = at = calloc(hosts + 2u, sizeof(*a->of_host));
	if (a->places == NULL || at == NULL)
		return -ENOMEM;
	/* at[h] counts up from the first place of host h to that of host h + 1. */
	for (uint32_t i = 0; i < net->n_flows; i++)
		at[net->flows[i].src + 1]++;
	for (uint32_t h = 1; h <= hosts + 1; h++)
		at[h] += at[h - 1];
	for (uint32_t i = 0; i < net->n_flows; i++)
		a->places[at[net->flows[i].src]++] = (struct place){net->flows[i].src_qp, i};
	return 0;
}

/* @return the QPs of the section that wait, or -ENOMEM. */
static int64_t
prepare_section(struct net *net, struct section *of, uint32_t index)
{
	const struct flow_params *params = &net->scenario->flows[index];
	uint32_t messages =
		params->messages_of_pairs != NULL ? params->n_messages : params->n_pairs;
	int64_t qps = 0;

	of->waits = scenario_has_after(params);
	if (params->trace_after != NULL) {
		of->messages = calloc(messages, sizeof(*of->messages));
		if (of->messages == NULL)
			return -ENOMEM;
	}
	for (uint32_t i = 0; of->messages != NULL && i < messages; i++)
		of->messages[i] = (struct awaited){.first_turn = NONE, .last_turn = NONE};
	for (uint32_t i = of->first; i < of->end; i++) {
		of->all.left += net->flows[i].qps;
		for (uint32_t k = 0; of->messages != NULL && k < net->flows[i].qps; k++)
			of->messages[scenario_message_row(params, i - of->first, k)].left++;
		qps += of->waits || of->messages != NULL ? net->flows[i].qps : 0;
	}
	return qps;
}

static int
record_ends(struct net *net)
{
	int rc = 0;

	for (uint32_t h = 1; rc == 0 && h <= net->scenario->topology->n_hosts; h++)
		if (net_has_host(net, h))
			rc = nic_record_ends(net->hosts[h - 1]);
	return rc;
}

int
net_create_after(struct net *net)
{
	const struct scenario *s = net->scenario;
	struct net_after *a = calloc(1, sizeof(*a));
	uint32_t flow = 0;
	int64_t qps = 0;

	net->after = a;
	if (a == NULL)
		return -ENOMEM;
	a->n = s->n_flow_sections;
	a->next_ns = NEVER_NS;
	a->sections = calloc(a->n + 1u, sizeof(*a->sections));
	if (a->sections == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->n; i++) {
		int64_t waiting;

		a->sections[i].first = flow;
		a->sections[i].end = flow = flow + s->flows[i].n_pairs;
		waiting = prepare_section(net, &a->sections[i], i);
		if (waiting < 0)
			return -ENOMEM;
		qps += waiting;
	}
	if (qps == 0)
		return 0;
	a->turns = malloc((size_t)qps * sizeof(*a->turns));
	a->next_turn = malloc((size_t)qps * sizeof(*a->next_turn));
	a->released = malloc((size_t)qps * sizeof(*a->released));
	if (a->turns == NULL || a->next_turn == NULL || a->released == NULL || place_flows(net) < 0)
		return -ENOMEM;
	a->next_ns = s->fabric.signal_delay_ns;
	return record_ends(net);
}

void
net_free_after(struct net *net)
{
	struct net_after *a = net->after;

	if (a == NULL)
		return;
	for (uint32_t i = 0; a->sections != NULL && i < a->n; i++)
		free(a->sections[i].messages);
	free(a->released);
	free(a->next_turn);
	free(a->turns);
	free(a->places);
	free(a->of_host);
	free(a->sections);
	free(a);
}

/* The message that a turn's message waits for; 0: none. */
static uint32_t
awaited_message(const struct net *net, const struct section *of, struct net_turn turn)
{
	return scenario_awaited_message(net->flows[turn.flow].params, turn.flow - of->first,
					turn.qp);
}

void
net_after_keep(struct net *net, struct net_turn turn)
{
	struct net_after *a = net->after;
	struct section *of = has_section(net, turn.flow) ? section_of(net, turn.flow) : NULL;
	uint32_t message = of == NULL ? 0 : awaited_message(net, of, turn);
	struct awaited *awaited;

	if (message == 0 && (of == NULL || !of->waits))
		return;
	a->turns[a->n_turns] = turn;
	a->next_turn[a->n_turns] = NONE;
	if (message > 0) {
		awaited = &of->messages[message - 1];
		if (awaited->last_turn == NONE)
			awaited->first_turn = a->n_turns;
		else
			a->next_turn[awaited->last_turn] = a->n_turns;
		awaited->last_turn = a->n_turns;
	}
	a->n_turns++;
	a->n_waiting++;
}

uint64_t
net_after_next_ns(const struct net *net)
{
	return min_u64(net->after->next_ns, net_rounds_next_ns(net));
}

uint32_t
net_after_awaits(const struct net *net, uint32_t section)
{
	const struct flow_order *o = &net->scenario->order;
	const struct net_after *a = net->after;

	for (uint32_t k = 0; a->sections[section].waits && k < flow_order_waits(o, section); k++)
		if (a->sections[o->awaited[o->first[section] + k]].all.left > 0)
			return o->awaited[o->first[section] + k];
	return UINT32_MAX;
}

uint32_t
net_after_waiting_messages(const struct net *net, uint32_t section)
{
	const struct section *of = &net->after->sections[section];
	const struct flow_params *params = &net->scenario->flows[section];
	uint32_t messages =
		params->messages_of_pairs != NULL ? params->n_messages : params->n_pairs;
	uint32_t n = 0;

	for (uint32_t i = 0; of->messages != NULL && i < messages; i++)
		n += params->trace_after[i] > 0 &&
		     of->messages[params->trace_after[i] - 1].left > 0;
	return n;
}

static void
release(struct net_after *a, uint32_t turn, uint64_t begin_ns)
{
	a->released[a->n_released++] = (struct released){turn, begin_ns};
}

/* When the last flow that this one waits for ended; NEVER_NS: not all have. */
static uint64_t
last_end_ns(const struct net *net, uint32_t index)
{
	const struct flow_order *o = &net->scenario->order;
	uint64_t last_ns = 0;

	for (uint32_t k = 0; k < flow_order_waits(o, index); k++) {
		const struct awaited *all =
			&net->after->sections[o->awaited[o->first[index] + k]].all;

		if (all->left > 0)
			return NEVER_NS;
		last_ns = max_u64(last_ns, all->last_ns);
	}
	return last_ns;
}

/* The flows that have waited for the ends of others and need not any more. */
static void
release_sections(struct net *net)
{
	struct net_after *a = net->after;

	for (uint32_t i = 0; i < a->n; i++) {
		struct section *of = &a->sections[i];
		uint64_t last_ns = of->waits ? last_end_ns(net, i) : NEVER_NS;

		if (last_ns == NEVER_NS)
			continue;
		of->waits = false;
		for (uint32_t k = 0; k < a->n_turns; k++)
			if (has_section(net, a->turns[k].flow) &&
			    section_of(net, a->turns[k].flow) == of &&
			    awaited_message(net, of, a->turns[k]) == 0)
				release(a, k, last_ns + net->scenario->fabric.signal_delay_ns);
	}
}

static void
end_qp(struct net *net, struct awaited *awaited, uint64_t end_ns)
{
	struct net_after *a = net->after;

	awaited->left--;
	awaited->last_ns = max_u64(awaited->last_ns, end_ns);
	if (awaited->left > 0)
		return;
	for (uint32_t k = awaited->first_turn; k != NONE; k = a->next_turn[k])
		release(a, k, awaited->last_ns + net->scenario->fabric.signal_delay_ns);
}

/* The flow of a host's QP. */
static uint32_t
flow_of_qp(const struct net_after *a, uint32_t host, uint32_t qp)
{
	uint32_t low = a->of_host[host - 1], high = a->of_host[host];

	while (low + 1 < high) {
		uint32_t middle = (low + high) / 2;

		if (a->places[middle].first_qp <= qp)
			low = middle;
		else
			high = middle;
	}
	return a->places[low].flow;
}

static void
take_end(struct net *net, uint32_t host, const struct nic_end *end)
{
	uint32_t flow = flow_of_qp(net->after, host, end->item);
	struct section *of;

	if (!has_section(net, flow))
		return;
	of = section_of(net, flow);
	of->all.left--;
	of->all.last_ns = max_u64(of->all.last_ns, end->end_ns);
	if (of->messages != NULL)
		end_qp(net,
		       &of->messages[scenario_message_row(net->flows[flow].params, flow - of->first,
							  end->item - net->flows[flow].src_qp)],
		       end->end_ns);
}

/* An end at a host, for other ranks. */
struct far_end {
	struct nic_end end;
	uint32_t host;
};

/* The ends at a host since the last time; they are appended to `to` as well, unless it is NULL. */
static void
take_ends(struct net *net, uint32_t host, struct rank_bytes *to)
{
	const struct nic_end *ends;
	uint32_t n = nic_recorded_ends(net_host(net, host), &ends);

	for (uint32_t i = 0; i < n; i++) {
		struct far_end far;

		take_end(net, host, &ends[i]);
		if (to == NULL)
			continue;
		memset(&far, 0, sizeof(far));
		far.end = ends[i];
		far.host = host;
		rank_bytes_add(to, &far, sizeof(far));
	}
	if (n > 0)
		nic_clear_ends(net->hosts[host - 1]);
}

/* All ranks know all ends, and so let the same flows begin. */
static void
share_ends(struct net *net, const struct rank_bytes *own)
{
	struct ranks *ranks = net->ranks;

	/* If it fails, the next run does, too. */
	if (ranks_share(ranks, own) < 0)
		return;
	for (uint32_t q = 0; q < ranks->n; q++) {
		struct rank_reader r = rank_reader_of(&ranks->in[q]);

		while (q != ranks->self && !r.bad && r.at < r.end) {
			struct far_end far;

			rank_reader_copy(&r, &far, sizeof(far));
			if (!r.bad)
				take_end(net, far.host, &far.end);
		}
	}
}

static int
by_turn(const void *a, const void *b)
{
	const struct released *x = a, *y = b;

	return (x->turn > y->turn) - (x->turn < y->turn);
}

/* QPs that begin together do so in the order of their turns. */
static void
begin_released(struct net *net, uint64_t now_ns)
{
	struct net_after *a = net->after;

	if (a->n_released > 1)
		qsort(a->released, a->n_released, sizeof(*a->released), by_turn);
	for (uint32_t i = 0; i < a->n_released; i++) {
		const struct released *r = &a->released[i];
		const struct net_turn *turn = &a->turns[r->turn];
		const struct net_flow *flow = &net->flows[turn->flow];
		const struct flow_pair *pair =
			&flow->params->pairs[turn->flow - section_of(net, turn->flow)->first];

		if (!net_owns_host(net, flow->src))
			continue;
		nic_start_qp_at(net->hosts[flow->src - 1], flow->src_qp + turn->qp,
				r->begin_ns + net_qp_start_ns(flow, pair, turn->qp), now_ns);
	}
	for (uint32_t i = 0; i < a->n_released; i++)
		net_poke_host(net, net->flows[a->turns[a->released[i].turn].flow].src, now_ns);
	a->n_waiting -= a->n_released;
	a->n_released = 0;
}

void
net_after_run(struct net *net, uint64_t now_ns)
{
	struct net_after *a = net->after;
	struct rank_bytes own = {0};

	net_rounds_run(net, now_ns);
	if (a->next_ns > now_ns)
		return;
	for (uint32_t h = 1; h <= net->scenario->topology->n_hosts; h++)
		if (net_owns_host(net, h))
			take_ends(net, h, net->ranks == NULL ? NULL : &own);
	if (net->ranks != NULL)
		share_ends(net, &own);
	rank_bytes_free(&own);
	release_sections(net);
	begin_released(net, now_ns);
	a->next_ns = a->n_waiting > 0 ? now_ns + net->scenario->fabric.signal_delay_ns : NEVER_NS;
}
