/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the NIC node share. Nothing outside lib/nic includes it. */
#ifndef QUENCH_NIC_NIC_INTERNAL_H
#define QUENCH_NIC_NIC_INTERNAL_H

#include <assert.h>
#include <stddef.h>
#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "base/counter.h"
#include "base/words.h"
#include "fwd/neigh.h"
#include "nic/nic.h"
#include "nic/port/common.h"
#include "nic/nic_measure.h"
#include "nic/nic_np.h"
#include "nic/nic_pause.h"
#include "nic/nic_share.h"
#include "nic/qp/timers.h"
#include "nic/nic_trace.h"
#include "nic/qp/payload.h"
#include "nic/qp/qp.h"
#include "node/node.h"
#include "node/pkt_fifo.h"
#include "pacer/timing_wheel.h"
#include "pacer/token_bucket.h"
#include "pacer/wire_share.h"
#include "wire/frame.h"
#include "wire/roce.h"

struct rte_mbuf;

/* Frames, and QPs looked at, in one go. */
#define NIC_BURST 32
/* So many QPs are in the second-level cache anyway: a megabyte. */
#define NIC_CACHED_QPS 4096u
/* Verdict on a received frame that was used. */
#define NIC_USED NIC_DROPS
/* The same, and the frame became an answer: it is not freed. */
#define NIC_KEPT (NIC_DROPS + 1)

/* QPs waiting in one list per egress queue. */
struct nic_queues {
	struct qp_list list[TM_CLASSES];
	uint8_t backlogged; /* mask of lists that are not empty */
};

/* QPs whose turn to send comes, by egress queue. */
struct nic_ready {
	struct qp_ring ring[TM_CLASSES];
	uint8_t backlogged; /* mask of rings that are not empty */
};

/* What a QP that has served READs keeps beside its struct. */
struct nic_reads {
	uint64_t tx_packets, tx_messages, tx_payload_bytes; /* each response once */
	uint64_t rx_gap_psns; /* numbers that READs took beyond that of their request */
	uint32_t received;    /* READs taken: the next goes to this place of the ring */
	uint32_t seq;         /* of rx_gap_psns and the QP's rx_seq: base/seq.h */
};

/* One READ, in a ring of the last max_rd_atomic: to be answered, or to be answered again. */
struct nic_read {
	uint32_t start_seq;
	uint32_t bytes;
};

/* Numbers of packets that resets have passed over, nic_reset.c: of each QP. */
struct nic_skipped {
	uint64_t sent, acked, received;
	uint32_t seq; /* of these and the QP's own numbers: base/seq.h */
};

/* Of an open loop's QP. */
struct nic_arrival {
	uint64_t next_ns;  /* of the message to be begun next */
	uint64_t begun_ns; /* of the one begun last */
};

/* What was in force before the last change, for QPs that have not been brought along yet. */
struct nic_before {
	uint64_t until_ns; /* the instant of the change */
	int64_t qp_burst_nanobits;
	struct cc_node cc;
	struct rp_params rp;
	struct dctcp_params dctcp;
	struct timely_params timely;
};

/* Flows that leave, each looked at in its turn. */
struct nic_leaving {
	uint32_t head, tail; /* FLOW_NONE: none */
	uint64_t look_ns;
};

