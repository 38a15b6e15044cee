/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a poll loop or an event loop drives a NIC or a switch.
 *
 * A node is given packets, asked for packets, and asked when it next wants attention; the time is
 * an argument of every call and never decreases. One caller of rx, tx and next_ns per node. The
 * pipelines cannot tell whether the time is a TSC or virtual.
 */
#ifndef QUENCH_NODE_NODE_H
#define QUENCH_NODE_NODE_H

#include <stdint.h>

#include "base/units.h"

struct rte_mbuf;
struct node;

#define NODE_MAX_PORTS 256

struct node_ops {
	/* Takes ownership of all n packets. Of none: what others ask of the node is done, as by
	 * tx(), by a driver that has no room. */
	void (*rx)(struct node *, uint16_t port, struct rte_mbuf **pkts, uint16_t n,
		   uint64_t now_ns);
	/* Gives up to room packets to the caller; returns how many. Only what the wire can take
	 * now; control frames first. */
	uint16_t (*tx)(struct node *, uint16_t port, struct rte_mbuf **pkts, uint16_t room,
		       uint64_t now_ns);
	/*
	 * As tx(), but only frames that leave ahead of data, for a device with a transmit queue to
	 * spare for them. Called before each tx(), which gives only the others then: the node has
	 * been told so at start-up. NULL: it has no such frames.
	 */
	uint16_t (*tx_control)(struct node *, uint16_t port, struct rte_mbuf **pkts, uint16_t room,
			       uint64_t now_ns);
	/* Earliest time tx() could do more than it would now; NEVER_NS when idle. */
	uint64_t (*next_ns)(const struct node *, uint16_t port);
	/* Slow work: LLDP, ageing, watchdog polls. Another thread may call it beside rx/tx: it
	 * shares only RCU tables, atomics and rings with them. Returns when it wants to be called
	 * again. */
	uint64_t (*control)(struct node *, uint64_t now_ns);
	/* Many calls follow, and others came before: get what each of them needs into the caches. A
	 * hint, which changes nothing; NULL: it has none. */
	void (*fetch)(const struct node *);
};

struct node {
	const struct node_ops *ops;
	/*
	 * Ports whose next_ns() may have moved earlier since the driver last cleared their bit:
	 * rx() on one port makes work on others. An event loop asks only these; a poll loop asks
	 * all and ignores it.
	 */
	uint64_t wake[NODE_MAX_PORTS / 64];
};

static inline void
node_wake(struct node *node, uint16_t port)
{
	node->wake[port / 64] |= 1ull << (port % 64);
}

#endif
