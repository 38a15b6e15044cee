/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * struct nic, the state of a node: QPs and flows, queues, wheel and shaper, parameters and
 * counters. All rooms (folders) of lib/nic except workload, params and qp use it.
 *
 * Each room declares a struct for its own state. struct nic has a pointer to each of them, and
 * nic.c allocates them together. Code that uses such a part includes the header of its room.
 *
 * Invariants: a QP with data to send is in exactly one place (enum qp_place). A QP that owes a CNP
 * is in the lists of `cnps` at most once. A QP that owes an ACK or NAK is in the lists of `acks` at
 * most once.
 */
#ifndef QUENCH_NIC_CORE_CORE_H
#define QUENCH_NIC_CORE_CORE_H

#include <assert.h>
#include <stddef.h>
#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include "base/numbers/fixed.h"
#include "base/threads/counter.h"
#include "base/threads/words.h"
#include "nic/params/nic_counters.h"
#include "nic/params/nic_params.h"
#include "nic/qp/payload.h"
#include "nic/qp/qp.h"
#include "nic/qp/timers.h"
#include "node/node.h"
#include "pacer/timing_wheel.h"
#include "pacer/token_bucket.h"
#include "pacer/wire_share.h"
#include "wire/frame/frame.h"
#include "wire/roce/roce.h"

struct nic_before;
struct nic_port_state;
struct nic_crossings;
struct nic_frames;
struct nic_gsi;
struct nic_jobs;
struct nic_removing;
struct nic_measure;
struct nic_neighbours;
struct nic_np;
struct nic_pause;
struct nic_read;
struct nic_reads;
struct nic_reload;
struct nic_reloading;
struct nic_resetting;
struct nic_share;
struct nic_skipped;
struct nic_tracked;
struct nic_traces;
struct rte_mbuf;

/* Frames, or QPs, processed together. */
#define NIC_BURST 32
/* QPs that fit into the second-level cache: a megabyte. */
#define NIC_CACHED_QPS 4096u
/* Verdict on a received frame that was handled: the caller frees it, and counts no drop. */
#define NIC_USED NIC_DROPS
/*
 * Verdict on a received frame that must not be freed: it became an answer, or crossed to another
 * node.
 */
#define NIC_KEPT (NIC_DROPS + 1)

/* QPs waiting in one list per egress queue. */
struct nic_queues {
	struct qp_list list[TM_CLASSES];
	uint8_t backlogged; /* mask of lists that are not empty */
};

/* QPs that are ready to send and take turns, by egress queue. */
struct nic_ready {
	struct qp_ring ring[TM_CLASSES];
	uint8_t backlogged; /* mask of rings that are not empty */
};

/* Arrival times of a QP of an open loop. */
struct nic_arrival {
	uint64_t next_ns;  /* of the message to begin next */
	uint64_t begun_ns; /* of the message begun last */
	bool free;         /* when next_ns comes, the message before it has left */
};

/* When the wire is free: the shaper, and reservations if nodes share the wire. Invariant: every
 * frame that leaves is charged by nic_charge(). */
struct nic_wire {
	struct token_bucket shaper;
	struct wire_share *share; /* NULL: the wire is not shared */
	uint32_t turn_bytes;      /* size of a reservation */
	/* of the current reservation; if negative, the next one is charged for it */
	int64_t left_bytes;
	/* earliest time at which frames of the current reservation may leave */
	uint64_t from_ns;
};

/* QPs to insert into the wheel in one burst: empty between two calls of the node. */
struct nic_paced {
	uint32_t n;
	uint32_t item[NIC_BURST];
	uint64_t until_ns[NIC_BURST];
};

/*
 * QPs to prefetch before the wheel releases them. One is prefetched for each frame sent: the memory
 * then works while the CPU does, and a burst of prefetches would make the CPU wait.
 */
