/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames to send: pause, then CNP, then ACK and NAK, then data, as shaper and pause allow. All but
 * data may leave by a queue of the device that is theirs.
 */
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

/* Data mbufs of one call: taken in bulk when the first is needed, the rest is given back. */
struct stock {
	struct rte_mbuf *m[NIC_BURST];
	uint16_t next, end;
	uint16_t room;  /* frames that the call may still make */
	uint16_t batch; /* taken next; grows, so that a call that makes one frame pays for one */
};

static struct rte_mbuf *
take_data_mbuf(struct nic *nic, struct stock *stock, uint64_t now_ns)
{
	uint16_t n = stock->room < stock->batch ? stock->room : stock->batch;

	if (likely(stock->next < stock->end))
		return stock->m[stock->next++];
	stock->batch = (uint16_t)min_u64(4u * stock->batch, NIC_BURST);
	/* Where the pool has less than a burst, one at a time. */
	if (n == 1 || rte_pktmbuf_alloc_bulk(nic->data_pool, stock->m, n) != 0)
		return nic_take_mbuf(nic, nic->data_pool, now_ns);
	stock->next = 1;
	stock->end = n;
	return stock->m[0];
}

static void
give_back(struct nic *nic, const struct stock *stock)
{
	if (stock->next < stock->end)
		rte_mempool_put_bulk(nic->data_pool, (void *const *)&stock->m[stock->next],
				     stock->end - stock->next);
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

/* A frame without payload from one of the templates of the QP's flow. */
static struct rte_mbuf *
control_frame(struct nic *nic, uint32_t item, const struct roce_template *template,
	      const struct roce_fields *fields, uint64_t now_ns)
{
	struct rte_mbuf *m = nic_take_mbuf(nic, nic->control_pool, now_ns);
	struct roce_ends ends = nic_ends(nic, item);
	unsigned int hdr;

	if (m == NULL)
		return NULL;
	hdr = roce_template_stamp(template, &ends, nic->empty, fields,
				  (uint8_t *)m->buf_addr + RTE_PKTMBUF_HEADROOM +
					  ROCE_MAX_HDR_BYTES);
	/* The shortest, an ACK over IPv4, has 62 bytes: nothing needs padding to 60. */
	assert(hdr + ICRC_BYTES >= MIN_FRAME_BYTES - FCS_BYTES);
	m->data_off = (uint16_t)(RTE_PKTMBUF_HEADROOM + ROCE_MAX_HDR_BYTES - hdr);
	m->data_len = (uint16_t)(hdr + ICRC_BYTES);
	m->pkt_len = m->data_len;
	charge(nic, m);
	return m;
}

static struct rte_mbuf *
send_cnp(struct nic *nic, uint8_t queue, uint64_t now_ns)
{
	static const struct roce_fields fields = {.opcode = ROCE_CNP, .becn = true};
	uint32_t item = nic->cnps.list[queue].head;
	struct nic_qp *qp = &nic->qps[item];
	struct rte_mbuf *m;

	m = control_frame(nic, item, &nic_flow_of(nic, qp)->cnp_template, &fields, now_ns);
	if (m == NULL)
		return NULL;
	nic_queues_pop(nic, &nic->cnps, queue, offsetof(struct nic_qp, cnp_link));
	qp->rx_flags &= (uint8_t)~QP_RX_OWES_CNP;
	nic->tallies[item].cnps_sent++;
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
	uint32_t item = nic->acks.list[queue].head;
	struct nic_qp *qp = &nic->qps[item];
	struct roce_fields fields = {
		.opcode = RC_ACK,
		.migreq = true,
		.psn = (uint32_t)(qp->rx_seq - (qp->owed == QP_OWES_ACK)) & PSN_MASK,
		.aeth_syndrome = syndrome[qp->owed],
		.aeth_msn = (uint32_t)nic->tallies[item].rx_messages & 0xFFFFFFu,
	};
	struct rte_mbuf *m =
		control_frame(nic, item, &nic_flow_of(nic, qp)->template, &fields, now_ns);

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
	if (qp->ack_countdown > 1 && qp->left_packets > 1 && qp->next_seq + 1 != qp->limit_seq) {
		qp->ack_countdown--;
		return false;
	}
	qp->ack_countdown = nic->params.ack_every;
	/* An ACK does not tell which sending of a packet it answers (Karn). */
	if (nic->cc.times_acks && !(qp->flags & QP_RESEND))
		cc_on_ask(&qp->cc, &nic->cc, qp->next_seq, now_ns);
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

/* Opcode of the next packet. */
static uint8_t
data_opcode(const struct qp_flow *flow, const struct nic_qp *qp)
{
	/* [verb][is the first][is the last] */
	static const uint8_t opcodes[][2][2] = {
		[NIC_WRITE] = {{RC_WRITE_MIDDLE, RC_WRITE_LAST}, {RC_WRITE_FIRST, RC_WRITE_ONLY}},
		[NIC_WRITE_IMM] = {{RC_WRITE_MIDDLE, RC_WRITE_LAST_IMM},
				   {RC_WRITE_FIRST, RC_WRITE_ONLY_IMM}},
		[NIC_SEND] = {{RC_SEND_MIDDLE, RC_SEND_LAST}, {RC_SEND_FIRST, RC_SEND_ONLY}},
	};

	return opcodes[flow->params.verb][(qp->flags & QP_FIRST) != 0][qp->left_packets == 1];
}

/* Payload of the next packet, which is of a message of these bytes if that is known. */
static const struct roce_payload *
payload_of(const struct nic *nic, const struct qp_flow *flow, const struct nic_qp *qp,
	   uint32_t message_bytes)
{
	if (qp->left_packets != 1)
		return flow->full;
	if (workload_is_fixed(&flow->params.work))
		return flow->last;
	return nic->payloads[qp_last_bytes(message_bytes, flow->mtu_bytes)];
}

static void
stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	/* The first packet says it, and the last is cut by it. */
	uint32_t message_bytes = qp->flags & QP_FIRST || qp->left_packets == 1
					 ? qp_bytes(flow, nic_qpn(nic, qp), qp_next_message(qp))
					 : 0;
	const struct roce_payload *payload = payload_of(nic, flow, qp, message_bytes);
	struct roce_ends ends = nic_ends(nic, item);
	struct roce_fields fields = {
		.opcode = data_opcode(flow, qp),
		.ack_req = !flow->params.raw && wants_ack(nic, qp, now_ns),
		.migreq = true,
		.psn = qp->next_seq & PSN_MASK,
		.reth_dma_bytes = message_bytes,
	};
	uint16_t at = nic_payload_offset();
	unsigned int hdr;

	/* The number is not in the lines of a packet that needs it not. */
	if (qp->left_packets == 1 && flow->params.verb == NIC_WRITE_IMM)
		fields.imm = qp->next_msg;
	restore_pattern(nic, m, at + payload->payload_bytes);
	hdr = roce_template_stamp(&flow->template, &ends, payload, &fields,
				  (uint8_t *)m->buf_addr + at);
	m->data_off = (uint16_t)(at - hdr);
	m->data_len = (uint16_t)(hdr + payload->payload_bytes + payload->pad + ICRC_BYTES);
	m->pkt_len = m->data_len;
}

/*
 * A packet that asked for an ACK has left. The timer runs only while an ACK is awaited (IBTA
 * 9.7.6.1.3): at a low rate the packets between two that ask may take longer than the timeout.
 */
static void
arm_timer(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint64_t tick;

	qp->flags |= QP_AWAITS;
	if (nic->timers.slot_log2 == 0)
		return;
	tick = nic_timers_tick(&nic->timers, now_ns);
	qp->progress_tick = (uint32_t)tick;
	if (qp->flags & QP_TIMED)
		return;
	qp->flags |= QP_TIMED;
	nic_timers_insert(&nic->timers, nic->qps, item, tick + NIC_TIMEOUT_TICKS);
}

/* The packet at next_seq has left in m. */
static void
on_sent(struct nic *nic, uint32_t item, const struct rte_mbuf *m, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	uint32_t wire = wire_bytes(m->pkt_len);
	bool raw = nic_flow_of(nic, qp)->params.raw;

	/* The countdown starts again where an ACK was asked for. */
	if (!raw && qp->ack_countdown == nic->params.ack_every && !(qp->flags & QP_AWAITS))
		arm_timer(nic, item, now_ns);
	if (qp->flags & QP_RESEND)
		counter_inc(&nic->stats.retransmitted_packets);
	qp_sent(qp);
	qp->tx_wire_bytes += wire;
	token_account_charge(&qp->bucket, wire);
	nic_cc_sent(nic, item, wire, now_ns);
	if (raw && (qp->left_packets == 0 || !qp_in_window(qp)))
		nic_unanswered(nic, item, now_ns);
}

/* After its stop time a QP begins no message; what it has begun it finishes. */
static void
check_stop(const struct nic *nic, struct nic_qp *qp, uint64_t now_ns)
{
	if (!(qp->flags & QP_FIRST) || qp->flags & QP_RESEND ||
	    now_ns < nic_flow_of(nic, qp)->params.stop_ns)
		return;
	qp->left_packets = 0;
	qp->flags &= (uint16_t)~QP_FIRST;
}

/* May this QP, whose turn it is, send now? What it was when it became ready may have passed. */
static bool
can_send(const struct nic *nic, uint32_t item, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];

	if (unlikely(qp->flags & QP_STOPS))
		check_stop(nic, qp, now_ns);
	token_account_update(&qp->bucket, nic->qp_burst_nanobits, now_ns);
	return !(qp->flags & (QP_ERROR | QP_DONE)) && qp->left_packets > 0 && qp_in_window(qp) &&
	       token_account_can_send(&qp->bucket);
}

