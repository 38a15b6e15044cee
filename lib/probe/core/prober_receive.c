/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "probe/core/prober_core.h"
#include "wire/bytes/be.h"
#include "wire/frame/l2.h"
#include "wire/link/pfc_frame.h"
#include "wire/neighbour/arp.h"
#include "wire/neighbour/nd.h"

/* An ACK for at most that many packets: below any window. */
#define ACK_EVERY 16u
/* Time between two ACKs of a held QP: below any retransmission timeout in use. When they complete a
 * message, the NIC sends the next one, so they are few. */
#define HOLD_NS (2 * NS_PER_MS)

const struct counter_field prober_counters[] = {
	COUNTER_FIELD(struct prober_stats, rx_packets, "frames received"),
	COUNTER_FIELD(struct prober_stats, rx_bytes, "their bytes, with FCS"),
	COUNTER_FIELD(struct prober_stats, tx_packets, "frames sent"),
	COUNTER_FIELD(struct prober_stats, tx_bytes, "their bytes, with FCS"),
	COUNTER_FIELD(struct prober_stats, rx_data, "requests received from the NIC"),
	COUNTER_FIELD(struct prober_stats, rx_answers, "ACKs and NAKs received"),
	COUNTER_FIELD(struct prober_stats, rx_cnps, "CNPs received"),
	COUNTER_FIELD(struct prober_stats, rx_pauses, "pause frames received"),
	COUNTER_FIELD(struct prober_stats, rx_neighbour,
		      "ARP requests and neighbour solicitations received"),
	COUNTER_FIELD(struct prober_stats, rx_bad_frame, "dropped: malformed Ethernet or IP"),
	COUNTER_FIELD(struct prober_stats, rx_not_roce, "dropped: not RoCEv2"),
	COUNTER_FIELD(struct prober_stats, rx_bad_roce,
		      "dropped: RoCEv2 with a wrong length, version, pad or checksum"),
	COUNTER_FIELD(struct prober_stats, rx_unknown_opcode, "dropped: unknown opcode"),
	COUNTER_FIELD(struct prober_stats, rx_bad_icrc, "dropped: wrong ICRC"),
	COUNTER_FIELD(struct prober_stats, rx_unknown_qp, "dropped: not for a QP of the prober"),
	COUNTER_FIELD(struct prober_stats, rx_wrong_peer, "dropped: not from the NIC under test"),
	COUNTER_FIELD(struct prober_stats, rx_bad_pause, "dropped: malformed MAC control"),
	COUNTER_FIELD(struct prober_stats, no_mbuf, "frames not sent: no packet memory"),
	COUNTER_FIELD(struct prober_stats, tx_full, "frames not sent: too many wait"),
};
const unsigned int prober_counters_n = ARRAY_LEN(prober_counters);

static bool
ends_message(uint8_t opcode)
{
	static const uint32_t ends = 1u << RC_SEND_LAST | 1u << RC_SEND_LAST_IMM |
				     1u << RC_SEND_ONLY | 1u << RC_SEND_ONLY_IMM |
				     1u << RC_WRITE_LAST | 1u << RC_WRITE_LAST_IMM |
				     1u << RC_WRITE_ONLY | 1u << RC_WRITE_ONLY_IMM;

	return ends >> opcode & 1;
}

static bool
begins_message(uint8_t opcode)
{
	static const uint32_t begins = 1u << RC_SEND_FIRST | 1u << RC_SEND_ONLY |
				       1u << RC_SEND_ONLY_IMM | 1u << RC_WRITE_FIRST |
				       1u << RC_WRITE_ONLY | 1u << RC_WRITE_ONLY_IMM;

	return begins >> opcode & 1;
}

/* The next expected PSN has arrived whole; the message count rises with the last packet. */
static void
advance(struct prober_qp *qp, const struct roce_view *v)
{
	qp->epsn = (qp->epsn + 1) & PSN_MASK;
	qp->naked = false;
	qp->unacked++;
	if (ends_message(v->opcode))
		qp->msn = (qp->msn + 1) & 0xFFFFFFu;
}

static void
acknowledge(struct prober *p, uint32_t qp, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[qp];

	q->unacked = 0;
	q->uncovered = q->skip_acks;
	if (q->skip_acks)
		q->skip_acks = false;
	else
		prober_send_answer(p, qp, AETH_ACK, q->epsn - 1, 0, now_ns);
}

static uint64_t *
ahead_word(struct prober_qp *q, uint32_t psn)
{
	return &q->ahead[psn % PROBER_AHEAD / 64];
}

