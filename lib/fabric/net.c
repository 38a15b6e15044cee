/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/net.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_mempool.h>

#include "base/fixed.h"
#include "node/pkt_pool.h"

/* First QPN of every host: small numbers are reserved (0 and 1 are management QPs in InfiniBand).
 */
#define FIRST_QPN 0x100
#define CLONE_MBUFS 4096

struct net {
	const struct scenario *scenario;
	struct fabric *fabric;
	struct node *sw;
	struct node **hosts;
	struct net_flow *flows;
	uint32_t n_flows;
	struct rte_mempool *data, *control, *frames, *clones;
};

static int
fail(char *why, unsigned int why_size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, why_size, format, args);
	va_end(args);
	return -1;
}

static uint16_t
largest_mtu(const struct scenario *s)
{
	uint16_t mtu = 256;

	for (uint32_t i = 0; i < s->n_flows; i++)
		if (s->flows[i].mtu_bytes > mtu)
			mtu = s->flows[i].mtu_bytes;
	return mtu;
}

static struct rte_mempool *
plain_pool(const char *name, uint32_t n, uint16_t largest_frame)
{
	return pkt_pool_create(&(struct pkt_pool_params){.name = name,
							 .n_mbufs = n,
							 .largest_frame = largest_frame,
							 .socket = SOCKET_ID_ANY});
}

static int
create_pools(struct net *net, char *why, unsigned int why_size)
{
	const struct scenario *s = net->scenario;
	uint16_t mtu = largest_mtu(s);
	uint64_t n = scenario_backing_frames(s);

	net->data = nic_data_pool_create("lab_data", (uint32_t)n, mtu, SOCKET_ID_ANY);
	net->control = plain_pool("lab_control", (uint32_t)n, 128);
	net->frames = plain_pool("lab_frames", CLONE_MBUFS, nic_largest_frame(mtu));
	net->clones = plain_pool("lab_clones", CLONE_MBUFS, 0);
	if (!net->data || !net->control || !net->frames || !net->clones)
		return fail(why, why_size, "no memory for %" PRIu64 " packets: %s", 2 * n,
			    rte_strerror(rte_errno));
	return 0;
}

static uint32_t
qps_of_host(const struct scenario *s, uint16_t host)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		for (int32_t h = host_list_next(flow->src, 0); h > 0;
		     h = host_list_next(flow->src, (uint16_t)h))
			if (h == host || flow->dst == host)
				n += flow->qp_count;
	}
	return n;
}

static bool
is_slow(const struct fabric_params *f, uint16_t host)
{
	return strcmp(f->slow_hosts, "all") == 0 ||
	       host_list_next(f->slow_hosts, (uint16_t)(host - 1)) == host;
}

static int
create_nodes(struct net *net, char *why, unsigned int why_size)
{
	const struct scenario *s = net->scenario;
	struct sw_pools sw_pools = {.frames = net->frames, .clones = net->clones};
	struct nic_pools nic_pools = {.data = net->data, .control = net->control};

	net->sw = sw_create(&s->sw, &sw_pools);
	if (net->sw == NULL)
		return fail(why, why_size, "switch: %s", strerror(errno));
	for (uint16_t h = 1; h <= s->fabric.hosts; h++) {
		struct nic_params p = s->nic;
		uint32_t qps = qps_of_host(s, h);

		scenario_host_mac(h, p.mac);
		p.ip = scenario_host_ip(h);
		if (!is_slow(&s->fabric, h))
			p.receiver.drain_rate_bps = 0;
		p.first_qpn = FIRST_QPN;
		p.max_qps = qps > 0 ? qps : 1;
		net->hosts[h - 1] = nic_create(&p, &nic_pools);
		if (net->hosts[h - 1] == NULL)
			return fail(why, why_size, "host %u: %s", h, strerror(errno));
	}
	return 0;
}

static int
connect_star(struct net *net, char *why, unsigned int why_size)
{
	const struct scenario *s = net->scenario;
	struct fabric_link link = {.rate_bps = s->fabric.link_rate_bps,
				   .delay_ns = s->fabric.link_delay_ns};
	int sw_id = fabric_add_node(net->fabric, net->sw);

	for (uint16_t h = 1; h <= s->fabric.hosts; h++) {
		int id = fabric_add_node(net->fabric, net->hosts[h - 1]);
		struct fabric_end host = {.node = (uint32_t)id};
		struct fabric_end port = {.node = (uint32_t)sw_id, .port = h - 1u};
		uint8_t mac[6];

		if (id < 0 || fabric_connect(net->fabric, host, port, &link) < 0)
			return fail(why, why_size, "host %u does not connect", h);
		scenario_host_mac(h, mac);
		if (sw_learn(net->sw, 0, mac, port.port, 0) < 0)
			return fail(why, why_size, "forwarding table is full at host %u", h);
	}
	return 0;
}

