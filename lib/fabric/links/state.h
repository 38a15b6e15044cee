/* SPDX-License-Identifier: BSD-3-Clause */
/* What building a fabric and running it share. Nothing outside lib/fabric includes it. */
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

/* One port of one node, and the frames on their way from it to its peer. */
struct end {
	struct flights on_cable;
	uint32_t peer_node;
	uint16_t peer_port;
	uint16_t port;
	struct cable *cable;  /* NULL: all that leaves arrives, and nobody looks */
	uint32_t timed_bytes; /* of the last frame, and how long those take */
	uint64_t timed_ns;
	uint64_t free_ns; /* when the last frame that the node sent has left */
	struct fabric_link link;
	uint64_t injected_ns; /* when the last frame of fabric_inject() has left */
} __rte_cache_aligned;

struct node_slot {
	/* in one cache line */
	struct node *node;
	struct flights inbox;  /* what arrives in this window, in order */
	struct event_queue tx; /* of the node's ends, in the order in which they were connected */
	uint64_t control_ns;
	/* in the next */
	uint32_t *ends;      /* the fabric's numbers of them */
	uint32_t wake_words; /* of node->wake: up to the highest port that is connected */
	uint32_t n_ends;
	uint32_t local_of_port[NODE_MAX_PORTS]; /* place in ends; NO_END: not connected */
} __rte_cache_aligned;
static_assert(offsetof(struct node_slot, ends) == RTE_CACHE_LINE_SIZE, "as it says");

struct fabric {
	struct event_queue arrivals; /* at the peers of the ends */
	struct end *ends;
	struct node_slot *nodes;
	uint64_t *turns_ns; /* of the nodes: when they have something to do */
	uint32_t *due;      /* nodes that have, in this window */
	uint32_t n_ends, max_ends;
	uint32_t n_nodes, max_nodes;
	uint64_t lookahead_ns; /* a frame takes at least so long from node to node */
	bool started;
	bool is_large;  /* what is needed is fetched ahead */
	bool no_memory; /* for a frame under way, which is lost: the run cannot go on */
	struct fabric_stats stats;
};

/** A frame has left by this end: put it on the cable, or lose it. */
void fabric_put(struct fabric *f, uint32_t end, struct rte_mbuf *m, uint64_t sent_ns);

#endif
