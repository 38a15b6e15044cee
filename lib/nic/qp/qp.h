/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One queue pair: its position in the flow's messages, the place where it waits, and the answers
 * that it owes its peer.
 *
 * A requester counts packets in 32 bits from its initial PSN; packet n carries PSN n mod 2^24. The
 * size of a message is a function of its number, so retransmission needs only the number and the
 * end of the oldest message that is not fully acknowledged. Packet numbers are compared by their
 * difference, which the window keeps far below 2^31:
 *
 *   acked_seq <= next_seq <= sent_seq,  next_seq <= limit_seq,  sent_seq - acked_seq <= window
 *
 * Go-back-N sets next_seq back to acked_seq; sent_seq stays, so the packets in [next_seq, sent_seq)
 * are sent again.
 *
 * A READ consumes one packet number per response: the request advances next_seq by all of them, and
 * each response advances acked_seq by one. The responder uses the same members: next_seq is the
 * next response, limit_seq the end of the last READ requested, left_packets the remaining responses
 * of the READ being answered, and next_msg its number. Its other state is in struct nic_reads.
 *
 * Memory: a node may have a million QPs. State common to the QPs of a flow is in struct qp_flow,
 * rarely used state in struct qp_tally. Including a CNP window, a quarter of a slot and at most a
 * sixth of a chunk of the pacing wheel, and an entry of a ready ring, a QP takes up to 274 bytes at
 * a million QPs.
 */
#ifndef QUENCH_NIC_QP_QP_H
#define QUENCH_NIC_QP_QP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <rte_common.h>

#include "cc/cc.h"
#include "cc/points/np.h"
#include "nic/params/nic_params.h"
#include "nic/workload/arrivals.h"
#include "pacer/token_bucket.h"
#include "wire/bytes/be.h"
#include "wire/roce/roce.h"
#include "wire/roce/shape.h"

#define QP_NONE UINT32_MAX

struct nic_pacing;
struct nic_times;

/*
 * Where a QP waits, as nic_settle() last decided. Moves between the wheel and the ready ring that
 * happen per packet are not recorded, so QP_PACED and QP_READY may be swapped.
 */
enum qp_place {
	QP_FREE,    /* unused, or hidden after its flow was removed; no frame finds it */
	QP_IDLE,    /* nothing to send: responder without READs, all acknowledged, or in error */
	QP_PACED,   /* in the wheel: waits for start, next message, tokens, or after an RNR NAK */
	QP_READY,   /* in the ready ring of its queue */
	QP_BLOCKED, /* no packet or window full: waits for an event, such as an answer or a timer */
};

/* The answer that a responder owes. NAKs acknowledge all earlier packets, so one is enough. */
enum qp_owed {
	QP_OWES_NOTHING,
	QP_OWES_ACK,
	QP_OWES_NAK_SEQ,
	QP_OWES_NAK_INVALID,
	QP_OWES_NAK_ACCESS,
	QP_OWES_RNR_NAK
};

/* The highest value of dropped_ahead. */
#define QP_FAR 31

#define QP_REQUESTER 0x001u
#define QP_STARTED 0x002u
#define QP_ERROR 0x004u
#define QP_DONE 0x008u
#define QP_TIMED 0x010u      /* in a list of retransmission timers */
#define QP_ENDS 0x020u       /* has a limit of messages, bytes or time: counted by nic_done() */
#define QP_STOPS 0x040u      /* has a stop time */
#define QP_AWAITS 0x080u     /* an ACK has been requested and has not arrived */
#define QP_RESEND 0x100u     /* retransmits: next_seq != sent_seq */
#define QP_FIRST 0x200u      /* the next packet is the first of its message */
#define QP_LAST 0x400u       /* begins no further message */
#define QP_UNRESOLVED 0x800u /* the peer's MAC address is unknown: sends nothing yet */
#define QP_SERVES 0x1000u    /* a responder with READ responses to send */
#define QP_READS 0x2000u     /* a requester whose messages are READs */
#define QP_UD 0x4000u        /* unreliable datagrams, requester or responder */
#define QP_RNR 0x8000u       /* waits because the responder was not ready */
/* QPs whose packets are built outside io/data.c. One mask, so that a packet costs one test. */
#define QP_SPECIAL (QP_SERVES | QP_READS | QP_UD)

