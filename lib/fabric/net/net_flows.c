/* SPDX-License-Identifier: BSD-3-Clause */
/* The QPs of all flows, and their results. */
#include "fabric/net/net_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"

/* Messages of each QP. A message has at most 2^31 bytes: more in a trace is several equal ones. */
static uint64_t
messages_of(const struct flow_params *flow, const struct flow_pair *pair)
{
	if (flow->messages_of_pairs != NULL)
		return flow->messages_of_pairs[pair->first_message].parts;
	/* How many QPs in turn send is not known before the run. */
	if (flow->shares_qps)
		return pair->all_drawn ? 1 : 0;
	if (flow->pattern != FLOW_TRACE)
		return flow->messages;
	return 1 + sub_sat(pair->bytes, 1) / WORKLOAD_MAX_BYTES;
}

uint64_t
net_qp_start_ns(const struct net_flow *flow, const struct flow_pair *pair, uint32_t number)
{
	const struct flow_params *p = flow->params;

	if (p->messages_of_pairs != NULL)
		return p->messages_of_pairs[pair->first_message + number / scenario_message_qps(p)]
			.at_ns;
	/* Of shared messages, each has its own arrival. */
	if (p->shares_qps)
		return 0;
	return p->pattern == FLOW_TRACE ? pair->at_ns : p->start_ns;
}

static int64_t
add_qp(struct net *net, uint32_t host, uint32_t peer, uint32_t peer_qpn, bool requester,
       const struct flow_params *flow, const struct flow_pair *pair, uint32_t number)
{
	struct nic_qp_params qp;

	if (!net_has_host(net, host))
		return 0;
	qp = (struct nic_qp_params){
		.peer_ip = scenario_host_ip(net->scenario, peer),
		.peer_qpn = peer_qpn,
		.requester = requester,
		.mtu_bytes = flow->mtu_bytes,
		.verb = flow->verb,
		.cc = scenario_cc_choice(net->scenario, flow, (uint32_t)(pair - flow->pairs)),
		.imm_timestamp = flow->imm_timestamp,
		.flow_id = net->n_flows - 1,
		.work = flow->work,
		.has_dscp = flow->dscp >= 0,
		.dscp = flow->dscp >= 0 ? (uint8_t)flow->dscp : 0,
		.max_recv_wr = requester ? 0 : flow->max_recv_wr,
		.post_recv_ns = requester ? 0 : flow->post_recv_ns,
		.rate_cap_bps = flow->rate_cap_bps,
		.stopped = flow->stopped,
		.barrier = requester && scenario_has_barrier(flow),
		.held = true,
	};
	if (flow->messages_of_pairs != NULL) {
		const struct flow_message *m =
			&flow->messages_of_pairs[pair->first_message +
						 number / scenario_message_qps(flow)];

		qp.work.messages = m->parts;
	} else if (flow->shares_qps) {
		/* As nic_share_messages() wants it. */
		qp.work.messages = 1;
		qp.work.depth = 1;
		qp.work.stop_ns = NEVER_NS;
	}
	if (flow->messages_of_pairs != NULL || flow->shares_qps) {
		qp.work.message_bytes = pair->bytes;
		/* Of an open loop, whose messages have been drawn. */
		qp.work.message_size = WORKLOAD_FIXED;
		qp.work.message_min_bytes = 0;
		qp.work.message_cdf[0] = '\0';
		qp.work.cdf = NULL;
		qp.work.arrival = WORKLOAD_CLOSED;
		qp.work.load_bps = 0;
		qp.work.bytes = 0;
		if (requester) {
			qp.work.message_size = WORKLOAD_BY_QP;
			qp.work.by_qp = &net->by_qp[net->n_flows - 1];
		}
	} else if (flow->pattern == FLOW_JOB && requester) {
		qp.work.posts = net_job_posts(net, net->n_flows - 1);
	} else if (flow->pattern == FLOW_TRACE) {
		qp.work.messages = messages_of(flow, pair);
		qp.work.message_bytes = (pair->bytes + qp.work.messages - 1) / qp.work.messages;
	}
	qp.work.start_ns = net_qp_start_ns(&net->flows[net->n_flows - 1], pair, number);
	qp.seed = scenario_flow_seed(net->scenario, flow, host);
	scenario_next_hop_mac(net->scenario, host, peer, qp.peer_mac);
	return nic_add_qp(net->hosts[host - 1], &qp, 0);
}

/* The sizes of messages, by the QP that carries each. Of shared messages, the QP takes its own. */
static void
set_sizes(struct net *net, const struct net_flow *flow, const struct flow_pair *pair,
	  uint64_t *next)
{
	struct workload_by_qp *by_qp = &net->by_qp[net->n_flows - 1];
	uint32_t *bytes = net->message_bytes + *next;

	for (uint32_t i = 0; i < flow->qps && !flow->params->shares_qps; i++)
		bytes[i] = flow->params
				   ->messages_of_pairs[pair->first_message +
						       i / scenario_message_qps(flow->params)]
				   .bytes;
	*by_qp = (struct workload_by_qp){.first_qpn = SCENARIO_FIRST_QPN + flow->src_qp,
					 .bytes = bytes};
	*next += flow->qps;
}

