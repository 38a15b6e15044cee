/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State that all nodes of one NIC share, besides the wire: how many flows are active, the least
 * interval between CNPs, the receive buffers of a slow host, the units of CNP moderation that are
 * not one QP's. A node that is alone has one of its own.
 *
 * Written by any node, with atomics, at most once for an event (a flow that starts, a CNP, a frame
 * into a slow receiver), never to note a time.
 */
#ifndef QUENCH_NIC_PORT_SHARED_H
#define QUENCH_NIC_PORT_SHARED_H

#include <stdint.h>
#include <rte_common.h>

#include "base/field.h"
#include "tm/qos_map.h"
#include "tm/rx_drain.h"

/* Units of CNP moderation: pairs of addresses, or the port. */
struct nic_units {
	uint64_t *gates_ns; /* np_gate_pass() */
	/* where flows are added and removed */
	struct field_ip *peers;
	uint32_t *users; /* flows of nodes */
	uint32_t *table; /* hash of the peer's address to unit + 1; 0: free */
	uint32_t n, room;
};

/* The node's own where it is alone, else the share's. */
struct nic_shared {
	uint32_t active;      /* QPs that send: nic_becomes_active() */
	uint32_t wants_xoff;  /* priorities whose senders have to be held */
	uint64_t cnp_gate_ns; /* no CNP leaves the port before */
	struct nic_units units;
	struct rx_drain buffers[TM_CLASSES] __rte_cache_aligned;
};

/**
 * The unit of a peer, for one more flow; added if it is new, in the place of one without flows if
 * there is no room. By one thread at a time, at start-up only but for nic_units_reserve().
 * @return its index, or -ENOMEM.
 */
int64_t nic_units_find(struct nic_units *units, const struct field_ip *peer_ip);
/** A flow has left. */
void nic_units_release(struct nic_units *units, uint32_t unit);
/** Room for n units with flows: what nodes read stays where it is then. @return 0 or -ENOMEM. */
int nic_units_reserve(struct nic_units *units, uint32_t n);

void nic_shared_free(struct nic_shared *common);

/**
 * A QP has something to send from now on: a requester from its start to its end, a responder while
 * it has READs to answer.
 * @return QPs of the host that had before. Of those that start together on several lcores, one is
 * the first.
 */
static inline uint32_t
nic_becomes_active(struct nic_shared *common)
{
	return __atomic_fetch_add(&common->active, 1, __ATOMIC_RELAXED);
}

static inline void
nic_becomes_idle(struct nic_shared *common)
{
	__atomic_fetch_sub(&common->active, 1, __ATOMIC_RELAXED);
}

#endif
