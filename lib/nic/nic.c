/* SPDX-License-Identifier: BSD-3-Clause */
/* Building a NIC and its QPs, and reading what they did. */
#include "nic/nic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <rte_mbuf.h>

#include "nic/nic_internal.h"
#include "node/pkt_meta.h"

/*
 * Pacing: 32 ns is a seventh of a frame at 40 Gb/s. The horizon is two turns of all QPs with a
 * frame of 1 KB each, so that QPs which share the link fairly stay within it, and at least 1 ms;
 * above a million slots the slots grow instead.
 */
#define PACE_MIN_SLOTS (1u << 15)
#define PACE_MAX_SLOTS (1u << 20)
#define PACE_MIN_SLOT_NS 32u
#define PACE_FRAME_BYTES 1106u
/* Retransmission: a sixteenth of the timeout, and four timeouts ahead. */
#define TIMER_SLOTS 64u
#define TIMER_SLOTS_PER_RTO_LOG2 4

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
	.next_ns = nic_next_ns,
	.control = nic_control,
};

static void
queues_init(struct nic_queues *q)
{
	for (unsigned int i = 0; i < TM_CLASSES; i++)
		q->list[i] = QP_LIST_EMPTY;
	q->backlogged = 0;
}

/* A region of its own for the QPs: on 4 KB pages, a hundred thousand of them miss the TLB each
 * time. */