struct nic_upcoming {
	uint32_t next, n;
	uint32_t item[2 * NIC_BURST];
	uint64_t listed_ns; /* time of the last list */
};

/* QP numbers: either first_qpn + table[item], or own + item * stride. */
struct nic_numbers {
	const uint32_t *table;
	uint32_t own, stride;
};

/* Mbufs and payload for frames. Invariant: mbufs taken = given away + put back. */
struct nic_mbufs {
	struct rte_mempool *data;
	struct rte_mempool *control;
	uint64_t retry_ns; /* earliest retry after a pool was empty */
	struct nic_payloads *payloads;
	const struct roce_payload *empty; /* of a READ request */
	uint16_t max_payload_bytes;       /* room in the data pool's mbufs */
};

/* Kinds of requests of other threads. */
#define NIC_REQUEST_RELOAD 1u
#define NIC_REQUEST_TRACES 2u
#define NIC_REQUEST_RESET 4u
#define NIC_REQUEST_DATAGRAMS 8u /* management datagrams to send */
#define NIC_REQUEST_JOB 16u
#define NIC_REQUEST_AWAIT 32u /* flows wait for others: change/await.h */

/* Pending requests of other threads, which the owner serves in its next rx() and tx() calls. */
struct nic_requests {
	uint32_t pending;                /* mask of NIC_REQUEST_* */
	const struct nic_reload *reload; /* NULL: none */
	const struct nic_traces *traces; /* the new set of traces; NULL: none */
	uint32_t reset;                  /* 1 + flow_id; 0: none */
	uint32_t job;                    /* 1 + index of a rank to restart; 0: none */
	/* restarted ranks that begin: how many, 0 for none, and the index of the first */
	uint32_t job_begins, job_first;
	uint32_t job_asks; /* 1 + index of a QP that asks a peer again; 0: none */
};

