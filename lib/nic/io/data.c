/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data frames: choose a QP, build its packet, and decide where the QP waits for the next one.
 *
 * Invariant: per call, mbufs taken = frames returned + mbufs put back; each frame returned is
 * charged to the wire and to its QP's bucket.
 *
 * At 100 Gb/s a 1 KB frame takes about 90 ns, and a short message far less. So the work per packet
 * is inline: here, in place/place.h and in transport/stamp.h. Work that is done once per message or
 * more rarely is a function call.
 */
#include "nic/io/nic_io.h"

#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "nic/core/core.h"
#include "nic/measure/measure.h"
#include "nic/rate/nic_cc.h"
#include "nic/place/place.h"
#include "nic/rate/version.h"
#include "nic/transport/read.h"
#include "nic/transport/requester.h"
#include "nic/transport/stamp.h"
#include "nic/transport/ud.h"
#include "node/pkt_meta.h"
#include "wire/roce/int_hdr.h"

/* Prefetch distance in a ready ring: a few hundred nanoseconds. */
#define READY_AHEAD 8

/* The next queue of a mask after `last`, round robin. */
static uint8_t
queue_after(uint8_t mask, uint8_t last)
{
	unsigned int shift = (last + 1u) % TM_CLASSES;
	unsigned int turned = (uint32_t)(mask | mask << 8) >> shift;

	return (uint8_t)(((unsigned int)__builtin_ctz(turned) + shift) % TM_CLASSES);
}

/*
 * The mbufs of one call, in the caller's array: `sent` of them hold frames, `taken` are allocated.
 * They are taken in bulk when one is needed, and the rest is put back.
 */
struct outgoing {
	struct rte_mbuf **pkts;
	uint16_t sent, taken, max_pkts;
	uint32_t batch; /* least number to take next; grows, as in struct stock of nic_tx.c */
	bool dry;       /* the pool is empty */
};

/* Take one mbuf per ready QP, or a batch if that is more. There is room for at least one. */
static bool
take_mbufs(struct nic *nic, struct outgoing *out, uint32_t ready, uint64_t now_ns)
{
	void **to = (void **)(out->pkts + out->taken);
	unsigned int n = RTE_MIN(RTE_MAX(ready, out->batch), out->max_pkts - (uint32_t)out->taken);

	/* If the pool has fewer than n mbufs, take a single one. */
	if (rte_mempool_get_bulk(nic->mbufs.data, to, n) != 0 &&
	    rte_mempool_get_bulk(nic->mbufs.data, to, n = 1) != 0) {
		nic_no_mbuf(nic, now_ns);
		out->dry = true;
		return false;
	}
	out->taken = (uint16_t)(out->taken + n);
	out->batch = RTE_MIN(8 * out->batch, (uint32_t)NIC_BURST);
	return true;
}

/*
 * AckReq is set on every ack_every-th packet, on the last packet of a message, and on the last one
 * that the window allows.
 */
static inline bool
wants_ack(struct nic_qp *qp)
{
	if (likely(qp->ack_countdown > 1 && qp->left_packets > 1 &&
		   qp->next_seq + 1 != qp->limit_seq)) {
		qp->ack_countdown--;
		return false;
	}
	return true;
}

/* The packet at next_seq leaves with AckReq. */
static inline void
ask(struct nic *nic, uint32_t item, struct nic_qp *qp, uint64_t now_ns)
{
	qp->ack_countdown = nic->params.ack_every;
	if (nic->measure->rtts != NULL)
		rtt_on_ask(&nic->measure->rtts[item], qp->next_seq, now_ns);
	if (!(qp->flags & QP_AWAITS))
		nic_arm_timer(nic, item, now_ns);
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
		[NIC_SEND_IMM] = {{RC_SEND_MIDDLE, RC_SEND_LAST_IMM},
				  {RC_SEND_FIRST, RC_SEND_ONLY_IMM}},
	};

	return opcodes[flow->params.verb][(qp->flags & QP_FIRST) != 0][qp->left_packets == 1];
}

/* Payload of the next packet of a message of message_bytes. */
static const struct roce_payload *
payload_of(const struct nic *nic, const struct qp_flow *flow, const struct nic_qp *qp,
	   uint32_t message_bytes)
{
	if (qp->left_packets != 1)
		return flow->full;
	if (workload_is_fixed(&flow->params.work))
		return flow->last;
	return nic->mbufs.payloads->by_length[qp_last_bytes(message_bytes, flow->mtu_bytes)];
}

