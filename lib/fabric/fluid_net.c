/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/fluid_net.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fixed.h"
#include "base/units.h"
#include "fabric/fluid_net_internal.h"

static uint32_t
count_flows(const struct scenario *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_flows; i++)
		n += s->flows[i].n_pairs;
	return n;
}

static uint64_t
sending_ns(const struct scenario *s, double bytes)
{
	return (uint64_t)(bytes * 8e9 / (double)s->fabric.link_rate_bps);
}

/* From the queue to the receiver, its CNP to the sender over two cables, and a packet to the queue.
 */
static uint64_t
loop_delay_ns(const struct scenario *s, double packet_bytes)
{
	return 4 * s->fabric.link_delay_ns + 2 * sending_ns(s, packet_bytes) +
	       2 * sending_ns(s, CNP_WIRE_BYTES) + s->nic.np.np_cnp_delay_ns;
}

/* Payload of a message, on average. */
static double
message_bytes(const struct flow_params *flow)
{
	switch (flow->message_size) {
	case WORKLOAD_UNIFORM:
		return ((double)flow->message_min_bytes + (double)flow->message_bytes) / 2;
	case WORKLOAD_CDF:
		return (double)flow->cdf->mean_bytes;
	default:
		return (double)flow->message_bytes;
	}
}

struct packet {
	double payload_bytes, wire_bytes;
};

/* The mean packet of a message: all but the last are full, and one of them has a RETH. */
static struct packet
mean_packet(const struct flow_params *flow)
{
	double message = message_bytes(flow);
	double packets = fmax(1, ceil(message / flow->mtu_bytes));
	double extension = flow->verb == NIC_SEND ? 0 : RETH_WIRE_BYTES;

	return (struct packet){
		.payload_bytes = message / packets,
		.wire_bytes = (message + extension) / packets + PACKET_WIRE_BYTES,
	};
}

/* Wire bytes after which a QP ends; 0: never. */
static double
end_bytes(const struct flow_params *flow, struct packet packet)
{
	double payload = INFINITY;

	if (flow->messages > 0)
		payload = (double)flow->messages * message_bytes(flow);
	if (flow->bytes > 0)
		payload = fmin(payload, (double)flow->bytes);
	if (isinf(payload) || packet.payload_bytes <= 0)
		return 0;
	return payload * packet.wire_bytes / packet.payload_bytes;
}

/* What nic_cc_start() does; QPs of one class count each other. */
static uint64_t
start_rate_bps(const struct scenario *s, uint32_t others)
{
	uint64_t line_bps = s->fabric.link_rate_bps;

	if (others == 0 || s->nic.initial_rate == NIC_INITIAL_LINE)
		return line_bps;
	if (s->nic.initial_rate == NIC_INITIAL_FAIR)
		return line_bps / (others + 1);
	return s->nic.initial_rate_bps;
}

/* QPs that the sender has besides one of these, when they start. */
static uint32_t
other_qps(const struct fluid_net *net, uint32_t index)
{
	const struct fluid_net_flow *flow = &net->flows[index];
	uint64_t start_ns = net->params_of[index]->start_ns;
	uint32_t others = flow->qps - 1u;

	for (uint32_t i = 0; i < net->n_flows; i++)
		if (i != index && net->senders[i] == net->senders[index] &&
		    (net->params_of[i]->start_ns < start_ns ||
		     (net->params_of[i]->start_ns == start_ns && i < index)))
			others += net->flows[i].qps;
	return others;
}

static uint32_t
queue_of(struct fluid_net *net, uint16_t receiver, uint8_t queue)
{
	uint32_t i;

	for (i = 0; i < net->n_queues; i++)
		if (net->queues[i].port == receiver - 1)
			return i;
	net->queues[net->n_queues++] =
		(struct fluid_net_queue){.port = (uint16_t)(receiver - 1), .queue = queue};
	return i;
}

static void
add_class(struct fluid_net *net, uint32_t index)
{
	const struct scenario *s = net->scenario;
	const struct flow_params *flow = net->params_of[index];
	struct packet packet = mean_packet(flow);
	uint64_t line_bps = s->fabric.link_rate_bps;

	net->flows[index].loop_delay_ns = loop_delay_ns(s, packet.wire_bytes);
	net->class_of[index] = net->params.n_classes;
	net->classes[net->params.n_classes++] = (struct fluid_class_params){
		.hosts = 1,
		.qps = flow->qp_count,
		.uplink = net->senders[index] - 1u,
		.queue = queue_of(net, net->receivers[index], fluid_net_queue_of(s, flow)),
		.wire_bytes = packet.wire_bytes,
		.frame_bytes = packet.wire_bytes - GAP_BYTES,
		.start_ns = flow->start_ns,
		.stop_ns = flow->stop_ns,
		.bytes = end_bytes(flow, packet),
		.start_rate_bps = start_rate_bps(s, other_qps(net, index)),
		.cap_bps =
			flow->rate_cap_bps == 0 ? line_bps : min_u64(flow->rate_cap_bps, line_bps),
		.loop_delay_ns = net->flows[index].loop_delay_ns,
	};
}

/* The class of a flow before this one that does the same, its own host for itself; -1: none. */
static int64_t
same_class(const struct fluid_net *net, uint32_t index)
{
	if (net->flows_of[net->senders[index]] != 1)
		return -1;
	/* Those of one section stand together. */
	for (uint32_t i = index; i-- > 0 && net->params_of[i] == net->params_of[index];)
		if (net->receivers[i] == net->receivers[index] &&
		    net->flows_of[net->senders[i]] == 1)
			return net->class_of[i];
	return -1;
}

