/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of senders and receivers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/prng.h"
#include "fabric/scenario/scenario_parts.h"
#include "fabric/topology/host_list.h"

/* Read the hosts of one key. @return their number, or -EINVAL with fault filled in. */
static int32_t
read_hosts(const struct scenario *s, const struct flow_params *flow, const char *key,
	   const char *list, uint32_t *out, struct scenario_fault *fault)
{
	int32_t n = host_list_parse(s->topology, list, out);
	char expected[64];

	if (n == -ERANGE) {
		snprintf(expected, sizeof(expected), "a host from 1 to %u", s->topology->n_hosts);
		return scenario_refuse(fault, "flow", flow->name, key, expected);
	}
	if (n < 0)
		return scenario_refuse(fault, "flow", flow->name, key,
				       "hosts such as 1-4 or 1,3, h1-h4, T1/1-4");
	return n;
}

static void
add_pair(struct flow_params *flow, uint32_t src, uint32_t dst)
{
	flow->pairs[flow->n_pairs++] = (struct flow_pair){.src = src, .dst = dst};
}

static int
pair_to_dst(const struct scenario *s, struct flow_params *flow, const uint32_t *src, uint32_t n,
	    struct scenario_fault *fault)
{
	uint32_t dst[TOPOLOGY_MAX_HOSTS];
	int32_t n_dst = read_hosts(s, flow, "dst", flow->dst, dst, fault);

	if (n_dst < 0)
		return -EINVAL;
	if (n_dst != 1)
		return scenario_refuse(fault, "flow", flow->name, "dst", "one host");
	for (uint32_t i = 0; i < n; i++) {
		if (src[i] == dst[0])
			return scenario_refuse(fault, "flow", flow->name, "src",
					       "hosts other than dst");
		add_pair(flow, src[i], dst[0]);
	}
	return 0;
}

/* A uniformly random cycle through all hosts (Sattolo 1986), so that no host sends to itself. */
static void
shuffle(uint32_t *hosts, uint32_t n, uint64_t seed, uint64_t stream)
{
	struct prng rnd;

	prng_seed(&rnd, seed, stream);
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t other = (uint32_t)prng_below(&rnd, i);
		uint32_t host = hosts[i];

		hosts[i] = hosts[other];
		hosts[other] = host;
	}
}

static void
pair_permutation(const struct scenario *s, struct flow_params *flow, const uint32_t *src,
		 uint32_t n)
{
	uint32_t dst[TOPOLOGY_MAX_HOSTS];

	memcpy(dst, src, n * sizeof(*dst));
	shuffle(dst, n, s->fabric.seed, flow->seed);
	for (uint32_t i = 0; i < n; i++)
		add_pair(flow, src[i], dst[i]);
}

static void
pair_all(struct flow_params *flow, const uint32_t *src, uint32_t n)
{
	/* In rounds, in which all hosts have different destinations (net/net_turns.c). */
	for (uint32_t step = 1; step < n; step++)
		for (uint32_t i = 0; i < n; i++)
			add_pair(flow, src[i], src[(i + step) % n]);
}

/* Replace the pairs of single messages by pairs with all of theirs. @return 0 or -ENOMEM. */
static int
group_trace(struct flow_params *flow)
{
	struct flow_message *messages = calloc(flow->n_pairs, sizeof(*messages));

	if (messages == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < flow->n_pairs; i++) {
		const struct flow_pair *p = &flow->pairs[i];
		uint32_t parts = 1 + (uint32_t)(sub_sat(p->bytes, 1) / WORKLOAD_MAX_BYTES);

		messages[i] =
			(struct flow_message){.src = p->src,
					      .dst = p->dst,
					      .row = i,
					      .parts = parts,
					      .bytes = (uint32_t)((p->bytes + parts - 1) / parts),
					      .at_ns = p->at_ns};
	}
	scenario_group_messages(flow, messages, flow->n_pairs);
	return 0;
}

