/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames to send: pause, then CNP, then ACK and NAK, then data, as shaper and pause allow. */
#include "nic/nic_internal.h"

#include <string.h>
#include <rte_mbuf.h>

#include "base/fixed.h"
#include "node/pkt_meta.h"

/* When a pool was empty: how long an event loop waits before it asks again. */
#define NO_MBUF_RETRY_NS 1000ull
/* What a node reserves of a shared wire at a time: a few frames, so that turns are short (0.7 us at
 * 100 Gb/s) and an atomic operation is rare. */
#define WIRE_TURN_BYTES (2 * (NIC_MAX_MTU + 256))

/* Lowest queue of a mask that comes after last, going round. */
static uint8_t
queue_after(uint8_t mask, uint8_t last)
{
	unsigned int shift = (last + 1u) % TM_CLASSES;
	unsigned int turned = (uint32_t)(mask | mask << 8) >> shift;

	return (uint8_t)(((unsigned int)__builtin_ctz(turned) + shift) % TM_CLASSES);
}

struct rte_mbuf *
nic_take_mbuf(struct nic *nic, struct rte_mempool *pool, uint64_t now_ns)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (unlikely(m == NULL)) {
		counter_inc(&nic->stats.no_mbuf);
		nic->retry_ns = now_ns + NO_MBUF_RETRY_NS;
	}
	return m;
}

/* A frame leaves: every one is counted and charged to the wire. */
static void
charge(struct nic *nic, struct rte_mbuf *m)
{
	if (unlikely(nic->due_ns != NULL))
		pkt_meta(m)->due_ns = 0;
	counter_inc(&nic->stats.tx_packets);
	counter_add(&nic->stats.tx_bytes, frame_bytes(m->pkt_len));
	token_bucket_charge(&nic->shaper, wire_bytes(m->pkt_len));
	nic->wire_left_bytes -= wire_bytes(m->pkt_len);
}

static struct rte_mbuf *
control_frame(struct nic *nic, const struct roce_path *path, const struct roce_fields *fields,
	      uint64_t now_ns)
{
	struct rte_mbuf *m = nic_take_mbuf(nic, nic->control_pool, now_ns);
	size_t len;

	if (m == NULL)
		return NULL;
	len = roce_build(rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_tailroom(m), path, fields,
			 NULL, 0);
	/* The shortest, an ACK over IPv4, has 62 bytes: nothing needs padding to 60. */
	assert(len >= MIN_FRAME_BYTES - FCS_BYTES);
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	charge(nic, m);
	return m;
}

static struct rte_mbuf *
send_cnp(struct nic *nic, uint8_t queue, uint64_t now_ns)
{
	static const struct roce_fields fields = {.opcode = ROCE_CNP, .becn = true};
	struct nic_qp *qp = &nic->qps[nic->cnps.list[queue].head];
	struct roce_path path = qp->path;
	struct rte_mbuf *m;

	path.dscp = nic->params.np.np_cnp_dscp;
	path.ecn = (uint8_t)nic->params.np.np_cnp_ecn;
	path.vlan_tci = (uint16_t)((path.vlan_tci & 0x0FFF) | nic->params.np.np_cnp_prio << 13);
	m = control_frame(nic, &path, &fields, now_ns);
	if (m == NULL)
		return NULL;
	nic_queues_pop(nic, &nic->cnps, queue, offsetof(struct nic_qp, cnp_link));
	qp->rx_flags &= (uint8_t)~QP_RX_OWES_CNP;
	qp->cnps_sent++;
	nic->np.gate_ns = now_ns + nic->params.np.np_min_port_cnp_interval_ns;
	counter_inc(&nic->stats.np.np_cnp_sent);
	return m;
}