static void
name_flows(struct fluid_net *net)
{
	const struct scenario *s = net->scenario;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		for (uint32_t k = 0; k < flow->n_pairs; k++, n++) {
			const struct flow_pair pair = flow->pairs[k];
			bool read = flow->verb == NIC_READ;

			net->params_of[n] = flow;
			net->senders[n] = read ? pair.dst : pair.src;
			net->receivers[n] = read ? pair.src : pair.dst;
			net->flows_of[net->senders[n]]++;
			net->flows[n].src = pair.src;
			net->flows[n].dst = pair.dst;
			net->flows[n].qps = flow->qp_count;
			scenario_flow_title(flow, k, net->flows[n].name);
		}
	}
}

static int
allocate(struct fluid_net *net)
{
	uint32_t n = net->n_flows;

	net->flows = calloc(n, sizeof(*net->flows));
	net->params_of = calloc(n, sizeof(*net->params_of));
	net->senders = calloc(n, sizeof(*net->senders));
	net->receivers = calloc(n, sizeof(*net->receivers));
	net->class_of = calloc(n, sizeof(*net->class_of));
	net->flows_of = calloc(net->scenario->fabric.hosts + 1u, sizeof(*net->flows_of));
	net->classes = calloc(n, sizeof(*net->classes));
	net->points = calloc(n, sizeof(*net->points));
	net->sent_before = calloc(n, sizeof(*net->sent_before));
	net->sent_at_window = calloc(n, sizeof(*net->sent_at_window));
	net->queues = calloc(n, sizeof(*net->queues));
	net->area_at_window = calloc(n, sizeof(*net->area_at_window));
	return net->flows && net->params_of && net->senders && net->receivers && net->class_of &&
			       net->flows_of && net->classes && net->points && net->sent_before &&
			       net->sent_at_window && net->queues && net->area_at_window
		       ? 0
		       : -ENOMEM;
}

static void
set_params(struct fluid_net *net)
{
	const struct scenario *s = net->scenario;
	struct fluid_params *p = &net->params;

	p->rp = s->nic.rp;
	if (p->rp.rp_max_rate_bps == 0 || p->rp.rp_max_rate_bps > s->fabric.link_rate_bps)
		p->rp.rp_max_rate_bps = s->fabric.link_rate_bps;
	p->wred = s->sw.wred;
	p->np_min_time_between_cnps_us = s->nic.np.np_min_time_between_cnps_us;
	p->mark_at_enqueue = s->sw.mark_at == SW_MARK_AT_ENQUEUE;
	p->link_rate_bps = s->fabric.link_rate_bps;
	p->n_uplinks = s->fabric.hosts;
	p->classes = net->classes;
	name_flows(net);
	for (uint32_t i = 0; i < net->n_flows; i++) {
		int64_t same = same_class(net, i);

		if (same < 0) {
			add_class(net, i);
			continue;
		}
		net->class_of[i] = (uint32_t)same;
		net->classes[same].hosts++;
		net->flows[i].loop_delay_ns = net->classes[same].loop_delay_ns;
	}
	p->n_queues = net->n_queues;
}

static void
find_points(struct fluid_net *net)
{
	for (uint32_t q = 0; q < net->n_queues; q++)
		net->queues[q].point = fluid_fixed_point(&net->params, q, net->points);
	for (uint32_t i = 0; i < net->n_flows; i++) {
		struct fluid_class_point *point = &net->flows[i].point;

		*point = net->points[net->class_of[i]];
		point->rate_bps *= net->flows[i].qps;
		point->target_rate_bps *= net->flows[i].qps;
	}
}

struct fluid_net *
fluid_net_create(const struct scenario *s, struct scenario_fault *fault)
{
	struct fluid_net *net;

	if (fluid_net_check(s, fault) < 0) {
		errno = ENOTSUP;
		return NULL;
	}
	net = calloc(1, sizeof(*net));
	if (net == NULL)
		return NULL;
	net->scenario = s;
	net->n_flows = count_flows(s);
	if (allocate(net) < 0) {
		fluid_net_destroy(net);
		errno = ENOMEM;
		return NULL;
	}
	set_params(net);
	net->model = fluid_create(&net->params);
	if (net->model == NULL) {
		fluid_net_destroy(net);
		errno = ENOMEM;
		return NULL;
	}
	find_points(net);
	return net;
}

void
fluid_net_destroy(struct fluid_net *net)
{
	if (net == NULL)
		return;
	fluid_destroy(net->model);
	free(net->flows);
	free(net->params_of);
	free(net->senders);
	free(net->receivers);
	free(net->class_of);
	free(net->flows_of);
	free(net->classes);
	free(net->points);
	free(net->sent_before);
	free(net->sent_at_window);
	free(net->queues);
	free(net->area_at_window);
	free(net);
}

uint32_t
fluid_net_flow_count(const struct fluid_net *net)
{
	return net->n_flows;
}

const struct fluid_net_flow *
fluid_net_flow(const struct fluid_net *net, uint32_t index)
{
	return &net->flows[index];
}

uint32_t
fluid_net_queue_count(const struct fluid_net *net)
{
	return net->n_queues;
}

const struct fluid_net_queue *
fluid_net_queue(const struct fluid_net *net, uint32_t index)
{
	return &net->queues[index];
}

uint64_t
fluid_net_step_ns(const struct fluid_net *net)
{
	return fluid_step_ns(net->model);
}