struct nic {
	struct node node;
	/* per packet */
	struct roce_station station; /* us, where frames have no surprises */
	struct token_bucket shaper;
	int64_t qp_burst_nanobits;
	struct nic_qp *qps;
	struct qp_flow *flows;
	struct qp_tally *tallies;
	/* payload of each QP's acknowledged messages; NULL while all messages are of one size */
	uint64_t *acked_bytes;
	struct nic_arrival *arrivals; /* of each QP; NULL while there is no open loop */
	struct nic_chains *chains;    /* NULL: no QP waits for another */
	uint64_t *recv_full_ns;     /* when all receive WQEs are posted; NULL: nobody counts them */
	struct nic_reads *reads;    /* of each QP; NULL while no QP serves READs */
	struct nic_read *read_ring; /* [max_qps][max_rd_atomic], likewise */
	uint32_t n_qps;
	uint32_t n_flows;
	uint32_t window_packets;
	uint8_t last_queue; /* served last: data queues take turns */
	uint8_t version;    /* of the parameters in force: nic_touch() */
	struct cc_node cc;
	struct nic_queues cnps;
	struct nic_queues acks;
	struct nic_ready ready;
	struct nic_np np;
	struct timing_wheel *wheel;
	/* On their way into the wheel; none between two calls of the node. */
	uint32_t n_paced;
	uint32_t paced[NIC_BURST];
	uint64_t paced_until_ns[NIC_BURST];
	struct nic_timers timers;
	struct nic_measure measure;
	uint64_t retry_ns; /* a pool was empty: look again then */
	struct rte_mempool *data_pool;
	struct rte_mempool *control_pool;
	/* Numbers of our QPs: a table, counted from first_qpn, or own_qpn and each qpn_stride-th.
	 */
	const uint32_t *numbers;
	uint32_t own_qpn;
	uint32_t qpn_stride;
	struct nic_pause pause;
	struct nic_stats stats;
	/* per call: nic_set_traces(), not taken over yet; or NULL */
	const struct nic_traces *traces_asked;
	/* per flow */
	uint32_t pending;          /* requesters that end and have not */
	uint32_t failed;           /* QPs in error */
	struct nic_common *common; /* own_common, or the share's */
	/* with other nodes, nic_share.c; NULL: alone */
	struct nic_share *share;
	struct nic_crossing *crossing; /* frames to each other node */
	uint64_t crossing_to;          /* mask of nodes to which there are some */
	struct wire_share *wire;
	int64_t wire_left_bytes; /* of the reservation in hand; a debt is the next one's */
	uint64_t wire_from_ns;   /* from when on it may leave */
	uint32_t share_index;
	bool control_apart; /* nic_tx_control() is called: nic_tx() has data only */
	bool taking_over;   /* the frames of this rx() crossed from another node */
	/* per QP, where pacing is measured: when the next packet is due, 0 not known; else NULL */
	uint64_t *due_ns;
	/* per neighbour, nic_resolve.c */
	struct neigh_table *neighs;
	struct pkt_fifo answers; /* to ARP, solicitations and echo requests */
	struct token_bucket answer_budget;
	/* nic_reload.c: what comes into force, and the next QP that it comes to; or NULL */
	const struct nic_reload *reload;
	uint32_t reload_item, reload_items; /* of the QPs that were there */
	uint32_t reload_go, reload_come;    /* of the flows that leave and come */
	bool reload_begun;
	/* nic_reset.c */
	uint32_t reset_asked;        /* 1 + flow_id; 0: none */
	uint32_t reset_item;         /* the flow's next QP */
	struct nic_skipped *skipped; /* NULL: no QP was reset yet */
	struct nic_before before;
	/* nic_live.c */
	bool comes_and_goes;    /* nic_take_flows(): slots of flows are their numbers */
	uint64_t look_again_ns; /* most that a QP waits between two messages unlooked at */
	struct nic_leaving leaving;
	uint32_t scan_item;  /* the next QP to get its neighbour's address */
	uint32_t scan_left;  /* QPs to look at */
	uint8_t plain_queue; /* of DSCP 0, where all of this leaves */
	/* at start-up */
	const struct roce_payload *empty; /* of a READ request */
	uint32_t flows_room;
	uint16_t max_payload_bytes; /* that the data pool's mbufs hold */
	struct nic_payloads *payloads;
	bool own_payloads;
	struct nic_params params;
	struct nic_common own_common;
	/* per event of congestion control */
	struct nic_traces traces;
};

/* nic_tx.c: on a wire that we share, reserve the next turn, for the last one is used up. */
void nic_reserve_next_turn(struct nic *nic, uint64_t now_ns);

/** Before the turn's time is over, so that a sender which is alone has the whole wire. */
static inline void
nic_reserve_turn(struct nic *nic, uint64_t now_ns)
{
	if (unlikely(nic->wire != NULL) && nic->wire_left_bytes <= 0)
		nic_reserve_next_turn(nic, now_ns);
}

static inline struct nic *
nic_of(struct node *node)
{
	return (struct nic *)node;
}

static inline const struct nic *
nic_of_const(const struct node *node)
{
	return (const struct nic *)node;
}

/** Number of one of our QPs. */
static inline uint32_t
nic_local_qpn(const struct nic *nic, uint32_t item)
{
	if (unlikely(nic->numbers != NULL))
		return nic->params.first_qpn + nic->numbers[item];
	return nic->own_qpn + item * nic->qpn_stride;
}

static inline void
nic_queues_push(struct nic *nic, struct nic_queues *q, uint8_t queue, uint32_t item, size_t link)
{
	qp_list_push(&q->list[queue], nic->qps, item, link);
	q->backlogged |= (uint8_t)(1u << queue);
	node_wake(&nic->node, 0);
}

