/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State shared by building a fabric and running it. Private to lib/fabric.
 *
 * In a window (fabric_run.c), the thread of a part alone uses the part, its nodes, their ends, and
 * the directions towards them. Frames to another part wait in a box until the next window, which
 * the thread of that part begins by emptying its boxes.
 *
 * If no cable joins two nodes of one side, nodes have two sides, and a window runs the nodes of
 * one side. Otherwise all nodes are on side 0.
 *
 * If the cables of hosts are faster than those between switches (is_near), a switch and its hosts
 * are a part, and a window lasts until a frame can arrive from another part. In it, each part has
 * windows of its own.
 */
#ifndef QUENCH_FABRIC_LINKS_FABRIC_STATE_H
#define QUENCH_FABRIC_LINKS_FABRIC_STATE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <rte_common.h>

#include "base/threads/lines.h"
#include "fabric/links/event_queue.h"
#include "fabric/links/fabric.h"
#include "fabric/links/flights.h"

#define NO_END UINT32_MAX
#define NO_LOCAL UINT16_MAX /* of an end's index at its node */

/* One port of one node. */
struct end {
	uint16_t port, peer_port;
	uint16_t to_part, to_side; /* of the peer */
	struct cable *cable;       /* as in the direction from this end */
	/* time on the wire of a frame of timed_bytes, the length of the last frame */
	uint64_t timed_ns;
	uint32_t timed_bytes;
	uint64_t free_ns;     /* time at which the node's last frame has left */
	uint64_t injected_ns; /* time at which the last frame of fabric_inject() has left */
	struct fabric_cable link;
} __rte_cache_aligned;

/* The frames in flight from one end to its peer; it has the end's index. */
struct direction {
	struct flights on_cable;
	struct cable *cable;  /* NULL: no faults and no taps */
	uint64_t digest;      /* over the frames that have arrived */
	uint64_t last_due_ns; /* without cable: of the last frame */
	uint32_t to_node;
	uint32_t source; /* in the rx queue of to_node */
} __rte_cache_aligned;
static_assert(sizeof(struct direction) == RTE_CACHE_LINE_SIZE, "one line for each hop");

struct node_slot {
	/* first cache line */
	struct node *node;
	struct event_queue rx; /* by inbound: next arrival */
	struct event_queue tx; /* by the node's ends, in the order in which they were connected */
	uint64_t control_ns;
	uint64_t tick_ns; /* next tick of its watch; NEVER_NS: not watched */
	uint32_t place;   /* in the nodes of its part and side */
	uint32_t side;
	/* second cache line */
	uint32_t *ends;    /* indices into fabric.ends */
	uint32_t *inbound; /* indices of the directions towards the node, ascending */
	uint32_t n_ends, n_inbound;
	uint16_t wake_words;   /* words of node->wake with connected ports */
	uint16_t ports_end;    /* one above the highest connected port */
	uint32_t part;         /* n_parts + q: it is of rank q */
	uint32_t frames_ahead; /* on each cable, to prefetch */
	uint64_t calls;        /* into the node: its share of the work */
	struct fabric_watch watch;
	uint16_t end_index_of_port[NODE_MAX_PORTS]; /* index into ends; NO_LOCAL: not connected */
} __rte_cache_aligned;
static_assert(offsetof(struct node_slot, ends) == RTE_CACHE_LINE_SIZE, "as it says");

/* Frames from one part to another, in the order in which they were sent. */
struct box {
	struct crossing {
		struct flight frame;
		uint32_t direction;
	} * items;
	uint32_t n, capacity;
};

#define MAX_SIDES 2u

/* The nodes of a part on one side; the lists are parts of those of the fabric. */
struct side {
	uint32_t *nodes;        /* indices, ascending */
	uint64_t *node_next_ns; /* by place in nodes: earliest possible work of the node */
	uint32_t *due;          /* places in nodes: those with work in this window */
	uint64_t next_ns;       /* earliest possible work of all nodes, without frames in boxes */
	uint32_t n_nodes;
};