/* Responder flags. */
#define QP_RX_IN_MESSAGE 0x01u
#define QP_RX_NAKED 0x02u /* a NAK for this gap was sent */
/* Refuses RC requests: after an invalid request, or because the QP is UD. */
#define QP_RX_REFUSED 0x04u
#define QP_RX_OWES_CNP 0x08u
#define QP_RX_ASKED 0x10u      /* the missing READ responses have been requested again */
#define QP_RX_BY_ADDRESS 0x20u /* the peer is configured by IP address: ARP or ND gives its MAC */
#define QP_RX_SEND 0x40u       /* the message being received is a SEND: its length is unknown */
#define QP_RX_DEFERRED 0x80u   /* the answer owed waits for the READs before it */

struct nic_qp {
	/* each packet sent: one cache line */
	struct token_account bucket; /* before the start, updated_ns is the start time */
	uint64_t tx_wire_bytes;
	uint32_t next_seq;
	uint32_t limit_seq;
	uint32_t left_packets;  /* left to send of this message; 0: between two messages */
	uint32_t flow;          /* index of struct qp_flow */
	uint32_t progress_tick; /* QP_AWAITS: start of the retransmission timer; QP_RNR: end of the
				 * wait */
	uint32_t ends_icrc;     /* roce_series_ends() */
	uint32_t dest_qp : 24;
	uint32_t place : 3;       /* enum qp_place */
	uint32_t rnr_retries : 4; /* RNR waits in a row; here, since the third line is full */
	uint32_t version : 1;     /* of the parameters that the state belongs to: nic_touch() */
	uint16_t ack_countdown;   /* packets until the next AckReq */
	uint16_t flags;

	struct cc cc __rte_cache_aligned;

	/* each message, each ACK, each packet received */
	/*
	 * oldest message not fully acknowledged: 52 bits suffice for 3 years at 4.5 x 10^7 per
	 * second
	 */
	uint64_t acked_msg : 52 __rte_cache_aligned;
	uint64_t sent_wraps_high : 12;
	uint32_t acked_end; /* number of the first packet after acked_msg */
	uint32_t acked_seq;
	uint32_t next_msg; /* message being sent or next to begin: low half of its number */
	uint32_t sent_seq; /* valid with QP_RESEND; otherwise equal to next_seq */
	uint64_t retransmitted_packets;
	uint32_t timer_link;
	uint32_t ack_link;
	uint32_t cnp_link;
	uint32_t window_link;   /* of nic_np, with CNP moderation per QP */
	uint64_t rx_seq;        /* next packet expected; starts at the initial PSN */
	uint32_t rx_left_bytes; /* left of the message being received */
	uint8_t sent_wraps;     /* bits 32 to 39 of sent_seq, to count packets */
	uint8_t retries;
	uint8_t rx_flags;
	uint8_t owed : 3; /* enum qp_owed */
	/* QP_OWES_NAK_SEQ: how far the dropped packets reach beyond rx_seq; QP_FAR: or farther */
	uint8_t dropped_ahead : 5;
} __rte_cache_aligned;
static_assert(offsetof(struct nic_qp, cc) == 64, "pacing a frame reads one cache line");
static_assert(sizeof(struct nic_qp) == 192, "three cache lines");

/* Counters of a QP that no decision about the next packet needs. */
struct qp_tally {
	uint64_t rx_messages;
	uint64_t rx_payload_bytes;
	uint64_t rx_wire_bytes;
	uint64_t cnps_handled, cnps_sent;
	uint64_t rate_cuts;
	uint64_t min_rate_bps;
};
/* At a million QPs the wheel has 2^18 slots and up to a sixth as many chunks as QPs, of 32 bytes
 * each, and the ring 2^20 entries of 4 bytes. */
static_assert(10 * (sizeof(struct nic_qp) + sizeof(struct qp_tally) + sizeof(struct np)) + 84 + 54 +
			      42 <=
		      2750,
	      "with its window, its share of the wheel, an entry of a ready ring");

/*
 * Life of a flow (change/flow_life.h). ADDING: its QPs are being made; CONFIGURED: all exist;
 * REMOVING: it begins no message; HIDDEN: no frame finds its QPs; FREE: nic_forget_flow() may
 * follow.
 */
enum flow_life { FLOW_CONFIGURED, FLOW_ADDING, FLOW_REMOVING, FLOW_HIDDEN, FLOW_FREE };
#define FLOW_NONE UINT32_MAX

