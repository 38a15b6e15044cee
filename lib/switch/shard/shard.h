/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch on several lcores. Each is a shard, a node of its own, which owns some of the ports:
 * what comes in by them, their groups and their peers' pauses, their queues, schedulers and
 * shapers. No port's state is written by two.
 *
 * A frame for another shard's port crosses once, after its ingress has admitted it, by a ring from
 * one to the other; its egress admits it there. A flooded frame crosses once to each shard that has
 * ports for it, as a reference to one mbuf. What leaves by another shard's port gives its ingress
 * charge back by a sum of its group's, written once for a burst, which the owner looks at in the
 * port's next tx(): so the owner alone decides on XOFF and XON, and what it believes to be in use
 * is never too little. Use of the pools: tm/mmu_part.h. Addresses: the table
 * is one (fwd/fdb.h). Neighbours: each shard has a table, and tells the others what it learns.
 *
 * Invariants (tested): frames of one port to another keep their order; a crossing never drops, as a
 * ring has room for all mbufs; sw.h's sum of charged bytes holds over all shards.
 */
#ifndef QUENCH_SWITCH_SHARD_SHARD_H
#define QUENCH_SWITCH_SHARD_SHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "switch/frame/arrival.h"
#include "switch/params/params.h"
#include "switch/shard/ring.h"

struct rte_ring;
struct sw;

/* Frames from one shard to another, collected until the end of the burst. */
struct sw_crossing {
	uint32_t n;
	void *m[SW_BURST];
} __rte_cache_aligned;

/* Charges that one shard has given back to a port's groups since creation, or that the owner has
 * taken. */
struct sw_given {
	uint64_t pg_charge[TM_CLASSES]; /* sums of sw_charge(), which wrap */
} __rte_cache_aligned;

/* Frames on their way into this shard's caches. */
struct sw_fetched {
	uint32_t n;
	uint16_t from; /* whose ring is next */
	void *m[SW_BURST];
} __rte_cache_aligned;

/* The memory between all shards of a switch. */
struct sw_shards {
	uint16_t n;
	uint8_t of_port[SW_MAX_PORTS];
	struct sw *shard[SW_MAX_SHARDS]; /* nodes; not read here */
	struct sw_crossing *crossings;   /* [from * n + to] */
	struct sw_ring **rings;          /* [from * n + to]; NULL: to itself */
	struct rte_ring **news;          /* the same, of what neighbours have said */
	size_t ring_bytes;
	struct sw_given *given, *taken; /* [from * n_ports + port] */
	struct sw_given *owed;          /* the same, before it is given */
	uint16_t n_ports;
	struct sw_fetched fetched[SW_MAX_SHARDS];
};

/* One shard: its ports, and its end of the rings and debts. */
struct sw_shard {
	uint64_t own_ports;       /* mask */
	struct sw_shards *shards; /* NULL: alone */
	uint16_t index;
	uint32_t calls;       /* of tx(), since debts were settled */
	uint64_t owing;       /* mask: ports of other shards with a debt */
	uint64_t crossing_to; /* mask: shards that frames cross to at the end of the burst */
	uint64_t crossed_out_bytes, crossed_in_bytes; /* charged */
};

static inline bool
sw_owns(const struct sw_shard *shard, uint16_t port)
{
	return shard->own_ports >> port & 1;
}

/** Allocate for the shards of params. @return NULL: no memory; else for sw_shards_free(). */
struct sw_shards *sw_shards_alloc(const struct sw_params *params);
/** Create the rings, each with room for this many mbufs. @return 0 or -errno. */
int sw_shards_connect(struct sw_shards *s, uint32_t mbufs);
/** NULL is allowed. Nodes are the caller's. */
void sw_shards_free(struct sw_shards *s);

#endif