/* Write the first, the last or the only packet of a message. @return its length. */
static __attribute__((noinline)) uint32_t
stamp_end(struct nic *nic, uint32_t item, struct rte_mbuf *m, bool ack_req, uint64_t now_ns)
{
	struct nic_qp *qp = &nic->qps[item];
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	/*
	 * The message size is in the header of the first packet, and determines the length of the
	 * last one.
	 */
	const struct workload_post *post =
		flow->params.message_size == WORKLOAD_POSTED
			? workload_post(&flow->params.work, nic_qpn(nic, qp), qp_next_message(qp))
			: NULL;
	uint32_t message_bytes =
		post != NULL ? post->bytes : qp_bytes(flow, nic_qpn(nic, qp), qp_next_message(qp));
	const struct roce_payload *payload = payload_of(nic, flow, qp, message_bytes);
	struct roce_fields fields = {
		.opcode = data_opcode(flow, qp),
		.ack_req = ack_req,
		.migreq = true,
		.psn = qp->next_seq & PSN_MASK,
		.reth_va = qp_remote_addr(&flow->params, qp->dest_qp),
		.reth_rkey = flow->params.rkey,
		.reth_dma_bytes = message_bytes,
	};

	/* Read only for immediate data: this cache line is cold. */
	if (qp->left_packets == 1 && nic_verb_has_imm(flow->params.verb)) {
		fields.imm = flow->params.has_imm ? flow->params.imm_data : qp->next_msg;
		if (post != NULL)
			fields.imm = post->tag;
		if (flow->params.imm_timestamp)
			fields.imm = (uint32_t)(now_ns + nic->epoch_ns);
	}
	nic_stamp(nic, item, m, payload, &fields);
	return m->data_len;
}

/* After stop_ns a QP begins no message, but completes those that it has begun. */
static void
check_stop(const struct nic *nic, struct nic_qp *qp, uint64_t now_ns)
{
	if (!(qp->flags & QP_FIRST) || qp->flags & QP_RESEND ||
	    now_ns < nic_flow_of(nic, qp)->params.stop_ns)
		return;
	qp->left_packets = 0;
	qp->flags &= (uint16_t)~QP_FIRST;
}

/*
 * Is the next packet plain? A plain packet neither begins nor ends a message, is not a
 * retransmission, and does not exhaust the window. Most packets are plain.
 */
static inline bool
is_plain(const struct nic_qp *qp)
{
	const uint16_t other =
		QP_FIRST | QP_RESEND | QP_SPECIAL | QP_ERROR | QP_DONE | QP_UNRESOLVED | QP_RNR;

	return likely(!(qp->flags & other)) && likely(qp->left_packets > 1) &&
	       likely(qp_window(qp) > 1);
}

/* May this QP, whose turn it is, send a packet? Its state may have changed since it became
 * ready. */
static bool
has_other(const struct nic *nic, struct nic_qp *qp, uint64_t now_ns)
{
	if (qp->flags & (QP_ERROR | QP_DONE | QP_RNR))
		return false;
	if (qp->flags & QP_STOPS)
		check_stop(nic, qp, now_ns);
	return qp->left_packets > 0 && qp_in_window(qp);
}

/*
 * Record when the next packet is due: the time at which the tokens suffice for it. If they suffice
 * already, and the last packet's due time is known, the QP is late, and the due time is in the
 * past. If the last packet's due time is unknown, the QP may have been idle, so the due time stays
 * unknown.
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

/* Charge a packet to the QP's congestion control, which mostly has no event. */
static inline void
account_cc(struct nic *nic, uint32_t item, struct nic_qp *qp, uint64_t byte_event_bytes,
	   uint32_t wire, uint64_t now_ns)
{
	if (unlikely(cc_has_event(&qp->cc, byte_event_bytes, wire, now_ns)))
		nic_cc_sent(nic, item, wire, now_ns);
	else
		qp->cc.head.byte_count += wire;
}

/* Charge a packet to the wire, to the QP's bucket and to its congestion control. */
static inline void
account(struct nic *nic, uint32_t item, struct nic_qp *qp, uint32_t wire, uint64_t now_ns)
{
	nic_charge(nic, wire, now_ns);
	qp->tx_wire_bytes += wire;
	token_account_charge(&qp->bucket, wire);
	account_cc(nic, item, qp, nic_cc_of(nic, qp)->byte_event_bytes, wire, now_ns);
}