static inline uint32_t
nic_queues_pop(struct nic *nic, struct nic_queues *q, uint8_t queue, size_t link)
{
	uint32_t item = qp_list_pop(&q->list[queue], nic->qps, link);

	if (q->list[queue].head == QP_NONE)
		q->backlogged &= (uint8_t) ~(1u << queue);
	return item;
}

static inline struct qp_flow *
nic_flow_of(const struct nic *nic, const struct nic_qp *qp)
{
	return &nic->flows[qp->flow];
}

static inline struct qp_tally *
nic_tally_of(const struct nic *nic, const struct nic_qp *qp)
{
	return &nic->tallies[qp - nic->qps];
}

static inline uint32_t
nic_qpn(const struct nic *nic, const struct nic_qp *qp)
{
	return nic_local_qpn(nic, (uint32_t)(qp - nic->qps));
}

static inline struct roce_ends
nic_ends(const struct nic *nic, uint32_t item, const struct nic_qp *qp)
{
	uint32_t label = roce_flow_label(nic_local_qpn(nic, item), qp->dest_qp);

	return (struct roce_ends){
		.dest_qp = qp->dest_qp,
		.flow_label = label,
		.udp_sport = roce_udp_sport(label),
		.reg = qp->ends_reg,
	};
}

/** May the next frame leave? */
static inline bool
nic_wire_is_free(const struct nic *nic, uint64_t now_ns)
{
	return token_bucket_can_send(&nic->shaper) && nic->wire_from_ns <= now_ns;
}

/** Charge wire bytes of a frame that leaves. */
static inline void
nic_charge(struct nic *nic, uint32_t bytes, uint64_t now_ns)
{
	token_bucket_charge(&nic->shaper, bytes);
	if (unlikely(nic->wire != NULL)) {
		nic->wire_left_bytes -= bytes;
		nic_reserve_turn(nic, now_ns);
	}
}

/* Both lines of a QP that sending touches: with many QPs each is a cache miss. */
static inline void
nic_prefetch(const struct nic *nic, uint32_t item)
{
	rte_prefetch0(&nic->qps[item]);
	rte_prefetch0(&nic->qps[item].cc);
}

/* The same for what is received, and for what that makes it owe. */
static inline void
nic_prefetch_control(const struct nic *nic, uint32_t item)
{
	if (item == QP_NONE)
		return;
	rte_prefetch0(&nic->qps[item]);
	rte_prefetch0(&nic->qps[item].acked_end); /* the line of acked_msg */
	rte_prefetch0(&nic->tallies[item]);
}

/**
 * Has the owner made this QP, and has its flow not left? From any thread: a QP that a configuration
 * names is not there before the owner has taken the configuration over.
 */
static inline bool
nic_qp_is_there(const struct nic *nic, uint32_t item)
{
	bool there = item < __atomic_load_n(&nic->n_qps, __ATOMIC_RELAXED) &&
		     nic->qps[item].place != QP_FREE;

	/* What is read of it is read after that: a flow that it does not have yet has no MTU. */
	words_found(&nic->qps[item]);
	return there;
}

/* nic.c */

/** As nic_qp_info(), of a QP that has been made, even if its flow has left since. */
void nic_qp_read(const struct nic *nic, uint32_t item, struct nic_qp_info *out);

/* nic_setup.c */

/** Fill in a flow of which there are no QPs. @return 0 or -ENOMEM. */
int nic_flow_init(struct nic *nic, struct qp_flow *flow, const struct nic_qp_params *params);
/** A QP of a flow begins to be. nic_flush() follows. @return 0 or -ENOMEM. */
int nic_qp_begin(struct nic *nic, uint32_t item, uint32_t flow, const struct nic_qp_params *params,
		 uint64_t now_ns);

/* nic_place.c: where QPs wait */

