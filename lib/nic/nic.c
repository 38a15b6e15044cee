/* SPDX-License-Identifier: BSD-3-Clause */
/* Building a NIC and its QPs, and reading what they did. */
#include "nic/nic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/pages.h"
#include "nic/nic_internal.h"
#include "node/pkt_meta.h"

/*
 * Pacing: 32 ns is a seventh of a frame at 40 Gb/s.
 *
 * The horizon is a turn of all QPs with a frame of 1 KB each and a quarter more, so that QPs which
 * share the link fairly stay within it, and at least 1 ms for slower ones. Those beyond it are in a
 * list that is walked twice in a horizon, at some 5 ns a QP: of many, that would make others late.
 * Of few it does not, and since all of the wheel passes through the caches theirs is short: so many
 * slots for each that the walk takes a hundredth of the time. Above a quarter of a million slots
 * the slots grow instead.
 */
#define PACE_MIN_NS NS_PER_MS
#define PACE_FEW_QPS 64u
#define PACE_FEW_MIN_NS 4000u
#define PACE_FEW_NS_PER_QP 500u
#define PACE_MIN_SLOTS (1u << 7)
#define PACE_MAX_SLOTS (1u << 18)
#define PACE_MIN_SLOT_NS 32u
#define PACE_FRAME_BYTES 1106u

/* Time to live of what we send; routers in between are few. */
#define TTL 64

static uint64_t
nic_control(struct node *node, uint64_t now_ns)
{
	(void)node;
	(void)now_ns;
	return NEVER_NS; /* neighbours are asked and learnt by rx() and tx() */
}

static const struct node_ops nic_ops = {
	.rx = nic_rx,
	.tx = nic_tx,
	.tx_control = nic_tx_control,
	.next_ns = nic_next_ns,
	.control = nic_control,
	.fetch = nic_fetch,
};

static void
queues_init(struct nic_queues *q)
{
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		q->list[i] = QP_LIST_EMPTY;
	q->backlogged = 0;
}

static int
qps_alloc(struct nic *nic)
{
	size_t n = nic->params.max_qps;

	nic->qps = pages_alloc(n * sizeof(*nic->qps));
	nic->tallies = pages_alloc(n * sizeof(*nic->tallies));
	return nic->qps == NULL || nic->tallies == NULL ? -ENOMEM : 0;
}

static struct timing_wheel *
pacing_wheel_create(const struct nic_params *p)
{
	uint64_t fair_ns =
		p->max_qps * serialization_ns(PACE_FRAME_BYTES, p->link_speed_bps) * 5 / 4;
	uint64_t least_ns = p->max_qps <= PACE_FEW_QPS
				    ? max_u64(PACE_FEW_MIN_NS, p->max_qps * PACE_FEW_NS_PER_QP)
				    : PACE_MIN_NS;
	uint64_t horizon_ns = max_u64(fair_ns, least_ns);
	uint64_t slot_ns = PACE_MIN_SLOT_NS;
	uint32_t slots = PACE_MIN_SLOTS;

	while (slots < PACE_MAX_SLOTS && slots * slot_ns < horizon_ns)
		slots *= 2;
	while (slots * slot_ns < horizon_ns)
		slot_ns *= 2;
	return timing_wheel_create(p->max_qps, slots, slot_ns);
}

static void
shaper_init(struct nic *nic)
{
	const struct nic_params *p = &nic->params;
	uint64_t burst_bytes =
		(p->link_speed_bps * (unsigned __int128)p->shaper_burst_ns + 8 * NS_PER_SEC - 1) /
		(8 * NS_PER_SEC);

	token_bucket_init(&nic->shaper, p->link_speed_bps, burst_bytes, 0);
}