static int64_t
add_qp(struct net *net, uint16_t at, uint16_t peer, uint32_t peer_qpn, bool requester,
       const struct flow_params *flow)
{
	struct nic_qp_params qp = {
		.peer_ip = scenario_host_ip(peer),
		.peer_qpn = peer_qpn,
		.requester = requester,
		.mtu_bytes = flow->mtu_bytes,
		.verb = flow->verb,
		.flow_id = net->n_flows - 1,
		.base_rtt_ns = flow->base_rtt_ns,
		.work = flow->work,
		.has_dscp = flow->dscp >= 0,
		.dscp = flow->dscp >= 0 ? (uint8_t)flow->dscp : 0,
		.max_recv_wr = requester ? 0 : flow->max_recv_wr,
		.post_recv_ns = requester ? 0 : flow->post_recv_ns,
		.rate_cap_bps = flow->rate_cap_bps,
	};

	/* QPs of all hosts are numbered alike: the host makes their messages its own. */
	qp.seed = flow->seed + (net->scenario->fabric.seed << 32) + ((uint64_t)at << 16);
	scenario_host_mac(peer, qp.peer_mac);
	return nic_add_qp(net->hosts[at - 1], &qp, 0);
}

/* QPs of both ends are numbered in the order in which they are added, so each end's next number is
 * known. */
static int
add_flow(struct net *net, uint16_t src, const struct flow_params *params)
{
	struct net_flow *flow = &net->flows[net->n_flows++];

	*flow = (struct net_flow){
		.src = src,
		.dst = params->dst,
		.src_qp = nic_qp_count(net->hosts[src - 1]),
		.dst_qp = nic_qp_count(net->hosts[params->dst - 1]),
		.qps = params->qp_count,
		.params = params,
	};
	snprintf(flow->name, sizeof(flow->name), "%s h%u", params->name, src);
	for (uint16_t i = 0; i < params->qp_count; i++) {
		int64_t at_src =
			add_qp(net, src, params->dst, FIRST_QPN + flow->dst_qp + i, true, params);
		int64_t at_dst =
			add_qp(net, params->dst, src, FIRST_QPN + flow->src_qp + i, false, params);

		if (at_src < 0 || at_dst < 0)
			return -1;
		if (i < params->trace_qps &&
		    nic_trace_qp(net->hosts[net_flow_sender(flow).host - 1],
				 net_flow_sender(flow).first_qp + i, NIC_TRACE_ROWS) < 0)
			return -1;
	}
	return 0;
}

static int
create_flows(struct net *net, char *why, unsigned int why_size)
{
	const struct scenario *s = net->scenario;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct flow_params *flow = &s->flows[i];

		for (int32_t h = host_list_next(flow->src, 0); h > 0;
		     h = host_list_next(flow->src, (uint16_t)h))
			if (add_flow(net, (uint16_t)h, flow) < 0)
				return fail(why, why_size, "flow %s: a QP or its trace is refused",
					    flow->name);
	}
	return 0;
}

static int
build(struct net *net, char *why, unsigned int why_size)
{
	uint16_t hosts = net->scenario->fabric.hosts;

	net->hosts = calloc(hosts, sizeof(struct node *));
	net->flows = calloc((size_t)net->scenario->n_flows * hosts, sizeof(*net->flows));
	net->fabric = fabric_create(hosts + 1u, hosts);
	if (net->hosts == NULL || net->flows == NULL || net->fabric == NULL)
		return fail(why, why_size, "no memory");
	if (create_pools(net, why, why_size) < 0 || create_nodes(net, why, why_size) < 0 ||
	    connect_star(net, why, why_size) < 0)
		return -1;
	return create_flows(net, why, why_size);
}

struct net *
net_create(const struct scenario *s, char *why, unsigned int why_size)
{
	struct net *net = calloc(1, sizeof(*net));

	if (net == NULL) {
		fail(why, why_size, "no memory");
		return NULL;
	}
	net->scenario = s;
	if (build(net, why, why_size) < 0) {
		net_destroy(net);
		return NULL;
	}
	return net;
}

void
net_destroy(struct net *net)
{
	if (net == NULL)
		return;
	fabric_destroy(net->fabric);
	if (net->sw != NULL)
		sw_destroy(net->sw);
	for (uint16_t i = 0; net->hosts != NULL && i < net->scenario->fabric.hosts; i++)
		if (net->hosts[i] != NULL)
			nic_destroy(net->hosts[i]);
	pkt_pool_destroy(net->clones);
	pkt_pool_destroy(net->frames);
	pkt_pool_destroy(net->control);
	pkt_pool_destroy(net->data);
	free(net->flows);
	free(net->hosts);
	free(net);
}

const struct scenario *
net_scenario(const struct net *net)
{
	return net->scenario;
}

struct fabric *
net_fabric(struct net *net)
{
	return net->fabric;
}

const struct node *
net_switch(const struct net *net)
{
	return net->sw;
}

const struct node *
net_host(const struct net *net, uint16_t h)
{
	return net->hosts[h - 1];
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
}

const struct nic_times *
net_flow_times(const struct net *net, uint32_t index)
{
	return nic_flow_times(net_host(net, net->flows[index].src), index);
}

const struct nic_pacing *
net_flow_pacing(const struct net *net, uint32_t index)
{
	return nic_flow_pacing(net_host(net, net_flow_sender(&net->flows[index]).host), index);
}

uint64_t
net_flow_paused_ns(const struct net *net, uint32_t index, uint64_t now_ns)
{
	uint16_t host = net_flow_sender(&net->flows[index]).host;

	return nic_flow_paused_ns(net_host(net, host), index, now_ns);
}
