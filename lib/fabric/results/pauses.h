/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who paused whom, and why: the pauses of a run as trees. A switch pauses a peer because frames
 * from it wait in a queue. If that queue was itself paused since the group was last below XON, the
 * pause of the queue is the parent; else the queue is the root. A host that pauses is a root.
 *
 * Pauses in force at the end of the run that hold each other in a circle are a deadlock.
 *
 * Invariant (tested): each pause belongs to one root, so their times add up to the pauses of all
 * ports (tx_prioN_pause_duration_us).
 */
#ifndef QUENCH_FABRIC_RESULTS_PAUSES_H
#define QUENCH_FABRIC_RESULTS_PAUSES_H

#include "fabric/net/net.h"

struct pauses;

/** Before the run: record the pauses of all ports. @return owned by the caller, or NULL. */
struct pauses *pauses_create(struct net *net);
void pauses_destroy(struct pauses *p);

/** With ranks, at the end of the run: let rank 0 know all pauses. @return 0, -ENOMEM, -EIO. */
int pauses_gather(struct pauses *p);

#define PAUSES_NONE UINT32_MAX

enum pause_root_kind {
	PAUSE_ROOT_QUEUE, /* a queue of a switch that nobody paused */
	PAUSE_ROOT_HOST,  /* a host that receives slowly */
	/* A switch whose queues held no frames of the paused sender: others filled its buffer. */
	PAUSE_ROOT_BUFFER,
};

extern const char *const pause_root_words[];

struct pause_root {
	enum pause_root_kind kind;
	struct topology_end at; /* port: of a queue */
	uint8_t queue;          /* of a queue */
	uint8_t prio;
	uint64_t time_ns; /* sum over its branches */
	uint64_t pauses;
};

/* The pauses of one port by one parent. */
struct pause_branch {
	uint32_t root, parent;        /* index; parent PAUSES_NONE: the root itself */
	struct topology_end by, held; /* the port that sent the pauses, and the one that obeyed */
	uint8_t prio;
	uint64_t time_ns, pauses;
};

struct pause_tree {
	struct pause_root *roots;      /* owned; the most time first */
	struct pause_branch *branches; /* owned; by root, parents before their children */
	struct pause_branch *deadlock; /* owned: each pauses the one after it, and the last the
					 * first; without root and parent */
	uint32_t n_roots, n_branches, n_deadlock;
	uint64_t lost; /* pauses beyond PAUSES_MOST of a node */
};

/* Recorded of one node. */
#define PAUSES_MOST (1u << 20)

/** @return 0 or -ENOMEM. Release it with pause_tree_free() in both cases. */
int pauses_tree(const struct pauses *p, uint64_t now_ns, struct pause_tree *out);
void pause_tree_free(struct pause_tree *t);

#endif