static void
init(struct nic *nic, const struct nic_params *params, const struct nic_pools *pools)
{
	nic->node.ops = &nic_ops;
	nic->params = *params;
	nic->station = roce_station(params->mac, params->ip.version == 4 ? params->ip.addr : NULL);
	if (nic->params.rp.rp_max_rate_bps == 0)
		nic->params.rp.rp_max_rate_bps = params->link_speed_bps;
	nic->window_packets = params->window_packets;
	nic->qpn_stride = 1;
	nic->own_qpn = params->first_qpn;
	nic->common = &nic->own_common;
	nic->data_pool = pools->data;
	nic->control_pool = pools->control;
	nic->plain_queue = qos_map_classify(&params->qos, 0, -1).queue;
	nic->max_payload_bytes = nic_pool_payload_bytes(pools->data);
	queues_init(&nic->cnps);
	queues_init(&nic->acks);
	nic->qp_burst_nanobits = token_burst_nanobits(params->qp_burst_bytes);
	nic_cc_init(nic);
	nic_timers_init(&nic->timers, params->local_ack_timeout);
	shaper_init(nic);
	nic_pause_init(nic);
}

struct node *
nic_create(const struct nic_params *params, const struct nic_pools *pools)
{
	struct nic *nic;
	char why[128];

	if (nic_params_check(params, why, sizeof(why)) != 0 ||
	    nic_pool_payload_bytes(pools->data) == 0 ||
	    rte_pktmbuf_data_room_size(pools->control) <
		    RTE_PKTMBUF_HEADROOM + nic_largest_frame(0)) {
		errno = EINVAL;
		return NULL;
	}
	nic = calloc(1, sizeof(*nic));
	if (nic == NULL)
		return NULL;
	init(nic, params, pools);
	nic->neighs = neigh_table_create(&(struct neigh_params){
		.retrans_ns = params->neigh_retrans_time_ns,
		.reachable_ns = params->neigh_reachable_time_ns,
	});
	if (params->measure_pacing)
		nic->due_ns = calloc(params->max_qps, sizeof(*nic->due_ns));
	nic->own_payloads = pools->payloads == NULL;
	nic->payloads = nic->own_payloads ? nic_payloads_create() : pools->payloads;
	if (nic->payloads != NULL)
		nic->empty = nic_payload(nic->payloads, 0);
	nic->wheel = pacing_wheel_create(&nic->params);
	if (nic->empty == NULL || nic->wheel == NULL || qps_alloc(nic) != 0 ||
	    nic->neighs == NULL || (params->measure_pacing && nic->due_ns == NULL) ||
	    nic_np_init(nic) != 0 || nic_measure_init(nic) != 0) {
		nic_destroy(&nic->node);
		errno = ENOMEM;
		return NULL;
	}
	return &nic->node;
}

void
nic_destroy(struct node *node)
{
	struct nic *nic = nic_of(node);

	if (node == NULL)
		return;
	if (nic->own_payloads)
		nic_payloads_destroy(nic->payloads);
	nic_np_free(nic);
	nic_common_free(&nic->own_common);
	nic_traces_free(nic);
	nic_resolve_free(nic);
	nic_measure_free(nic);
	free(nic->due_ns);
	timing_wheel_destroy(nic->wheel);
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		qp_ring_free(&nic->ready.ring[i]);
	pages_free(nic->qps, nic->params.max_qps * sizeof(*nic->qps));
	pages_free(nic->tallies, nic->params.max_qps * sizeof(*nic->tallies));
	nic_read_free(nic);
	pages_free(nic->recv_full_ns, nic->params.max_qps * sizeof(*nic->recv_full_ns));
	pages_free(nic->acked_bytes, nic->params.max_qps * sizeof(*nic->acked_bytes));
	nic_chains_free(nic);
	pages_free(nic->arrivals_ns, nic->params.max_qps * sizeof(*nic->arrivals_ns));
	free(nic->flows);
	free(nic);
}