/* Room for the sizes of large traces. @return 0 or -ENOMEM. */
static int
reserve_sizes(struct net *net)
{
	const struct scenario *s = net->scenario;
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		n += (uint64_t)flow->n_messages * scenario_message_qps(flow);
		for (uint32_t k = 0; flow->shares_qps && k < flow->n_pairs; k++)
			n += flow->pairs[k].n_qps;
	}
	if (n == 0)
		return 0;
	net->message_bytes = calloc(n, sizeof(*net->message_bytes));
	net->by_qp = calloc(scenario_flow_pairs(s), sizeof(*net->by_qp));
	return net->message_bytes != NULL && net->by_qp != NULL ? 0 : -ENOMEM;
}

static int
share_messages(struct net *net, const struct net_flow *flow, const struct flow_pair *pair)
{
	struct open_loop *loops;
	int rc = -ENOMEM;

	if (!net_has_host(net, flow->src))
		return 0;
	loops = malloc(flow->params->qp_count * sizeof(*loops));
	if (loops != NULL) {
		scenario_open_loops(net->scenario, flow->params, pair, loops);
		rc = nic_share_messages(net->hosts[flow->src - 1], flow->src_qp, flow->qps, loops,
					flow->params->qp_count);
	}
	free(loops);
	return rc;
}

/* The trace at the sender of the data, if that is here. */
static int
trace_qp(struct net *net, const struct net_flow *flow, uint32_t qp)
{
	struct net_end from = net_flow_sender(flow);

	return net_has_host(net, from.host)
		       ? nic_trace_qp(net->hosts[from.host - 1], from.first_qp + qp, NIC_TRACE_ROWS)
		       : 0;
}

/*
 * Add the QPs of a flow. QPs of both ends are numbered in the order in which they are added, so
 * each end knows the other's next number.
 * @return 0, or -errno if a QP or its trace cannot be added.
 */
static int
add_flow(struct net *net, const struct flow_params *params, uint32_t index, uint64_t *next)
{
	const struct flow_pair *pair = &params->pairs[index];
	uint32_t qps = scenario_pair_qps(params, index);
	struct net_flow *flow = &net->flows[net->n_flows++];

	*flow = (struct net_flow){
		.src = pair->src,
		.dst = pair->dst,
		.src_qp = net->qps_of_host[pair->src],
		.dst_qp = net->qps_of_host[pair->dst],
		.qps = qps,
		.messages = messages_of(params, pair),
		.cc = cc_chosen(scenario_cc_choice(net->scenario, params, index),
				net->scenario->nic.cc),
		.params = params,
	};
	scenario_flow_title(params, index, flow->name);
	net->qps_of_host[pair->src] += qps;
	net->qps_of_host[pair->dst] += qps;
	if (params->job != NULL && net_job_prepare(net, net->n_flows - 1) < 0)
		return -ENOMEM;
	if (params->messages_of_pairs != NULL || params->shares_qps)
		set_sizes(net, flow, pair, next);
	for (uint32_t i = 0; i < qps; i++) {
		int64_t src_qp =
			add_qp(net, pair->src, pair->dst, SCENARIO_FIRST_QPN + flow->dst_qp + i,
			       true, params, pair, i);
		int64_t dst_qp =
			add_qp(net, pair->dst, pair->src, SCENARIO_FIRST_QPN + flow->src_qp + i,
			       false, params, pair, i);

		int rc = 0;

		if (src_qp < 0 || dst_qp < 0)
			return (int)(src_qp < 0 ? src_qp : dst_qp);
		if (net_has_host(net, pair->src) &&
		    (scenario_has_after(params) || scenario_awaited_message(params, index, i) > 0))
			nic_await_start(net->hosts[pair->src - 1], flow->src_qp + i);
		if (i < params->trace_qps)
			rc = trace_qp(net, flow, i);
		if (rc < 0)
			return rc;
	}
	return params->shares_qps ? share_messages(net, flow, pair) : 0;
}

int
net_create_flows(struct net *net, char *why, unsigned int why_size)
{
	const struct scenario *s = net->scenario;
	uint64_t next_message = 0; /* in message_bytes */

	net->qps_of_host = calloc(s->topology->n_hosts + 1, sizeof(*net->qps_of_host));
	if (net->qps_of_host == NULL || reserve_sizes(net) < 0)
		return net_fail(why, why_size, "no memory for the messages of traces");
	if (net_jobs_begin(net) < 0)
		return net_fail(why, why_size, "no memory for jobs");
	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		for (uint32_t k = 0; k < flow->n_pairs; k++) {
			int rc = add_flow(net, flow, k, &next_message);

			if (rc < 0)
				return net_fail(why, why_size,
						"flow %s: cannot add a QP or its trace: %s",
						flow->name, strerror(-rc));
		}
	}
	if (net_add_ranks(net) < 0)
		return net_fail(why, why_size, "no memory for jobs");
	return 0;
}