/*
 * When will, or did, the tokens suffice for the next packet? A QP with tokens left is catching up
 * if it is known when its last packet was due; else it may have been idle, which says nothing.
 */
static void
note_due(struct nic *nic, uint32_t item, uint64_t now_ns)
{
	const struct token_account *b = &nic->qps[item].bucket;

	if (b->credit_nanobits < 0)
		nic->due_ns[item] = token_account_next_ns(b);
	else if (nic->due_ns[item] != 0 && b->rate_bps > 0)
		nic->due_ns[item] = sub_sat(now_ns, (uint64_t)b->credit_nanobits / b->rate_bps);
}

static struct rte_mbuf *
send_data(struct nic *nic, struct stock *stock, uint8_t open_queues, uint64_t now_ns)
{
	struct rte_mbuf *m = NULL;
	uint8_t eligible;

	while (m == NULL && (eligible = nic->ready.backlogged & open_queues) != 0) {
		uint8_t queue = queue_after(eligible, nic->last_queue);
		uint32_t item = nic->ready.list[queue].head;

		if (can_send(nic, item, now_ns)) {
			m = take_data_mbuf(nic, stock, now_ns);
			if (m == NULL)
				return NULL;
			nic->last_queue = queue;
		}
		nic_queues_pop(nic, &nic->ready, queue, offsetof(struct nic_qp, ready_link));
		nic_prefetch(nic, nic->ready.list[queue].head);
		if (m != NULL) {
			stamp(nic, item, m, now_ns);
			charge(nic, m);
			if (unlikely(nic->due_ns != NULL))
				pkt_meta(m)->due_ns = nic->due_ns[item];
			on_sent(nic, item, m, now_ns);
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
next_control(struct nic *nic, uint64_t now_ns)
{
	uint8_t open_queues = (uint8_t)~nic->pause.paused_queues;
	uint8_t cnps = nic->cnps.backlogged & open_queues;
	uint8_t acks = nic->acks.backlogged & open_queues;
	struct rte_mbuf *m = NULL;

	if (unlikely(nic->pause.speaks) && nic_pause_due(nic, now_ns))
		m = send_pause(nic, now_ns);
	if (m == NULL && cnps != 0 && nic_np_may_leave(nic, now_ns))
		m = send_cnp(nic, (uint8_t)__builtin_ctz(cnps), now_ns);
	if (m == NULL && acks != 0)
		m = send_ack(nic, (uint8_t)__builtin_ctz(acks), now_ns);
	return m;
}

static struct rte_mbuf *
next_frame(struct nic *nic, struct stock *stock, uint64_t now_ns)
{
	uint8_t open_queues = (uint8_t)~nic->pause.paused_queues;
	struct rte_mbuf *m = NULL;

	if (likely(!nic->control_apart))
		m = next_control(nic, now_ns);
	if (m == NULL && open_queues >> nic->plain_queue & 1) {
		m = nic_resolve_frame(nic, now_ns);
		if (m != NULL)
			charge(nic, m);
	}
	if (m == NULL)
		m = send_data(nic, stock, open_queues, now_ns);
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
give(struct nic *nic, struct stock *stock, struct rte_mbuf **pkts, uint16_t room, uint64_t now_ns)
{
	uint16_t n = 0;

	while (n < room && token_bucket_can_send(&nic->shaper) && nic->wire_from_ns <= now_ns) {
		struct rte_mbuf *m = next_frame(nic, stock, now_ns);

		if (m == NULL)
			break;
		pkts[n++] = m;
		stock->room--;
		reserve_turn(nic, now_ns);
	}
	return n;
}

/* May there be a frame for next_control()? */
static bool
owes_control(const struct nic *nic)
{
	return nic->cnps.backlogged != 0 || nic->acks.backlogged != 0 || nic->pause.speaks;
}

uint16_t
nic_tx_control(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room,
	       uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	struct rte_mbuf *m;
	uint16_t n = 0;

	assert(port == 0 && nic->control_apart);
	(void)port;
	if (nic->share != NULL)
		nic_share_take_over(nic, now_ns);
	nic_np_run(nic, now_ns);
	if (!owes_control(nic))
		return 0;
	token_bucket_update(&nic->shaper, now_ns);
	if (nic->pause.paused_prios != 0)
		nic_pause_update(nic, now_ns);
	reserve_turn(nic, now_ns);
	while (n < room && token_bucket_can_send(&nic->shaper) && nic->wire_from_ns <= now_ns) {
		m = next_control(nic, now_ns);
		if (m == NULL)
			break;
		pkts[n++] = m;
		reserve_turn(nic, now_ns);
	}
	return n;
}

void
nic_send_control_apart(struct node *node)
{
	nic_of(node)->control_apart = true;
}

uint16_t
nic_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room, uint64_t now_ns)
{
	struct nic *nic = nic_of(node);
	struct stock stock;
	uint16_t n;
	bool more_due;

	assert(port == 0);
	(void)port;
	stock.next = stock.end = 0;
	stock.batch = 1;
	stock.room = room;
	if (nic->share != NULL)
		nic_share_take_over(nic, now_ns);
	token_bucket_update(&nic->shaper, now_ns);
	if (!token_bucket_can_send(&nic->shaper))
		return 0;
	nic->retry_ns = 0;
	nic_resolve_run(nic, now_ns);
	nic_flush(nic);
	if (nic->pause.paused_prios != 0)
		nic_pause_update(nic, now_ns);
	reserve_turn(nic, now_ns);
	/* A call that gives nothing has looked at all that was due: next_ns() is later than now. */
	do {
		more_due = nic_release(nic, now_ns);
		n = give(nic, &stock, pkts, room, now_ns);
	} while (n == 0 && more_due);
	give_back(nic, &stock);
	nic_flush(nic);
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
	if (nic->timers.busy != 0)
		next_ns = min_u64(next_ns, nic_timers_next_ns(&nic->timers));
	next_ns = min_u64(next_ns, nic_np_next_ns(nic));
	if (nic->pause.speaks)
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
