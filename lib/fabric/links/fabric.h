/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes joined by cables in virtual time: a discrete-event loop that calls the node_ops of node.h.
 *
 * A cable only delays:
 *   arrival = time of tx() + serialization + propagation.
 * The shaper that spaces frames is in the node. Frames of one direction keep their order, unless
 * the cable reorders them. At equal times arrivals come before transmissions, and both in an order
 * that the seed draws for each time and node: the number of a host or port favours nobody.
 *
 * Nodes interact only over cables, and each node runs ahead as long as no frame can reach it
 * (fabric_run.c). Nodes also share packet pools. The pools must not run dry, because which node
 * finds a pool empty depends on the order of execution.
 *
 * The digest covers every hop: time, place, length, and bytes that distinguish frames, including
 * ECN and ICRC. Equal digests mean equal runs.
 */
#ifndef QUENCH_FABRIC_LINKS_FABRIC_H
#define QUENCH_FABRIC_LINKS_FABRIC_H

#include <stdint.h>

#include "fabric/links/cable.h"
#include "fabric/ranks/ranks.h"
#include "node/node.h"

#define FABRIC_MAX_THREADS 64u

struct fabric;

struct fabric_cable {
	uint64_t rate_bps;
	uint64_t delay_ns; /* propagation, one way */
	struct cable_params errors;
};

/*
 * Called for ticks, the multiples of every_ns: for n of them from first_ns on, in which the node's
 * state did not change. All that happens at the time of a tick precedes it.
 */
typedef void (*fabric_tick_fn)(void *arg, uint64_t first_ns, uint64_t n);

struct fabric_watch {
	fabric_tick_fn fn;
	void *arg;
	uint64_t every_ns;
};

struct fabric_stats {
	uint64_t packet_hops; /* frames that arrived at the far end of a cable */
	uint64_t hop_bytes;   /* their wire bytes */
	uint64_t digest;
	/*
	 * These show how well the work is divided. No other members depend on the number of
	 * threads.
	 */
	/* Number of windows; after each, the threads wait for each other. With ranks: how often
	 * these have waited for each other. */
	uint64_t windows;
	uint64_t calls; /* into nodes */
	/* sum, over all windows, of the calls by the thread that made the most in the window */
	uint64_t critical_calls;
};

/**
 * @param threads  Number of threads that run the nodes, including the caller's: 1 to
 *                 FABRIC_MAX_THREADS. No more are started than there are cores to use. With more
 *                 than one, calls into different nodes and their taps run at the same time. Results
 *                 are the same with any number.
 * @param seed     Of the order of events with equal times.
 * @return         An empty fabric, owned by the caller, or NULL with errno ENOMEM.
 */
struct fabric *fabric_create(uint32_t max_nodes, uint32_t max_links, uint32_t threads,
			     uint64_t seed);

/** Free the fabric and the frames on its cables. The caller keeps the nodes. */
void fabric_destroy(struct fabric *f);

/**
 * Let the threads read a clock, before the first run: if they mostly wait for each other, the
 * caller's thread then runs all nodes for some time. Results are the same.
 *
 * @param clock_cycles  A clock of a few GHz, such as the TSC.
 */
void fabric_share_by(struct fabric *f, uint64_t (*clock_cycles)(void));

/* How frames cross between ranks. */
struct fabric_carrier {
	/* Append a frame to what goes to another rank, and free it. */
	void (*pack)(void *arg, struct rte_mbuf *m, struct rank_bytes *to);
	/* The next frame of another rank; NULL: no memory, or no frame. */
	struct rte_mbuf *(*unpack)(void *arg, struct rank_reader *from);
	void *arg;
};

/**
 * After the last fabric_connect(), before the first run: divide the nodes among ranks, which all
 * connect the same fabric and make the same calls. Calls that act on a node of another rank have
 * no effect here.
 * @param ranks  Must outlive the fabric.
 * @return       0 or -ENOMEM.
 */
int fabric_set_ranks(struct fabric *f, struct ranks *ranks, const struct fabric_carrier *carrier);

/** Does this rank run the node? Every node, without ranks. */
bool fabric_owns(const struct fabric *f, uint32_t node);

/** The rank that runs the node; 0 without ranks. */
uint32_t fabric_rank_of(const struct fabric *f, uint32_t node);