/** Put a QP where it belongs now; it is in no list and not in the wheel. */
void nic_settle(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Incast: when all QPs of a flow have done their message, each begins the next. */
void nic_next_round(struct nic *nic, struct qp_flow *flow, uint64_t now_ns);

/* nic_chain.c: with nic->chains only */
/** May the QP begin this message, or has another one not received enough? */
bool nic_chain_may_begin(const struct nic *nic, uint32_t item, uint64_t message);
/** The QP has received a message whole. */
void nic_chain_received(struct nic *nic, uint32_t item, uint64_t now_ns);
void nic_chains_free(struct nic *nic);
void nic_flush_paced(struct nic *nic);
/** Put into the wheel what nic_settle() has kept for it: before a call of the node returns. */
static inline void
nic_flush(struct nic *nic)
{
	if (nic->n_paced > 0)
		nic_flush_paced(nic);
}
/**
 * Take due QPs out of the wheel, run due timers and NP windows; bounded work.
 * @return true: more may be due.
 */
bool nic_release(struct nic *nic, uint64_t now_ns);
/**
 * A QP has something to send from now on: a requester from its start to its end, a responder while
 * it has READs to answer.
 * @return QPs of the host that had before. Of those that start together on several lcores, one is
 * the first.
 */
static inline uint32_t
nic_becomes_active(struct nic *nic)
{
	return __atomic_fetch_add(&nic->common->active, 1, __ATOMIC_RELAXED);
}

static inline void
nic_becomes_idle(struct nic *nic)
{
	__atomic_fetch_sub(&nic->common->active, 1, __ATOMIC_RELAXED);
}

/** A QP sends for the first time: it becomes active, and gets its first rate. */
void nic_start(struct nic *nic, uint32_t item, uint64_t now_ns);
/** A requester gives up. */
void nic_fail(struct nic *nic, uint32_t item, uint64_t now_ns);

/* nic_cc.c: the glue between QPs and cc/ */

void nic_cc_init(struct nic *nic);
/** Give a QP that starts its first rate. others: flows of the host that are active by then. */
void nic_cc_start(struct nic *nic, uint32_t item, uint32_t others, uint64_t now_ns);
/** The algorithm did something (enum cc_did): let the bucket follow its rate. */
void nic_cc_follow(struct nic *nic, uint32_t item, uint32_t did, uint64_t now_ns);
/** Bring a QP along: until nic->before.until_ns all as before, from then on as it is now. */
void nic_cc_change(struct nic *nic, uint32_t item);
/** Remember what is in force, and its end. */
void nic_cc_keep_before(struct nic *nic, uint64_t now_ns);
/** Let the bucket follow what the timers did since the QP was last looked at. */
void nic_cc_catch_up(struct nic *nic, uint32_t item, uint64_t now_ns);
/** A CNP for a known QP came from its peer. */
void nic_on_cnp(struct nic *nic, uint32_t item, uint64_t now_ns);
/** All before ack->acked_seq was acknowledged; its next_seq is filled in here. */
void nic_cc_acked(struct nic *nic, uint32_t item, struct cc_ack *ack, uint64_t now_ns);
/** The QP goes back to what is not acknowledged. */
void nic_cc_lost(struct nic *nic, uint32_t item, uint64_t now_ns);

/* nic_fetch.c */
void nic_fetch(const struct node *node);

/* nic_rx.c */
void nic_rx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns);

/* nic_responder.c */
#define NIC_MAX_MESSAGE_BYTES (1u << 31)
/** A request to a QP. @param wire  The frame's bytes on the wire. */
enum nic_drop nic_on_request(struct nic *nic, uint32_t item, const struct roce_view *v,
			     uint32_t wire, uint64_t now_ns);
/** Let the answer that a QP owes go, if there is one. */
void nic_owed_may_go(struct nic *nic, uint32_t item);

/* nic_requester.c */
enum nic_drop nic_on_ack(struct nic *nic, uint32_t item, const struct roce_view *v,
			 uint64_t now_ns);