/* State common to the QPs of one flow. */
struct qp_flow {
	/* each packet sent */
	struct roce_shape middle; /* all packets but the first and the last of a message */
	const struct roce_series *series;
	uint64_t rate_cap_bps; /* 0: none */
	uint8_t data_queue;
	bool raw;
	uint16_t udp_sport; /* 0: from the numbers of the two QPs */
	uint8_t cc;         /* enum cc_algorithm */
	uint8_t int_slots;  /* of the INT header of data; 0: none */
	/* NULL: not measured; shared by the parts of a flow, owned by the first */
	struct nic_pacing *pacing;
	/* each message */
	struct roce_template template;
	const struct roce_payload *full;
	const struct roce_payload *last;
	uint32_t message_packets;
	uint32_t message_bytes;
	uint8_t ack_queue;
	uint8_t cnp_queue;
	/* each packet received, each control frame */
	uint16_t mtu_bytes;
	uint32_t np_unit; /* of CNP moderation, unless it is per QP */
	uint64_t ce_packets, cnps_ignored;
	struct nic_pacing *rx_pacing; /* pacing, if arrivals are measured; else NULL */
	uint64_t burst_ns;            /* the largest gap within a burst */
	struct roce_path path;        /* without the fields of struct roce_ends */
	struct roce_shape ack;
	struct roce_shape cnp;
	/* each message */
	/* NULL: not measured; shared by the parts of a flow, owned by the first */
	struct nic_times *times;
	bool stopped;                /* begins no message */
	bool in_rounds;              /* arrival = incast, or a barrier: see round */
	bool resumed;                /* by the last change of the version */
	uint8_t version;             /* of the parameters here: nic_touch() */
	uint32_t timed_mask;         /* a message is timed if its number has none of these bits */
	struct nic_qp_params params; /* of its first QP, when the flow was added */
	struct arrivals arrivals;    /* open loops */
	struct nic_shared *shared;   /* messages that the QPs share; NULL: each has its own */
	uint64_t cap_before_bps;     /* rate_cap_bps of the previous version */
	uint32_t first_item, n_qps;
	/* of a requester: when its first QP started (NEVER_NS: not yet), when the last of those
	 * that ended did */
	uint64_t started_ns, ended_ns;
	/*
	 * in_rounds: messages up to number `round` may begin, this one at round_begin_ns. QPs that
	 * have not ended, and how many of them have not completed this round
	 */
	uint32_t round_members, round_left;
	uint64_t round, round_begin_ns;
	/*
	 * With a barrier, which opens the next round: rounds that all QPs have completed (NEVER_NS:
	 * all QPs have ended), and when the last of these ended. Other threads read them.
	 */
	uint64_t rounds_ended, round_ended_ns;
	uint64_t round_base; /* rounds of the barrier before message 0; other threads read it */
	bool has_barrier;
	uint32_t done_qps; /* QPs that have sent everything; other threads read it */
	/* change/await.h */
	bool awaits;        /* its QPs start when other flows have ended */
	uint32_t begun_qps; /* of these QPs, those that wait no longer */
	uint32_t looked_at; /* of the first flow of a barrier */
	/* FLOW_ADDING: QPs to make, and the first one's number in the NIC */
	uint32_t planned_qps, first_number;
	/* FLOW_REMOVING, FLOW_HIDDEN: QPs checked in this pass, next flow in the list, time at
	 * which the last QP was hidden */
	uint32_t checked_qps, next_removing;
	uint64_t hidden_ns;
	uint64_t next_mac; /* path.dst_mac as a number, for other threads; 0: unknown */
	uint8_t life;      /* enum flow_life; other threads read FLOW_FREE */
} __rte_cache_aligned;

/** Has each of its QPs sent everything, also those that are still to be made? From any thread. */
static inline bool
qp_flow_has_ended(const struct qp_flow *flow)
{
	uint32_t qps = flow->planned_qps > 0 ? flow->planned_qps : flow->n_qps;

	return __atomic_load_n(&flow->done_qps, __ATOMIC_ACQUIRE) == qps;
}

/** Rounds of its barrier that all QPs here have completed; NEVER_NS: none goes on. */
static inline uint64_t
qp_flow_rounds(const struct qp_flow *flow)
{
	uint64_t ended = __atomic_load_n(&flow->rounds_ended, __ATOMIC_ACQUIRE);

	if (ended == NEVER_NS || (flow->planned_qps == 0 && flow->n_qps == 0))
		return NEVER_NS;
	return ended + __atomic_load_n(&flow->round_base, __ATOMIC_ACQUIRE);
}