static void
path_init(struct roce_path *path, const struct nic_params *p, const struct nic_qp_params *qp)
{
	const struct field_ip *ip = qp->peer_ip.version == 4 ? &p->ip : &p->ip6;

	*path = (struct roce_path){
		.ip_version = qp->peer_ip.version,
		.tagged = qp->tagged,
		.vlan_tci = qp->vlan_tci,
		.dscp = qp->has_dscp ? qp->dscp : p->data_dscp,
		.ecn = ECN_ECT0,
		.ttl = TTL,
		.pkey = PKEY_DEFAULT,
	};
	memcpy(path->src_mac, p->mac, sizeof(path->src_mac));
	memcpy(path->dst_mac, qp->peer_mac, sizeof(path->dst_mac));
	memcpy(path->src_ip, ip->addr, sizeof(path->src_ip));
	memcpy(path->dst_ip, qp->peer_ip.addr, sizeof(path->dst_ip));
}

/* What messages of any length, and those that come by themselves, need in addition. */
static int
workload_prepare(struct nic *nic, const struct nic_qp_params *params)
{
	bool serves = !params->requester && params->verb == NIC_READ;
	bool varies = (serves || params->requester) && !workload_is_fixed(&params->work);

	for (uint16_t n = 0; varies && n <= params->mtu_bytes; n++) {
		if (nic_payload(nic->payloads, n) == NULL)
			return -ENOMEM;
	}
	if (serves && nic_read_prepare(nic) != 0)
		return -ENOMEM;
	if (params->max_recv_wr > 0 && nic->recv_full_ns == NULL) {
		nic->recv_full_ns = pages_alloc(nic->params.max_qps * sizeof(*nic->recv_full_ns));
		if (nic->recv_full_ns == NULL)
			return -ENOMEM;
	}
	if (nic->acked_bytes == NULL && !workload_is_fixed(&params->work)) {
		nic->acked_bytes = pages_alloc(nic->params.max_qps * sizeof(*nic->acked_bytes));
		if (nic->acked_bytes == NULL)
			return -ENOMEM;
	}
	if (nic->arrivals_ns == NULL && workload_is_open(&params->work))
		nic->arrivals_ns = pages_alloc(nic->params.max_qps * sizeof(*nic->arrivals_ns));
	return nic->arrivals_ns == NULL && workload_is_open(&params->work) ? -ENOMEM : 0;
}

static int
flow_init(struct nic *nic, struct qp_flow *flow, const struct nic_qp_params *params)
{
	static const uint8_t middle[] = {
		[NIC_WRITE] = RC_WRITE_MIDDLE,  [NIC_WRITE_IMM] = RC_WRITE_MIDDLE,
		[NIC_SEND] = RC_SEND_MIDDLE,    [NIC_READ] = RC_READ_RESP_MIDDLE,
		[NIC_UD_SEND] = RC_SEND_MIDDLE, /* not sent: a datagram is one packet */
	};
	const struct nic_params *p = &nic->params;
	int pcp = params->tagged ? params->vlan_tci >> 13 : -1;
	struct roce_template cnp_template;
	struct roce_path cnp_path;

	memset(flow, 0, sizeof(*flow));
	flow->params = *params;
	flow->first_item = nic->n_qps;
	if (nic_np_add_flow(nic, flow) != 0)
		return -ENOMEM;
	flow->full = nic_payload(nic->payloads, params->mtu_bytes);
	flow->last =
		nic_payload(nic->payloads, qp_last_bytes(params->message_bytes, params->mtu_bytes));
	if (flow->full == NULL || flow->last == NULL || workload_prepare(nic, params) != 0)
		return -ENOMEM;
	if (nic_measure_add_flow(nic, flow) != 0)
		return -ENOMEM;
	flow->mtu_bytes = params->mtu_bytes;
	flow->message_bytes = (uint32_t)params->message_bytes;
	flow->message_packets = qp_message_packets(params->message_bytes, params->mtu_bytes);
	path_init(&flow->path, p, params);
	roce_template_init(&flow->template, &flow->path);
	cnp_path = flow->path;
	cnp_path.dscp = p->np.np_cnp_dscp;
	cnp_path.ecn = (uint8_t)p->np.np_cnp_ecn;
	cnp_path.vlan_tci = (uint16_t)((cnp_path.vlan_tci & 0x0FFF) | p->np.np_cnp_prio << 13);
	roce_template_init(&cnp_template, &cnp_path);
	roce_shape_init(&flow->cnp, &cnp_template, &nic->payloads->cnp_body, ROCE_CNP);
	roce_shape_init(&flow->ack, &flow->template, &nic->payloads->aeth, RC_ACK);
	roce_shape_init(&flow->middle, &flow->template, flow->full, middle[params->verb]);
	flow->raw = params->raw;
	flow->stopped = params->stopped;
	flow->rate_cap_bps = params->rate_cap_bps;
	flow->data_queue = qos_map_classify(&p->qos, flow->path.dscp, pcp).queue;
	if (nic->ready.ring[flow->data_queue].items == NULL &&
	    qp_ring_init(&nic->ready.ring[flow->data_queue], p->max_qps) != 0)
		return -ENOMEM;
	flow->cnp_queue = qos_map_classify(&p->qos, p->np.np_cnp_dscp,
					   params->tagged ? p->np.np_cnp_prio : -1)
				  .queue;
	return 0;
}