static int
check_trace(const struct scenario *s, struct flow_params *flow, struct scenario_fault *fault)
{
	char expected[96];

	if (flow->n_pairs == 0)
		return scenario_refuse(fault, "flow", flow->name, "trace",
				       "a file with pattern = trace");
	for (uint32_t i = 0; i < flow->n_pairs; i++) {
		const struct flow_pair *p = &flow->pairs[i];

		if (flow->imm_timestamp && flow->verb != NIC_WRITE_IMM)
			return scenario_refuse(fault, "flow", flow->name, "imm_timestamp",
					       "off without verb = write_imm");
		if (flow->verb == NIC_UD_SEND && p->bytes > flow->mtu_bytes)
			return scenario_refuse(fault, "flow", flow->name, "trace",
					       "messages of mtu_bytes at most with verb = ud_send");
		if (p->src <= s->topology->n_hosts && p->dst <= s->topology->n_hosts &&
		    p->src != p->dst)
			continue;
		snprintf(expected, sizeof(expected),
			 "two hosts from 1 to %u in its message %u, not %u and %u",
			 s->topology->n_hosts, i + 1, p->src, p->dst);
		return scenario_refuse(fault, "flow", flow->name, "trace", expected);
	}
	flow->messages = 1;
	if (flow->n_pairs > TRACE_MOST_ROWS && group_trace(flow) < 0)
		return scenario_refuse(fault, "flow", flow->name, "trace",
				       "fewer messages: out of memory");
	return 0;
}

static int
check_keys(const struct flow_params *flow, struct scenario_fault *fault)
{
	if (flow->pattern != FLOW_TO_DST && strcmp(flow->dst, "none") != 0)
		return scenario_refuse(fault, "flow", flow->name, "dst",
				       "none, unless pattern is to_dst");
	if (flow->pattern == FLOW_TRACE && flow->message_size != WORKLOAD_FIXED)
		return scenario_refuse(fault, "flow", flow->name, "message_size",
				       "fixed with pattern = trace");
	if (flow->pattern == FLOW_TRACE && flow->arrival != WORKLOAD_CLOSED)
		return scenario_refuse(fault, "flow", flow->name, "arrival",
				       "closed with pattern = trace");
	if (scenario_has_barrier(flow) && flow->pattern == FLOW_TRACE)
		return scenario_refuse(fault, "flow", flow->name, "barrier",
				       "none with pattern = trace");
	if (scenario_has_barrier(flow) && flow->arrival != WORKLOAD_CLOSED &&
	    flow->arrival != WORKLOAD_INCAST)
		return scenario_refuse(fault, "flow", flow->name, "arrival",
				       "closed or incast with barrier: each round is one message");
	if (flow->pattern != FLOW_TRACE && strcmp(flow->trace, "none") != 0)
		return scenario_refuse(fault, "flow", flow->name, "trace",
				       "none, unless pattern is trace");
	return 0;
}

static int
pair_hosts(const struct scenario *s, struct flow_params *flow, struct scenario_fault *fault)
{
	uint32_t src[TOPOLOGY_MAX_HOSTS];
	int32_t n;

	if (flow->pattern == FLOW_JOB)
		return 0;
	n = read_hosts(s, flow, "src", flow->src, src, fault);
	if (n < 0 || check_keys(flow, fault) < 0)
		return -EINVAL;
	if (flow->pattern == FLOW_TRACE)
		return check_trace(s, flow, fault);
	if (flow->pattern != FLOW_TO_DST && n < 2)
		return scenario_refuse(fault, "flow", flow->name, "src", "two hosts at least");
	flow->pairs =
		calloc(flow->pattern == FLOW_ALL_TO_ALL ? (size_t)n * (size_t)(n - 1) : (size_t)n,
		       sizeof(*flow->pairs));
	if (flow->pairs == NULL)
		return scenario_refuse(fault, "flow", flow->name, "src",
				       "fewer hosts: out of memory");
	switch (flow->pattern) {
	case FLOW_TO_DST:
		return pair_to_dst(s, flow, src, (uint32_t)n, fault);
	case FLOW_PERMUTATION:
		pair_permutation(s, flow, src, (uint32_t)n);
		return 0;
	case FLOW_ALL_TO_ALL:
		pair_all(flow, src, (uint32_t)n);
		return 0;
	default:
		for (int32_t i = 0; i < n; i++)
			add_pair(flow, src[i], src[(i + 1) % n]);
		return 0;
	}
}