/* Send the next packet of a QP with QP_SPECIAL (READs or UD). @return frame length. */
static uint32_t
send_special(struct nic *nic, uint32_t item, struct nic_qp *qp, struct rte_mbuf *m, uint64_t now_ns)
{
	bool ud = qp->flags & QP_UD;

	if (ud)
		nic_ud_stamp(nic, item, m);
	else
		nic_read_stamp(nic, item, m);
	if (qp->flags & QP_RESEND)
		counter_inc(&nic->stats.retransmitted_packets);
	if (ud)
		qp_sent(qp);
	else
		nic_read_sent(nic, item, now_ns);
	account(nic, item, qp, wire_bytes(m->data_len), now_ns);
	if (ud)
		nic_unanswered(nic, item, now_ns);
	return m->data_len;
}

/* Insert an INT header, which the switches fill in. @return frame length. */
static uint32_t
add_int(struct rte_mbuf *m, unsigned int slots)
{
	unsigned int bytes = int_insert(rte_pktmbuf_mtod(m, uint8_t *), slots, 0, 0, NULL, 0);

	m->data_off = (uint16_t)(m->data_off - bytes);
	m->data_len = (uint16_t)(m->data_len + bytes);
	m->pkt_len = m->data_len;
	return m->data_len;
}

/* Send the next packet, of any kind. @return frame length. */
static __rte_always_inline uint32_t
send_any(struct nic *nic, uint32_t item, struct nic_qp *qp, struct rte_mbuf *m, bool watched,
	 uint64_t now_ns)
{
	const struct qp_flow *flow = nic_flow_of(nic, qp);
	bool raw = flow->raw, asks;
	uint32_t len;

	if (qp->flags & QP_SPECIAL)
		return send_special(nic, item, qp, m, now_ns);
	asks = !raw && wants_ack(qp);
	/* A raw QP requests no ACKs: its countdown only limits runs of plain packets. */
	if (raw)
		qp->ack_countdown = UINT16_MAX;
	if (qp->left_packets > 1 && !(qp->flags & QP_FIRST))
		len = nic_stamp_middle(nic, item, qp, flow, m, asks);
	else
		len = stamp_end(nic, item, m, asks, now_ns);
	if (watched && flow->int_slots > 0)
		len = add_int(m, flow->int_slots);
	if (asks)
		ask(nic, item, qp, now_ns);
	if (qp->flags & QP_RESEND)
		counter_inc(&nic->stats.retransmitted_packets);
	qp_sent(qp);
	account(nic, item, qp, wire_bytes(len), now_ns);
	if (watched && nic->cc[flow->cc].has_window && !raw)
		nic_cc_sent_in_window(nic, item, wire_bytes(len));
	if (raw && (qp->left_packets == 0 || !qp_in_window(qp)))
		nic_unanswered(nic, item, now_ns);
	return len;
}

/* As send_any(), for a QP whose packets are measured, or have INT headers or a window. */
static __attribute__((noinline)) uint32_t
send_watched(struct nic *nic, uint32_t item, struct nic_qp *qp, struct rte_mbuf *m, uint64_t now_ns)
{
	uint64_t *const due_ns = nic->due_ns;
	uint32_t len;

	if (due_ns != NULL) {
		pkt_meta(m)->due_ns = due_ns[item];
		nic_measure_departure(nic, item, now_ns);
	}
	len = send_any(nic, item, qp, m, true, now_ns);
	if (due_ns != NULL) {
		nic_measure_departed(nic, item, wire_bytes(len));
		note_due(nic, item, now_ns);
	}
	return len;
}

/*
 * The head of a ready ring has sent a packet and has another one: move the QP into the wheel or to
 * the end of the ring. If it is alone in the ring, it stays.
 */
static inline void
place_after(struct nic *nic, struct qp_ring *ring, uint32_t item, struct nic_qp *qp,
	    const struct qp_flow *flow, uint64_t now_ns)
{
	uint64_t deadline_ns;

	if (nic_must_wait(qp, flow, nic_wire_free_ns(nic, now_ns), &deadline_ns)) {
		ring->head++;
		nic_make_paced(nic, item, deadline_ns);
	} else if (qp_ring_count(ring) > 1) {
		ring->head++;
		qp_ring_push(ring, item);
	}
}

/*
 * Serve the head of a ready ring in the general case: the next packet may be other than plain, or
 * measured, or the QP may not send at all. @return wire bytes of the packet sent; 0: none.
 */
static __attribute__((noinline)) uint32_t
send_other(struct nic *nic, struct outgoing *out, struct qp_ring *ring, uint64_t now_ns)
{
	uint32_t item = qp_ring_peek(ring, 0), wire;
	struct nic_qp *qp = &nic->qps[item];
	struct rte_mbuf *m;

	if (!token_account_can_send(&qp->bucket) || !has_other(nic, qp, now_ns)) {
		ring->head++;
		nic_settle(nic, item, now_ns);
		return 0;
	}
	if (out->sent == out->taken && !take_mbufs(nic, out, qp_ring_count(ring), now_ns))
		return 0;
	m = out->pkts[out->sent++];
	if (unlikely(nic->is_watched))
		wire = wire_bytes(send_watched(nic, item, qp, m, now_ns));
	else
		wire = wire_bytes(send_any(nic, item, qp, m, false, now_ns));
	if (nic_has_packet(qp)) {
		place_after(nic, ring, item, qp, nic_flow_of(nic, qp), now_ns);
	} else {
		ring->head++;
		nic_settle(nic, item, now_ns);
	}
	return wire;
}