/* A packet has come after a gap. */
static void
keep(struct prober_qp *q, uint32_t psn, int32_t ahead)
{
	if (ahead < (int32_t)PROBER_AHEAD)
		*ahead_word(q, psn) |= 1ull << psn % 64;
}

/* The gap is filled: go on after what was kept. */
static void
pass_kept(struct prober_qp *q)
{
	while (*ahead_word(q, q->epsn) >> q->epsn % 64 & 1) {
		*ahead_word(q, q->epsn) &= ~(1ull << q->epsn % 64);
		q->epsn = (q->epsn + 1) & PSN_MASK;
		q->unacked++;
	}
}

/* As a responder: the request of PSN v->psn. */
static void
respond(struct prober *p, uint32_t qp, const struct roce_view *v, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[qp];
	int32_t ahead;

	if (!q->synced) {
		/* The NIC may have begun before the prober: whatever comes first is expected. */
		q->synced = true;
		q->epsn = q->held_psn = v->psn;
	}
	ahead = psn_diff(v->psn, q->epsn);
	if (v->opcode == RC_READ_REQUEST && ahead <= 0) {
		prober_on_read(p, qp, v, now_ns);
		return;
	}
	if (ahead < 0) {
		q->resent++;
		q->missed |= q->uncovered;
		if (q->mode == PROBER_ANSWER && v->ack_req)
			acknowledge(p, qp, now_ns);
		return;
	}
	if (ahead == 0 && q->lose_next) {
		q->lose_next = false;
		q->lost_psn = v->psn;
		return;
	}
	if (ahead == 0 && q->lose_last && ends_message(v->opcode)) {
		q->lose_last = false;
		q->lost_psn = v->psn;
		/* All before it has arrived, and nothing that follows will show the loss. */
		acknowledge(p, qp, now_ns);
		q->mode = PROBER_SILENT;
		prober_watch(p, qp, v->psn);
		return;
	}
	if (ahead == 0 && q->refuse_next && begins_message(v->opcode)) {
		q->refuse_next = false;
		q->lost_psn = v->psn;
		prober_watch(p, qp, v->psn);
		prober_send_answer(p, qp, AETH_RNR_NAK | q->refuse_timer, v->psn, 0, now_ns);
		q->nak_ns = now_ns;
		/* It acknowledges all before; what follows is dropped in silence. */
		q->unacked = 0;
		q->naked = true;
		return;
	}
	if (ahead > 0) {
		if (!q->naked && q->mode != PROBER_SILENT) {
			prober_send_answer(p, qp, AETH_NAK_PSN_SEQ, q->epsn, 0, now_ns);
			q->nak_ns = now_ns;
		}
		q->naked = true;
		if (p->keeps)
			keep(q, v->psn, ahead);
		return;
	}
	advance(q, v);
	if (p->keeps)
		pass_kept(q);
	if (q->mode == PROBER_ANSWER && (v->ack_req || q->unacked >= ACK_EVERY))
		acknowledge(p, qp, now_ns);
}

/* Opcodes of RC SEND and WRITE. */
static bool
is_data(uint8_t opcode)
{
	return opcode <= RC_WRITE_ONLY_IMM;
}

static void
on_data(struct prober *p, uint32_t qp, const struct frame_view *eth, const struct roce_view *v,
	const struct rte_mbuf *m, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[qp];

	counter_inc(&p->stats.rx_data);
	q->bytes += wire_bytes(m->pkt_len);
	q->packets++;
	/* Packets of one burst have one time. */
	if (q->n_recent == 0 || now_ns != q->last_ns)
		q->n_recent++;
	q->recent[(q->n_recent - 1) % PROBER_RECENT] =
		(struct curve_point){.at_ns = now_ns, .bytes = q->bytes};
	if (now_ns - q->last_ns > q->gap_ns) {
		q->gap_ns = now_ns - q->last_ns;
		q->gap_from_ns = q->last_ns;
	}
	q->last_ns = now_ns;
	if (!q->synced || psn_diff(v->psn, q->highest_psn) > 0)
		q->highest_psn = v->psn;
	if (v->psn == q->watch_psn) {
		q->watch_n++;
		q->watch_ns = now_ns;
	}
	if (q->has_sport && q->sport != v->udp_sport)
		q->sport_varies = true;
	q->has_sport = true;
	q->sport = v->udp_sport;
	p->ttl = eth->ttl;
	p->data_ecn = v->ecn;
	p->data_tagged = eth->tagged;
	p->data_pcp = (uint8_t)(eth->vlan_tci >> 13);
	if (v->ip_version == 4)
		p->df = rte_pktmbuf_mtod(m, const uint8_t *)[v->ip_off + 6] & 0x40;
	if (v->opcode == RC_SEND_FIRST || v->opcode == RC_SEND_MIDDLE ||
	    v->opcode == RC_WRITE_FIRST || v->opcode == RC_WRITE_MIDDLE)
		p->middle_bytes = v->payload_bytes;
	p->arrivals[p->n_arrivals++ % PROBER_LOG] = (struct prober_arrival){now_ns, qp, v->psn};
	if (qp == 0)
		curve_add(&p->curve, now_ns, q->bytes, p->others_ns);
	else
		p->others_ns += wire_bytes(m->pkt_len) * 8e9 / (double)p->params.link_speed_bps;
	respond(p, qp, v, now_ns);
}

