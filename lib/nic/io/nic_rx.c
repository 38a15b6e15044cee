/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Received frames: classify, check the ICRC, find the QP, dispatch.
 *
 * Invariant: per burst, frames received = used + drops by reason + kept; all but the kept ones are
 * freed.
 */
#include "nic/io/nic_io.h"

#include <string.h>
#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "nic/address/addresses.h"
#include "nic/change/requests.h"
#include "nic/core/core.h"
#include "nic/frames/tracked.h"
#include "nic/gsi/gsi.h"
#include "nic/measure/measure.h"
#include "nic/np/echo.h"
#include "nic/np/nic_np.h"
#include "nic/rate/nic_cc.h"
#include "nic/place/place.h"
#include "nic/rate/version.h"
#include "nic/port/nic_pause.h"
#include "nic/port/share.h"
#include "nic/transport/ack.h"
#include "nic/transport/read.h"
#include "nic/neighbour/nic_resolve.h"
#include "nic/transport/responder.h"
#include "nic/transport/ud.h"
#include "wire/bytes/be.h"
#include "wire/link/pfc_frame.h"
#include "wire/mad/mad.h"
#include "wire/roce/int_hdr.h"

/* Prefetch distance of headers, in frames. */
#define PREFETCH_AHEAD 4
#define VLAN_ID_MASK 0x0FFFu
/*
 * Prefetch of the payload for the ICRC: distance in frames, and number of cache lines. The CPU's
 * own prefetcher loads the rest.
 */
#define PAYLOAD_AHEAD 2
#define PAYLOAD_LINES 16u

/* Most bursts of crossed frames in one call. */
#define CROSS_BURSTS 4

enum rx_class {
	RX_ROCE, /* to us, well-formed; the ICRC is not checked yet */
	RX_INT,  /* to us, with an INT header if it is well-formed */
	RX_MAC_CONTROL,
	RX_OTHER,
	RX_DROP, /* reason in `drop` */
};

struct rx_frame {
	struct rte_mbuf *m;
	const uint8_t *buf;
	uint16_t len;
	uint8_t class; /* enum rx_class */
	uint8_t drop;  /* enum nic_drop */
	uint32_t item; /* of RX_ROCE: the QP, or QP_NONE */
	union {
		struct frame_view eth; /* of RX_INT, RX_MAC_CONTROL and RX_OTHER */
		struct roce_view roce;
	};
};

/* To the address of the flow, not to another one of ours? */
static bool
to_flow(const struct qp_flow *flow, const struct rx_frame *f)
{
	const uint8_t *ip = f->buf + f->roce.ip_off;
	const struct roce_path *path = &flow->path;

	return memcmp(f->buf, path->src_mac, 6) == 0 && f->roce.ip_version == path->ip_version &&
	       (path->ip_version == 4 ? memcmp(ip + 16, path->src_ip, 4) == 0
				      : memcmp(ip + 24, path->src_ip, 16) == 0);
}

static bool
from_peer(const struct qp_flow *flow, const struct rx_frame *f)
{
	const uint8_t *ip = f->buf + f->roce.ip_off;

	if (f->roce.ip_version != flow->path.ip_version)
		return false;
	if (f->roce.ip_version == 4)
		return memcmp(ip + 12, flow->path.dst_ip, 4) == 0;
	return memcmp(ip + 8, flow->path.dst_ip, 16) == 0;
}

/* A VLAN is a network of its own: the same addresses on another one are other hosts. */
static bool
on_vlan_of(const struct qp_flow *flow, const struct rx_frame *f)
{
	bool tagged = f->roce.ip_off > ETH_HDR_BYTES;

	if (likely(!tagged && !flow->path.tagged))
		return true;
	return (tagged ? be16_load(f->buf + ETH_HDR_BYTES) & VLAN_ID_MASK : 0) ==
	       (flow->path.tagged ? flow->path.vlan_tci & VLAN_ID_MASK : 0);
}

/* QP 1 is that of the NIC: it answers from the NIC's address. */
static bool
to_nic(const struct nic *nic, const struct rx_frame *f)
{
	const uint8_t *ip = f->buf + f->roce.ip_off;
	const struct nic_params *p = &nic->params;

	if (memcmp(f->buf, p->mac, 6) != 0)
		return false;
	return f->roce.ip_version == 4
		       ? p->ip.version == 4 && memcmp(ip + 16, p->ip.addr, 4) == 0
		       : p->ip6.version == 6 && memcmp(ip + 24, p->ip6.addr, 16) == 0;
}

