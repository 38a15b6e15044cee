/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/change/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/threads/pages.h"
#include "nic/address/addresses.h"
#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/np/nic_np.h"
#include "nic/rate/nic_cc.h"
#include "nic/rate/version.h"
#include "nic/place/place.h"
#include "nic/answers/reads.h"
#include "nic/messages/nic_shared.h"
#include "nic/neighbour/nic_resolve.h"

/* Time to live of our packets. */
#define TTL 64

static void
path_init(struct roce_path *path, const struct nic_params *p, const struct nic_qp_params *qp)
{
	const struct field_ip ip = nic_qp_local_ip(p, qp);
	bool has_mac = mac_number(qp->local_mac) != 0;

	*path = (struct roce_path){
		.ip_version = qp->peer_ip.version,
		.tagged = qp->tagged,
		.vlan_tci = qp->vlan_tci,
		.dscp = qp->has_dscp ? qp->dscp : p->data_dscp,
		.ecn = (uint8_t)p->data_ecn,
		.ttl = TTL,
		.pkey = PKEY_DEFAULT,
	};
	memcpy(path->src_mac, has_mac ? qp->local_mac : p->mac, sizeof(path->src_mac));
	memcpy(path->dst_mac, qp->peer_mac, sizeof(path->dst_mac));
	memcpy(path->src_ip, ip.addr, sizeof(path->src_ip));
	memcpy(path->dst_ip, qp->peer_ip.addr, sizeof(path->dst_ip));
}

/*
 * Allocate the state that depends on the workload and the verb: payloads, READs, WQEs, sizes,
 * arrivals.
 */
static int
workload_prepare(struct nic *nic, const struct nic_qp_params *params)
{
	bool serves = !params->requester && params->verb == NIC_READ;
	bool varies = (serves || params->requester) && !workload_is_fixed(&params->work);

	if (varies && nic_payloads_make(nic->mbufs.payloads, params->mtu_bytes) != 0)
		return -ENOMEM;
	if (serves && nic_reads_prepare(nic) != 0)
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
	if (nic->arrivals == NULL && workload_is_open(&params->work))
		nic->arrivals = pages_alloc(nic->params.max_qps * sizeof(*nic->arrivals));
	return nic->arrivals == NULL && workload_is_open(&params->work) ? -ENOMEM : 0;
}

static int
flow_init(struct nic *nic, struct qp_flow *flow, const struct nic_qp_params *params)
{
	static const uint8_t middle[] = {
		[NIC_WRITE] = RC_WRITE_MIDDLE,   [NIC_WRITE_IMM] = RC_WRITE_MIDDLE,
		[NIC_SEND] = RC_SEND_MIDDLE,     [NIC_READ] = RC_READ_RESP_MIDDLE,
		[NIC_UD_SEND] = RC_SEND_MIDDLE, /* never used: a datagram is one packet */
		[NIC_SEND_IMM] = RC_SEND_MIDDLE,
	};
	const struct nic_params *p = &nic->params;
	int pcp = params->tagged ? params->vlan_tci >> 13 : -1;
	struct roce_template ack_template, cnp_template;
	struct roce_path ack_path, cnp_path;

	memset(flow, 0, sizeof(*flow));
	flow->params = *params;
	if (nic_np_add_flow(nic, flow) != 0)
		return -ENOMEM;
	flow->full = nic_payload(nic->mbufs.payloads, params->mtu_bytes);
	flow->series = nic_series(nic->mbufs.payloads, params->mtu_bytes);
	flow->last = nic_payload(nic->mbufs.payloads,
				 qp_last_bytes(params->message_bytes, params->mtu_bytes));
	if (flow->full == NULL || flow->series == NULL || flow->last == NULL ||
	    workload_prepare(nic, params) != 0)
		return -ENOMEM;
	flow->mtu_bytes = params->mtu_bytes;
	flow->message_bytes = (uint32_t)params->message_bytes;
	flow->message_packets = qp_message_packets(params->message_bytes, params->mtu_bytes);
	path_init(&flow->path, p, params);
	flow->next_mac = mac_number(params->peer_mac);
	roce_template_init(&flow->template, &flow->path);
	ack_path = flow->path;
	if (p->ack_dscp >= 0)
		ack_path.dscp = (uint8_t)p->ack_dscp;
	ack_path.ecn = (uint8_t)p->ack_ecn;
	roce_template_init(&ack_template, &ack_path);
	cnp_path = flow->path;
	cnp_path.dscp = p->np.np_cnp_dscp;
	cnp_path.ecn = (uint8_t)p->np.np_cnp_ecn;
	cnp_path.vlan_tci = (uint16_t)((cnp_path.vlan_tci & 0x0FFF) | p->np.np_cnp_prio << 13);
	roce_template_init(&cnp_template, &cnp_path);
	roce_shape_init(&flow->cnp, &cnp_template, &nic->mbufs.payloads->cnp_body, ROCE_CNP);
	roce_shape_init(&flow->ack, &ack_template, &nic->mbufs.payloads->aeth, RC_ACK);
	roce_shape_init(&flow->middle, &flow->template, flow->full, middle[params->verb]);
	flow->raw = params->raw;
	flow->has_barrier = params->barrier;
	flow->in_rounds = params->barrier || params->arrival == WORKLOAD_INCAST;
	flow->udp_sport = params->udp_sport;
	flow->cc = (uint8_t)cc_chosen(params->cc, p->cc);
	if (nic->cc[flow->cc].hears_hops && !params->raw)
		flow->int_slots = p->int_slots;
	flow->stopped = params->stopped;
	flow->rate_cap_bps = params->rate_cap_bps;
	flow->data_queue = qos_map_classify(&p->qos, flow->path.dscp, pcp).queue;
	if (nic->ready.ring[flow->data_queue].items == NULL &&
	    qp_ring_init(&nic->ready.ring[flow->data_queue], p->max_qps) != 0)
		return -ENOMEM;
	flow->ack_queue = qos_map_classify(&p->qos, ack_path.dscp, pcp).queue;
	flow->cnp_queue = qos_map_classify(&p->qos, p->np.np_cnp_dscp,
					   params->tagged ? p->np.np_cnp_prio : -1)
				  .queue;
	/*
	 * This step is the last one, because a failure after it would leak the flow's histograms.
	 */
	return nic_measure_add_flow(nic, flow);
}

