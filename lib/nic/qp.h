/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One queue pair: what it has to send, where it waits, what it owes its peer.
 *
 * A requester counts packets from 0 in 64 bits; packet n carries PSN initial_psn + n mod 2^24. All
 * messages of a QP are equally long, so a packet's place in its message is n mod message_packets
 * and any packet can be built again from its number: nothing is kept for retransmission.
 *
 *   acked_seq <= next_seq <= sent_seq,  next_seq <= limit_seq,  sent_seq - acked_seq <= window
 *
 * Go-back-N sets next_seq back; sent_seq stays, so packets in [next_seq, sent_seq) are sent again.
 */
#ifndef QUENCH_NIC_QP_H
#define QUENCH_NIC_QP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <rte_common.h>

#include "cc/cc.h"
#include "nic/nic.h"
#include "pacer/token_bucket.h"
#include "wire/roce.h"

#define QP_NONE UINT32_MAX

/* The one place of a QP that may send. */
enum qp_place {
	QP_IDLE,    /* nothing to send: responder only, all acknowledged, or in error */
	QP_PACED,   /* in the wheel: before its start, or waiting for tokens */
	QP_READY,   /* in the ready list of its queue */
	QP_BLOCKED, /* window or depth full: an ACK or the retransmission timer moves it */
};

/* What the responder owes its peer. NAKs acknowledge all before, so one word is enough. */
enum qp_owed { QP_OWES_NOTHING, QP_OWES_ACK, QP_OWES_NAK_SEQ, QP_OWES_NAK_INVALID };

#define QP_REQUESTER 0x01u
#define QP_STARTED 0x02u
#define QP_ERROR 0x04u
#define QP_DONE 0x08u
#define QP_TIMED 0x10u      /* in the wheel of retransmission timers */
#define QP_ENDS 0x20u       /* has a message limit or a stop time: counted by nic_done() */
#define QP_STOPS 0x40u      /* has a stop time */
#define QP_UNRESOLVED 0x80u /* the peer's MAC address is not known: sends nothing yet */

/* Responder flags. */
#define QP_RX_IN_MESSAGE 0x01u
#define QP_RX_NAKED 0x02u   /* this gap has been answered: silent until the expected PSN comes */
#define QP_RX_REFUSED 0x04u /* an invalid request was answered: nothing more is served */
#define QP_RX_OWES_CNP 0x08u
#define QP_RX_BY_ADDRESS 0x20u /* the peer was given by IP address: its MAC follows ARP and ND */

struct nic_qp {
	/* each packet sent */
	struct token_bucket bucket;
	uint64_t next_seq;
	uint64_t limit_seq;
	uint32_t next_pos; /* next_seq mod message_packets */
	uint32_t message_packets;
	uint32_t ready_link;
	uint16_t ack_countdown; /* packets until the next AckReq */
	uint8_t place;          /* enum qp_place */
	uint8_t flags;

	/* each packet sent, each ACK */
	uint64_t sent_seq;
	uint64_t acked_seq;
	uint64_t progress_ns; /* the retransmission timer, if an ACK is awaited, runs from here */
	uint64_t tx_wire_bytes;
	const struct roce_payload *full;
	const struct roce_payload *last;
	uint32_t acked_pos; /* acked_seq mod message_packets */
	uint32_t initial_psn;
	uint32_t message_bytes;
	uint8_t data_queue;
	uint8_t cnp_queue;
	uint8_t retries;

	struct cc cc __rte_cache_aligned;
	struct roce_template template __rte_cache_aligned;

	/* each packet received */
	uint32_t expected_psn __rte_cache_aligned;
	uint32_t ack_link;
	uint32_t cnp_link;
	uint64_t rx_messages;
	uint64_t rx_packets;
	uint64_t rx_wire_bytes;
	uint64_t rx_payload_bytes;
	uint32_t rx_left_bytes; /* of the message being received */
	uint16_t mtu_bytes;
	uint8_t rx_flags;
	uint8_t owed; /* enum qp_owed */
	struct roce_path path;

	/* rare */
	uint64_t end_seq; /* packets in all; UINT64_MAX: unlimited */
	uint64_t depth_packets;
	uint64_t start_ns, stop_ns;
	uint64_t rate_cap_bps;
	uint64_t retransmitted_packets;
	uint64_t cnps_handled, cnps_sent;
	uint64_t rate_cuts;
	uint64_t min_rate_bps;
} __rte_cache_aligned;
static_assert(offsetof(struct nic_qp, sent_seq) == 64, "what pacing reads is one cache line");
static_assert(offsetof(struct nic_qp, cc) == 128, "what a sent packet writes is two cache lines");

/** Set up all that does not depend on the node. payloads are of the full and the last packet. */
void qp_init(struct nic_qp *qp, const struct nic_qp_params *params, const struct roce_payload *full,
	     const struct roce_payload *last);

/** Packets in one message: an empty message is one packet. */
uint32_t qp_message_packets(uint64_t message_bytes, uint16_t mtu_bytes);

/** Payload of the last (or only) packet of a message. */
uint16_t qp_last_bytes(uint64_t message_bytes, uint16_t mtu_bytes);

static inline uint32_t
qp_psn(const struct nic_qp *qp, uint64_t seq)
{
	return (qp->initial_psn + (uint32_t)seq) & PSN_MASK;
}

/**
 * Was the peer asked for an ACK that has not come? The last packet that asked is as far behind
 * next_seq as the countdown is from its start. A go-back asks nothing by itself.
 */
static inline bool
qp_awaits_ack(const struct nic_qp *qp, uint16_t ack_every)
{
	return qp->next_seq - qp->acked_seq > (uint64_t)(ack_every - qp->ack_countdown);
}

/** Messages of which every packet is acknowledged. */
static inline uint64_t
qp_acked_messages(const struct nic_qp *qp)
{
	return (qp->acked_seq - qp->acked_pos) / qp->message_packets;
}

/** Set limit_seq from what is acknowledged: window, messages in flight, end. */
void qp_update_limit(struct nic_qp *qp, uint32_t window_packets);

/** All packets before seq are acknowledged; acked_seq <= seq <= sent_seq. limit_seq is not updated.
 */
void qp_acknowledge(struct nic_qp *qp, uint64_t seq);

/** Send again from the first unacknowledged packet. */
void qp_go_back(struct nic_qp *qp);

/** RC WRITE opcode of the packet at a place in its message. */
static inline uint8_t
qp_write_opcode(uint32_t pos, uint32_t message_packets)
{
	if (message_packets == 1)
		return RC_WRITE_ONLY;
	if (pos == 0)
		return RC_WRITE_FIRST;
	return pos + 1 == message_packets ? RC_WRITE_LAST : RC_WRITE_MIDDLE;
}

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

#endif