static void
on_cnp(struct prober *p, uint32_t qp, const struct frame_view *eth, const struct roce_view *v,
       const struct rte_mbuf *m, uint64_t now_ns)
{
	static const uint8_t zeros[CNP_BODY_BYTES];
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	struct prober_cnp *c = &p->cnps[p->n_cnps++ % PROBER_LOG];

	counter_inc(&p->stats.rx_cnps);
	*c = (struct prober_cnp){
		.at_ns = now_ns,
		.frame = counter_read(&p->stats.rx_packets),
		.qp = qp,
		.view = *v,
		.tagged = eth->tagged,
		.pcp = (uint8_t)(eth->vlan_tci >> 13),
		.reserved_zero = memcmp(buf + v->ext_off, zeros, sizeof(zeros)) == 0,
	};
}

static void
on_answer(struct prober *p, uint32_t qp, const struct roce_view *v, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[qp];

	counter_inc(&p->stats.rx_answers);
	p->answers[p->n_answers++ % PROBER_LOG] = (struct prober_answer){
		.at_ns = now_ns,
		.frame = counter_read(&p->stats.rx_packets),
		.qp = qp,
		.psn = v->psn,
		.syndrome = v->aeth_syndrome,
	};
	/* The NIC tells what it expects; after a start in the middle the prober does not know. */
	if (v->aeth_syndrome == AETH_NAK_PSN_SEQ)
		q->next_psn = q->acked_psn = v->psn;
	if (v->aeth_syndrome >> 5 != 0) {
		if (qp == 0)
			prober_on_ping_answer(p, true, now_ns);
		return;
	}
	if (psn_diff(v->psn + 1, q->acked_psn) > 0)
		q->acked_psn = (v->psn + 1) & PSN_MASK;
	if (psn_diff(q->acked_psn, q->next_psn) > 0)
		q->next_psn = q->acked_psn;
	if (qp == 0)
		prober_on_ping_answer(p, false, now_ns);
}

/* Is the frame from the NIC, and if its address is not known yet, what is it? */
static bool
is_from_peer(struct prober *p, const uint8_t *buf, const struct roce_view *v)
{
	const uint8_t *src = buf + v->ip_off + (v->ip_version == 4 ? 12 : 8);

	if (v->ip_version != p->params.peer_ip.version ||
	    memcmp(src, p->params.peer_ip.addr, v->ip_version == 4 ? 4 : 16) != 0)
		return false;
	if (!p->knows_peer) {
		p->knows_peer = true;
		for (uint32_t i = 0; i < p->n_qps; i++)
			memcpy(p->qps[i].path.dst_mac, buf + 6, 6);
	}
	return true;
}

static void
on_roce(struct prober *p, const struct rte_mbuf *m, const struct frame_view *eth, uint64_t now_ns)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	struct roce_view v;
	enum roce_verdict verdict = roce_parse(buf, m->data_len, eth, true, &v);
	uint32_t qp = v.dest_qp - p->params.local_qpn;

	switch (verdict) {
	case ROCE_OK:
		break;
	case ROCE_NOT_ROCE:
		counter_inc(&p->stats.rx_not_roce);
		return;
	case ROCE_UNKNOWN_OPCODE:
		counter_inc(&p->stats.rx_unknown_opcode);
		p->strange_opcode = buf[eth->l4_off + UDP_HDR_BYTES];
		return;
	case ROCE_BAD_ICRC:
		counter_inc(&p->stats.rx_bad_icrc);
		return;
	default:
		counter_inc(&p->stats.rx_bad_roce);
		return;
	}
	if (!is_from_peer(p, buf, &v)) {
		counter_inc(&p->stats.rx_wrong_peer);
	} else if (v.opcode == ROCE_CNP) {
		/* Kept even for a wrong QP: the report names it. */
		on_cnp(p, qp, eth, &v, m, now_ns);
	} else if (qp >= p->n_qps) {
		counter_inc(&p->stats.rx_unknown_qp);
		p->strange_qpn = v.dest_qp;
	} else if (v.opcode == RC_ACK) {
		p->is_heard = true;
		on_answer(p, qp, &v, now_ns);
	} else if (v.opcode == RC_READ_REQUEST) {
		p->is_heard = true;
		counter_inc(&p->stats.rx_data);
		p->qps[qp].reads.n_requests++;
		respond(p, qp, &v, now_ns);
	} else if (is_data(v.opcode)) {
		p->is_heard = true;
		on_data(p, qp, eth, &v, m, now_ns);
	} else {
		counter_inc(&p->stats.rx_unknown_opcode);
		p->strange_opcode = v.opcode;
	}
}