/* ACK or NAK, whichever is owed: it says what has arrived by now, not by when it was asked for. */
static struct rte_mbuf *
send_ack(struct nic *nic, uint8_t queue, uint64_t now_ns)
{
	static const uint8_t syndrome[] = {
		[QP_OWES_ACK] = AETH_ACK,
		[QP_OWES_NAK_SEQ] = AETH_NAK_PSN_SEQ,
		[QP_OWES_NAK_INVALID] = AETH_NAK_INVALID_REQUEST,
	};
	struct nic_qp *qp = &nic->qps[nic->acks.list[queue].head];
	struct roce_fields fields = {
		.opcode = RC_ACK,
		.migreq = true,
		.psn = (qp->expected_psn - (qp->owed == QP_OWES_ACK)) & PSN_MASK,
		.aeth_syndrome = syndrome[qp->owed],
		.aeth_msn = (uint32_t)qp->rx_messages & 0xFFFFFFu,
	};
	struct rte_mbuf *m = control_frame(nic, &qp->path, &fields, now_ns);

	if (m == NULL)
		return NULL;
	nic_queues_pop(nic, &nic->acks, queue, offsetof(struct nic_qp, ack_link));
	counter_inc(qp->owed == QP_OWES_ACK ? &nic->stats.acks_sent : &nic->stats.naks_sent);
	qp->owed = QP_OWES_NOTHING;
	return m;
}

/*
 * AckReq on each n-th packet, on the last of a message, and on one after which the QP must wait
 * for an ACK.
 */
static bool
wants_ack(struct nic *nic, struct nic_qp *qp, uint64_t now_ns)
{
	if (qp->ack_countdown > 1 && qp->next_pos + 1 < qp->message_packets &&
	    qp->next_seq + 1 < qp->limit_seq) {
		qp->ack_countdown--;
		return false;
	}
	qp->ack_countdown = nic->params.ack_every;
	/* An ACK does not tell which sending of a packet it answers (Karn). */
	if (nic->cc.times_acks && qp->next_seq == qp->sent_seq)
		cc_on_ask(&qp->cc, &nic->cc, (uint32_t)qp->next_seq, now_ns);
	return true;
}

/* Undo what the last frame in this mbuf wrote over the pattern: its pad and ICRC. */
static void
restore_pattern(const struct nic *nic, struct rte_mbuf *m, uint32_t end_off)
{
	struct pkt_meta *meta = pkt_meta(m);

	/* Frames of one length overwrite the same bytes: nothing to undo. */
	if (meta->dirty_off == end_off)
		return;
	if (meta->dirty_off != 0)
		memcpy((uint8_t *)m->buf_addr + meta->dirty_off,
		       nic->pattern + (meta->dirty_off - nic_payload_offset()), 8);
	meta->dirty_off = end_off;
}

static void
stamp(struct nic *nic, struct nic_qp *qp, struct rte_mbuf *m, uint64_t now_ns)
{
	bool last = qp->next_pos + 1 == qp->message_packets;
	const struct roce_payload *payload = last ? qp->last : qp->full;
	struct roce_fields fields = {
		.opcode = qp_write_opcode(qp->next_pos, qp->message_packets),
		.ack_req = wants_ack(nic, qp, now_ns),
		.migreq = true,
		.psn = qp_psn(qp, qp->next_seq),
		.reth_dma_bytes = qp->message_bytes,
	};
	uint16_t at = nic_payload_offset();
	unsigned int hdr;

	restore_pattern(nic, m, at + payload->payload_bytes);
	hdr = roce_template_stamp(&qp->template, payload, &fields, (uint8_t *)m->buf_addr + at);
	m->data_off = (uint16_t)(at - hdr);
	m->data_len = (uint16_t)(hdr + payload->payload_bytes + payload->pad + ICRC_BYTES);
	m->pkt_len = m->data_len;
}

/*
 * A packet that asked for an ACK has left. The timer runs only while an ACK is awaited (IBTA
 * 9.7.6.1.3): at a low rate the packets between two that ask may take longer than the timeout.
 */
static void
arm_timer(struct nic *nic, uint32_t item, bool awaited_before, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (!awaited_before)
		qp->progress_ns = now_ns;
	if (qp->flags & QP_TIMED || nic->timers == NULL)
		return;
	qp->flags |= QP_TIMED;
	timing_wheel_insert(nic->timers, item, now_ns + nic->rto_ns);
}

