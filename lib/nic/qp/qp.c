/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/qp/qp.h"

#include <errno.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/threads/pages.h"

/* The end of an RNR wait is stored in 32 bits, in units of 1.024 us. */
#define RNR_SHIFT 10

static uint32_t
padded(uint32_t len)
{
	return frame_bytes(len) - FCS_BYTES;
}

struct qp_frame_lens
qp_frame_lens(const struct qp_flow *flow, uint32_t message_bytes, uint32_t int_bytes)
{
	/* Bytes of extension headers of the first and the last packet, and of a single one. */
	static const uint8_t ext[][3] = {
		[NIC_WRITE] = {RETH_BYTES, 0, RETH_BYTES},
		[NIC_WRITE_IMM] = {RETH_BYTES, IMMDT_BYTES, RETH_BYTES + IMMDT_BYTES},
		[NIC_SEND] = {0, 0, 0},
		[NIC_READ] = {AETH_BYTES, AETH_BYTES, AETH_BYTES},
		[NIC_SEND_IMM] = {0, IMMDT_BYTES, IMMDT_BYTES},
	};
	const uint8_t *e = ext[flow->params.verb];
	uint32_t headers = flow->template.hdr_bytes + ICRC_BYTES;
	uint32_t full = headers + flow->mtu_bytes;
	uint32_t last = headers + RTE_ALIGN_CEIL(qp_last_bytes(message_bytes, flow->mtu_bytes), 4u);
	bool single = qp_message_packets(message_bytes, flow->mtu_bytes) == 1;

	/* Short frames are padded before they get an INT header. */
	return (struct qp_frame_lens){
		.first = padded(single ? last + e[2] : full + e[0]) + int_bytes,
		.middle = padded(full) + int_bytes,
		.last = padded(last + e[1]) + int_bytes,
	};
}

bool
qp_flow_fits(const struct qp_flow *flow, const struct nic_qp_params *params)
{
	const struct nic_qp_params *p = &flow->params;

	return memcmp(p->peer_mac, params->peer_mac, sizeof(p->peer_mac)) == 0 &&
	       p->peer_ip.version == params->peer_ip.version &&
	       memcmp(p->peer_ip.addr, params->peer_ip.addr, sizeof(p->peer_ip.addr)) == 0 &&
	       memcmp(&p->next_hop, &params->next_hop, sizeof(p->next_hop)) == 0 &&
	       memcmp(&p->local_ip, &params->local_ip, sizeof(p->local_ip)) == 0 &&
	       memcmp(p->local_mac, params->local_mac, sizeof(p->local_mac)) == 0 &&
	       p->flow_id == params->flow_id && p->base_rtt_ns == params->base_rtt_ns &&
	       p->initial_psn == params->initial_psn && p->peer_psn == params->peer_psn &&
	       p->tagged == params->tagged && p->vlan_tci == params->vlan_tci &&
	       p->requester == params->requester && p->stopped == params->stopped &&
	       p->verb == params->verb && p->cc == params->cc && p->raw == params->raw &&
	       p->qkey == params->qkey && p->rkey == params->rkey &&
	       p->remote_addr_stride == params->remote_addr_stride &&
	       params->remote_addr == qp_remote_addr(p, params->peer_qpn) &&
	       p->local_rkey == params->local_rkey && p->local_addr == params->local_addr &&
	       p->local_bytes == params->local_bytes && p->max_recv_wr == params->max_recv_wr &&
	       p->post_recv_ns == params->post_recv_ns && p->has_dscp == params->has_dscp &&
	       p->dscp == params->dscp && p->has_imm == params->has_imm &&
	       p->imm_data == params->imm_data && p->imm_timestamp == params->imm_timestamp &&
	       p->udp_sport == params->udp_sport && p->mtu_bytes == params->mtu_bytes &&
	       p->rate_cap_bps == params->rate_cap_bps && workload_same(&p->work, &params->work);
}

/* Number of the first packet that a QP sends. A responder's READ responses have the PSNs of the
 * requests. */
static uint32_t
first_psn(const struct nic_qp_params *p)
{
	return p->requester ? p->initial_psn : qp_first_rx_psn(p);
}

void
qp_init(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn,
	const struct nic_qp_params *params)
{
	uint32_t first = first_psn(params);

	memset(qp, 0, sizeof(*qp));
	qp->dest_qp = params->peer_qpn & QPN_MASK;
	qp->next_seq = first;
	qp->acked_seq = first;
	qp->acked_end = first;
	qp->rx_seq = qp_first_rx_psn(params);
	if (params->verb == NIC_UD_SEND) {
		qp->flags = QP_UD;
		qp->rx_flags = QP_RX_REFUSED;
	}
	if (params->requester) {
		qp->acked_end += qp_packets(flow, qpn, 0);
		qp->flags |= QP_REQUESTER;
		if (params->verb == NIC_READ)
			qp->flags |= QP_READS;
		if (params->stop_ns != NEVER_NS)
			qp->flags |= QP_STOPS | QP_ENDS;
		if (params->messages > 0 || params->bytes > 0)
			qp->flags |= QP_ENDS;
	}
}