/** Packets before seq have arrived. */
void nic_progress(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns);
/** Next comes the first packet that is not acknowledged; no round trip of these is timed (Karn). */
void nic_go_back(struct nic *nic, uint32_t item);
/** Packets were lost: send again from the first one that is not acknowledged. */
void nic_resend(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Nobody answers this QP: what it has sent counts as acknowledged. */
void nic_unanswered(struct nic *nic, uint32_t item, uint64_t now_ns);
/** The retransmission timer of a QP fired, perhaps too early. */
void nic_on_timer(struct nic *nic, uint32_t item, uint64_t now_ns);

/* nic_read.c: both ends of READ */

/** There will be QPs that serve READs. @return 0 or -ENOMEM; nic_read_free() in both cases. */
int nic_read_prepare(struct nic *nic);
void nic_read_free(struct nic *nic);
/** May the QP ask for one more READ now? */
bool nic_read_may_ask(const struct nic *nic, const struct nic_qp *qp);
/** An answer to a requester of READs that is no response. */
enum nic_drop nic_on_read_ack(struct nic *nic, uint32_t item, const struct roce_view *v,
			      uint64_t now_ns);
enum nic_drop nic_on_read_response(struct nic *nic, uint32_t item, const struct roce_view *v,
				   uint32_t wire, uint64_t now_ns);
/** Can this request, whose PSN is the expected one, be served? */
bool nic_read_fits(struct nic *nic, uint32_t item, const struct roce_view *v);
/** It can: its responses are sent in their turn. */
void nic_read_take(struct nic *nic, uint32_t item, const struct roce_view *v, uint32_t wire,
		   uint64_t now_ns);
/** A request that is behind the expected PSN: answer it again. */
void nic_read_again(struct nic *nic, uint32_t item, const struct roce_view *v, uint64_t now_ns);
/** Between two READs of a responder: begin to answer the next one, if there is one. */
void nic_read_next(struct nic *nic, uint32_t item);
/** Build the next request, or the next response. */
void nic_read_stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m);
/** It has left. */
void nic_read_sent(struct nic *nic, uint32_t item, uint64_t now_ns);
/** What differs from other QPs in what a QP has done. */
void nic_read_info(const struct nic *nic, uint32_t item, const struct nic_qp *qp,
		   struct nic_qp_info *info);

/* nic_rnr.c */
/** Take a receive WQE. @return false: there is none. */
bool nic_recv_take(struct nic *nic, uint32_t item, uint64_t now_ns);
/** The responder was not ready for the packet at seq. @param code  How long to wait. */
void nic_on_rnr(struct nic *nic, uint32_t item, uint32_t seq, uint8_t code, uint64_t now_ns);
/** Must a QP with QP_RNR still wait? If not, it is set free. */
bool nic_rnr_waits(struct nic_qp *qp, uint64_t now_ns, uint64_t *until_ns);

/* nic_ud.c */
void nic_ud_stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m);
enum nic_drop nic_on_ud(struct nic *nic, uint32_t item, const struct roce_view *v, uint32_t wire,
			uint64_t now_ns);

/* nic_resolve.c: ARP, neighbour discovery, echo */

/** Give a new QP its neighbour if its peer has no MAC address yet. @return 0 or -ENOMEM. */
int nic_resolve_qp(struct nic *nic, uint32_t item, uint64_t now_ns);
/** The QP no longer needs its neighbour, which nic_resolve_qp() gave it. */
void nic_resolve_release(struct nic *nic, uint32_t item);
/** A frame that is neither MAC control nor UDP. NIC_KEPT: m was taken. */
unsigned int nic_on_other(struct nic *nic, struct rte_mbuf *m, const struct frame_view *eth,
			  uint64_t now_ns);
/** A valid frame of the peer came before the answer to our question: its source will do. */
void nic_resolve_from(struct nic *nic, uint32_t item, const uint8_t mac[6], uint64_t now_ns);
/** Run what is due and give new addresses to QPs; bounded work. */
void nic_resolve_run(struct nic *nic, uint64_t now_ns);
/** The next answer or question, or NULL. */
struct rte_mbuf *nic_resolve_frame(struct nic *nic, uint64_t now_ns);
/** Give the answers their share of the link. */
void nic_resolve_init(struct nic *nic);
/** Free answers and neighbours. */
void nic_resolve_free(struct nic *nic);

/** May nic_resolve_frame() have one? */
static inline bool
nic_resolve_has_frame(const struct nic *nic)
{
	return nic->answers.head != NULL || neigh_has_ask(nic->neighs);
}

/** When nic_resolve_run() has something to do; before, it does nothing. */
static inline uint64_t
nic_resolve_run_ns(const struct nic *nic)
{
	return unlikely(nic->scan_left > 0) ? 0 : neigh_next_ns(nic->neighs);
}

/* nic_share.c: nodes that are one NIC */

/** Hand a frame to the node whose QP it is for. @return false: it is ours to deal with. */
bool nic_share_cross(struct nic *nic, struct rte_mbuf *m, uint32_t dest_qp);
/** Which of our QPs has a number, counted from first_qpn; QP_NONE: none. */
uint32_t nic_share_item(const struct nic *nic, uint32_t number);
/** Let all other nodes see a frame, which nobody writes to any more. */
void nic_share_tell_all(struct nic *nic, struct rte_mbuf *m);
/** Hand over what has to cross: before rx() returns. */
void nic_share_flush(struct nic *nic);
/** Receive what crossed to us; bounded work. */
void nic_share_take_over(struct nic *nic, uint64_t now_ns);
/** Are there frames that crossed to us? */
bool nic_share_waits(const struct nic *nic);