struct nic {
	struct node node;
	/* per packet */
	struct roce_station station; /* our addresses, for roce_parse_plain() */
	struct nic_wire wire;
	int64_t qp_burst_nanobits;
	struct nic_qp *qps;
	struct qp_flow *flows;
	struct qp_tally *tallies;
	/* per QP: payload of the acknowledged messages; NULL while all messages have one size */
	uint64_t *acked_bytes;
	struct nic_arrival *arrivals; /* per QP; NULL while there is no open loop */
	/*
	 * per QP: time from which all receive WQEs are posted again; NULL: no QP has a limit of
	 * them
	 */
	uint64_t *recv_full_ns;
	uint8_t *cc_more; /* per QP: needs.more_bytes, for its algorithm */
	/* per QP: wire bytes sent from acked_seq on, since it went back last; NULL: no algorithm
	 * with a window */
	uint32_t *in_flight_bytes;
	struct nic_echo *echoes; /* per QP: what its next ACK echoes; NULL: ACKs echo nothing */
	bool is_watched;         /* each data frame takes the path for due_ns, INT or windows */
	const struct roce_view *heard; /* the ACK being handled, and its INT header or NULL */
	const uint8_t *heard_int;
	uint8_t *int_plain; /* with needs.hears_hops: the frame being handled, without INT header */
	struct nic_reads *reads;    /* per QP; NULL while no QP serves READs */
	struct nic_read *read_ring; /* [max_qps][places]; NULL like reads */
	uint32_t n_qps;
	uint32_t n_flows;
	uint32_t window_packets;
	uint8_t last_queue;               /* data queue served last: they take turns */
	uint8_t version;                  /* of the parameters in force: nic_touch() */
	struct cc_node cc[CC_ALGORITHMS]; /* of the algorithms in nic_cc_mask() */
	struct cc_needs needs;            /* of these algorithms */
	struct nic_queues cnps;
	struct nic_queues acks;
	struct nic_ready ready;
	struct timing_wheel *wheel;
	struct nic_paced paced;
	struct nic_timers timers;
	struct nic_upcoming upcoming; /* with more than NIC_CACHED_QPS */
	uint64_t job_next_ns; /* when a rank of a job starts, or ends a computation; NEVER_NS */
	struct nic_mbufs mbufs;
	struct nic_numbers numbers;
	struct nic_requests requests;
	/* state of the rooms */
	struct nic_pause *pause;
	struct nic_np *np;
	struct nic_measure *measure;
	struct nic_traces *traces;
	struct nic_neighbours *neighbours;
	struct nic_addresses *addresses;
	struct nic_reloading *reload;
	struct nic_resetting *reset;
	struct nic_removing *removing;
	struct nic_awaiting *awaiting;
	struct nic_skipped *skipped; /* per QP; NULL: no QP has skipped packet numbers yet */
	struct nic_share *share;     /* NULL: the NIC has one node */
	struct nic_crossings *crossings;
	struct nic_gsi *gsi;         /* QP 1; NULL: there is none */
	struct nic_frames *frames;   /* NULL: there are none */
	struct nic_tracked *tracked; /* received test frames; NULL: none are expected */
	struct nic_jobs *jobs;       /* NULL: no rank of a job is here */
	struct node_drops *drops;    /* NULL: nobody wants to know */
	struct nic_stats stats;
	bool control_apart; /* nic_tx_control() sends control frames: nic_tx() does not */
	bool taking_over;   /* the frames of this rx() crossed from another node */
	/* NULL without measure_pacing; else per QP: when its next packet is due (0: unknown) */
	uint64_t *due_ns;
	uint64_t epoch_ns;   /* nic_set_epoch() */
	uint64_t skipped_ns; /* left out by nic_skip(): what is recorded counts it */
	/* per flow */
	uint32_t pending;            /* number of requesters with QP_ENDS that have not ended */
	uint32_t failed;             /* QPs in error */
	struct nic_port_state *port; /* the node's own, or the share's */
	/* the parameters before their last change, for QPs not yet updated */
	struct nic_before *before;
	bool flows_by_id;     /* nic_reserve_flows(): flow_id is the index into flows[] */
	uint64_t max_wait_ns; /* longest time in the wheel between two messages */
	/* at start-up */
	uint32_t flows_capacity;
	struct nic_params params;
};

/** Make the next reservation of the shared wire, when the current one is used up. */
void nic_reserve_next_turn(struct nic *nic, uint64_t now_ns);

/**
 * Count an allocation that failed because a pool was empty, and set the time of the next attempt.
 */
void nic_no_mbuf(struct nic *nic, uint64_t now_ns);
/** Allocate an mbuf. NULL: none was free, and nic_no_mbuf() has been called. */
struct rte_mbuf *nic_take_mbuf(struct nic *nic, struct rte_mempool *pool, uint64_t now_ns);

/**
 * Index in flows[] of the first part of a flow. A part is the QPs of a flow that have the same
 * parameters (struct qp_flow). flows[] is sorted by flow_id, so a flow's parts are adjacent.
 */
uint32_t nic_first_part(const struct nic *nic, uint32_t flow_id);
/** The first part of a flow, or NULL. */
struct qp_flow *nic_find_flow(const struct nic *nic, uint32_t flow_id);

/* Inline definitions */

/**
 * Make the next reservation as soon as the current one is used up, so that a single sender gets the
 * whole wire.
 */