/* The next QPs are not in the cache: prefetch one for each packet. */
static inline void
fetch_next(struct nic *nic, const struct qp_ring *ring)
{
	nic_prefetch_upcoming(nic);
	nic_prefetch(nic, qp_ring_peek(ring, READY_AHEAD));
}

/*
 * Wire bytes after which a run ends: more than the shaper's credit, or all of the reservation. A
 * frame may leave while at most this number of bytes has.
 */
static inline int64_t
run_limit(const struct nic *nic, int64_t credit_bytes)
{
	if (unlikely(nic->wire.share != NULL) && nic->wire.left_bytes <= credit_bytes)
		return nic->wire.left_bytes - 1;
	return credit_bytes;
}

/* Charge the frames of a run to the wire. */
static inline void
charge_run(struct nic *nic, uint32_t bytes, uint64_t now_ns)
{
	nic->wire.shaper.account.credit_nanobits -= bytes * NANOBITS_PER_BYTE;
	if (unlikely(nic->wire.share != NULL)) {
		nic->wire.left_bytes -= bytes;
		nic_reserve_turn(nic, now_ns);
	}
}

/* Write a plain packet with AckReq; the caller has still to call qp_sent_middle(). */
static __attribute__((noinline)) void
stamp_asking(struct nic *nic, uint32_t item, struct nic_qp *qp, struct rte_mbuf *m, uint64_t now_ns)
{
	nic_stamp_middle(nic, item, qp, nic_flow_of(nic, qp), m, true);
	ask(nic, item, qp, now_ns);
}

/*
 * Send plain packets of the QPs at the head of a ready ring, at most `most`, up to the first QP
 * that has another packet to send, or none. The wire is free.
 *
 * What the packets have in common is in local variables: the compiler must assume that the stores
 * of a packet change the node.
 * @return the number sent; their wire bytes are added to *bytes.
 */
static uint16_t
send_run(struct nic *nic, struct qp_ring *in_ring, struct rte_mbuf **pkts, uint16_t most,
	 uint64_t now_ns, uint64_t *bytes)
{
	const bool cached = nic->n_qps <= NIC_CACHED_QPS;
	const uint64_t mark = nic->mbufs.payloads->mark;
	const int64_t qp_burst_nanobits = nic->qp_burst_nanobits;
	const int64_t credit_bytes = nic->wire.shaper.account.credit_nanobits / NANOBITS_PER_BYTE;
	const int64_t limit_bytes = run_limit(nic, credit_bytes);
	const uint8_t version = nic->version;
	struct nic_qp *const qps = nic->qps;
	struct qp_ring ring = *in_ring;
	uint64_t free_ns = now_ns;
	int64_t sent_bytes = 0, charge_nanobits = 0;
	uint64_t byte_event_bytes = 0;
	uint32_t paced, frame_bytes = 0;
	const struct qp_flow *flow = NULL;
	uint16_t n = 0;

	assert(most <= NIC_BURST);
	/* Then the run fits into the list. */
	if (nic->paced.n + most > NIC_BURST)
		nic_flush(nic);
	paced = nic->paced.n;
	do {
		uint32_t item = qp_ring_peek(&ring, 0);
		struct nic_qp *qp = &qps[item];
		uint64_t deadline_ns;

		if (!cached)
			fetch_next(nic, &ring);
		if (unlikely(nic_flow_of(nic, qp) != flow)) {
			flow = nic_flow_of(nic, qp);
			/* wire_bytes() without padding: no frame with a full MTU is too short. */
			frame_bytes = flow->middle.frame_bytes + FCS_BYTES + GAP_BYTES;
			charge_nanobits = frame_bytes * NANOBITS_PER_BYTE;
			byte_event_bytes = nic->cc[flow->cc].byte_event_bytes;
		}
		if (unlikely(qp->version != version) || !is_plain(qp))
			break;
		token_account_update(&qp->bucket, qp_burst_nanobits, now_ns);
		if (unlikely(!token_account_can_send(&qp->bucket)))
			break;
		if (likely(qp->ack_countdown > 1)) {
			nic_stamp_plain(nic, item, qp, flow, pkts[n++], mark);
			qp->ack_countdown--;
		} else if (likely(!flow->raw)) {
			stamp_asking(nic, item, qp, pkts[n++], now_ns);
		} else {
			break;
		}
		qp_sent_middle(qp);
		qp->tx_wire_bytes += frame_bytes;
		token_account_charge_nanobits(&qp->bucket, charge_nanobits);
		account_cc(nic, item, qp, byte_event_bytes, frame_bytes, now_ns);
		sent_bytes += frame_bytes;
		if (unlikely(sent_bytes > credit_bytes)) {
			struct token_bucket wire = nic->wire.shaper;

			token_bucket_charge(&wire, (uint32_t)sent_bytes);
			free_ns = max_u64(now_ns, token_bucket_next_ns(&wire));
		}
		if (likely(nic_must_wait(qp, flow, free_ns, &deadline_ns))) {
			ring.head++;
			nic->paced.item[paced] = item;
			nic->paced.until_ns[paced++] = deadline_ns;
			if (!cached)
				timing_wheel_fetch(nic->wheel, deadline_ns);
		} else if (qp_ring_count(&ring) > 1) {
			ring.head++;
			qp_ring_push(&ring, item);
		}
	} while (n < most && !qp_ring_is_empty(&ring) && sent_bytes <= limit_bytes);
	in_ring->head = ring.head;
	in_ring->tail = ring.tail;
	nic->paced.n = paced;
	*bytes += (uint64_t)sent_bytes;
	charge_run(nic, (uint32_t)sent_bytes, now_ns);
	if (paced == NIC_BURST)
		nic_flush(nic);
	return n;
}

