/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of jobs (job/job_graph.h) on a NIC. A send is a message on each QP to its peer, of equal
 * parts; it has ended when all are acknowledged. A receive has ended when all parts have arrived.
 * A message carries its tag as immediate data. Each QP carries a part of every message, in order.
 * So messages of a rank arrive in order, too, each with the last of its parts.
 *
 * Computations last on the clock of the node. An end that is due is handled when the node is next
 * called, as of the time at which it was due.
 *
 * Messages to ranks on the same server pass through none of its NICs: nic_job_params has a function
 * that carries them.
 *
 * Nothing is allocated after nic_job_add().
 */
#ifndef QUENCH_NIC_JOBS_JOB_RANKS_H
#define QUENCH_NIC_JOBS_JOB_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "job/job_graph.h"
#include "node/node.h"
#include "node/node_pieces.h"

struct nic;

/* QPs to or from a peer. */
struct nic_job_qps {
	uint32_t requesters; /* index of the first; JOB_NONE: the rank sends nothing there */
	uint32_t responders; /* the same; JOB_NONE: it receives nothing from there */
	bool inside;         /* the peer is on the same server, and there are no QPs */
};

/* A message to a rank on the same server. */
struct nic_job_message {
	uint32_t from, to; /* numbers of the ranks in their job */
	uint32_t op, tag;  /* of the sender's operation */
	uint64_t bytes;
};

struct nic_job_params {
	const struct job_rank *rank;     /* outlives the node */
	uint32_t number;                 /* of the rank */
	const struct nic_job_qps *peers; /* by peer of the rank; copied */
	uint32_t qps;                    /* to each peer */
	uint32_t iterations;             /* 1 or more */
	uint64_t start_ns;
	bool waits; /* for nic_job_begin(), and then for start_ns */
	/* Each computation lasts up to this share longer or shorter, uniformly drawn. */
	uint32_t jitter_ppm; /* 0 to 1000000 */
	/* Before the jitter: duration of each computation, as a share of its time; 0: 1000000 */
	uint32_t slowdown_ppm;
	uint64_t seed;
	/*
	 * Begin to carry a message from this rank; the caller reports its end by
	 * nic_job_sent_inside() and nic_job_arrived_inside(), not within this call.
	 */
	void (*send_inside)(void *arg, const struct nic_job_message *message, uint64_t now_ns);
	void *arg;
};

/**
 * Add a rank, before the first rx/tx. Its QPs exist: requesters with arrival = WORKLOAD_OF_JOB,
 * verb = write_imm and posts with room for the sends of an iteration, and responders to such
 * requesters of the peers.
 * @return index of the rank on this node, or -ENOMEM.
 */
int64_t nic_job_add(struct node *node, const struct nic_job_params *params);

/**
 * After nic_job_add(), before the first rx/tx: each message that arrives at responder `item` from
 * this peer of the rank says a digest, as immediate data. The rank begins its first iteration when
 * all its peers that speak have said this digest. A message has one packet. The peer may start
 * again with its initial PSN at any time; a reset of this responder changes nothing.
 * @return 0 or -ENOMEM.
 */
int nic_job_hear(struct node *node, uint32_t index, uint32_t peer, uint32_t item, uint32_t digest);
/** The digest that a peer said last. From any thread. @return false: none since the restart. */
bool nic_job_heard(const struct node *node, uint32_t index, uint32_t peer, uint32_t *digest);
/**
 * Of a rank that has not begun: the first peer that has not said the digest of the job.
 * From any thread. @return JOB_NONE: it has begun, or its start has not come, or waits for nobody.
 */
uint32_t nic_job_waits_for(const struct node *node, uint32_t index);

enum nic_job_time { NIC_JOB_COMPUTES, NIC_JOB_SENDS, NIC_JOB_WAITS, NIC_JOB_TIMES };

/* Of the QPs of a rank, and the time for which a priority of its NIC was paused. */
struct nic_job_counts {
	uint64_t cnps, retransmitted_packets, paused_ns;
	uint64_t ce_packets, out_of_sequence; /* 0 unless times are measured */
};

struct nic_job_span {
	uint64_t begin_ns, end_ns; /* NEVER_NS: it has not ended */
	uint64_t time_ns[NIC_JOB_TIMES];
	struct nic_job_counts counts; /* 0 until it has ended */
};