static inline void
nic_reserve_turn(struct nic *nic, uint64_t now_ns)
{
	if (unlikely(nic->wire.share != NULL) && nic->wire.left_bytes <= 0)
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
	if (unlikely(nic->numbers.table != NULL))
		return nic->params.first_qpn + nic->numbers.table[item];
	return nic->numbers.own + item * nic->numbers.stride;
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

static inline const struct cc_node *
nic_cc_of(const struct nic *nic, const struct nic_qp *qp)
{
	return &nic->cc[nic_flow_of(nic, qp)->cc];
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

/* Without the reg, for roce_shape_stamp_next(). */
static inline struct roce_ends
nic_ends_without_reg(const struct nic *nic, uint32_t item, const struct nic_qp *qp)
{
	uint32_t label = roce_flow_label(nic_local_qpn(nic, item), qp->dest_qp);
	uint16_t udp_sport = nic_flow_of(nic, qp)->udp_sport;

	return (struct roce_ends){
		.dest_qp = qp->dest_qp,
		.flow_label = label,
		.udp_sport = udp_sport ? udp_sport : roce_udp_sport(label),
	};
}

static inline struct roce_ends
nic_ends(const struct nic *nic, uint32_t item, const struct nic_qp *qp)
{
	struct roce_ends ends = nic_ends_without_reg(nic, item, qp);

	ends.reg = roce_series_reg(nic_flow_of(nic, qp)->series, qp->ends_icrc);
	return ends;
}

/** Ask the owner to serve a request, which has been written. From any thread. */
static inline void
nic_request(struct nic *nic, uint32_t kind)
{
	__atomic_fetch_or(&nic->requests.pending, kind, __ATOMIC_RELEASE);
}

/** The owner has served a request; call before its writer may write the next one. */
static inline void
nic_request_served(struct nic *nic, uint32_t kind)
{
	__atomic_fetch_and(&nic->requests.pending, ~kind, __ATOMIC_ACQ_REL);
}

/** May the next frame leave? */
static inline bool
nic_wire_is_free(const struct nic *nic, uint64_t now_ns)
{
	return token_bucket_can_send(&nic->wire.shaper) && nic->wire.from_ns <= now_ns;
}

/** Charge a frame that leaves, by its wire bytes. */
static inline void
nic_charge(struct nic *nic, uint32_t bytes, uint64_t now_ns)
{
	token_bucket_charge(&nic->wire.shaper, bytes);
	if (unlikely(nic->wire.share != NULL)) {
		nic->wire.left_bytes -= bytes;
		nic_reserve_turn(nic, now_ns);
	}
}

/**
 * Packets of a QP that may be in flight at a rate, unless congestion control has a window: as
 * GetWin() of HPCC's simulator, which counts payload.
 */
static inline uint32_t
nic_window_packets(const struct nic *nic, uint32_t mtu_bytes, uint64_t rate_bps)
{
	const struct nic_params *p = &nic->params;
	uint64_t bytes;

	if (p->rate_window_bytes == 0)
		return nic->window_packets;
	bytes = mul_div(p->rate_window_bytes, rate_bps, p->link_speed_bps);
	return (uint32_t)min_u64(max_u64((bytes + mtu_bytes - 1) / mtu_bytes, 1),
				 nic->window_packets);
}

/* Prefetch both lines of a QP that sending touches: with many QPs each is a cache miss. */
static inline void
nic_prefetch(const struct nic *nic, uint32_t item)
{
	rte_prefetch0(&nic->qps[item]);
	rte_prefetch0(&nic->qps[item].cc);
}

static inline void
nic_prefetch_upcoming(struct nic *nic)
{
	struct nic_upcoming *u = &nic->upcoming;

	if (u->next < u->n)
		nic_prefetch(nic, u->item[u->next++]);
}

/* Prefetch the lines of a QP that a received frame and its answer touch. */
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
 * Has the owner made this QP, and not hidden it since? From any thread. A QP of the requested
 * configuration exists only after the owner has put the configuration in force.
 */
static inline bool
nic_qp_exists(const struct nic *nic, uint32_t item)
{
	bool there = item < __atomic_load_n(&nic->n_qps, __ATOMIC_RELAXED) &&
		     nic->qps[item].place != QP_FREE;

	/*
	 * Acquire, because the caller then reads the QP's members. If this returns false, the
	 * caller must not follow the QP's flow, which may not exist yet.
	 */
	words_found(&nic->qps[item]);
	return there;
}

#endif