/** A MAC address as a number, first byte highest. */
static inline uint64_t
mac_number(const uint8_t mac[6])
{
	return be48_load(mac);
}

/** Address that the messages of the QP with this peer_qpn name; params are those of its flow. */
static inline uint64_t
qp_remote_addr(const struct nic_qp_params *params, uint32_t peer_qpn)
{
	return params->remote_addr +
	       params->remote_addr_stride * (uint64_t)(peer_qpn - params->peer_qpn);
}

/** PSN of the first packet that the peer sends, or asks for. */
static inline uint32_t
qp_first_rx_psn(const struct nic_qp_params *params)
{
	return params->peer_psn > 0 ? params->peer_psn : params->initial_psn;
}

/* Lengths of the frames of a message, without FCS. A single frame is the first one. */
struct qp_frame_lens {
	uint32_t first, middle, last;
};

/**
 * Lengths of the frames of a message of the flow's verb; of a READ, those of its responses.
 * @param int_bytes  Of the INT header; 0: none.
 */
struct qp_frame_lens qp_frame_lens(const struct qp_flow *flow, uint32_t message_bytes,
				   uint32_t int_bytes);

/** May a QP with these parameters share the flow? QP numbers and the start may differ. */
bool qp_flow_fits(const struct qp_flow *flow, const struct nic_qp_params *params);

/** Packets in one message: an empty message is one packet. */
static inline uint32_t
qp_message_packets(uint64_t message_bytes, uint16_t mtu_bytes)
{
	return message_bytes == 0 ? 1 : (uint32_t)((message_bytes + mtu_bytes - 1) / mtu_bytes);
}

/** Payload of the last (or only) packet of a message. */
static inline uint16_t
qp_last_bytes(uint64_t message_bytes, uint16_t mtu_bytes)
{
	uint64_t full = qp_message_packets(message_bytes, mtu_bytes) - 1;

	return (uint16_t)(message_bytes - full * mtu_bytes);
}

/** Payload of a message of one of the flow's QPs. */
static inline uint32_t
qp_bytes(const struct qp_flow *flow, uint32_t qpn, uint64_t message)
{
	if (workload_is_fixed(&flow->params.work))
		return flow->message_bytes;
	if (flow->params.message_size == WORKLOAD_POSTED)
		return workload_post(&flow->params.work, qpn, message)->bytes;
	return (uint32_t)workload_message_bytes(&flow->params.work, qpn, message);
}

/** Packets of the same message. */
static inline uint32_t
qp_packets(const struct qp_flow *flow, uint32_t qpn, uint64_t message)
{
	if (workload_is_fixed(&flow->params.work))
		return flow->message_packets;
	return qp_message_packets(qp_bytes(flow, qpn, message), flow->mtu_bytes);
}

/** Initialise the state that does not depend on the node. qpn is the QP's own, here and below. */
void qp_init(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn,
	     const struct nic_qp_params *params);

/** Number of the message being sent, or next to begin. */
static inline uint64_t
qp_next_message(const struct nic_qp *qp)
{
	return qp->acked_msg + (uint32_t)(qp->next_msg - (uint32_t)qp->acked_msg);
}

static inline uint32_t
qp_sent_seq(const struct nic_qp *qp)
{
	return qp->flags & QP_RESEND ? qp->sent_seq : qp->next_seq;
}

/** Packets acknowledged since the initial PSN. */
uint64_t qp_acked_packets(const struct nic_qp *qp, const struct qp_flow *flow);

/** Data packets sent, including retransmissions. */
uint64_t qp_tx_packets(const struct nic_qp *qp, const struct qp_flow *flow);

/**
 * Is a requested ACK outstanding? The number after the last packet with AckReq is
 * next_seq - (ack_every - ack_countdown).
 */
static inline bool
qp_awaits_ack(const struct nic_qp *qp, uint16_t ack_every)
{
	return qp->next_seq - qp->acked_seq > (uint32_t)(ack_every - qp->ack_countdown);
}

/** Number of packets that the window allows now; negative after the window was made smaller. */
static inline int32_t
qp_window(const struct nic_qp *qp)
{
	return (int32_t)(qp->limit_seq - qp->next_seq);
}

/** Does the window allow the next packet? */
static inline bool
qp_in_window(const struct nic_qp *qp)
{
	return qp_window(qp) > 0;
}

