/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One queue pair: what it has to send, where it waits, what it owes its peer.
 *
 * A requester counts packets in 32 bits from its initial PSN; packet n carries PSN n mod 2^24. The
 * sizes of messages are a function of their numbers, so any packet can be built again from where
 * its message starts: nothing is kept for retransmission but the number and the end of the oldest
 * message that is not acknowledged whole. Numbers are compared by their differences, which a window
 * keeps far below 2^31:
 *
 *   acked_seq <= next_seq <= sent_seq,  next_seq <= limit_seq,  sent_seq - acked_seq <= window
 *
 * Go-back-N sets next_seq back; sent_seq stays, so packets in [next_seq, sent_seq) are sent again.
 *
 * A READ takes the numbers of its responses: its request moves next_seq by all of them, and each
 * response moves acked_seq by one. The responder sends from the same members as a requester:
 * next_seq is the next response, limit_seq ends the last READ asked for, left_packets those of the
 * READ being answered, whose number is next_msg. What it needs beside is in struct nic_reads.
 *
 * Memory: QPs come by the million. What the QPs of a flow have in common is in struct qp_flow; what
 * is rarely touched is in struct qp_tally. With a CNP window, a link and a quarter of a slot of the
 * pacing wheel, and a place in a ready ring, a QP takes 253 bytes where there are a million.
 */
#ifndef QUENCH_NIC_QP_QP_H
#define QUENCH_NIC_QP_QP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <rte_common.h>

#include "cc/cc.h"
#include "cc/np.h"
#include "nic/params/params.h"
#include "nic/workload/arrivals.h"
#include "pacer/token_bucket.h"
#include "wire/roce.h"
#include "wire/roce_shape.h"

#define QP_NONE UINT32_MAX

struct nic_pacing;
struct nic_times;

/*
 * The one place of a QP that may send, as nic_settle() left it: between wheel and ready ring, where
 * a packet takes it from one to the other, the move is not recorded.
 */
enum qp_place {
	QP_FREE,    /* nobody's: zeroed, or its flow has left; no frame finds it */
	QP_IDLE,    /* nothing to send: responder without READs, all acknowledged, or in error */
	QP_PACED,   /* in the wheel: before its start, waiting for tokens or after an RNR NAK */
	QP_READY,   /* in the ready ring of its queue */
	QP_BLOCKED, /* window or depth full: an answer or the retransmission timer moves it */
};

/* What the responder owes its peer. NAKs acknowledge all before, so one word is enough. */
enum qp_owed {
	QP_OWES_NOTHING,
	QP_OWES_ACK,
	QP_OWES_NAK_SEQ,
	QP_OWES_NAK_INVALID,
	QP_OWES_RNR_NAK
};

#define QP_REQUESTER 0x001u
#define QP_STARTED 0x002u
#define QP_ERROR 0x004u
#define QP_DONE 0x008u
#define QP_TIMED 0x010u      /* in a list of retransmission timers */
#define QP_ENDS 0x020u       /* has a message limit or a stop time: counted by nic_done() */
#define QP_STOPS 0x040u      /* has a stop time */
#define QP_AWAITS 0x080u     /* the peer was asked for an ACK that has not come */
#define QP_RESEND 0x100u     /* went back: next_seq != sent_seq */
#define QP_FIRST 0x200u      /* the next packet is the first of its message */
#define QP_LAST 0x400u       /* no message is begun any more */
#define QP_UNRESOLVED 0x800u /* the peer's MAC address is not known: sends nothing yet */
#define QP_SERVES 0x1000u    /* a responder with READ responses to send */
#define QP_READS 0x2000u     /* a requester whose messages are READs */
#define QP_UD 0x4000u        /* of unreliable datagrams, at both ends */
#define QP_RNR 0x8000u       /* waits because the responder was not ready */
/* What these send is built in files of its own: one test per packet tells them from the others. */
#define QP_SPECIAL (QP_SERVES | QP_READS | QP_UD)

/* Responder flags. */
#define QP_RX_IN_MESSAGE 0x01u
#define QP_RX_NAKED 0x02u   /* this gap has been answered: silent until the expected PSN comes */
#define QP_RX_REFUSED 0x04u /* an invalid request was answered, or UD: no RC request is served */
#define QP_RX_OWES_CNP 0x08u
#define QP_RX_ASKED 0x10u      /* this gap of READ responses has been asked for */
#define QP_RX_BY_ADDRESS 0x20u /* the peer was given by IP address: its MAC follows ARP and ND */
#define QP_RX_SEND 0x40u       /* the message being received is a SEND: its length is not known */
#define QP_RX_DEFERRED 0x80u   /* the answer owed waits until the READs before it are answered */

