/* SPDX-License-Identifier: BSD-3-Clause */
/* State shared by building a fabric and running it. Private to lib/fabric. */
#ifndef QUENCH_FABRIC_LINKS_STATE_H
#define QUENCH_FABRIC_LINKS_STATE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <rte_common.h>

#include "fabric/links/event_queue.h"
#include "fabric/links/fabric.h"
#include "fabric/links/flights.h"

#define NO_END UINT32_MAX

/* One port of one node, and the frames in flight from it to its peer. */
struct end {
	struct flights on_cable;
	uint32_t peer_node;
	uint16_t peer_port;
	uint16_t port;
	struct cable *cable;  /* NULL: no faults and no taps */
	uint32_t timed_bytes; /* length of the last frame; timed_ns is its time on the wire */
	uint64_t timed_ns;
	uint64_t free_ns; /* time at which the node's last frame has left */
	struct fabric_link link;
	uint64_t injected_ns; /* time at which the last frame of fabric_inject() has left */
} __rte_cache_aligned;

struct node_slot {
	/* first cache line */
	struct node *node;
	struct flights inbox;  /* frames that arrive in this window, in order */
	struct event_queue tx; /* by the node's ends, in the order in which they were connected */
	uint64_t control_ns;
	/* second cache line */
	uint32_t *ends;      /* indices into fabric.ends */
	uint32_t wake_words; /* words of node->wake up to the highest connected port */
	uint32_t n_ends;
	uint32_t end_index_of_port[NODE_MAX_PORTS]; /* index into ends; NO_END: not connected */
} __rte_cache_aligned;
static_assert(offsetof(struct node_slot, ends) == RTE_CACHE_LINE_SIZE, "as it says");

struct fabric {
	struct event_queue arrivals; /* by end: next arrival at its peer */
	struct end *ends;
	struct node_slot *nodes;
	uint64_t *node_next_ns; /* by node: when it has work */
	uint32_t *due;          /* nodes with work in this window */
	uint32_t n_ends, max_ends;
	uint32_t n_nodes, max_nodes;
	uint64_t lookahead_ns; /* least time of a frame from node to node */
	bool started;
	bool is_large;  /* prefetch, because nodes do not fit the cache */
	bool no_memory; /* a frame in flight was lost for lack of memory: the run cannot go on */
	struct fabric_stats stats;
};

/** A frame has left by this end: put it on the cable, or lose it. */
void fabric_put(struct fabric *f, uint32_t end, struct rte_mbuf *m, uint64_t sent_ns);

#endif