/* How often sent_seq has wrapped: 20 more bits. */
static inline uint32_t
qp_sent_wraps(const struct nic_qp *qp)
{
	return (uint32_t)qp->sent_wraps_high << 8 | qp->sent_wraps;
}

static inline void
qp_wrapped(struct nic_qp *qp)
{
	if (++qp->sent_wraps == 0)
		qp->sent_wraps_high++;
}

/** The packet at next_seq was sent. */
static inline void
qp_sent(struct nic_qp *qp)
{
	qp->next_seq++;
	qp->flags &= (uint16_t)~QP_FIRST;
	if (--qp->left_packets == 0)
		qp->next_msg++;
	if (qp->flags & QP_RESEND) {
		qp->retransmitted_packets++;
		if (qp->next_seq == qp->sent_seq)
			qp->flags &= (uint16_t)~QP_RESEND;
	} else if (qp->next_seq == 0) {
		qp_wrapped(qp);
	}
}

/** As qp_sent(), for a packet inside its message that is sent for the first time. */
static inline void
qp_sent_middle(struct nic_qp *qp)
{
	qp->left_packets--;
	if (++qp->next_seq == 0)
		qp_wrapped(qp);
}

/** The READ request at next_seq was sent. It asks for left_packets responses. */
void qp_sent_read(struct nic_qp *qp);

/** Begin message next_msg. left_packets must be 0. */
void qp_begin(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn);

/** All packets before seq are acknowledged; acked_seq <= seq <= sent_seq. */
void qp_acknowledge(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn, uint32_t seq);

/** Send again from the first unacknowledged packet. */
void qp_go_back(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn);

/** The responder was not ready: send nothing before until_ns, which is at most 2^41 ns from now.
 * Sets QP_RNR. */
void qp_begin_rnr_wait(struct nic_qp *qp, uint64_t until_ns);
/** Must a QP with QP_RNR still wait? If not, QP_RNR is cleared. */
bool qp_in_rnr_wait(struct nic_qp *qp, uint64_t now_ns, uint64_t *until_ns);

/* FIFO of QPs, linked through one member of each; a QP is in it at most once. */
struct qp_list {
	uint32_t head;
	uint32_t tail;
};

#define QP_LIST_EMPTY ((struct qp_list){QP_NONE, QP_NONE})

static inline uint32_t *
qp_link(struct nic_qp *qps, uint32_t item, size_t link_offset)
{
	return (uint32_t *)((char *)&qps[item] + link_offset);
}

static inline void
qp_list_push(struct qp_list *l, struct nic_qp *qps, uint32_t item, size_t link_offset)
{
	*qp_link(qps, item, link_offset) = QP_NONE;
	if (l->head == QP_NONE)
		l->head = item;
	else
		*qp_link(qps, l->tail, link_offset) = item;
	l->tail = item;
}

/** Remove the head of a list that is not empty. */
static inline uint32_t
qp_list_pop(struct qp_list *l, struct nic_qp *qps, size_t link_offset)
{
	uint32_t item = l->head;

	l->head = *qp_link(qps, item, link_offset);
	return item;
}

/*
 * FIFO of QPs with room for all of them, because each QP is in it at most once. It is an array, so
 * that the next QPs can be prefetched: with a million QPs, a linked list would be a chain of cache
 * misses.
 */
struct qp_ring {
	uint32_t *items; /* NULL: this queue is not used */
	uint32_t mask;
	uint32_t head, tail; /* counted modulo 2^32 */
};

/** Make room for n QPs. @return 0 or -ENOMEM. */
int qp_ring_init(struct qp_ring *ring, uint32_t n);
void qp_ring_free(struct qp_ring *ring);

static inline void
qp_ring_push(struct qp_ring *ring, uint32_t item)
{
	ring->items[ring->tail++ & ring->mask] = item;
}

static inline uint32_t
qp_ring_count(const struct qp_ring *ring)
{
	return ring->tail - ring->head;
}

static inline bool
qp_ring_is_empty(const struct qp_ring *ring)
{
	return ring->head == ring->tail;
}

/** The QP that is `ahead` entries after the head; beyond the tail, a stale entry. */
static inline uint32_t
qp_ring_peek(const struct qp_ring *ring, uint32_t ahead)
{
	return ring->items[(ring->head + ahead) & ring->mask];
}

#endif