struct nic_qp {
	/* each packet sent: one cache line */
	struct token_account bucket; /* before the start, its time is the start's */
	uint64_t tx_wire_bytes;
	uint32_t next_seq;
	uint32_t limit_seq;
	uint32_t left_packets; /* of the message being sent; 0: between two messages */
	uint32_t flow;         /* index of struct qp_flow */
	uint32_t rate_cuts;    /* with each, line and bucket are at hand */
	uint32_t ends_reg;     /* roce_ends.reg */
	uint32_t dest_qp : 24;
	uint32_t place : 7;     /* enum qp_place */
	uint32_t version : 1;   /* of the parameters that its state is of: nic_touch() */
	uint16_t ack_countdown; /* packets until the next AckReq */
	uint16_t flags;

	struct cc cc __rte_cache_aligned;

	/* each message, each ACK, each packet received */
	/* oldest message not acknowledged whole: 52 bits are 3 years of 4.5 x 10^7 in a second */
	uint64_t acked_msg : 52 __rte_cache_aligned;
	uint64_t sent_wraps_high : 12;
	uint32_t acked_end; /* number of the first packet after it */
	uint32_t acked_seq;
	uint32_t next_msg;      /* being sent, or to be begun; low half of its number */
	uint32_t sent_seq;      /* with QP_RESEND; else it is next_seq */
	uint32_t progress_tick; /* the retransmission timer, with QP_AWAITS, runs from here; with
				 * QP_RNR, the end of the wait */
	uint32_t retransmitted_packets;
	uint32_t timer_link;
	uint32_t ack_link;
	uint32_t cnp_link;
	uint32_t window_link;   /* of nic_np, when each QP is a unit */
	uint64_t rx_seq;        /* packets received, from the initial PSN on */
	uint32_t rx_left_bytes; /* of the message being received */
	uint8_t sent_wraps;     /* bits 32 to 39 of sent_seq, for the count of packets */
	uint8_t retries : 4;
	uint8_t rnr_retries : 4;
	uint8_t rx_flags;
	uint8_t owed; /* enum qp_owed */
} __rte_cache_aligned;
static_assert(offsetof(struct nic_qp, cc) == 64, "what pacing a frame reads is one cache line");
static_assert(sizeof(struct nic_qp) == 192, "three cache lines");

/* What a QP counts that no decision about the next packet needs. */
struct qp_tally {
	uint64_t rx_messages;
	uint64_t rx_payload_bytes;
	uint64_t rx_wire_bytes;
	uint32_t cnps_handled, cnps_sent;
	uint32_t min_rate_kbps; /* rounded up */
} __attribute__((packed, aligned(4)));
/* Of a million QPs, wheel and ring have 2^18 slots of 32 bytes and 2^20 places of 4. */
static_assert(
	10 * (sizeof(struct nic_qp) + sizeof(struct qp_tally) + sizeof(struct np) + 4) + 84 + 42 <=
		2560,
	"with its window, a link and a quarter of a slot of the wheel, a place in a ready ring");

/* Life of a flow: it stays, or is added and removed while the node runs (change/live.h). */
enum flow_life { FLOW_CONFIGURED, FLOW_ADDING, FLOW_REMOVING, FLOW_HIDDEN, FLOW_FREE };
#define FLOW_NONE UINT32_MAX

/* What the QPs of one flow have in common. */
struct qp_flow {
	/* each packet sent */
	struct roce_shape middle; /* all but the first and the last of a message */
	uint64_t rate_cap_bps;    /* 0: none */
	/* NULL: not measured; owned by the first of those that share it */
	struct nic_pacing *pacing;
	uint8_t data_queue;
	bool raw;
	/* each message */
	struct roce_template template;
	const struct roce_payload *full;
	const struct roce_payload *last;
	uint32_t message_packets;
	uint32_t message_bytes;
	uint8_t cnp_queue;
	/* each packet received, each control frame */
	uint16_t mtu_bytes;
	uint32_t np_unit; /* of CNP moderation, unless that is each QP */
	uint64_t ce_packets, cnps_ignored;
	struct roce_path path; /* without what struct roce_ends holds */
	struct roce_shape ack;
	struct roce_shape cnp;
	/* each message */
	/* NULL: not measured; owned by the first of those that share them */
	struct nic_times *times;
	bool stopped;                /* no message is begun */
	uint8_t version;             /* of the parameters here: nic_touch() */
	uint32_t timed_mask;         /* messages are timed whose number has none of these bits */
	struct nic_qp_params params; /* of its first QP, as the flow came */
	struct arrivals arrivals;    /* of open loops */
	uint64_t cap_before_bps;     /* rate_cap_bps of the version before */
	uint32_t first_item, n_qps;
	/* incast: QPs that have not ended, those of them that have not done this round's message */
	uint32_t round_members, round_left;
	uint64_t round;
	/* as it comes: QPs that there will be, the number of its first one in the NIC */
	uint32_t planned_qps, first_number;
	/* as it leaves: QPs looked at in this pass, the next flow, when the last QP was hidden */
	uint32_t checked_qps, next_removing;
	uint64_t hidden_ns;
	uint8_t life; /* enum flow_life; FLOW_FREE is read by others */
} __rte_cache_aligned;