static uint64_t
link_rate_bps(const struct topology *t, uint32_t host)
{
	return t->links[t->hosts[host - 1].link].cable.rate_bps;
}

/* load_bps of each QP from the load of a host. In all patterns, hosts have equally many peers. */
static int
set_load(const struct scenario *s, struct flow_params *flow, struct scenario_fault *fault)
{
	uint64_t rate_bps, peers = 0;

	if (flow->load_ppm == 0)
		return 0;
	if (!workload_is_open(&flow->work))
		return scenario_refuse(fault, "flow", flow->name, "load_ppm",
				       "0, unless arrival is poisson, lognormal or periodic");
	rate_bps = link_rate_bps(s->topology, flow->pairs[0].src);
	for (uint32_t i = 0; i < flow->n_pairs; i++) {
		peers += flow->pairs[i].src == flow->pairs[0].src;
		if (link_rate_bps(s->topology, flow->pairs[i].src) != rate_bps)
			return scenario_refuse(
				fault, "flow", flow->name, "load_ppm",
				"hosts in src with links of one speed; or load_bps instead");
	}
	flow->load_bps =
		max_u64(mul_div(rate_bps, flow->load_ppm, 1000000 * peers * flow->qp_count), 1);
	return 0;
}

int
scenario_pair_hosts(const struct scenario *s, struct flow_params *flow,
		    struct scenario_fault *fault)
{
	if (pair_hosts(s, flow, fault) < 0 || set_load(s, flow, fault) < 0)
		return -EINVAL;
	return scenario_qp_per_message(s, flow, fault);
}

uint32_t
scenario_flow_pairs(const struct scenario *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_flows; i++)
		n += s->flows[i].n_pairs;
	return n;
}

uint32_t
scenario_message_qps(const struct flow_params *flow)
{
	return flow->pattern == FLOW_TRACE ? flow->qp_count : 1;
}

uint32_t
scenario_message_row(const struct flow_params *flow, uint32_t pair, uint32_t number)
{
	const struct flow_pair *p = &flow->pairs[pair];

	if (flow->messages_of_pairs == NULL)
		return pair;
	return flow->messages_of_pairs[p->first_message + number / scenario_message_qps(flow)].row;
}

uint32_t
scenario_awaited_message(const struct flow_params *flow, uint32_t pair, uint32_t number)
{
	return flow->trace_after == NULL
		       ? 0
		       : flow->trace_after[scenario_message_row(flow, pair, number)];
}

uint32_t
scenario_pair_qps(const struct flow_params *flow, uint32_t pair)
{
	if (flow->shares_qps)
		return flow->pairs[pair].n_qps;
	return flow->messages_of_pairs != NULL
		       ? flow->pairs[pair].n_messages * scenario_message_qps(flow)
		       : flow->qp_count;
}

const char *
scenario_flow_title(const struct flow_params *flow, uint32_t pair, char text[FLOW_TITLE_CHARS + 1])
{
	const struct flow_pair *p = &flow->pairs[pair];

	if (flow->job != NULL && flow->job->shares_nics)
		snprintf(text, FLOW_TITLE_CHARS + 1, "%s %u-%u", flow->name, p->from, p->to);
	else if (flow->pattern == FLOW_TRACE && flow->messages_of_pairs == NULL)
		snprintf(text, FLOW_TITLE_CHARS + 1, "%s %u", flow->name, pair + 1);
	else if (flow->pattern == FLOW_ALL_TO_ALL || flow->pattern == FLOW_TRACE ||
		 flow->pattern == FLOW_JOB)
		snprintf(text, FLOW_TITLE_CHARS + 1, "%s h%u-h%u", flow->name, p->src, p->dst);
	else
		snprintf(text, FLOW_TITLE_CHARS + 1, "%s h%u", flow->name, p->src);
	return text;
}