static void
on_mac_control(struct prober *p, const struct rte_mbuf *m)
{
	struct mac_control c;
	uint8_t prios = 0;
	enum mac_control_kind kind =
		mac_control_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &c);

	if (kind != MAC_CONTROL_PFC && kind != MAC_CONTROL_PAUSE) {
		counter_inc(&p->stats.rx_bad_pause);
		return;
	}
	counter_inc(&p->stats.rx_pauses);
	for (unsigned int i = 0; kind == MAC_CONTROL_PFC && i < 8; i++)
		if (c.enable >> i & 1 && c.quanta[i] > 0)
			prios |= (uint8_t)(1u << i);
	p->paused_prios |= prios;
	if (kind == MAC_CONTROL_PAUSE && c.quanta[0] > 0)
		p->link_paused = true;
	/* Times of 0 end a pause. */
	p->n_pauses += prios != 0 || (kind == MAC_CONTROL_PAUSE && c.quanta[0] > 0);
}

static bool
is_ours(const struct prober *p, const uint8_t *ip, unsigned int bytes)
{
	return memcmp(ip, p->params.ip.addr, bytes) == 0 ||
	       (p->params.second_ip.version != 0 &&
		memcmp(ip, p->params.second_ip.addr, bytes) == 0);
}

/* The sender of a request, on its VLAN. */
static struct l2
way_back(const struct prober *p, const uint8_t *buf, const struct frame_view *eth)
{
	struct l2 l2 = {.tagged = eth->tagged, .vlan_tci = eth->vlan_tci};

	memcpy(l2.dst_mac, buf + 6, 6);
	memcpy(l2.src_mac, p->params.mac, 6);
	return l2;
}

/* Answer a request for one of our addresses in its mbuf. @return false: it is none. */
static bool
answer_neighbour(struct prober *p, struct rte_mbuf *m, const struct frame_view *eth)
{
	uint8_t *buf = rte_pktmbuf_mtod(m, uint8_t *);
	struct l2 l2 = way_back(p, buf, eth);
	size_t room = (size_t)m->data_len + rte_pktmbuf_tailroom(m), n;
	struct arp arp;
	struct nd nd;

	if (eth->ethertype == ETHERTYPE_ARP) {
		if (!arp_parse(buf, m->data_len, eth, &arp) || arp.op != ARP_REQUEST ||
		    p->params.ip.version != 4 || !is_ours(p, arp.target_ip, 4) ||
		    room < ARP_FRAME_BYTES)
			return false;
		struct arp reply = {.op = ARP_REPLY};

		memcpy(reply.sender_mac, p->params.mac, 6);
		memcpy(reply.sender_ip, arp.target_ip, 4);
		memcpy(reply.target_mac, arp.sender_mac, 6);
		memcpy(reply.target_ip, arp.sender_ip, 4);
		n = arp_build(buf, &l2, &reply);
	} else {
		if (eth->ip_version != 6 || p->params.ip.version != 6 || !nd_parse(buf, eth, &nd) ||
		    nd.type != ND_SOLICITATION || !is_ours(p, nd.target_ip, 16) ||
		    nd_is_unspecified(nd.src_ip) || room < ND_FRAME_BYTES)
			return false;
		struct nd reply = {.type = ND_ADVERTISEMENT,
				   .flags = ND_SOLICITED | ND_OVERRIDE,
				   .has_mac = true};

		memcpy(reply.src_ip, nd.target_ip, 16);
		memcpy(reply.dst_ip, nd.src_ip, 16);
		memcpy(reply.target_ip, nd.target_ip, 16);
		memcpy(reply.mac, p->params.mac, 6);
		n = nd_build(buf, &l2, &reply);
	}
	counter_inc(&p->stats.rx_neighbour);
	m->data_len = (uint16_t)n;
	m->pkt_len = m->data_len;
	prober_push(p, m);
	return true;
}