/* Room for one more flow: twice as much as before. */
static int
flows_grow(struct nic *nic)
{
	uint32_t room = nic->flows_room == 0 ? 4 : 2 * nic->flows_room;
	struct qp_flow *flows = aligned_alloc(RTE_CACHE_LINE_SIZE, room * sizeof(*flows));

	if (flows == NULL)
		return -ENOMEM;
	if (nic->n_flows > 0)
		memcpy(flows, nic->flows, nic->n_flows * sizeof(*flows));
	free(nic->flows);
	nic->flows = flows;
	nic->flows_room = room;
	return 0;
}

/* The flow of a new QP: that of the last one added, if it fits. @return its index, or -ENOMEM. */
static int64_t
flow_for(struct nic *nic, const struct nic_qp_params *params)
{
	int rc;

	if (nic->n_flows > 0 && params->flow_id < nic->flows[nic->n_flows - 1].params.flow_id)
		return -EINVAL;
	if (nic->n_flows > 0 && qp_flow_fits(&nic->flows[nic->n_flows - 1], params))
		return nic->n_flows - 1;
	if (nic->n_flows == nic->flows_room && flows_grow(nic) != 0)
		return -ENOMEM;
	rc = flow_init(nic, &nic->flows[nic->n_flows], params);
	if (rc != 0)
		return rc;
	return nic->n_flows++;
}

/* What tells this QP's frames from those of its flow. */
static void
connect_qp(const struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];
	struct roce_path path = nic_flow_of(nic, qp)->path;

	path.dest_qp = qp->dest_qp;
	path.udp_sport = roce_udp_sport(roce_flow_label(nic_local_qpn(nic, item), qp->dest_qp));
	qp->ends_reg = roce_path_ends(&path).reg;
}

static void
join_flow(struct nic *nic, struct nic_qp *qp)
{
	struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct workload *w = &flow->params.work;

	flow->n_qps++;
	if (!(qp->flags & QP_REQUESTER))
		return;
	flow->round_members++;
	flow->round_left++;
	if (workload_is_open(w))
		nic->arrivals_ns[qp - nic->qps] =
			w->start_ns + workload_gap_ns(w, nic_qpn(nic, qp), 0);
}

