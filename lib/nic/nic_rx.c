/* SPDX-License-Identifier: BSD-3-Clause */
/* Received frames: whose are they, are they whole, and who answers them. */
#include "nic/nic_internal.h"

#include <string.h>
#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "wire/pfc_frame.h"

/* Frames of a burst whose headers are on their way into the cache. */
#define PREFETCH_AHEAD 4

struct rx_frame {
	struct rte_mbuf *m;
	const uint8_t *buf;
	uint16_t len;
	struct frame_view eth;
	struct roce_view roce;
};

static bool
to_our_mac(const struct nic *nic, const struct rx_frame *f)
{
	return memcmp(f->buf, nic->params.mac, 6) == 0;
}

static bool
to_our_ip(const struct nic *nic, const struct rx_frame *f)
{
	const uint8_t *ip = f->buf + f->eth.l3_off;

	if (f->eth.ip_version == 4)
		return nic->params.ip.version == 4 && memcmp(ip + 16, nic->params.ip.addr, 4) == 0;
	return nic->params.ip6.version == 6 && memcmp(ip + 24, nic->params.ip6.addr, 16) == 0;
}

static bool
from_peer(const struct qp_flow *flow, const struct rx_frame *f)
{
	const uint8_t *ip = f->buf + f->eth.l3_off;

	if (f->eth.ip_version != flow->path.ip_version)
		return false;
	if (f->eth.ip_version == 4)
		return memcmp(ip + 12, flow->path.dst_ip, 4) == 0;
	return memcmp(ip + 8, flow->path.dst_ip, 16) == 0;
}

static enum nic_drop
on_mac_control(struct nic *nic, const struct rx_frame *f, uint64_t now_ns)
{
	struct mac_control mc;
	enum mac_control_kind kind;

	if (memcmp(f->buf, mac_control_address, 6) != 0 && !to_our_mac(nic, f))
		return NIC_DROP_NOT_FOR_US;
	kind = mac_control_parse(f->buf, f->len, &mc);
	switch (kind) {
	case MAC_CONTROL_PFC:
	case MAC_CONTROL_PAUSE:
		if ((kind == MAC_CONTROL_PAUSE) == (nic->params.flow_control == NIC_FLOW_PAUSE))
			nic_share_tell_all(nic, f->m);
		nic_pause_on_frame(nic, kind, &mc, now_ns);
		return NIC_USED;
	case MAC_CONTROL_UNKNOWN:
		return NIC_DROP_MAC_CONTROL_UNKNOWN;
	default:
		return NIC_DROP_MAC_CONTROL_MALFORMED;
	}
}

/* A CNP, ACK or request of one of our QPs. */
static enum nic_drop
on_qp(struct nic *nic, uint32_t item, const struct rx_frame *f, uint64_t now_ns)
{
	const struct roce_view *v = &f->roce;

	/* Answering CE on an answer would let two NICs talk for ever. */
	if (v->ecn == ECN_CE && (v->opcode == ROCE_CNP || v->opcode == RC_ACK))
		counter_inc(&nic->stats.np.np_ce_on_control);
	if (v->opcode == ROCE_CNP) {
		nic_on_cnp(nic, item, now_ns);
		return NIC_USED;
	}
	if (v->opcode == RC_ACK)
		return nic_on_ack(nic, item, v, now_ns);
	/* A marked packet counts for congestion even if the transport has no use for it. One of UD
	 * is of another QP of the sender than our peer. */
	if (v->ecn == ECN_CE && v->opcode < UD_SEND_ONLY)
		nic_np_on_ce(nic, item, now_ns);
	if (v->opcode <= RC_READ_REQUEST || v->opcode == RC_COMPARE_SWAP ||
	    v->opcode == RC_FETCH_ADD)
		return nic_on_request(nic, item, v, wire_bytes(f->len));
	return NIC_DROP_UNEXPECTED_OPCODE; /* responses to what we never ask for; UD */
}