/* Double the room for flows. */
static int
flows_grow(struct nic *nic)
{
	uint32_t capacity = nic->flows_capacity == 0 ? 4 : 2 * nic->flows_capacity;
	struct qp_flow *flows = pages_alloc(capacity * sizeof(*flows));

	if (flows == NULL)
		return -ENOMEM;
	if (nic->n_flows > 0)
		memcpy(flows, nic->flows, nic->n_flows * sizeof(*flows));
	pages_free(nic->flows, nic->flows_capacity * sizeof(*flows));
	nic->flows = flows;
	nic->flows_capacity = capacity;
	return 0;
}

/* The flow of a new QP: the last one, if it fits, or a new one. @return its index, or -errno. */
static int64_t
flow_for(struct nic *nic, const struct nic_qp_params *params)
{
	int rc;

	if (nic->n_flows > 0 && params->flow_id < nic->flows[nic->n_flows - 1].params.flow_id)
		return -EINVAL;
	if (nic->n_flows > 0 && qp_flow_fits(&nic->flows[nic->n_flows - 1], params))
		return nic->n_flows - 1;
	if (nic->n_flows == nic->flows_capacity && flows_grow(nic) != 0)
		return -ENOMEM;
	rc = flow_init(nic, &nic->flows[nic->n_flows], params);
	if (rc != 0)
		return rc;
	nic->flows[nic->n_flows].first_item = nic->n_qps;
	return nic->n_flows++;
}

/* Set the header fields that differ between the QPs of a flow. */
static void
connect_qp(const struct nic *nic, uint32_t item)
{
	struct nic_qp *qp = &nic->qps[item];
	struct roce_path path = nic_flow_of(nic, qp)->path;

	path.dest_qp = qp->dest_qp;
	path.udp_sport = nic_ends_without_reg(nic, item, qp).udp_sport;
	qp->ends_icrc = roce_series_ends(nic_flow_of(nic, qp)->series, roce_path_ends(&path).reg);
}

static void
join_flow(struct nic *nic, struct nic_qp *qp)
{
	struct qp_flow *flow = nic_flow_of(nic, qp);
	const struct workload *w = &flow->params.work;

	if (flow->n_qps == 0)
		flow->started_ns = NEVER_NS;
	__atomic_store_n(&flow->n_qps, flow->n_qps + 1, __ATOMIC_RELEASE);
	if (flow->n_qps == 1) {
		flow->version = nic->version;
		if (flow->params.requester && workload_is_open(w))
			arrivals_init(&flow->arrivals, w->start_ns, w->load_bps, flow->stopped);
	}
	if (!(qp->flags & QP_REQUESTER))
		return;
	flow->round_members++;
	flow->round_left++;
	if (workload_is_open(w))
		nic->arrivals[qp - nic->qps] = (struct nic_arrival){
			.next_ns = arrivals_first_ns(&flow->arrivals, w, nic_qpn(nic, qp))};
}

int
nic_qp_begin(struct nic *nic, uint32_t item, uint32_t flow, const struct nic_qp_params *params,
	     uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	qp_init(qp, &nic->flows[flow], nic_local_qpn(nic, item), params);
	if (nic->flows[flow].n_qps == 0 && nic_address_use(nic, &nic->flows[flow].path) != 0)
		return -ENOMEM;
	qp->flow = flow;
	qp->version = nic->version & 1;
	connect_qp(nic, item);
	if (nic_resolve_qp(nic, item, now_ns) != 0)
		return -ENOMEM;
	nic_cc_start(nic, item, 0, params->start_ns);
	/* From here on other threads may read the QP: nic_qp_exists(). */
	words_publish(qp);
	qp->place = QP_IDLE;
	if (item >= nic->n_qps)
		__atomic_store_n(&nic->n_qps, item + 1, __ATOMIC_RELAXED);
	if (qp->flags & QP_ENDS)
		nic->pending++;
	join_flow(nic, qp);
	if (!params->held)
		nic_settle(nic, item, now_ns);
	return 0;
}