/* The packet at next_seq has left in m. */
static void
on_sent(struct nic *nic, uint32_t item, const struct rte_mbuf *m, bool awaited_before,
	uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint32_t wire = wire_bytes(m->pkt_len);

	if (qp->next_seq < qp->sent_seq) {
		qp->retransmitted_packets++;
		counter_inc(&nic->stats.retransmitted_packets);
	} else {
		qp->sent_seq++;
	}
	qp->next_seq++;
	qp->next_pos = qp->next_pos + 1 == qp->message_packets ? 0 : qp->next_pos + 1;
	if (qp_awaits_ack(qp, nic->params.ack_every))
		arm_timer(nic, item, awaited_before, now_ns);
	qp->tx_wire_bytes += wire;
	token_bucket_charge(&qp->bucket, wire);
	nic_cc_sent(nic, item, wire, now_ns);
}

/* After its stop time a QP begins no message; what it has begun it finishes. */
static void
check_stop(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (now_ns < qp->stop_ns || qp->next_pos != 0 || qp->next_seq != qp->sent_seq)
		return;
	qp->end_seq = qp->next_seq;
	qp_update_limit(qp, nic->window_packets);
	qp->flags &= (uint8_t)~QP_STOPS;
	if (qp->acked_seq == qp->end_seq)
		nic_end(nic, item, QP_DONE, now_ns);
}

/* May this QP, whose turn it is, send now? What it was when it became ready may have passed. */
static bool
can_send(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (unlikely(qp->flags & QP_STOPS))
		check_stop(nic, item, now_ns);
	token_bucket_update(&qp->bucket, now_ns);
	return !(qp->flags & (QP_ERROR | QP_DONE)) && qp->next_seq < qp->limit_seq &&
	       token_bucket_can_send(&qp->bucket);
}

/*
 * When will, or did, the tokens suffice for the next packet? A QP with tokens left is catching up
 * if it is known when its last packet was due; else it may have been idle, which says nothing.
 */
static void
note_due(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	const struct token_bucket *b = &nic->qps[item].bucket;

	if (b->credit_nanobits < 0)
		nic->due_ns[item] = token_bucket_next_ns(b);
	else if (nic->due_ns[item] != 0 && b->rate_bps > 0)
		nic->due_ns[item] = sub_sat(now_ns, (uint64_t)b->credit_nanobits / b->rate_bps);
}

static struct rte_mbuf *
send_data(struct nic *nic, uint8_t open_queues, uint64_t now_ns)
{
	struct rte_mbuf *m = NULL;
	uint8_t eligible;

	while (m == NULL && (eligible = nic->ready.backlogged & open_queues) != 0) {
		uint8_t queue = queue_after(eligible, nic->last_queue);
		uint32_t item = nic->ready.list[queue].head;

		if (can_send(nic, item, now_ns)) {
			m = nic_take_mbuf(nic, nic->data_pool, now_ns);
			if (m == NULL)
				return NULL;
			nic->last_queue = queue;
		}
		nic_queues_pop(nic, &nic->ready, queue, offsetof(struct nic_qp, ready_link));
		nic_prefetch(nic, nic->ready.list[queue].head);
		if (m != NULL) {
			bool awaited = qp_awaits_ack(&nic->qps[item], nic->params.ack_every);

			stamp(nic, &nic->qps[item], m, now_ns);
			charge(nic, m);
			if (unlikely(nic->due_ns != NULL))
				pkt_meta(m)->due_ns = nic->due_ns[item];
			on_sent(nic, item, m, awaited, now_ns);
			if (unlikely(nic->due_ns != NULL))
				note_due(nic, item, now_ns);
		}
		nic_settle(nic, item, now_ns);
	}
	return m;
}

static struct rte_mbuf *
send_pause(struct nic *nic, uint64_t now_ns)
{
	/* The mbuf first: a frame that is taken counts as sent. */
	struct rte_mbuf *m = nic_take_mbuf(nic, nic->control_pool, now_ns);

	if (m == NULL)
		return NULL;
	nic_pause_build(nic, m, now_ns);
	charge(nic, m);
	return m;
}