/* Send up to `most` packets of the ready QPs of a queue. @return the number sent. */
static uint16_t
send_queue(struct nic *nic, struct outgoing *out, uint8_t queue, uint16_t most, uint64_t now_ns)
{
	struct qp_ring *ring = &nic->ready.ring[queue];
	const bool watched = nic->is_watched;
	const uint16_t before = out->sent, end = (uint16_t)(before + most);
	uint64_t bytes = 0;
	uint16_t n;

	if (out->sent == out->taken && !take_mbufs(nic, out, qp_ring_count(ring), now_ns))
		return 0;
	while (out->sent < end && !qp_ring_is_empty(ring) && nic_wire_is_free(nic, now_ns)) {
		uint16_t room = (uint16_t)RTE_MIN(RTE_MIN(end, out->taken) - out->sent, NIC_BURST);
		uint32_t item;

		/* A run needs mbufs in pkts[], no measurement, no INT header and no window. */
		if (likely(room > 0 && !watched)) {
			n = send_run(nic, ring, out->pkts + out->sent, room, now_ns, &bytes);
			out->sent = (uint16_t)(out->sent + n);
			if (n == room || qp_ring_is_empty(ring) || !nic_wire_is_free(nic, now_ns))
				continue;
		}
		item = qp_ring_peek(ring, 0);
		nic_touch(nic, item, &nic->qps[item]);
		token_account_update(&nic->qps[item].bucket, nic->qp_burst_nanobits, now_ns);
		bytes += send_other(nic, out, ring, now_ns);
		if (out->dry)
			break;
	}
	if (qp_ring_is_empty(ring))
		nic->ready.backlogged &= (uint8_t) ~(1u << queue);
	n = (uint16_t)(out->sent - before);
	counter_add(&nic->stats.tx_packets, n);
	counter_add(&nic->stats.tx_bytes, bytes - n * GAP_BYTES);
	return n;
}

uint16_t
nic_send_data(struct nic *nic, uint8_t open_queues, struct rte_mbuf **pkts, uint16_t max_pkts,
	      uint64_t now_ns)
{
	struct outgoing out = {.pkts = pkts, .max_pkts = max_pkts, .batch = 1};
	uint8_t eligible;

	while (out.sent < max_pkts && !out.dry && nic_wire_is_free(nic, now_ns) &&
	       (eligible = nic->ready.backlogged & open_queues) != 0) {
		uint8_t queue = queue_after(eligible, nic->last_queue);
		/*
		 * Several queues take turns packet by packet. A single queue sends a run of
		 * packets.
		 */
		bool alone = (eligible & (eligible - 1)) == 0;

		if (send_queue(nic, &out, queue, alone ? (uint16_t)(max_pkts - out.sent) : 1,
			       now_ns))
			nic->last_queue = queue;
	}
	if (out.sent < out.taken)
		rte_mempool_put_bulk(nic->mbufs.data, (void *const *)(pkts + out.sent),
				     out.taken - out.sent);
	return out.sent;
}