/* Datagrams are not answered: UD implies raw. */
static struct nic_qp_params
with_raw(const struct nic_qp_params *params)
{
	struct nic_qp_params p = *params;

	p.raw |= p.verb == NIC_UD_SEND;
	return p;
}

/* Are the parameters valid for this NIC? */
static bool
fits(const struct nic *nic, const struct nic_qp_params *params)
{
	char why[256];

	return nic_qp_params_check(params, &nic->params, why, sizeof(why)) == 0 &&
	       params->mtu_bytes <= nic->mbufs.max_payload_bytes &&
	       nic_qp_local_ip(&nic->params, params).version == params->peer_ip.version;
}

int64_t
nic_add_qp(struct node *node, const struct nic_qp_params *params, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	struct nic_qp_params p = with_raw(params);
	uint32_t item = nic->n_qps;
	int64_t flow;

	if (!fits(nic, &p))
		return -EINVAL;
	if (item == nic->params.max_qps)
		return -ENOSPC;
	flow = flow_for(nic, &p);
	if (flow < 0)
		return flow;
	if (nic_qp_begin(nic, item, (uint32_t)flow, &p, now_ns) != 0)
		return -ENOMEM;
	nic_flush(nic);
	return nic_local_qpn(nic, item);
}

void
nic_unhold_qp(struct node *node, uint32_t item, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);

	nic_settle(nic, item, now_ns);
	nic_flush(nic);
}

void
nic_await_start(struct node *node, uint32_t item)
{
	nic_of(node)->qps[item].bucket.updated_ns = ARRIVALS_LAST_NS;
}

/* The arrivals of an open loop, which have not begun, at the load in force. */
static void
move_arrivals(struct nic *nic, uint32_t item, uint64_t start_ns)
{
	struct qp_flow *flow = nic_flow_of(nic, &nic->qps[item]);
	const struct workload *w = &flow->params.work;

	if (flow->arrivals.span[0].from_ns != start_ns)
		arrivals_init(&flow->arrivals, start_ns,
			      flow->arrivals.span[flow->arrivals.n - 1].load_bps, flow->stopped);
	nic->arrivals[item].next_ns =
		arrivals_first_ns(&flow->arrivals, w, nic_qpn(nic, &nic->qps[item]));
}

void
nic_start_qp_at(struct node *node, uint32_t item, uint64_t start_ns, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	struct nic_qp *qp = &nic->qps[item];
	struct qp_flow *flow = nic_flow_of(nic, qp);

	assert(!(qp->flags & QP_STARTED) && qp->bucket.updated_ns == ARRIVALS_LAST_NS);
	nic_touch(nic, item, qp);
	flow->params.start_ns = start_ns;
	if (workload_is_open(&flow->params.work))
		move_arrivals(nic, item, start_ns);
	qp->bucket.updated_ns = max_u64(start_ns, now_ns);
	nic_settle(nic, item, now_ns);
	nic_flush(nic);
}

void
nic_begin_round(struct node *node, uint32_t flow_id, uint64_t round, uint64_t begin_ns)
{
	struct nic *nic = nic_of(node);

	for (uint32_t f = nic_first_part(nic, flow_id);
	     f < nic->n_flows && nic->flows[f].params.flow_id == flow_id; f++)
		nic_open_round(&nic->flows[f], round, begin_ns);
}

void
nic_turn_of_round(struct node *node, uint32_t item, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);

	nic_enter_round(nic, item, now_ns);
	nic_flush(nic);
}

int
nic_share_messages(struct node *node, uint32_t first, uint32_t n, const struct open_loop *loops,
		   uint32_t n_loops)
{
	return nic_shared_begin(nic_of(node), first, n, loops, n_loops);
}

int
nic_prepare_flow(struct node *node, const struct nic_qp_params *params,
		 const struct nic_flow_place *place)
{
	struct nic *nic = nic_of(node);
	struct nic_qp_params p = with_raw(params);
	struct qp_flow *flow = &nic->flows[p.flow_id];
	int rc;

	assert(nic->flows_by_id && place->first_item + place->n_qps <= nic->params.max_qps);
	if (p.flow_id >= nic->flows_capacity || !fits(nic, &p))
		return -EINVAL;
	rc = flow_init(nic, flow, &p);
	flow->first_item = place->first_item;
	flow->planned_qps = place->n_qps;
	flow->first_number = place->first_number;
	flow->life = FLOW_ADDING;
	if (p.flow_id >= nic->n_flows)
		__atomic_store_n(&nic->n_flows, p.flow_id + 1, __ATOMIC_RELAXED);
	return rc;
}