static int64_t
add_qp(struct nic *nic, const struct nic_qp_params *params, uint64_t now_ns)
{
	uint32_t item = nic->n_qps;
	bool v4 = params->peer_ip.version == 4;
	struct nic_qp *qp = &nic->qps[item];
	const char *why;
	int64_t flow;

	if (nic_qp_params_check(params, &nic->params, &why) != 0 ||
	    params->mtu_bytes > nic->max_payload_bytes ||
	    (v4 ? nic->params.ip.version : nic->params.ip6.version) != params->peer_ip.version)
		return -EINVAL;
	if (item == nic->params.max_qps)
		return -ENOSPC;
	flow = flow_for(nic, params);
	if (flow < 0)
		return flow;
	qp_init(qp, &nic->flows[flow], nic_local_qpn(nic, item), params);
	qp->flow = (uint32_t)flow;
	connect_qp(nic, item);
	if (nic_resolve_qp(nic, item, now_ns) != 0)
		return -ENOMEM;
	nic_cc_start(nic, item, 0, params->start_ns);
	nic->n_qps++;
	if (qp->flags & QP_ENDS)
		nic->pending++;
	join_flow(nic, qp);
	nic_settle(nic, item, now_ns);
	nic_flush(nic);
	return nic_local_qpn(nic, item);
}

int64_t
nic_add_qp(struct node *node, const struct nic_qp_params *params, uint64_t now_ns)
{
	struct nic_qp_params p = *params;

	/* Nobody answers a datagram. */
	p.raw |= p.verb == NIC_UD_SEND;
	return add_qp(nic_of(node), &p, now_ns);
}

uint32_t
nic_qp_count(const struct node *node)
{
	return nic_of_const(node)->n_qps;
}

void
nic_qp_info(const struct node *node, uint32_t index, struct nic_qp_info *out)
{
	const struct nic *nic = nic_of_const(node);
	const struct nic_qp *qp = &nic->qps[index];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct qp_tally *tally = &nic->tallies[index];
	struct cc_view cc;

	assert(index < nic->n_qps);
	cc_read(&qp->cc, &nic->cc, &cc, qp->bucket.updated_ns);
	*out = (struct nic_qp_info){
		.local_qpn = nic_local_qpn(nic, index),
		.peer_qpn = qp->dest_qp,
		.rate_bps = qp->bucket.rate_bps,
		.target_rate_bps = cc.target_rate_bps,
		.alpha_q32 = cc.alpha_q32,
		.rtt_ns = nic->measure.rtts != NULL ? nic->measure.rtts[index].last_ns : 0,
		.tx_wire_bytes = qp->tx_wire_bytes,
		.tx_packets = qp_tx_packets(qp, flow),
		.retransmitted_packets = qp->retransmitted_packets,
		.tx_messages = qp->acked_msg,
		.tx_payload_bytes = workload_is_fixed(&flow->params.work)
					    ? qp->acked_msg * flow->message_bytes
					    : nic->acked_bytes[index],
		.rx_payload_bytes = tally->rx_payload_bytes,
		.rx_messages = tally->rx_messages,
		.rx_packets = qp->flags & QP_UD ? tally->rx_messages
						: qp->rx_seq - flow->params.initial_psn,
		.rx_wire_bytes = tally->rx_wire_bytes,
		.cnps_handled = tally->cnps_handled,
		.cnps_sent = tally->cnps_sent,
		.rate_cuts = qp->rate_cuts,
		.min_rate_bps = tally->min_rate_kbps * KBPS,
		.error = qp->flags & QP_ERROR,
		.done = qp->flags & QP_DONE,
	};
	nic_read_info(nic, index, out);
	if (nic->measure.times != NULL)
		nic_measure_info(nic, index, out);
}

const struct nic_stats *
nic_stats(const struct node *node)
{
	return &nic_of_const(node)->stats;
}

const struct pfc_rx *
nic_pfc_rx(const struct node *node)
{
	return &nic_of_const(node)->pause.pfc_rx;
}

const struct pfc_tx *
nic_pfc_tx(const struct node *node)
{
	return &nic_of_const(node)->pause.pfc_tx;
}

uint32_t
nic_neighbours(const struct node *node, uint32_t *unresolved)
{
	const struct nic *nic = nic_of_const(node);

	*unresolved = neigh_unresolved(nic->neighs);
	return neigh_count(nic->neighs);
}

bool
nic_done(const struct node *node)
{
	return nic_of_const(node)->pending == 0;
}