void
prober_take(struct prober *p, struct rte_mbuf *m, uint64_t now_ns)
{
	const uint8_t *buf = rte_pktmbuf_mtod(m, const uint8_t *);
	struct frame_view eth;
	enum frame_verdict verdict = frame_parse(buf, m->data_len, &eth);

	counter_inc(&p->stats.rx_packets);
	counter_add(&p->stats.rx_bytes, frame_bytes(m->pkt_len));
	if (verdict != FRAME_OK) {
		counter_inc(&p->stats.rx_bad_frame);
	} else if (eth.ethertype == ETHERTYPE_MAC_CONTROL) {
		on_mac_control(p, m);
	} else if (eth.ethertype == ETHERTYPE_ARP || eth.ip_proto == 58) {
		if (answer_neighbour(p, m, &eth))
			return;
		counter_inc(&p->stats.rx_not_roce);
	} else {
		on_roce(p, m, &eth, now_ns);
	}
	rte_pktmbuf_free(m);
}

void
prober_tend(struct prober *p, uint64_t now_ns)
{
	if (now_ns < p->hold_ns)
		return;
	p->hold_ns = NEVER_NS;
	for (uint32_t i = 0; i < p->n_qps; i++) {
		struct prober_qp *q = &p->qps[i];

		if (q->mode != PROBER_HOLD)
			continue;
		p->hold_ns = now_ns + HOLD_NS;
		/* READs are answered by their responses. */
		if (q->synced && q->reads.n_requests == 0 && psn_diff(q->epsn, q->held_psn) > 0)
			prober_send_answer(p, i, AETH_ACK, q->held_psn++, 0, now_ns);
	}
}

void
prober_set_mode(struct prober *p, uint32_t qp, enum prober_mode mode, uint64_t now_ns)
{
	struct prober_qp *q = &p->qps[qp];

	if (mode == PROBER_HOLD && q->mode != PROBER_HOLD) {
		q->held_psn = q->epsn;
		p->hold_ns = now_ns + HOLD_NS;
	}
	if (mode == PROBER_ANSWER && q->mode != PROBER_ANSWER && q->synced &&
	    q->reads.n_requests == 0)
		acknowledge(p, qp, now_ns);
	q->mode = (uint8_t)mode;
}

void
prober_only(struct prober *p, uint32_t qp, uint64_t now_ns)
{
	for (uint32_t i = 0; i < p->n_qps; i++)
		prober_set_mode(p, i, i == qp ? PROBER_ANSWER : PROBER_HOLD, now_ns);
}

bool
prober_is_quiet(struct prober *p)
{
	uint64_t packets = 0, before = p->held_packets;
	uint64_t few = p->n_qps * (p->params.settle_ns / HOLD_NS + 4);

	for (uint32_t i = 0; i < p->n_qps; i++)
		if (p->qps[i].mode == PROBER_HOLD)
			packets += p->qps[i].packets;
	p->held_packets = packets;
	return packets - before <= few;
}

void
prober_watch(struct prober *p, uint32_t qp, uint32_t psn)
{
	struct prober_qp *q = &p->qps[qp];

	q->gap_ns = q->gap_from_ns = q->watch_ns = 0;
	q->watch_n = 0;
	q->watch_psn = psn & PSN_MASK;
}

double
prober_turn_ns(const struct prober *p, uint32_t qp)
{
	const struct prober_qp *q = &p->qps[qp];
	uint64_t n = min_u64(q->n_recent, PROBER_RECENT), longest_ns = 0;

	for (uint64_t i = q->n_recent - n + 1; i < q->n_recent; i++)
		longest_ns = max_u64(longest_ns, q->recent[i % PROBER_RECENT].at_ns -
							 q->recent[(i - 1) % PROBER_RECENT].at_ns);
	return (double)longest_ns;
}

double
prober_rate_bps(const struct prober *p, uint32_t qp, uint32_t steps)
{
	const struct prober_qp *q = &p->qps[qp];
	const struct curve_point *last, *first;

	if (q->n_recent <= steps)
		return 0;
	last = &q->recent[(q->n_recent - 1) % PROBER_RECENT];
	first = &q->recent[(q->n_recent - 1 - steps) % PROBER_RECENT];
	return (double)(last->bytes - first->bytes) * 8e9 / (double)(last->at_ns - first->at_ns);
}