static enum nic_drop
on_mac_control(struct nic *nic, const struct rx_frame *f, uint64_t now_ns)
{
	struct mac_control mc;
	enum mac_control_kind kind;

	if (!mac_control_is_for(f->buf, nic->params.mac))
		return NIC_DROP_MAC_CONTROL_ADDRESS;
	kind = mac_control_parse(f->buf, f->len, &mc);
	switch (kind) {
	case MAC_CONTROL_PFC:
	case MAC_CONTROL_PAUSE:
		/* Other threads read it. */
		__atomic_store_n(&nic->pause->source, be48_load(f->buf + 6), __ATOMIC_RELAXED);
		if ((kind == MAC_CONTROL_PAUSE) == (nic->params.flow_control == NIC_FLOW_PAUSE))
			nic_share_broadcast(nic, f->m);
		nic_pause_on_frame(nic, kind, &mc, now_ns);
		return NIC_USED;
	case MAC_CONTROL_UNKNOWN:
		return NIC_DROP_MAC_CONTROL_UNKNOWN;
	default:
		return NIC_DROP_MAC_CONTROL_MALFORMED;
	}
}

/* Data that an ACK answers, and that may have an INT header. */
static bool
is_data(uint8_t opcode)
{
	return opcode <= RC_WRITE_ONLY_IMM || opcode == RC_SEND_LAST_INV ||
	       opcode == RC_SEND_ONLY_INV;
}

static bool
is_read_data(uint8_t opcode)
{
	return opcode >= RC_READ_RESP_FIRST && opcode <= RC_READ_RESP_ONLY;
}

/* A CNP, ACK or request of one of our QPs. */
static enum nic_drop
on_qp(struct nic *nic, uint32_t item, const struct rx_frame *f, uint64_t now_ns)
{
	const struct roce_view *v = &f->roce;

	/* Send no CNP for an answer with CE: two NICs could answer each other's answers forever. */
	if (v->ecn == ECN_CE && (v->opcode == ROCE_CNP || v->opcode == RC_ACK))
		counter_inc(&nic->stats.np.np_ce_on_control);
	if (v->opcode == ROCE_CNP) {
		nic_on_cnp(nic, item, be32_load(f->buf + v->ext_off), now_ns);
		return NIC_USED;
	}
	if (v->opcode == RC_ACK)
		return nic_on_ack(nic, item, v, now_ns);
	/*
	 * A mark counts even if the transport drops the packet, except for UD: nic_on_ud() checks
	 * the source QP first.
	 */
	if (v->ecn == ECN_CE && v->opcode < UD_SEND_ONLY)
		nic_np_on_ce(nic, item, now_ns);
	else if (unlikely(nic->needs.notifies) && (is_data(v->opcode) || is_read_data(v->opcode)))
		nic_np_on_unmarked(nic, item, now_ns);
	if (v->opcode <= RC_READ_REQUEST ||
	    (v->opcode >= RC_COMPARE_SWAP && v->opcode < RC_OPCODES_END))
		return nic_on_request(nic, item, v, wire_bytes(f->len), now_ns);
	if (v->opcode <= RC_READ_RESP_ONLY)
		return nic_on_read_response(nic, item, v, wire_bytes(f->len), now_ns);
	if (v->opcode == UD_SEND_ONLY || v->opcode == UD_SEND_ONLY_IMM)
		return nic_on_ud(nic, item, v, wire_bytes(f->len), now_ns);
	return NIC_DROP_UNEXPECTED_OPCODE; /* responses to atomics */
}

/* Index of the local QP with a number; QP_NONE: none. */
static uint32_t
find_qp(const struct nic *nic, uint32_t qpn)
{
	uint32_t number = qpn - nic->params.first_qpn;
	uint32_t item = number;

	if (qpn < nic->params.first_qpn)
		return QP_NONE;
	if (unlikely(nic->share != NULL))
		item = nic_share_item(nic, number);
	return item < nic->n_qps ? item : QP_NONE;
}

