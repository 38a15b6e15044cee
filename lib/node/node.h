/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a poll loop or an event loop drives a NIC or a switch.
 *
 * The driver gives a node packets, asks it for packets, and asks when it next needs attention. The
 * time is an argument of every call, and never decreases. One caller of rx, tx and next_ns per
 * node. The pipelines cannot tell whether the time is a TSC or virtual.
 */
#ifndef QUENCH_NODE_NODE_H
#define QUENCH_NODE_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers/units.h"

struct rte_mbuf;
struct node;

#define NODE_MAX_PORTS 512
#define NODE_WAKE_PORTS 256

/* A frame that was to leave by a port, and is dropped there instead. */
struct node_lost_frame {
	const struct rte_mbuf *m; /* read-only */
	const char *reason;       /* name of the counter */
	uint16_t port;
	uint16_t from_port; /* that received it; NODE_NO_PORT: the node made it */
	uint64_t now_ns;
};

#define NODE_NO_PORT UINT16_MAX

/*
 * Someone who wants to know what becomes of received frames. A node without drops to name ignores
 * it.
 */
struct node_drops {
	bool wanted; /* written by the thread that drives the node, between two calls */
	/*
	 * A frame that port has received is about to be dropped: the name of the counter. Only
	 * frames that never entered a queue. The mbuf is read-only.
	 */
	void (*dropped)(struct node_drops *, uint16_t port, const struct rte_mbuf *m,
			const char *reason);
	/* above 0: wants to know of frames lost at their egress. Any thread may write it */
	uint32_t egress_wanted;
	/* Called in rx() or tx(): when the frame came to its queue, or while it waited there. */
	void (*lost)(struct node_drops *, const struct node_lost_frame *frame);
};

/** Does anyone want to know of frames lost at their egress? */
static inline bool
node_lost_wanted(const struct node_drops *drops)
{
	return drops != NULL && __atomic_load_n(&drops->egress_wanted, __ATOMIC_RELAXED) > 0;
}

struct node_ops {
	/*
	 * Takes ownership of all n packets. n may be 0: the driver has no room to transmit, and the
	 * node serves the requests of other threads, as tx() does.
	 */
	void (*rx)(struct node *, uint16_t port, struct rte_mbuf **pkts, uint16_t n,
		   uint64_t now_ns);
	/*
	 * Returns up to max_pkts packets, control frames first: only packets that may leave now.
	 * Returns their number.
	 */
	uint16_t (*tx)(struct node *, uint16_t port, struct rte_mbuf **pkts, uint16_t max_pkts,
		       uint64_t now_ns);
	/*
	 * As tx(), but only frames that leave ahead of data, for a device with a transmit queue
	 * reserved for them. Called before each tx(), which then returns only the other frames. A
	 * node is configured at start-up for a driver that calls it. NULL: the node has no such
	 * frames.
	 */
	uint16_t (*tx_control)(struct node *, uint16_t port, struct rte_mbuf **pkts,
			       uint16_t max_pkts, uint64_t now_ns);
	/* Earliest time tx() could do more than it would now; NEVER_NS when idle. */
	uint64_t (*next_ns)(const struct node *, uint16_t port);
	/*
	 * Slow work: LLDP, ageing, watchdog polls. Another thread may call it at the same time as
	 * rx/tx: they share only RCU tables, atomics and rings. Returns the time of its next call.
	 */
	uint64_t (*control)(struct node *, uint64_t now_ns);
	/* Prefetch the node's state before a series of calls, after calls of other nodes. A hint,
	 * without effect on results; NULL: nothing to prefetch. */
	void (*fetch)(const struct node *);
	/*
	 * Write what the node did to a frame that tx() has returned: that it marked it, whom it
	 * pauses and why; "": nothing. Called by the driver before its next call. NULL: the node
	 * does nothing worth a word.
	 */
	void (*why)(const struct node *, uint16_t port, const struct rte_mbuf *m, char *text,
		    size_t size);
	/* From now on, tell drops, which outlives the node. Before the first rx(); NULL: as why. */
	void (*watch_drops)(struct node *, struct node_drops *drops);
};

/* Room for the text of why(), and for those of a dropped frame. */
#define NODE_WHY_CHARS 80

/** Write why a frame has not left: "dropped: wred, received by port 0". */
void node_say_lost(const struct node_lost_frame *frame, char text[NODE_WHY_CHARS]);

struct node {
	const struct node_ops *ops;
	/*
	 * Ports whose next_ns() may have moved earlier since the driver last cleared their bit:
	 * rx() on one port makes work on others. An event loop asks only these ports; a poll loop
	 * asks all ports and ignores the mask. Ports NODE_WAKE_PORTS apart share a bit.
	 */
	uint64_t wake[NODE_WAKE_PORTS / 64];
};

static inline void
node_wake(struct node *node, uint16_t port)
{
	node->wake[port % NODE_WAKE_PORTS / 64] |= 1ull << (port % 64);
}

#endif