/* Nodes that are run by one thread. A thread may run several parts. */
struct part {
	struct side sides[MAX_SIDES];
	uint32_t index;
	bool no_memory; /* a frame in flight was lost for lack of memory: the run ends */
	/*
	 * Frames to other parts, by part: sent in windows with an even number, and an odd one.
	 * Those to other ranks, sent in all windows since the last exchange, are in out[0].
	 */
	struct box *out[2];
	/* By side: earliest arrival of the frames to other parts in the last window's boxes. */
	uint64_t crossing_ns[MAX_SIDES];
	uint64_t leaving_ns; /* earliest arrival of the frames in the boxes to other ranks */
	uint64_t packet_hops, hop_bytes;
	uint64_t calls; /* into its nodes in this window */
} __attribute__((aligned(LINES_APART)));

struct fabric {
	struct end *ends;
	struct direction *directions;
	struct node_slot *nodes;
	struct part *parts;
	struct team *team;     /* NULL: one part, or not started */
	struct abroad *abroad; /* NULL: there is one rank */
	uint32_t n_parts;
	uint64_t seed;                  /* of the order at equal times */
	uint64_t (*clock_cycles)(void); /* of fabric_share_by() */
	uint32_t wanted_threads;        /* of fabric_create() */
	uint32_t n_threads;             /* part i is run by thread i modulo n_threads */
	uint32_t n_sides;
	uint32_t n_ends, max_ends;
	uint32_t n_nodes, max_nodes;
	/* least time of a frame to a node of the same part, and of another part of this rank */
	uint64_t inside_ns, between_ns;
	uint64_t until_ns; /* of this run */
	uint64_t window_end_ns;
	uint32_t window_side;           /* its nodes run in this window */
	uint64_t windows;               /* begun */
	uint64_t calls, critical_calls; /* as in struct fabric_stats */
	uint64_t balance_at; /* number of windows after which the parts are balanced again */
	bool started;
	bool is_large; /* prefetch, because nodes do not fit the cache */
	bool is_near;
	/* of the sides of all parts */
	uint32_t *side_nodes, *side_due;
	uint64_t *side_next_ns;
};

/* The other ranks: fabric_ranks.h. */
struct abroad {
	struct ranks *ranks;
	struct fabric_carrier carrier;
	uint8_t *rank_of;            /* by node */
	struct rank_bytes *out, *in; /* by rank */
	/* of the other ranks, as of the last fabric_gather() */
	uint64_t packet_hops, hop_bytes;
	struct cable_counts *cables; /* by end; NULL: not gathered yet */
	uint64_t lookahead_ns;       /* least time of a frame from a rank to another one */
	uint64_t before_ns;          /* no frame of another rank can arrive before that */
	uint64_t exchanges;          /* of frames */
	bool failed;                 /* the ranks cannot go on */
};

static inline uint32_t
ranks_of(const struct fabric *f)
{
	return f->abroad == NULL ? 1 : f->abroad->ranks->n;
}

/** As fabric_rank_of(). */
static inline uint32_t
rank_of_node(const struct fabric *f, uint32_t node)
{
	return f->abroad == NULL ? 0 : f->abroad->rank_of[node];
}

/** As fabric_owns(). */
static inline bool
owns_node(const struct fabric *f, uint32_t node)
{
	return f->abroad == NULL || rank_of_node(f, node) == f->abroad->ranks->self;
}

/** The same of a slot. Valid once the parts are made. */
static inline bool
is_own(const struct fabric *f, const struct node_slot *slot)
{
	return slot->part < f->n_parts;
}

/* Order-sensitive mixing function (the finalizer of splitmix64). */
static inline uint64_t
mix(uint64_t digest, uint64_t value)
{
	digest ^= value;
	digest *= 0xbf58476d1ce4e5b9ull;
	return digest ^ digest >> 29;
}

/** A frame has left by this end: put it on the cable, or lose it. */
void fabric_put(struct fabric *f, uint32_t end, struct rte_mbuf *m, uint64_t sent_ns);

#endif