struct nic_job_info {
	uint32_t begun, ended;            /* iterations */
	const struct nic_job_span *spans; /* by iteration that has begun */
	/*
	 * In iterations: time in which the rank computed; of the rest, in which it sent; and the
	 * rest, in which it waited for messages.
	 */
	uint64_t time_ns[NIC_JOB_TIMES];
	uint64_t sent, received; /* messages, without ready messages */
	uint64_t unknown;        /* messages with a tag that nothing receives */
};

/** Before the run: record when the operations of a rank begin and end. @return 0 or -ENOMEM. */
int nic_job_record(struct node *node, uint32_t index);

/* An operation in an iteration. */
struct nic_job_op {
	uint64_t begin_ns, end_ns; /* end_ns is 0 until it has ended */
	uint64_t run_ns;           /* calc: after those before it in its stream */
	uint32_t order;            /* of their begins, from 0 */
};

/** By operation, for an iteration that has begun; NULL: they are not recorded. */
const struct nic_job_op *nic_job_ops(const struct node *node, uint32_t index, uint32_t iteration);

/**
 * From any thread. spans[] of iterations that have ended do not change.
 * @param now_ns  Up to which time_ns counts, not before the rank's last event.
 */
void nic_job_info(const struct node *node, uint32_t index, uint64_t now_ns,
		  struct nic_job_info *out);
/**
 * The first operation that has begun and not ended; JOB_NONE: none has. From any thread, also while
 * the NIC runs.
 */
uint32_t nic_job_waits(const struct node *node, uint32_t index);

/**
 * Return a rank to before its first iteration, after a reset of the flows of its QPs, which has
 * dropped their messages. It forgets its results, and waits for nic_job_begin(). From any thread,
 * one at a time. The owner does it in its next call.
 */
void nic_job_restart(struct node *node, uint32_t index);
/** Let n restarted or waiting ranks, 1 or more, begin their first iteration. From one thread. */
void nic_job_begin(struct node *node, uint32_t first, uint32_t n);
/** From any thread: has the owner done the last nic_job_restart(), and the last nic_job_begin()? */
bool nic_job_restart_is_done(const struct node *node);
bool nic_job_begin_is_done(const struct node *node);

/**
 * Requester `item`, which asks the peer of a nic_job_hear() whether it is alive, asks again with
 * its initial PSN, if it has given up. The node hears, too: nic_job_hear(). From one thread, if the
 * last one is done.
 */
void nic_job_ask(struct node *node, uint32_t item);
bool nic_job_ask_is_done(const struct node *node);

/** A message by send_inside() has left its sender, whose operation ends. */
void nic_job_sent_inside(struct node *node, uint32_t index, uint32_t op, uint64_t now_ns);
/** A message from the job's rank `from` has arrived, as above. */
void nic_job_arrived_inside(struct node *node, uint32_t index, uint32_t from, uint32_t tag,
			    uint64_t now_ns);
/**
 * Starts and ends of computations up to now, of all ranks of a NIC. next_ns() and tx() of the NIC
 * see them only when its wire is free: for a driver that must be exact.
 */
void nic_jobs_run(struct node *node, uint64_t now_ns);
/** When nic_jobs_run() has work; NEVER_NS: it has none. */
uint64_t nic_jobs_next_ns(const struct node *node);

/* Inside lib/nic, where nic->jobs is not NULL. */

/** List what readers of the ranks read: node/node_pieces.h. */
void nic_job_pieces(struct nic *nic, struct node_pieces *to);

/** Is this the responder of a nic_job_hear()? */
bool nic_job_hears(const struct nic *nic, uint32_t item);
/** Drop the messages of a requester that were posted and not acknowledged. */
void nic_job_drop(struct nic *nic, uint32_t item);
/** Do what nic_job_restart() and nic_job_begin() request. */
void nic_job_request_step(struct nic *nic, uint64_t now_ns);

/** Messages of a requester may have been acknowledged. */
void nic_job_acked(struct nic *nic, uint32_t item, uint64_t now_ns);
/** A message has arrived at a responder. */
void nic_job_arrived(struct nic *nic, uint32_t item, uint32_t imm, uint64_t now_ns);
/** Starts and ends of computations up to now. Without an effect before nic->job_next_ns. */
void nic_job_run(struct nic *nic, uint64_t now_ns);
/** In the middle of messages, time is left out: ranks go on with what they do. */
void nic_job_skip(struct nic *nic, uint64_t ns, uint64_t now_ns);
void nic_job_free(struct nic *nic);

#endif