/* Which of our QPs a number is; QP_NONE: none. */
static uint32_t
find_qp(const struct nic *nic, uint32_t qpn)
{
	uint32_t at = qpn - nic->params.first_qpn;

	if (qpn < nic->params.first_qpn || (nic->qpn_stride > 1 && at % nic->qpn_stride != 0))
		return QP_NONE;
	if (nic->qpn_stride > 1)
		at /= nic->qpn_stride;
	return at < nic->n_qps ? at : QP_NONE;
}

static unsigned int
on_roce(struct nic *nic, const struct rx_frame *f, uint64_t now_ns)
{
	uint32_t item;

	if (nic->share != NULL && nic_share_cross(nic, f->m, f->roce.dest_qp))
		return NIC_KEPT;
	item = find_qp(nic, f->roce.dest_qp);
	counter_inc(&nic->stats.rx_roce_packets);
	if (item == QP_NONE) {
		if (f->roce.opcode == ROCE_CNP)
			counter_inc(&nic->stats.rp.rp_cnp_ignored);
		return NIC_DROP_UNKNOWN_QP;
	}
	if (!from_peer(nic_flow_of(nic, &nic->qps[item]), f))
		return NIC_DROP_WRONG_PEER;
	if (unlikely(nic->qps[item].flags & QP_UNRESOLVED))
		nic_resolve_from(nic, item, f->buf + 6, now_ns);
	return on_qp(nic, item, f, now_ns);
}

static bool
has_room(struct nic *nic, const struct rx_frame *f, uint64_t now_ns)
{
	return nic_pause_admit(nic, f->eth.dscp, f->eth.tagged ? f->eth.vlan_tci >> 13 : -1, f->len,
			       now_ns);
}

static unsigned int
rx_one(struct nic *nic, struct rte_mbuf *m, uint64_t now_ns)
{
	struct rx_frame f = {
		.m = m, .buf = rte_pktmbuf_mtod(m, const uint8_t *), .len = m->data_len};

	if (likely(!nic->taking_over)) {
		counter_inc(&nic->stats.rx_packets);
		counter_add(&nic->stats.rx_bytes, frame_bytes(m->pkt_len));
	}
	if (m->nb_segs != 1 || frame_parse(f.buf, f.len, &f.eth) != FRAME_OK)
		return NIC_DROP_MALFORMED;
	if (f.eth.ethertype == ETHERTYPE_MAC_CONTROL)
		return on_mac_control(nic, &f, now_ns);
	if (unlikely(f.eth.ip_proto != IP_PROTO_UDP))
		return nic_on_other(nic, m, &f.eth, now_ns);
	if (!to_our_mac(nic, &f))
		return NIC_DROP_NOT_FOR_US;
	if (!to_our_ip(nic, &f))
		return NIC_DROP_NOT_FOR_US;
	switch (roce_parse(f.buf, f.len, &f.eth, nic->params.icrc_check, &f.roce)) {
	case ROCE_OK:
		if (unlikely(nic->pause.slow) && !nic->taking_over && !has_room(nic, &f, now_ns))
			return NIC_DROP_NO_BUFFER;
		return on_roce(nic, &f, now_ns);
	case ROCE_NOT_ROCE:
		return NIC_DROP_NOT_ROCE;
	case ROCE_BAD_ICRC:
		return NIC_DROP_BAD_ICRC;
	default:
		return NIC_DROP_BAD_ROCE;
	}
}

void
nic_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	unsigned int to_free = 0;

	assert(port == 0);
	(void)port;
	for (uint16_t i = 0; i < n && i < PREFETCH_AHEAD; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const void *));
	for (uint16_t i = 0; i < n; i++) {
		unsigned int d;

		if (i + PREFETCH_AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + PREFETCH_AHEAD], const void *));
		d = rx_one(nic, pkts[i], now_ns);
		if (d == NIC_KEPT)
			continue;
		if (d != NIC_USED)
			counter_inc(&nic->stats.drops[d]);
		pkts[to_free++] = pkts[i];
	}
	rte_pktmbuf_free_bulk(pkts, to_free);
	nic_flush(nic);
}