static unsigned int
on_roce(struct nic *nic, const struct rx_frame *f, uint64_t now_ns)
{
	const struct qp_flow *flow;
	uint32_t item = f->item;

	if (unlikely(nic->share != NULL) && nic_share_cross(nic, f->m, f->roce.dest_qp))
		return NIC_KEPT;
	counter_inc(&nic->stats.rx_roce_packets);
	if (item == QP_NONE || unlikely(nic->qps[item].place == QP_FREE)) {
		if (f->roce.dest_qp == GSI_QPN && nic->gsi != NULL)
			return to_nic(nic, f) ? nic_gsi_on_datagram(nic, f->buf, &f->roce)
					      : NIC_DROP_CM_ADDRESS;
		if (f->roce.opcode == ROCE_CNP)
			counter_inc(&nic->stats.rp.rp_cnp_ignored);
		return NIC_DROP_UNKNOWN_QP;
	}
	flow = nic_flow_of(nic, &nic->qps[item]);
	if (!from_peer(flow, f) || (unlikely(nic_addresses_differ(nic)) && !to_flow(flow, f))) {
		if (f->roce.opcode == ROCE_CNP)
			counter_inc(&nic->stats.rp.rp_cnp_ignored);
		return NIC_DROP_WRONG_PEER;
	}
	if (!on_vlan_of(flow, f)) {
		if (f->roce.opcode == ROCE_CNP)
			counter_inc(&nic->stats.rp.rp_cnp_ignored);
		return NIC_DROP_WRONG_VLAN;
	}
	nic_touch(nic, item, &nic->qps[item]);
	if (unlikely(nic->qps[item].flags & QP_UNRESOLVED))
		nic_resolve_from(nic, item, f->buf + 6, now_ns);
	if (unlikely(flow->rx_pacing != NULL))
		nic_measure_arrival(nic, item, &f->roce, now_ns);
	return on_qp(nic, item, f, now_ns);
}

static bool
has_room(struct nic *nic, const struct rx_frame *f, uint64_t now_ns)
{
	bool tagged = f->roce.ip_off > ETH_HDR_BYTES;

	return nic_pause_admit(nic, f->roce.dscp,
			       tagged ? be16_load(f->buf + ETH_HDR_BYTES) >> 13 : -1, f->len,
			       now_ns);
}

/*
 * A frame with an INT header: of data, to be echoed, or of an ACK, to be heard. The rest is handled
 * as the plain frame that it was.
 */
static __rte_noinline unsigned int
on_int(struct nic *nic, const struct rx_frame *f, uint64_t now_ns)
{
	struct rx_frame plain = {.m = f->m, .buf = nic->int_plain, .len = f->len};
	struct frame_view eth = f->eth;
	const uint8_t *hdr;
	const struct roce_payload *known;
	enum int_verdict verdict = f->len > INT_MAX_FRAME_BYTES
					   ? INT_MALFORMED
					   : int_strip(f->buf, f->len, &eth, nic->int_plain, &hdr);
	unsigned int done;

	if (verdict != INT_OK)
		return verdict == INT_NONE ? NIC_DROP_NOT_ROCE : NIC_DROP_BAD_ROCE;
	eth.ip_end = (uint16_t)(eth.ip_end - int_hdr_bytes(int_hdr_slots(hdr)));
	if (roce_parse(plain.buf, plain.len, &eth, false, &plain.roce) != ROCE_OK)
		return NIC_DROP_BAD_ROCE;
	known = nic_payload_in(nic->mbufs.payloads, f->m, &plain.roce);
	if (nic->params.icrc_check &&
	    !(known != NULL ? roce_icrc_is_valid_around(plain.buf, &plain.roce, known)
			    : roce_icrc_is_valid(plain.buf, &plain.roce)))
		return NIC_DROP_BAD_ICRC;
	if (nic->pause->slow && !nic->taking_over && !has_room(nic, &plain, now_ns))
		return NIC_DROP_NO_BUFFER;
	plain.item = find_qp(nic, plain.roce.dest_qp);
	nic->heard_int = hdr;
	done = on_roce(nic, &plain, now_ns);
	nic->heard_int = NULL;
	if (done == NIC_USED && is_data(plain.roce.opcode))
		nic_echo_int(&nic->echoes[plain.item], hdr);
	return done;
}