static int
qps_alloc(struct nic *nic)
{
	void *p;

	nic->qps_bytes = (size_t)nic->params.max_qps * sizeof(*nic->qps);
	p = mmap(NULL, nic->qps_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	nic->qps = p;
	/* Advice only: without huge pages all works the same. */
	(void)madvise(p, nic->qps_bytes, MADV_HUGEPAGE);
	return 0;
}

static struct timing_wheel *
pacing_wheel_create(const struct nic_params *p)
{
	uint64_t horizon_ns =
		2 * p->max_qps * serialization_ns(PACE_FRAME_BYTES, p->link_speed_bps);
	uint64_t slot_ns = PACE_MIN_SLOT_NS;
	uint32_t slots = PACE_MIN_SLOTS;

	while (slots < PACE_MAX_SLOTS && slots * slot_ns < horizon_ns)
		slots *= 2;
	while (slots * slot_ns < horizon_ns)
		slot_ns *= 2;
	return timing_wheel_create(p->max_qps, slots, slot_ns);
}

static int
wheels_create(struct nic *nic)
{
	unsigned int n = nic->params.local_ack_timeout;

	nic->wheel = pacing_wheel_create(&nic->params);
	if (nic->wheel == NULL)
		return -ENOMEM;
	nic->rto_ns = NEVER_NS;
	if (n == 0)
		return 0;
	nic->rto_ns = 4096ull << n; /* 4.096 us x 2^n: a power of two, as a slot must be */
	nic->timers = timing_wheel_create(nic->params.max_qps, TIMER_SLOTS,
					  nic->rto_ns >> TIMER_SLOTS_PER_RTO_LOG2);
	return nic->timers == NULL ? -ENOMEM : 0;
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
	if (nic->params.rp.rp_max_rate_bps == 0)
		nic->params.rp.rp_max_rate_bps = params->link_speed_bps;
	nic->window_packets = params->window_packets;
	nic->qpn_stride = 1;
	nic->data_pool = pools->data;
	nic->control_pool = pools->control;
	nic->plain_queue = qos_map_classify(&params->qos, 0, -1).queue;
	nic->max_payload_bytes = nic_pool_payload_bytes(pools->data);
	queues_init(&nic->cnps);
	queues_init(&nic->acks);
	queues_init(&nic->ready);
	nic_cc_init(nic);
	nic_pattern_fill(nic->pattern, sizeof(nic->pattern));
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
	nic->payloads = calloc(NIC_MAX_MTU + 1, sizeof(struct roce_payload *));
	if ((params->measure_pacing && nic->due_ns == NULL) || nic->neighs == NULL ||
	    nic->payloads == NULL || qps_alloc(nic) != 0 || wheels_create(nic) != 0 ||
	    nic_np_init(nic) != 0) {
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
	nic_payloads_free(nic);
	nic_np_free(nic);
	nic_traces_free(nic);
	nic_resolve_free(nic);
	free(nic->due_ns);
	timing_wheel_destroy(nic->wheel);
	timing_wheel_destroy(nic->timers);
	if (nic->qps != NULL)
		munmap(nic->qps, nic->qps_bytes);
	free(nic);
}

static void
path_init(struct roce_path *path, const struct nic_params *p, const struct nic_qp_params *qp,
	  uint32_t local_qpn)
{
	const struct field_ip *ip = qp->peer_ip.version == 4 ? &p->ip : &p->ip6;

	*path = (struct roce_path){
		.ip_version = qp->peer_ip.version,
		.tagged = qp->tagged,
		.vlan_tci = qp->vlan_tci,
		.dscp = p->data_dscp,
		.ecn = ECN_ECT0,
		.ttl = TTL,
		.flow_label = roce_flow_label(local_qpn, qp->peer_qpn),
		.dest_qp = qp->peer_qpn,
		.pkey = PKEY_DEFAULT,
	};
	path->udp_sport = roce_udp_sport(path->flow_label);
	memcpy(path->src_mac, p->mac, sizeof(path->src_mac));
	memcpy(path->dst_mac, qp->peer_mac, sizeof(path->dst_mac));
	memcpy(path->src_ip, ip->addr, sizeof(path->src_ip));
	memcpy(path->dst_ip, qp->peer_ip.addr, sizeof(path->dst_ip));
}

/* Control frames are built from qp->path, data frames are stamped from its template. */
static void
connect_qp(const struct nic *nic, struct nic_qp *qp, const struct nic_qp_params *params,
	   uint32_t local_qpn)
{
	const struct nic_params *p = &nic->params;
	int pcp = params->tagged ? params->vlan_tci >> 13 : -1;

	path_init(&qp->path, p, params, local_qpn);
	roce_template_init(&qp->template, &qp->path);
	qp->data_queue = qos_map_classify(&p->qos, p->data_dscp, pcp).queue;
	qp->cnp_queue = qos_map_classify(&p->qos, p->np.np_cnp_dscp,
					 params->tagged ? p->np.np_cnp_prio : -1)
				.queue;
}

int64_t
nic_add_qp(struct node *node, const struct nic_qp_params *params, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	const struct roce_payload *full, *last;
	uint32_t item = nic->n_qps, local_qpn = nic_local_qpn(nic, item);
	bool v4 = params->peer_ip.version == 4;
	struct nic_qp *qp = &nic->qps[item];
	const char *why;

	if (nic_qp_params_check(params, &why) != 0 || params->mtu_bytes > nic->max_payload_bytes ||
	    (v4 ? nic->params.ip.version : nic->params.ip6.version) != params->peer_ip.version)
		return -EINVAL;
	if (item == nic->params.max_qps)
		return -ENOSPC;
	full = nic_payload(nic, params->mtu_bytes);
	last = nic_payload(nic, qp_last_bytes(params->message_bytes, params->mtu_bytes));
	if (full == NULL || last == NULL)
		return -ENOMEM;
	qp_init(qp, params, full, last);
	connect_qp(nic, qp, params, local_qpn);
	if (nic_resolve_qp(nic, item, now_ns) != 0)
		return -ENOMEM;
	nic_cc_start(nic, item, now_ns);
	nic_np_add_qp(nic, item, &params->peer_ip);
	nic->n_qps++;
	if (qp->flags & QP_ENDS)
		nic->pending++;
	nic_settle(nic, item, now_ns);
	return local_qpn;
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
	struct cc_view cc;

	assert(index < nic->n_qps);
	cc_read(&qp->cc, &nic->cc, &cc, qp->bucket.updated_ns);
	*out = (struct nic_qp_info){
		.local_qpn = nic_local_qpn(nic, index),
		.peer_qpn = qp->path.dest_qp,
		.rate_bps = qp->bucket.rate_bps,
		.target_rate_bps = cc.target_rate_bps,
		.alpha_q32 = cc.alpha_q32,
		.rtt_ns = cc.rtt_ns,
		.tx_wire_bytes = qp->tx_wire_bytes,
		.tx_packets = qp->sent_seq + qp->retransmitted_packets,
		.retransmitted_packets = qp->retransmitted_packets,
		.tx_messages = qp_acked_messages(qp),
		.rx_payload_bytes = qp->rx_payload_bytes,
		.rx_messages = qp->rx_messages,
		.rx_packets = qp->rx_packets,
		.rx_wire_bytes = qp->rx_wire_bytes,
		.cnps_handled = qp->cnps_handled,
		.cnps_sent = qp->cnps_sent,
		.rate_cuts = qp->rate_cuts,
		.min_rate_bps = qp->min_rate_bps,
		.error = qp->flags & QP_ERROR,
		.done = qp->flags & QP_DONE,
	};
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