/**
 * With ranks: let rank 0 know what the others have counted of frames and cables, for
 * fabric_stats(), fabric_cable_drops() and fabric_cable_stats(). @return 0, -ENOMEM, -EIO.
 */
int fabric_gather(struct fabric *f);

/**
 * Add a node before the first run.
 * @param node  NULL: a place for a node, which fabric_set_node() gives before the first run; of a
 *              node of another rank, it stays empty.
 * @return      its number, or -ENOSPC, -ENOMEM.
 */
int fabric_add_node(struct fabric *f, struct node *node);
void fabric_set_node(struct fabric *f, uint32_t number, struct node *node);

/**
 * Watch a node, before the first run. fn is called in the node's thread, and may read the node. The
 * first tick is at every_ns; fabric_run() makes the calls for ticks before its until_ns, and for
 * that at until_ns fabric_tick() or a later run.
 */
void fabric_watch_node(struct fabric *f, uint32_t node, const struct fabric_watch *watch);
/** Call all watches for the ticks up to and including now_ns, up to which the fabric has run. */
void fabric_tick(struct fabric *f, uint64_t now_ns);

struct fabric_end {
	uint32_t node; /* number from fabric_add_node() */
	uint16_t port;
};

/**
 * Join two ports, each at most once, before the first run. @return 0, -EINVAL, -ENOSPC, -ENOMEM.
 */
int fabric_connect(struct fabric *f, struct fabric_end a, struct fabric_end b,
		   const struct fabric_cable *link);

/**
 * Set the link at this end down or up at the time up to which the fabric has run. Down: frames in
 * flight in both directions are lost, and so are those sent until it is up. The nodes are not
 * notified.
 * @return 0, -EINVAL (no such end), -ENOMEM.
 */
int fabric_set_link_up(struct fabric *f, struct fabric_end e, bool up);

/**
 * Change delay and faults of the cable from this end to its peer, at the time up to which the
 * fabric has run. Frames in flight arrive at their old times, before those sent later. The rate
 * cannot change, because the nodes know it too.
 * @return 0, -EINVAL (no such end, another rate), -ENOMEM.
 */
int fabric_set_cable(struct fabric *f, struct fabric_end from, const struct fabric_cable *link);

/** Present settings of the cable. The end must be connected. */
const struct fabric_cable *fabric_cable(const struct fabric *f, struct fabric_end from);

/**
 * Put a frame on the cable at this end at now_ns, up to which the fabric has run, as if the node
 * had sent it. It does not delay the node's frames. It waits for earlier injected frames, and for
 * frames on the cable. The fabric takes ownership.
 * @return 0, or -EINVAL (no such end), and then the caller keeps the frame.
 */
int fabric_inject(struct fabric *f, struct fabric_end e, struct rte_mbuf *m, uint64_t now_ns);

/**
 * Call after a direct call has changed a node at now_ns, up to which the fabric has run: lets the
 * node act.
 */
void fabric_poke(struct fabric *f, uint32_t node, uint64_t now_ns);
/**
 * As fabric_poke(), and call the node's control() now, because its next time may have changed.
 */
void fabric_control(struct fabric *f, uint32_t node, uint64_t now_ns);

/**
 * Tap the frames that leave by this end and those that arrive at it.
 * @return as fabric_set_link_up().
 */
int fabric_tap(struct fabric *f, struct fabric_end e, struct cable_tap sent,
	       struct cable_tap received);

/** Number of frames to this end that were lost for this reason. */
uint64_t fabric_cable_drops(const struct fabric *f, struct fabric_end e, enum cable_drop why);

/** Counts of frames that arrived at this end. */
struct cable_stats fabric_cable_stats(const struct fabric *f, struct fabric_end e);

/**
 * Run all events up to and including until_ns, which never decreases. The clock then is until_ns.
 * @return 0, -ENOMEM: a frame in flight was lost, here or at another rank, and later results are
 *         invalid; in the first run also -EAGAIN: no thread can be started.
 */
int fabric_run(struct fabric *f, uint64_t until_ns);

/** Time before which no node acts, unless its driver changes something; NEVER_NS: none does. */
uint64_t fabric_next_ns(struct fabric *f);

struct fabric_stats fabric_stats(const struct fabric *f);

#endif