/* Handle a classified frame. @return NIC_USED, NIC_KEPT, or the reason to drop it. */
static __rte_always_inline unsigned int
act(struct nic *nic, const struct rx_frame *f, uint64_t now_ns)
{
	if (likely(f->class == RX_ROCE)) {
		if (nic->params.icrc_check &&
		    unlikely(!nic_icrc_is_valid(nic->mbufs.payloads, f->m, &f->roce)))
			return NIC_DROP_BAD_ICRC;
		if (unlikely(nic->pause->slow) && !nic->taking_over && !has_room(nic, f, now_ns))
			return NIC_DROP_NO_BUFFER;
		return on_roce(nic, f, now_ns);
	}
	if (f->class == RX_INT)
		return on_int(nic, f, now_ns);
	if (f->class == RX_MAC_CONTROL)
		return on_mac_control(nic, f, now_ns);
	if (f->class == RX_OTHER)
		return nic_on_other(nic, f->m, &f->eth, now_ns);
	return f->drop;
}

static void
drop(struct rx_frame *f, enum nic_drop reason)
{
	f->class = RX_DROP;
	f->drop = (uint8_t)reason;
}

/*
 * Is a frame to one of our addresses? A RoCE frame is first compared with the address of its QP's
 * flow: a port may have as many addresses as flows.
 */
static bool
is_for_us(const struct nic *nic, const struct rx_frame *f, const struct frame_view *eth,
	  bool is_roce)
{
	const uint8_t *ip = f->buf + eth->l3_off;
	uint32_t item = is_roce ? find_qp(nic, f->roce.dest_qp) : QP_NONE;

	if (item != QP_NONE && nic->qps[item].place != QP_FREE &&
	    to_flow(nic_flow_of(nic, &nic->qps[item]), f))
		return true;
	return nic_address_is_ours(nic, f->buf, eth->ip_version,
				   eth->ip_version == 4 ? ip + 16 : ip + 24);
}

/* Classify a frame that the fast parser refused, and find the reason of a drop. */
static __rte_noinline void
classify_other(const struct nic *nic, struct rx_frame *f)
{
	enum roce_verdict verdict;
	struct frame_view eth;

	if (f->m->nb_segs != 1 || frame_parse(f->buf, f->len, &eth) != FRAME_OK) {
		drop(f, NIC_DROP_MALFORMED);
	} else if (eth.ethertype == ETHERTYPE_MAC_CONTROL || eth.ip_proto != IP_PROTO_UDP) {
		f->class = eth.ethertype == ETHERTYPE_MAC_CONTROL ? RX_MAC_CONTROL : RX_OTHER;
		f->eth = eth;
	} else {
		verdict = roce_parse(f->buf, f->len, &eth, false, &f->roce);
		if (!is_for_us(nic, f, &eth, verdict == ROCE_OK)) {
			drop(f, NIC_DROP_NOT_FOR_US);
		} else if (verdict == ROCE_OK) {
			f->class = RX_ROCE;
		} else if (verdict == ROCE_NOT_ROCE && nic->needs.hears_hops) {
			f->class = RX_INT;
			f->eth = eth;
		} else {
			drop(f, verdict == ROCE_NOT_ROCE         ? NIC_DROP_NOT_ROCE
				: verdict == ROCE_UNKNOWN_OPCODE ? NIC_DROP_UNKNOWN_OPCODE
								 : NIC_DROP_BAD_ROCE);
		}
	}
}

/* Classify a frame. Changes no state, so all frames of a burst can be classified first. */
static __rte_always_inline void
classify(const struct nic *nic, struct rte_mbuf *m, struct rx_frame *f)
{
	f->m = m;
	f->buf = rte_pktmbuf_mtod(m, const uint8_t *);
	f->len = m->data_len;
	f->class = RX_ROCE;
	if (m->nb_segs != 1 || !roce_parse_plain(f->buf, f->len, &nic->station, &f->roce))
		classify_other(nic, f);
	if (f->class != RX_ROCE)
		return;
	f->item = find_qp(nic, f->roce.dest_qp);
	nic_prefetch_control(nic, f->item);
	if (f->item != QP_NONE && f->roce.opcode == ROCE_CNP)
		rte_prefetch0(&nic->qps[f->item].cc);
}