/** May a QP with these parameters share the flow? All but the numbers and the start are equal. */
bool qp_flow_fits(const struct qp_flow *flow, const struct nic_qp_params *params);

/** Packets in one message: an empty message is one packet. */
uint32_t qp_message_packets(uint64_t message_bytes, uint16_t mtu_bytes);

/** Payload of the last (or only) packet of a message. */
uint16_t qp_last_bytes(uint64_t message_bytes, uint16_t mtu_bytes);

/** Payload of a message of one of the flow's QPs, and the packets that it takes. */
static inline uint32_t
qp_bytes(const struct qp_flow *flow, uint32_t qpn, uint64_t message)
{
	if (workload_is_fixed(&flow->params.work))
		return flow->message_bytes;
	return (uint32_t)workload_message_bytes(&flow->params.work, qpn, message);
}

static inline uint32_t
qp_packets(const struct qp_flow *flow, uint32_t qpn, uint64_t message)
{
	if (workload_is_fixed(&flow->params.work))
		return flow->message_packets;
	return qp_message_packets(qp_bytes(flow, qpn, message), flow->mtu_bytes);
}

/** Set up all that does not depend on the node. qpn is the QP's own number, here and below. */
void qp_init(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn,
	     const struct nic_qp_params *params);

/** Number of the message being sent, or to be begun. */
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

/** Packets acknowledged, from the initial PSN on. */
uint64_t qp_acked_packets(const struct nic_qp *qp, const struct qp_flow *flow);

/** Data packets sent, those sent again included. */
uint64_t qp_tx_packets(const struct nic_qp *qp, const struct qp_flow *flow);

/**
 * Was the peer asked for an ACK that has not come? The last packet that asked is as far behind
 * next_seq as the countdown is from its start.
 */
static inline bool
qp_awaits_ack(const struct nic_qp *qp, uint16_t ack_every)
{
	return qp->next_seq - qp->acked_seq > (uint32_t)(ack_every - qp->ack_countdown);
}

/** Packets that the window lets go now; negative when it has shrunk. */
static inline int32_t
qp_window(const struct nic_qp *qp)
{
	return (int32_t)(qp->limit_seq - qp->next_seq);
}

/** May the window's next packet go? */
static inline bool
qp_in_window(const struct nic_qp *qp)
{
	return qp_window(qp) > 0;
}

/* Times that sent_seq went through its 32 bits: with them 52. */
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

/** As qp_sent(): the packet is not the first or the last of its message, nor was it sent before. */
static inline void
qp_sent_middle(struct nic_qp *qp)
{
	qp->left_packets--;
	if (++qp->next_seq == 0)
		qp_wrapped(qp);
}

/** The READ request at next_seq, of left_packets responses, was sent. */
void qp_sent_read(struct nic_qp *qp);

/** Begin message next_msg: left_packets is 0. */
void qp_begin(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn);

/** All packets before seq are acknowledged; acked_seq <= seq <= sent_seq. */
void qp_acknowledge(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn, uint32_t seq);

/** Send again from the first unacknowledged packet. */
void qp_go_back(struct nic_qp *qp, const struct qp_flow *flow, uint32_t qpn);

/** The responder was not ready: send nothing before a time, at most 2^41 ns from now. Sets
 * QP_RNR. */
void qp_begin_rnr_wait(struct nic_qp *qp, uint64_t until_ns);
/** Must a QP with QP_RNR still wait? If not, QP_RNR is cleared. */
bool qp_in_rnr_wait(struct nic_qp *qp, uint64_t now_ns, uint64_t *until_ns);

/* FIFO of QPs by number, linked through one member of each; a QP is in it at most once. */
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

/** Take out the head; the list is not empty. */
static inline uint32_t
qp_list_pop(struct qp_list *l, struct nic_qp *qps, size_t link_offset)
{
	uint32_t item = l->head;

	l->head = *qp_link(qps, item, link_offset);
	return item;
}

/*
 * FIFO of QPs by number, with room for all: each QP is in it at most once. An array, so that the
 * QPs that come next are known and can be fetched from memory in time: with a million of them a
 * list through the QPs would be a chain of cache misses.
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

/** The QP that is ahead places after the head; if there is none, one that was in the ring
 * before. */
static inline uint32_t
qp_ring_peek(const struct qp_ring *ring, uint32_t ahead)
{
	return ring->items[(ring->head + ahead) & ring->mask];
}

#endif
