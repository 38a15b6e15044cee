/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch on several lcores. Each lcore drives a shard, a node that owns some of the ports: their
 * received frames, groups and pauses, queues, schedulers and shapers. The state of a port is
 * written by its owner alone.
 *
 * A frame for a port of another shard crosses once, as an entry in a ring: its ingress group admits
 * it before the crossing, its egress queue after it, without reading the frame. A flooded frame
 * crosses once to each shard that has ports for it, as a reference to one mbuf. A shard that sends
 * a frame of another shard's port returns the frame's ingress charge: it adds the charges of a
 * burst to a sum per group, which the group's owner reads in the port's next tx(). So the owner
 * alone decides on XOFF and XON, and never underestimates the use.
 *
 * Use of the pools: tm/buffer/mmu_part.h. Addresses: one table for all shards (fwd/fdb.h).
 * Neighbours: each shard has a table, and sends updates to the others (news.h).
 *
 * Invariants (tested): frames from one port to another keep their order; no frame is lost in a
 * ring, because entries wait while it is full; the sum of charged bytes in sw.h holds over all
 * shards.
 */
#ifndef QUENCH_SWITCH_SHARD_SHARD_H
#define QUENCH_SWITCH_SHARD_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "switch/frame/arrival.h"
#include "switch/params/sw_params.h"
#include "switch/shard/ring.h"

struct rte_ring;
struct sw;

/*
 * Charges returned to the groups of a port since creation: in given[] and owed[] by one shard, in
 * taken[] those that the owner has taken.
 */
struct sw_given {
	uint64_t pg_charge[TM_CLASSES]; /* sums of sw_charge(), which wrap */
	uint32_t returns; /* in taken[]: of the ring, as of the last look at given[] */
} __rte_aligned(LINES_APART);

/* Memory shared by all shards of a switch. */
struct sw_shards {
	uint16_t n;
	uint8_t of_port[SW_MAX_PORTS];
	struct sw *shard[SW_MAX_SHARDS]; /* nodes; not read here */
	struct sw_ring **rings;          /* [from * n + to]; NULL: to itself */
	struct rte_ring **news;          /* the same, for neighbour updates */
	struct sw_given *given, *taken;  /* [from * n_ports + port] */
	struct sw_given *owed;           /* the same, not published yet */
	uint32_t owed_bytes;             /* of one group, published at the latest */
	uint16_t n_ports;
};

/* One shard: its ports, its ends of the rings, and its debts. */
struct sw_shard {
	uint64_t own_ports;       /* mask; all ones without shards, of any number of ports */
	struct sw_shards *shards; /* NULL: alone */
	uint16_t index;
	uint32_t calls; /* calls of tx() since debts were published */
	bool admitted;  /* rx() has taken frames since the use was compared with the published */
	uint64_t owing; /* mask: ports of other shards with unpublished debts */
	uint64_t crossing_to; /* mask: shards with entries that they cannot see yet */
	uint64_t crossed_out_bytes, crossed_in_bytes; /* charged */
	uint16_t take_from;                           /* the shard whose ring is read first */
	struct sw_chunks chunks;                      /* memory of its queues */
};

static inline bool
sw_owns(const struct sw_shard *shard, uint16_t port)
{
	return shard->own_ports >> (port % 64) & 1;
}

/** Allocate the shared memory. @return freed by sw_shards_free(); NULL: no memory. */
struct sw_shards *sw_shards_alloc(const struct sw_params *params);
/** Create the rings. @return 0 or -errno. */
int sw_shards_connect(struct sw_shards *s);
/** NULL is allowed. Does not free the nodes. */
void sw_shards_free(struct sw_shards *s);

#endif
