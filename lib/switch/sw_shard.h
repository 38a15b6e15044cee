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
#ifndef QUENCH_SWITCH_SW_SHARD_H
#define QUENCH_SWITCH_SW_SHARD_H

#include "switch/sw_internal.h"

struct rte_ring;

/*
 * Frames from one shard to another. There is room for every mbuf, so neither side asks how far the
 * other is: the producer reads nothing that the consumer writes. (rte_ring's ends read each other's
 * for each burst, which is a cache miss for both.)
 */
struct sw_ring {
	uint32_t tail; /* of the producer, for the consumer */
	/* the producer's */
	uint32_t filled __rte_cache_aligned;
	uint32_t put_mask;
	/* the consumer's */
	uint32_t head __rte_cache_aligned;
	uint32_t mask;
	void *slot[] __rte_cache_aligned;
};

/* What crosses from one shard to another, until the end of the burst. */
struct sw_crossing {
	uint32_t n;
	void *m[SW_BURST];
} __rte_cache_aligned;

/* What one shard has given back to a port's groups, ever; and what its owner has taken of that. */
struct sw_given {
	uint64_t pg_charge[TM_CLASSES]; /* sums of sw_charge(), which wrap */
} __rte_cache_aligned;

/* Frames on their way into this shard's caches. */
struct sw_fetched {
	uint32_t n;
	uint16_t from; /* whose ring is next */
	void *m[SW_BURST];
} __rte_cache_aligned;

/* What is owed to a group is written for its owner when it is so much, or when there is time. */
#define SW_OWED_BYTES 4096u

struct sw_shards {
	uint16_t n;
	uint8_t of_port[SW_MAX_PORTS];
	struct sw *shard[SW_MAX_SHARDS];
	struct sw_crossing *crossings; /* [from * n + to] */
	struct sw_ring **rings;        /* [from * n + to]; NULL: to itself */
	struct rte_ring **told;        /* the same, of what neighbours have said */
	size_t ring_bytes, told_bytes;
	struct sw_given *given, *taken; /* [from * n_ports + port] */
	struct sw_given *owed;          /* the same, before it is given */
	uint16_t n_ports;
	struct sw_fetched fetched[SW_MAX_SHARDS];
};

/* sw_shard.c */

/** The shard that owns a port, from the front. */
struct sw *sw_owner(struct sw *front, uint16_t port);

/** All shards are to know whether a port has a link; by its owner. */
void sw_set_down(struct sw *sw, uint16_t port, bool down);

/** Shards, one by one; the switch itself when it is alone. */
uint16_t sw_shard_count(const struct sw *front);
struct sw *sw_shard_at(const struct sw *front, uint16_t i);

/** Build the shards of a switch with more than one. @return 0 or -errno; sw_shards_destroy() after
 * both. */
int sw_shards_create(struct sw *front, const struct sw_params *params);
/** Of a switch without shards, too. */
void sw_shards_destroy(struct sw *front);

/** Let all shards do what waits for them, until nothing does: one thread has all of them. */
void sw_shards_settle(struct sw *front, uint64_t now_ns);

/* sw_cross.c */

/**
 * A group of another shard's port is to get back what its frames were charged.
 *
 * @param charge  A sum of sw_charge().
 */
void sw_give_back(struct sw *sw, uint16_t port, uint8_t pg, uint64_t charge);

/** @return 0 or -errno. */
int sw_cross_init(struct sw_shards *s, uint32_t mbufs);
void sw_cross_free(struct sw_shards *s);

/** Does something wait for the shard, or for a port of its, that no call has brought it? */
bool sw_cross_waits(const struct sw *sw, uint16_t port);
/** Take what others have given back to a port. */
void sw_cross_collect(struct sw *sw, uint16_t port, uint64_t now_ns);
/** Take what others have handed over, up to a bound. */
void sw_cross_take(struct sw *sw, uint64_t now_ns);
/** Have what is handed over now brought near for the next sw_cross_take(): each of these frames was
 * last written by another core. */
void sw_cross_fetch(struct sw *sw);
/** Bring near what the port's next sw_cross_collect() will read. */
void sw_cross_prefetch(const struct sw *sw, uint16_t port);
/** Hand over what has to cross. */
void sw_cross_flush(struct sw *sw);
/** Give back all that is owed. */
void sw_cross_settle_debts(struct sw *sw);

/* sw_neigh.c */

/** Another shard has heard where a neighbour is. */
struct sw_neigh_news {
	struct neigh_key key;
	uint8_t mac[6];
	uint8_t kind; /* enum news_kind of sw_neigh.c */
	bool counted; /* by the shard that heard it */
};

/** Tell the others; what a full ring does not take they find out by asking. */
void sw_cross_tell(struct sw *sw, const struct sw_neigh_news *news);
void sw_neigh_told(struct sw *sw, const struct sw_neigh_news *news, uint64_t now_ns);

/* Inline definitions */

/** A frame that was admitted is dropped behind that: the end of its burst looks at XOFF. */
static inline void
sw_refund(struct sw *sw, uint16_t port, uint8_t pg, uint32_t charged_bytes)
{
	if (likely(sw_owns(sw, port))) {
		mmu_ingress_release(sw->mmu, port, pg, charged_bytes);
		mmu_packet_release(sw->mmu, port, pg, 1);
	} else {
		sw_give_back(sw, port, pg, sw_charge(charged_bytes));
	}
}

/** A holder of a flooded frame is done with it, or n more are not. @return holders that are left.
 */
static inline uint32_t
sw_hold_copies(const struct sw *sw, struct rte_mbuf *origin, int32_t n)
{
	uint32_t *copies = &pkt_meta(origin)->copies;

	if (likely(sw->shards == NULL))
		return *copies += (uint32_t)n;
	return __atomic_add_fetch(copies, (uint32_t)n, __ATOMIC_ACQ_REL);
}

#endif
