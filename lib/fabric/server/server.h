/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server: the hosts that are its NICs, as one node with a port for each, and the messages between
 * the ranks of jobs on it, which need no frames.
 *
 * Each rank has a port of a crossbar (NVLink and its switches, or PCIe). A rank sends its messages
 * one after another, each for bytes / rate_bps. delay_ns after it has begun to leave, a message
 * reaches the receiver's port, which takes one after another at the same rate, in the order in
 * which they reach it. The seed draws this order for messages of one nanosecond. A message ends,
 * for both ranks, when the receiver's port has taken it: idle ports take
 *   delay_ns + bytes / rate_bps.
 *
 * Because it is one node, a driver calls its NICs in order of time and from one thread. So a rank
 * may wake one of another NIC at once: with several threads, the latency need not be as long as a
 * window of the event loop, and results are the same.
 */
#ifndef QUENCH_FABRIC_SERVER_SERVER_H
#define QUENCH_FABRIC_SERVER_SERVER_H

#include "nic/jobs/job_ranks.h"

struct server_nic {
	struct node *node; /* of the port: the NIC, or the tester around it */
	struct node *nic;
};

struct server_params {
	const struct server_nic *nics; /* copied; the nodes stay the caller's */
	uint16_t n_nics;               /* 1 to NODE_WAKE_PORTS */
	uint64_t rate_bps, delay_ns, seed;
	uint32_t n_ranks;    /* of all jobs */
	uint32_t n_messages; /* which may be under way at one time */
};

/** @return owned by the caller, or NULL with errno ENOMEM. */
struct node *server_create(const struct server_params *params);
void server_destroy(struct node *node);

/* A rank of a job on a server. */
struct server_rank;

/**
 * Add a rank; those of one job after each other, in the order of their numbers, without a gap.
 * There is room for n_ranks.
 */
struct server_rank *server_add_rank(struct node *node, uint32_t job, uint32_t number, uint16_t nic);
/** Its index on that NIC, from nic_job_add(). */
void server_set_index(struct server_rank *rank, uint32_t index);

/** As nic_job_params.send_inside, with a struct server_rank. */
void server_send_inside(void *rank, const struct nic_job_message *message, uint64_t now_ns);

/** Let the rank's messages wait until they may go on. Those that have begun end. */
void server_stop(struct server_rank *rank, bool stopped, uint64_t now_ns);

/** Call after a direct call has changed a NIC. */
void server_wake(struct node *node, uint16_t nic);

/* Of a server's messages that have ended. */
struct server_stats {
	uint64_t messages, bytes;
};

const struct server_stats *server_stats(const struct node *node);
/** List what readers read: node/node_pieces.h. */
void server_pieces(struct node *node, struct node_pieces *to);

#endif