static inline void
prefetch_payload(const struct rx_frame *f)
{
	unsigned int lines = f->len / RTE_CACHE_LINE_SIZE;

	if (likely(lines >= PAYLOAD_LINES)) {
		for (unsigned int i = 1; i <= PAYLOAD_LINES; i++)
			rte_prefetch0(f->buf + i * RTE_CACHE_LINE_SIZE);
	} else {
		for (unsigned int i = 1; i <= lines; i++)
			rte_prefetch0(f->buf + i * RTE_CACHE_LINE_SIZE);
	}
}

/*
 * Does freeing this frame only return it to its pool? One segment has no next one, so the second
 * line of the mbuf, which nothing else has read, is not read here either.
 */
static inline bool
is_whole(const struct rte_mbuf *m)
{
	return m->nb_segs == 1 && rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_DIRECT(m);
}

/* As rte_pktmbuf_free_bulk(), but faster if nearly all frames have one segment and one pool. */
static void
free_frames(struct rte_mbuf **pkts, unsigned int n)
{
	struct rte_mempool *pool = NULL;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];

		if (unlikely(!is_whole(m))) {
			rte_pktmbuf_free(m);
			continue;
		}
		if (n == 1) {
			rte_mempool_put(m->pool, m);
			return;
		}
		if (unlikely(m->pool != pool)) {
			if (kept > 0)
				rte_mempool_put_bulk(pool, (void **)pkts, kept);
			pool = m->pool;
			kept = 0;
		}
		pkts[kept++] = m;
	}
	if (kept > 0)
		rte_mempool_put_bulk(pool, (void **)pkts, kept);
}

static __rte_noinline void
count_drop(struct nic *nic, const struct rte_mbuf *m, enum nic_drop reason)
{
	counter_inc(&nic->stats.drops[reason]);
	if (nic->drops != NULL && nic->drops->wanted)
		nic->drops->dropped(nic->drops, 0, m, nic_drop_name(reason));
}

/*
 * Classify all frames, then handle each one: by then the prefetched lines are in the cache. The
 * prefetch of the payload gains most if the device writes frames to memory and not to the cache.
 */
static void
rx_burst(struct nic *nic, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct rx_frame frames[NIC_BURST];
	unsigned int to_free = 0;
	uint64_t bytes = 0;

	for (uint16_t i = 0; n > 1 && i < n && i < PREFETCH_AHEAD; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const void *));
	for (uint16_t i = 0; i < n; i++) {
		if (i + PREFETCH_AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(pkts[i + PREFETCH_AHEAD], const void *));
		bytes += frame_bytes(pkts[i]->pkt_len);
		classify(nic, pkts[i], &frames[i]);
	}
	if (likely(!nic->taking_over)) {
		counter_add(&nic->stats.rx_packets, n);
		counter_add(&nic->stats.rx_bytes, bytes);
		if (unlikely(nic->tracked != NULL))
			nic_tracked_burst(nic, pkts, n, now_ns);
	}
	for (uint16_t i = 0; i < n; i++) {
		unsigned int d;

		if (i + PAYLOAD_AHEAD < n && nic->params.icrc_check)
			prefetch_payload(&frames[i + PAYLOAD_AHEAD]);
		d = act(nic, &frames[i], now_ns);

		if (d == NIC_KEPT)
			continue;
		if (d != NIC_USED)
			count_drop(nic, pkts[i], (enum nic_drop)d);
		pkts[to_free++] = pkts[i];
	}
	free_frames(pkts, to_free);
}

void
nic_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);

	assert(port == 0);
	(void)port;
	for (uint16_t at = 0; at < n; at += NIC_BURST)
		rx_burst(nic, &pkts[at], RTE_MIN((uint16_t)(n - at), (uint16_t)NIC_BURST), now_ns);
	nic_do_requests(nic, now_ns);
	if (unlikely(nic->share != NULL) && nic->crossings->pending != 0)
		nic_share_flush(nic);
	nic_flush(nic);
}

void
nic_rx_crossed(struct nic *nic, uint64_t now_ns)
{
	struct rte_mbuf *pkts[NIC_CROSS_BURST];
	uint16_t n = NIC_CROSS_BURST;

	nic->taking_over = true;
	for (unsigned int i = 0; i < CROSS_BURSTS && n == NIC_CROSS_BURST; i++) {
		n = nic_share_receive(nic, pkts);
		if (n > 0)
			nic_rx(&nic->node, 0, pkts, n, now_ns);
	}
	nic->taking_over = false;
}