uint64_t
qp_acked_packets(const struct nic_qp *qp, const struct qp_flow *flow)
{
	uint32_t sent_seq = qp_sent_seq(qp);
	uint64_t sent = (uint64_t)qp_sent_wraps(qp) << 32 | sent_seq;

	return sent - (sent_seq - qp->acked_seq) - first_psn(&flow->params);
}

uint64_t
qp_tx_packets(const struct nic_qp *qp, const struct qp_flow *flow)
{
	uint64_t sent = (uint64_t)qp_sent_wraps(qp) << 32 | qp_sent_seq(qp);

	return sent - first_psn(&flow->params) + qp->retransmitted_packets;
}

void
qp_sent_read(struct nic_qp *qp)
{
	uint32_t before_seq = qp->next_seq;

	/* Skip the packet numbers of all responses but the last, which qp_sent() counts. */
	qp->next_seq += qp->left_packets - 1;
	if (!(qp->flags & QP_RESEND) && qp->next_seq < before_seq)
		qp_wrapped(qp);
	qp->left_packets = 1;
	qp_sent(qp);
}

void
qp_begin(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn)
{
	assert(qp->left_packets == 0);
	qp->left_packets = qp_packets(flow, qpn, qp_next_message(qp));
	qp->flags |= QP_FIRST;
}

/* next_seq was set to acked_seq: recompute the position in the message. */
static void
find_position(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn)
{
	uint32_t start = qp->acked_end - qp_packets(flow, qpn, qp->acked_msg);

	qp->next_msg = (uint32_t)qp->acked_msg;
	qp->left_packets = qp->acked_end - qp->next_seq;
	qp->flags &= (uint16_t) ~(QP_FIRST | QP_RESEND | QP_AWAITS);
	if (qp->next_seq != qp->sent_seq)
		qp->flags |= QP_RESEND;
	if (qp->next_seq == start) {
		/* If no packet of the message was sent, the message has not begun. */
		if (qp->flags & QP_RESEND)
			qp->flags |= QP_FIRST;
		else
			qp->left_packets = 0;
	}
}

void
qp_acknowledge(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn, uint32_t seq)
{
	assert(seq - qp->acked_seq <= qp_sent_seq(qp) - qp->acked_seq);
	/* Linear in the number of messages acknowledged. */
	while ((int32_t)(seq - qp->acked_end) >= 0) {
		qp->acked_msg++;
		qp->acked_end += qp_packets(flow, qpn, qp->acked_msg);
	}
	qp->acked_seq = seq;
	if ((int32_t)(qp->next_seq - seq) < 0) {
		/* An ACK shows that the packets to retransmit have arrived. */
		qp->next_seq = seq;
		find_position(qp, flow, qpn);
	}
}

void
qp_go_back(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn)
{
	qp->sent_seq = qp_sent_seq(qp);
	qp->next_seq = qp->acked_seq;
	find_position(qp, flow, qpn);
}

void
qp_begin_rnr_wait(struct nic_qp *qp, uint64_t until_ns)
{
	qp->flags |= QP_RNR;
	qp->progress_tick = (uint32_t)((until_ns + (1u << RNR_SHIFT) - 1) >> RNR_SHIFT);
}

bool
qp_in_rnr_wait(struct nic_qp *qp, uint64_t now_ns, uint64_t *until_ns)
{
	uint64_t now_tick = now_ns >> RNR_SHIFT;
	int32_t left = (int32_t)(qp->progress_tick - (uint32_t)now_tick);

	if (left <= 0) {
		qp->flags &= (uint16_t)~QP_RNR;
		return false;
	}
	*until_ns = (now_tick + (uint32_t)left) << RNR_SHIFT;
	return true;
}

int
qp_ring_init(struct qp_ring *ring, uint32_t n)
{
	ring->head = ring->tail = 0;
	ring->mask = 63; /* at least: qp_ring_peek() looks ahead */
	while (ring->mask < n - 1)
		ring->mask = 2 * ring->mask + 1;
	ring->items = pages_alloc((ring->mask + 1ul) * sizeof(ring->items[0]));
	return ring->items == NULL ? -ENOMEM : 0;
}

void
qp_ring_free(struct qp_ring *ring)
{
	pages_free(ring->items, (ring->mask + 1ul) * sizeof(ring->items[0]));
}
