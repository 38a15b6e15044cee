/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps the flows of a scenario to classes of the fluid model. A class: QPs with the same parameters
 * and path, at one sender or at several that behave alike. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"
#include "fabric/fluid/fluid_net_state.h"
#include "fabric/net/net_state.h"

/* Mean payload of a message. */
static double
message_bytes(const struct flow_params *flow, const struct flow_pair *pair)
{
	if (flow->pattern == FLOW_TRACE)
		return (double)pair->bytes;
	switch (flow->message_size) {
	case WORKLOAD_UNIFORM:
		return ((double)flow->message_min_bytes + (double)flow->message_bytes) / 2;
	case WORKLOAD_CDF:
		return (double)flow->cdf->mean_bytes_q32 / Q32_ONE;
	default:
		return (double)flow->message_bytes;
	}
}

/*
 * Mean packet of a message: all but the last are full, and one of them has a RETH (except with
 * SEND).
 */
struct mean_packet {
	double message_bytes, payload_bytes, wire_bytes;
};

static struct mean_packet
mean_packet(const struct flow_params *flow, const struct flow_pair *pair)
{
	double message = message_bytes(flow, pair);
	double packets = fmax(1, ceil(message / flow->mtu_bytes));
	double extension =
		flow->verb == NIC_SEND || flow->verb == NIC_SEND_IMM ? 0 : RETH_WIRE_BYTES;

	return (struct mean_packet){
		.message_bytes = message,
		.payload_bytes = message / packets,
		.wire_bytes = (message + extension) / packets + PACKET_WIRE_BYTES,
	};
}

/* Wire bytes after which a QP stops; 0: never. */
static double
end_bytes(const struct flow_params *flow, struct mean_packet packet)
{
	double payload = INFINITY;

	if (flow->messages > 0)
		payload = (double)flow->messages * packet.message_bytes;
	if (flow->bytes > 0)
		payload = fmin(payload, (double)flow->bytes);
	if (isinf(payload) || packet.payload_bytes <= 0)
		return 0;
	return payload * packet.wire_bytes / packet.payload_bytes;
}

/*
 * Initial rate, computed like first_rate_bps() of the NIC, except that all other QPs of the flow
 * count as active.
 */
static uint64_t
start_rate_bps(const struct scenario *s, uint64_t line_bps, uint32_t others)
{
	if (others == 0 || s->nic.initial_rate == NIC_INITIAL_LINE)
		return line_bps;
	if (s->nic.initial_rate == NIC_INITIAL_FAIR)
		return line_bps / (others + 1);
	return s->nic.initial_rate_bps;
}

/* In a trace each message has its own start time. */
static uint64_t
start_ns(const struct fluid_net *net, uint32_t index)
{
	const struct flow_params *flow = net->params_of[index];

	return flow->pattern == FLOW_TRACE ? net->pair_of[index]->at_ns : flow->start_ns;
}

/* Number of other QPs at the sender that have started when a QP of this flow starts. */
static uint32_t
other_qps(const struct fluid_net *net, uint32_t index)
{
	const struct fluid_net_flow *flow = &net->flows[index];
	uint64_t begins_ns = start_ns(net, index);
	uint32_t others = flow->qps - 1u;

	if (net->n_flows_at_host[net->senders[index]] == 1)
		return others;
	for (uint32_t i = 0; i < net->n_flows; i++)
		if (i != index && net->senders[i] == net->senders[index] &&
		    (start_ns(net, i) < begins_ns || (start_ns(net, i) == begins_ns && i < index)))
			others += net->flows[i].qps;
	return others;
}

static struct fluid_class_params
class_of_flow(const struct fluid_net *net, uint32_t index)
{
	const struct flow_params *flow = net->params_of[index];
	struct mean_packet packet = mean_packet(flow, net->pair_of[index]);
	uint32_t uplink = net->senders[index] - 1u;
	uint64_t line_bps = net->uplink_rates_bps[uplink];
	uint64_t max_bps = net->scenario->nic.rp.rp_max_rate_bps;

	return (struct fluid_class_params){
		.hosts = 1,
		.uplink = uplink,
		.wire_bytes = packet.wire_bytes,
		.frame_bytes = packet.wire_bytes - GAP_BYTES,
		.start_ns = start_ns(net, index),
		.stop_ns = flow->stop_ns,
		.bytes = end_bytes(flow, packet),
		.start_rate_bps = start_rate_bps(net->scenario, line_bps, other_qps(net, index)),
		.max_rate_bps = max_bps == 0 ? line_bps : min_u64(max_bps, line_bps),
		.cap_bps =
			flow->rate_cap_bps == 0 ? line_bps : min_u64(flow->rate_cap_bps, line_bps),
	};
}

/*
 * Find the class of an earlier flow of the same section with the same receiver, path and link rate.
 * Neither sender may have another flow. c's own hops are the last in net->hops; the caller drops
 * them if a class is found. @return -1: none.
 */
static int64_t
same_class(const struct fluid_net *net, uint32_t index, const struct fluid_class_params *c)
{
	if (net->n_flows_at_host[net->senders[index]] != 1 ||
	    net->params_of[index]->pattern == FLOW_TRACE)
		return -1;
	/* Flows of one section are adjacent. */
	for (uint32_t i = index; i-- > 0 && net->params_of[i] == net->params_of[index];) {
		uint32_t class = net->parts[net->flows[i].first_part].class;

		if (net->receivers[i] == net->receivers[index] && net->flows[i].n_parts == 1 &&
		    net->n_flows_at_host[net->senders[i]] == 1 &&
		    net->uplink_rates_bps[net->senders[i] - 1] ==
			    net->uplink_rates_bps[c->uplink] &&
		    fluid_net_same_path(net, &net->classes[class], c))
			return class;
	}
	return -1;
}

