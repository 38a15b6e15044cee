/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job: a graph of operations for each rank, as in GOAL (Hoefler et al., "LogGOPSim", HPDC 2010).
 * An operation computes for a time, sends a message to another rank, or receives one. It begins
 * when the operations that it requires have finished and those that it requires at their start
 * (irequires) have begun.
 *
 * A message has a tag. As in MPI, the messages of one rank to another with one tag meet the
 * receive operations of that rank and tag in order.
 *
 * Rendezvous: a large message waits at its sender until its recv has begun. job_rendezvous() adds
 * the operations: a recv sends a ready message when it begins, and a send begins when it has
 * received one. So what waits for what is in the graph, and a job that could wait forever is found
 * by job_check().
 *
 * Ranks and operations are numbered from 0. A graph is built by job_add() and job_after(), and does
 * not change after job_build().
 */
#ifndef QUENCH_JOB_JOB_GRAPH_H
#define QUENCH_JOB_JOB_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#define JOB_MAX_RANKS 65536u
/* Of one rank. */
#define JOB_MAX_OPS 1000000u
/* Operations and dependencies of all ranks: 6 GB. */
#define JOB_MAX_SIZE 100000000u
#define JOB_SIZE_TEXT                                                                              \
	"a million operations of a rank at most, and 100 million operations and dependencies of "  \
	"all ranks"
/* Bytes of a message, or nanoseconds of a computation. */
#define JOB_MAX_BYTES (1ull << 31)
#define JOB_MAX_NS ((1ull << 46) - 1)
#define JOB_STREAMS 256u
#define JOB_NONE UINT32_MAX

enum job_kind { JOB_CALC, JOB_SEND, JOB_RECV };

struct job_op {
	uint64_t amount : 46; /* calc: ns; send, recv: bytes */
	uint64_t kind : 2;    /* enum job_kind */
	uint64_t stream : 8;  /* computations of one stream run one after another */
	uint32_t peer;        /* send, recv: index in peers */
	union {
		uint32_t tag; /* send */
		uint32_t key; /* recv: index in keys */
	};
};

/* A rank that this one exchanges messages with. */
struct job_peer {
	uint32_t rank;
	uint32_t n_sends, n_recvs;
};

/* Where messages and receive operations meet. */
struct job_key {
	uint32_t peer; /* index in peers */
	uint32_t tag;
};

/* Of ready messages: this bit, and the tag of the message that is waited for. */
#define JOB_READY_TAG (1u << 31)
#define JOB_READY_BYTES 64u /* as of NCCL's (net_ib.cc, ncclIbSendFifo) */

struct job_rank {
	struct job_op *ops;
	/*
	 * wakes[first[2 * i]] and on wait for the start of operation i, wakes[first[2 * i + 1]]
	 * and on for its end, up to first[2 * i + 2].
	 */
	uint32_t *first, *wakes;
	uint32_t *waits;        /* by operation: number of starts and ends that it waits for */
	uint32_t *lines;        /* by operation: its line in the file; 0: there is no file */
	struct job_peer *peers; /* by rank */
	struct job_key *keys;   /* by peer and tag */
	uint32_t n_ops, n_peers, n_keys;
	bool rendezvous; /* tags with JOB_READY_TAG are those of ready messages */
};

struct job_graph {
	struct job_rank *ranks;
	uint32_t n_ranks;
	uint32_t *n_users; /* of ranks: see job_graph_share() */
};

/* Why a graph was refused. */
struct job_fault {
	uint32_t line; /* of the file; 0: unknown */
	char why[320];
};

struct job_draft;

/** @return owned by the caller until job_build(), or NULL: no memory. */
struct job_draft *job_draft(uint32_t n_ranks);
void job_draft_free(struct job_draft *draft);

/* An operation to add. peer and tag: of a send or a recv. */
struct job_step {
	enum job_kind kind;
	uint64_t amount;
	uint32_t peer, tag;
	uint8_t stream;
	uint32_t line;
};

/**
 * Add an operation of a rank.
 * @return its number, or -EINVAL (amount is 0 or too large for a message, peer is no other rank),
 *         -E2BIG (JOB_SIZE_TEXT) or -ENOMEM.
 */
int64_t job_add(struct job_draft *draft, uint32_t rank, const struct job_step *step);
/**
 * Let an operation wait for the end of another one of its rank, or for its start (irequires).
 * @return 0, -E2BIG (JOB_SIZE_TEXT) or -ENOMEM.
 */
int job_after(struct job_draft *draft, uint32_t rank, uint32_t op, uint32_t before, bool start);

/**
 * Let messages of `bytes` or more wait for their recv. Call it once, before job_build().
 * @return 0; -EINVAL with fault filled in: a tag has JOB_READY_TAG; -E2BIG (JOB_SIZE_TEXT) or
 *         -ENOMEM.
 */
int job_rendezvous(struct job_draft *draft, uint64_t bytes, struct job_fault *fault);

/**
 * Make a graph of the draft, and free the draft in any case.
 * @param out  On success, release it with job_graph_free().
 * @return     0 or -ENOMEM.
 */
int job_build(struct job_draft *draft, struct job_graph *out);
/** A copy for another user. Each user calls job_graph_free(); the last call frees the graph. */
struct job_graph job_graph_share(const struct job_graph *graph);
void job_graph_free(struct job_graph *graph);

/**
 * A hash of all operations, their order and what they wait for. Graphs of equal files, or of equal
 * keys, have equal digests, on all machines.
 */
uint64_t job_graph_digest(const struct job_graph *graph);
/** The digest of what had this one, and of a further value. */
uint64_t job_digest_add(uint64_t digest, uint64_t value);

/** Index of the peer with this rank, or JOB_NONE. */
uint32_t job_peer_of(const struct job_rank *rank, uint32_t peer_rank);
/** Index of the key, or JOB_NONE: no operation receives such a message. */
uint32_t job_key_of(const struct job_rank *rank, uint32_t peer, uint32_t tag);
/** Is it that key? key: any number. */
static inline bool
job_key_is(const struct job_rank *rank, uint32_t key, uint32_t peer, uint32_t tag)
{
	return key < rank->n_keys && rank->keys[key].peer == peer && rank->keys[key].tag == tag;
}

/** Is it the send or recv of a ready message? */
bool job_op_is_ready(const struct job_rank *rank, uint32_t op);

/** Text of an operation, as in GOAL: "send 8192b to 1 tag 0". @return text. */
const char *job_op_text(const struct job_rank *rank, uint32_t op, char text[64]);

#endif