/* nic_reload.c */
/** Put some more of nic->reload in force. */
void nic_reload_step(struct nic *nic, uint64_t now_ns);
/** Of a QP whose version is not the node's: nic_touch(). */
void nic_bring_along(struct nic *nic, uint32_t item);
/** Before anything of a QP is used that a change of parameters may concern: it is of this version
 * then. */
static inline void
nic_touch(struct nic *nic, uint32_t item, const struct nic_qp *qp)
{
	if (unlikely(qp->version != nic->version))
		nic_bring_along(nic, item);
}

/* nic_flow.c */
/** The first part of a flow, or NULL. */
struct qp_flow *nic_find_flow(const struct nic *nic, uint32_t flow_id);

/* nic_reset.c */
/** Reset some more QPs. */
void nic_reset_step(struct nic *nic, uint64_t now_ns);

/* nic_live.c */
/** Make QPs of a flow that comes, at most budget. @return how many; fewer: it is whole. */
uint32_t nic_flow_come(struct nic *nic, uint32_t flow_id, uint32_t budget, uint64_t now_ns);
/** A flow that begins no message any more: its QPs are freed as they come to rest. */
void nic_flow_leave(struct nic *nic, uint32_t flow_id, uint64_t now_ns);
/** The same for one of its QPs, which nothing else may bring back. */
void nic_qp_leave(struct nic *nic, uint32_t item, uint64_t now_ns);
/** Free some QPs of nic->leaving. */
void nic_leave_step(struct nic *nic, uint64_t now_ns);

/* What other threads ask of the owner. */
static inline bool
nic_is_asked(const struct nic *nic)
{
	return __atomic_load_n(&nic->reload, __ATOMIC_RELAXED) != NULL ||
	       __atomic_load_n(&nic->traces_asked, __ATOMIC_RELAXED) != NULL ||
	       __atomic_load_n(&nic->reset_asked, __ATOMIC_RELAXED) != 0;
}

/** Do the next part of what others ask of the node, if there is anything. */
static inline void
nic_do_if_asked(struct nic *nic, uint64_t now_ns)
{
	if (unlikely(__atomic_load_n(&nic->reload, __ATOMIC_RELAXED) != NULL))
		nic_reload_step(nic, now_ns);
	if (unlikely(__atomic_load_n(&nic->traces_asked, __ATOMIC_RELAXED) != NULL))
		nic_traces_take(nic, now_ns);
	if (unlikely(__atomic_load_n(&nic->reset_asked, __ATOMIC_RELAXED) != 0))
		nic_reset_step(nic, now_ns);
	if (unlikely(nic->leaving.head != FLOW_NONE) && now_ns >= nic->leaving.look_ns)
		nic_leave_step(nic, now_ns);
}

/* nic_data.c */
/** Send up to room data frames of queues that are open. @return how many. */
uint16_t nic_send_data(struct nic *nic, uint8_t open_queues, struct rte_mbuf **pkts, uint16_t room,
		       uint64_t now_ns);
/** Write headers, pad and ICRC of a data frame of the QP around a payload. */
void nic_stamp(struct nic *nic, uint32_t item, struct rte_mbuf *m,
	       const struct roce_payload *payload, const struct roce_fields *fields);
/** The same of a packet in the middle of a message. */
void nic_stamp_middle(struct nic *nic, uint32_t item, struct rte_mbuf *m);
/** A packet that asks for an answer leaves, and none was awaited. */
void nic_arm_timer(struct nic *nic, uint32_t item, uint64_t now_ns);

/* nic_tx.c */
/** A pool is empty: count it, and ask again soon. */
void nic_no_mbuf(struct nic *nic, uint64_t now_ns);
/** An mbuf of a pool, or NULL: counted, and asked for again soon. */
struct rte_mbuf *nic_take_mbuf(struct nic *nic, struct rte_mempool *pool, uint64_t now_ns);
uint16_t nic_tx(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room,
		uint64_t now_ns);
uint16_t nic_tx_control(struct node *node, uint16_t port, struct rte_mbuf **pkts, uint16_t room,
			uint64_t now_ns);
uint64_t nic_next_ns(const struct node *node, uint16_t port);

#endif