static int
add_part(struct fluid_net *net, uint32_t index, const struct fluid_class_params *class)
{
	struct fluid_net_part *parts = fluid_net_grow(net->parts, net->n_parts, sizeof(*parts));
	struct fluid_class_params *classes;

	if (parts == NULL)
		return -ENOMEM;
	net->parts = parts;
	classes = fluid_net_grow(net->classes, net->params.n_classes, sizeof(*classes));
	if (classes == NULL)
		return -ENOMEM;
	net->classes = classes;
	net->parts[net->n_parts++] = (struct fluid_net_part){net->params.n_classes, class->qps};
	net->classes[net->params.n_classes++] = *class;
	net->flows[index].n_parts++;
	return 0;
}

/* Add QPs that take one path to the part of their flow with this path, or to a new part. */
static int
add_qps(struct fluid_net *net, uint32_t index, struct fluid_class_params class,
	const struct fluid_net_ends *ends)
{
	struct fluid_net_flow *flow = &net->flows[index];
	int rc = fluid_net_add_path(net, &class, ends);

	if (rc < 0)
		return rc;
	for (uint32_t i = flow->first_part; i < flow->first_part + flow->n_parts; i++) {
		struct fluid_net_part *part = &net->parts[i];

		if (!fluid_net_same_path(net, &net->classes[part->class], &class))
			continue;
		part->qps = (uint16_t)(part->qps + class.qps);
		net->classes[part->class].qps += class.qps;
		net->params.n_hops = class.first_hop;
		return 0;
	}
	return add_part(net, index, &class);
}

/* A flow that behaves like an earlier flow joins that flow's class. */
static void
merge_flow(struct fluid_net *net, uint32_t index)
{
	struct fluid_net_part *part = &net->parts[net->flows[index].first_part];
	int64_t same;

	if (net->flows[index].n_parts != 1)
		return;
	same = same_class(net, index, &net->classes[part->class]);
	if (same < 0)
		return;
	net->params.n_hops = net->classes[part->class].first_hop;
	net->params.n_classes--;
	part->class = (uint32_t)same;
	net->classes[same].hosts++;
}

/* QPs are numbered at each host in the order in which net_create_flows() adds them. */
static int
add_flow(struct fluid_net *net, uint32_t index, uint32_t *n_qps_at_host)
{
	struct fluid_class_params class = class_of_flow(net, index);
	struct fluid_net_flow *flow = &net->flows[index];
	/* Bridges have a single path for all QPs. */
	uint16_t qps_per_path = net->scenario->routes == NULL ? flow->qps : 1;
	int rc = 0;

	flow->first_part = net->n_parts;
	class.qps = qps_per_path;
	for (uint16_t i = 0; rc == 0 && i < flow->qps; i = (uint16_t)(i + qps_per_path)) {
		uint32_t src_qpn = SCENARIO_FIRST_QPN + n_qps_at_host[flow->src] + i;
		uint32_t dst_qpn = SCENARIO_FIRST_QPN + n_qps_at_host[flow->dst] + i;

		rc = add_qps(net, index, class,
			     &(struct fluid_net_ends){
				     .params = net->params_of[index],
				     .sender = net->senders[index],
				     .receiver = net->receivers[index],
				     .udp_sport = roce_udp_sport(roce_flow_label(src_qpn, dst_qpn)),
			     });
	}
	n_qps_at_host[flow->src] += flow->qps;
	n_qps_at_host[flow->dst] += flow->qps;
	if (rc == 0) {
		class = net->classes[net->parts[flow->first_part].class];
		flow->loop_delay_ns = net->hops[class.first_hop].loop_delay_ns;
		merge_flow(net, index);
	}
	return rc;
}

static void
list_flows(struct fluid_net *net)
{
	const struct scenario *s = net->scenario;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		for (uint32_t k = 0; k < flow->n_pairs; k++, n++) {
			const struct flow_pair pair = flow->pairs[k];
			bool read = flow->verb == NIC_READ;

			net->params_of[n] = flow;
			net->pair_of[n] = &flow->pairs[k];
			net->senders[n] = read ? pair.dst : pair.src;
			net->receivers[n] = read ? pair.src : pair.dst;
			net->n_flows_at_host[net->senders[n]]++;
			net->flows[n].src = pair.src;
			net->flows[n].dst = pair.dst;
			net->flows[n].qps = flow->qp_count;
			scenario_flow_title(flow, k, net->flows[n].name);
		}
	}
}

int
fluid_net_add_flows(struct fluid_net *net)
{
	const struct topology *t = net->scenario->topology;
	uint32_t *n_qps_at_host = calloc(t->n_hosts + 1u, sizeof(*n_qps_at_host));
	int rc = n_qps_at_host != NULL ? 0 : -ENOMEM;

	for (uint32_t h = 0; h < t->n_hosts; h++)
		net->uplink_rates_bps[h] = t->links[t->hosts[h].link].cable.rate_bps;
	list_flows(net);
	for (uint32_t i = 0; rc == 0 && i < net->n_flows; i++)
		rc = add_flow(net, i, n_qps_at_host);
	free(n_qps_at_host);
	return rc;
}