static struct rte_mbuf *
next_frame(struct nic *nic, uint64_t now_ns)
{
	uint8_t open_queues = (uint8_t)~nic->pause.paused_queues;
	uint8_t cnps = nic->cnps.backlogged & open_queues;
	uint8_t acks = nic->acks.backlogged & open_queues;
	struct rte_mbuf *m = NULL;

	if (unlikely(nic->pause.slow) && nic_pause_due(nic, now_ns))
		m = send_pause(nic, now_ns);
	if (m == NULL && cnps != 0 && now_ns >= nic->np.gate_ns)
		m = send_cnp(nic, (uint8_t)__builtin_ctz(cnps), now_ns);
	if (m == NULL && acks != 0)
		m = send_ack(nic, (uint8_t)__builtin_ctz(acks), now_ns);
	if (m == NULL && open_queues >> nic->plain_queue & 1) {
		m = nic_resolve_frame(nic, now_ns);
		if (m != NULL)
			charge(nic, m);
	}
	if (m == NULL)
		m = send_data(nic, open_queues, now_ns);
	return m;
}

/*
 * On a wire that we share, reserve the next turn as soon as the last one is used up: before its
 * time is over, so that a sender which is alone has the whole wire.
 */
static void
reserve_turn(struct nic *nic, uint64_t now_ns)
{
	if (likely(nic->wire == NULL) || nic->wire_left_bytes > 0)
		return;
	nic->wire_left_bytes += WIRE_TURN_BYTES;
	nic->wire_from_ns = wire_share_reserve(nic->wire, WIRE_TURN_BYTES, now_ns);
}

/* What the wire can take now, up to room. */
static uint16_t
give(struct nic *nic, struct rte_mbuf **pkts, uint16_t room, uint64_t now_ns)
{
	uint16_t n = 0;

	while (n < room && token_bucket_can_send(&nic->shaper) && nic->wire_from_ns <= now_ns) {
		struct rte_mbuf *m = next_frame(nic, now_ns);

		if (m == NULL)
			break;
		pkts[n++] = m;
		reserve_turn(nic, now_ns);
	}
	return n;
}

uint16_t
nic_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	uint16_t n;
	bool more_due;

	assert(port == 0);
	(void)port;
	if (nic->share != NULL)
		nic_share_take_over(nic, now_ns);
	token_bucket_update(&nic->shaper, now_ns);
	if (!token_bucket_can_send(&nic->shaper))
		return 0;
	nic->retry_ns = 0;
	nic_resolve_run(nic, now_ns);
	if (nic->pause.paused_prios != 0)
		nic_pause_update(nic, now_ns);
	reserve_turn(nic, now_ns);
	/* A call that gives nothing has looked at all that was due: next_ns() is later than now. */
	do {
		more_due = nic_release(nic, now_ns);
		n = give(nic, pkts, room, now_ns);
	} while (n == 0 && more_due);
	return n;
}

uint64_t
nic_next_ns(const struct node *node, uint16_t port)
{
	const struct nic *nic = nic_of_const(node);
	uint8_t frames = nic->acks.backlogged | nic->ready.backlogged;
	uint8_t open_queues = (uint8_t)~nic->pause.paused_queues;
	uint64_t next_ns = NEVER_NS;

	assert(port == 0);
	(void)port;
	if (frames & open_queues)
		next_ns = nic->retry_ns;
	else if (frames | nic->cnps.backlogged)
		next_ns = pfc_rx_next_ns(&nic->pause.pfc_rx);
	if (nic->cnps.backlogged & open_queues)
		next_ns = min_u64(next_ns, max_u64(nic->retry_ns, nic->np.gate_ns));
	next_ns = min_u64(next_ns, timing_wheel_next_ns(nic->wheel));
	if (nic->timers != NULL)
		next_ns = min_u64(next_ns, timing_wheel_next_ns(nic->timers));
	next_ns = min_u64(next_ns, nic_np_next_ns(nic));
	if (nic->pause.slow)
		next_ns = min_u64(next_ns, nic_pause_next_ns(nic));
	next_ns = min_u64(next_ns, nic_resolve_next_ns(nic));
	if (nic->share != NULL && nic_share_waits(nic))
		return 0;
	if (next_ns == NEVER_NS)
		return NEVER_NS;
	next_ns = max_u64(next_ns, nic->wire_from_ns);
	/* Nothing leaves, and nothing is looked at, before the wire is free. */
	return max_u64(next_ns, token_bucket_next_ns(&nic->shaper));
}