uint32_t
net_host_qps(const struct net *net, uint32_t h)
{
	return net->qps_of_host[h];
}

uint32_t
net_flow_count(const struct net *net)
{
	return net->n_flows;
}

const struct net_flow *
net_flow(const struct net *net, uint32_t index)
{
	return &net->flows[index];
}

struct net_end
net_flow_sender(const struct net_flow *flow)
{
	if (flow->params->verb == NIC_READ)
		return (struct net_end){flow->dst, flow->dst_qp};
	return (struct net_end){flow->src, flow->src_qp};
}

struct net_end
net_flow_receiver(const struct net_flow *flow)
{
	if (flow->params->verb == NIC_READ)
		return (struct net_end){flow->src, flow->src_qp};
	return (struct net_end){flow->dst, flow->dst_qp};
}

bool
net_flow_is_silent(const struct net_flow *flow, const struct nic_qp_info *at_sender,
		   const struct nic_qp_info *at_receiver)
{
	bool pair = flow->params->pattern == FLOW_ALL_TO_ALL ||
		    flow->params->pattern == FLOW_TRACE || flow->params->pattern == FLOW_JOB;

	/* The receiver of a READ sends the requests. */
	return pair && at_sender->tx_wire_bytes == 0 && at_receiver->tx_wire_bytes == 0;
}

/* Rates of a flow whose messages have QPs of their own. The requester knows the end of a QP. */
static void
rates_of_messages(const struct net *net, const struct net_flow *flow, struct nic_qp_info *at_sender)
{
	struct net_end from = net_flow_sender(flow);

	at_sender->rate_bps = at_sender->target_rate_bps = at_sender->min_rate_bps = 0;
	for (uint32_t i = 0; i < flow->qps; i++) {
		struct nic_qp_info qp, requester;

		nic_qp_info(net_host(net, from.host), from.first_qp + i, &qp);
		if (qp.tx_wire_bytes == 0)
			continue;
		if (at_sender->min_rate_bps == 0 || qp.min_rate_bps < at_sender->min_rate_bps)
			at_sender->min_rate_bps = qp.min_rate_bps;
		requester = qp;
		if (flow->params->verb == NIC_READ)
			nic_qp_info(net_host(net, flow->src), flow->src_qp + i, &requester);
		if (requester.done || requester.error || requester.rests)
			continue;
		at_sender->rate_bps += qp.rate_bps;
		at_sender->target_rate_bps += qp.target_rate_bps;
	}
}

void
net_flow_info(const struct net *net, uint32_t index, struct nic_qp_info *at_sender,
	      struct nic_qp_info *at_receiver)
{
	const struct net_flow *flow = &net->flows[index];
	struct net_end from = net_flow_sender(flow), to = net_flow_receiver(flow);
	struct nic_flow_info sender = {0}, receiver = {0};

	nic_flow_info(net_host(net, from.host), index, &sender);
	nic_flow_info(net_host(net, to.host), index, &receiver);
	*at_sender = sender.sum;
	*at_receiver = receiver.sum;
	if (flow->params->messages_of_pairs != NULL || flow->params->shares_qps)
		rates_of_messages(net, flow, at_sender);
}

const struct nic_times *
net_flow_times(const struct net *net, uint32_t index)
{
	return nic_flow_times(net_host(net, net->flows[index].src), index);
}

const struct nic_pacing *
net_flow_pacing(const struct net *net, uint32_t index, struct nic_pacing *sum)
{
	const struct net_flow *flow = &net->flows[index];
	const struct nic_pacing *ends[] = {
		nic_flow_pacing(net_host(net, net_flow_sender(flow).host), index),
		nic_flow_pacing(net_host(net, net_flow_receiver(flow).host), index),
	};

	if (ends[0] == NULL && ends[1] == NULL)
		return NULL;
	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < ARRAY_LEN(ends); i++)
		if (ends[i] != NULL)
			nic_pacing_merge(sum, ends[i]);
	return sum;
}

uint64_t
net_flow_paused_ns(const struct net *net, uint32_t index, uint64_t now_ns)
{
	uint32_t host = net_flow_sender(&net->flows[index]).host;

	return nic_flow_paused_ns(net_host(net, host), index, now_ns);
}

const struct nic_trace *
net_trace_of(const struct net *net, uint32_t index, uint16_t qp)
{
	struct net_end from = net_flow_sender(&net->flows[index]);
	const struct nic_traces *traces;

	if (!net_has_host(net, from.host))
		return NULL;
	traces = nic_traces(net->hosts[from.host - 1]);
	for (uint32_t i = 0; i < traces->n; i++)
		if (traces->index[i] == from.first_qp + qp)
			return traces->trace[i];
	return NULL;
}

int
net_trace_qp(struct net *net, uint32_t index, uint16_t qp)
{
	return net_trace_of(net, index, qp) != NULL ? 0 : trace_qp(net, &net->flows[index], qp);
}
