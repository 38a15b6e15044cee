/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * struct sw: the data path of a shard, with the state of all rooms below the control side. A switch
 * on one lcore has one struct sw, which is also its front. With several shards, the front is the
 * struct sw that sw_create() returned; each shard has its own struct sw and owns some of the ports
 * (shard/shard.h).
 *
 * Invariant: only the owner's thread writes a shard's struct sw and its ports, except for members
 * that say otherwise.
 */
#ifndef QUENCH_SWITCH_CORE_SWITCH_H
#define QUENCH_SWITCH_CORE_SWITCH_H

#include <assert.h>
#include <rte_branch_prediction.h>

#include "base/threads/counter.h"
#include "base/numbers/prng.h"
#include "node/node.h"
#include "switch/core/sw_mailbox.h"
#include "switch/core/port.h"
#include "switch/core/request.h"
#include "switch/forward/forward.h"
#include "switch/frame/classify.h"
#include "switch/shard/shard.h"
#include "tm/buffer/mmu.h"

struct sw_control;

/* Charges that a departing burst releases; all zero between two bursts. */
struct sw_release {
	uint16_t groups[SW_MAX_PORTS * TM_CLASSES]; /* groups with a charge */
	uint64_t charge[SW_MAX_PORTS * TM_CLASSES]; /* by group: sum of sw_charge() */
};

/* Entries of a ring that are admitted together. */
#define SW_CROSSED_BURST 128u

/* The entries of a burst to one queue. */
struct sw_crossed_queue {
	uint32_t bytes; /* charged */
	uint16_t place; /* port * TM_CLASSES + queue */
	bool all_ect;
	bool any_ce;
	bool admitted;
};

/* Crossed entries by queue, while a burst is admitted. */
struct sw_crossed {
	unsigned int n_queues;
	struct sw_crossed_queue queue[SW_CROSSED_BURST];
	uint8_t queue_of[SW_CROSSED_BURST]; /* by entry */
	/* by place: an index of queue[], valid if the queue there has this place */
	uint8_t queue_at[SW_MAX_PORTS * TM_CLASSES];
};

/* Per-packet members come first, by cache lines of 64 bytes. */
struct sw {
	struct node node;
	struct sw_port *ports; /* all ports of the switch; each has one owner */
	struct mmu *mmu;
	uint32_t max_frame_bytes;
	uint16_t n_ports;
	bool mark_at_enqueue;
	bool queue_by_egress; /* tc_to_queue_map differs among the ports */
	struct sw_forward forward;
	struct sw_shard shard;
	struct sw_request request; /* written by other threads */
	/* `queued` is not stored: it is the sum of the queues */
	struct sw_ledger ledger __rte_cache_aligned;
	struct prng prng;
	const struct sw_classes **classes_of; /* by port: of all ports of the switch */
	struct sw_pools pools;
	struct fdb_memo memo __rte_cache_aligned; /* of addresses of frames that arrive alone */
	struct sw_classes *classes;               /* those of classes_of */
	/* per dropped frame */
	struct node_drops *drops; /* NULL: nobody wants to know */
	/* per MAC control frame */
	uint32_t n_xoff; /* groups whose senders the buffer wants paused */
	/* per LLDP frame */
	struct sw_mailbox lldp;
	struct sw_control *control; /* of the whole switch */
	/*
	 * per frame that is due for a mark, but Not-ECT: by ingress port, which another shard may
	 * own
	 */
	uint64_t not_ect_packets[SW_MAX_PORTS];
	/* large, of which a switch of few ports uses the beginnings */
	struct sw_release release;
	struct sw_crossed crossed;
};
static_assert(offsetof(struct sw, forward) == 64, "forwarding state in one line");
static_assert(offsetof(struct sw, shard.shards) / 64 == offsetof(struct sw, forward) / 64,
	      "shards in the same line");
static_assert(offsetof(struct sw, ledger) / 64 ==
		      (offsetof(struct sw, ledger) + sizeof(struct sw_ledger) - 1) / 64,
	      "the ledger in one line");

static inline struct sw *
sw_of(struct node *node)
{
	return (struct sw *)node;
}

static inline const struct sw *
sw_of_const(const struct node *node)
{
	return (const struct sw *)node;
}

/** The maps of a port. */
static inline const struct sw_classes *
sw_classes_of(const struct sw *sw, uint16_t port)
{
	return sw->classes_of[port];
}

/** The queue of a traffic class at an egress port. */
static inline uint8_t
sw_queue_of_tc(const struct sw *sw, uint16_t port, uint8_t tc)
{
	return sw->classes_of[port]->qos.tc_to_queue_map[tc];
}

/** Choose the queue of a classified frame by the maps of its egress port. */
static inline void
sw_choose_queue(const struct sw *sw, struct arrival *a)
{
	if (unlikely(sw->queue_by_egress) && a->out_port != FLOOD)
		a->class.queue = sw_queue_of_tc(sw, a->out_port, a->class.tc);
}

/** The shard that owns a port, from the front. */
static inline struct sw *
sw_owner(struct sw *front, uint16_t port)
{
	struct sw_shards *s = front->shard.shards;

	return s == NULL ? front : s->shard[s->of_port[port]];
}

/** Number of shards. With 1, the front is the only shard. sw_shard_at() returns each of them. */
static inline uint16_t
sw_shard_count(const struct sw *front)
{
	return front->shard.shards == NULL ? 1 : front->shard.shards->n;
}

static inline struct sw *
sw_shard_at(const struct sw *front, uint16_t i)
{
	return front->shard.shards == NULL ? (struct sw *)front : front->shard.shards->shard[i];
}

/** Ask the lab's event loop to call the node for this port. From any thread. */
static inline void
sw_wake(struct sw *sw, uint16_t port)
{
	__atomic_fetch_or(&sw->node.wake[port % NODE_WAKE_PORTS / 64], 1ull << (port % 64),
			  __ATOMIC_RELAXED);
}

#endif
