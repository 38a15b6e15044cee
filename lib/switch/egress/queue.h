/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Egress queue: a FIFO of packets, linked through their metadata, without memory or limit of its
 * own.
 *
 * Packet n links to packet n + SW_LANES, so a queue consists of SW_LANES lists that take turns.
 * When packet n leaves, packet n + SW_LANES is known, and is prefetched early.
 *
 * Invariant: packet n, counted by `pushed`, is in list n mod SW_LANES; pushed - popped are queued.
 */
#ifndef QUENCH_SWITCH_EGRESS_QUEUE_H
#define QUENCH_SWITCH_EGRESS_QUEUE_H

#include <stdbool.h>
#include <rte_prefetch.h>

#include "node/pkt_meta.h"
#include "tm/mark_accuracy.h"
#include "tm/wred.h"

/* The time for this many packets covers the latency of memory. */
#define SW_LANES 4u

/* Zero-initialised state is an empty queue. */
struct sw_queue {
	struct rte_mbuf *head[SW_LANES], *tail[SW_LANES]; /* valid for lists that hold packets */
	uint32_t pushed, popped;                          /* modulo 2^32 */
	uint64_t bytes;                                   /* charged bytes of the queued packets */
	struct wred wred;
	struct mark_accuracy *accuracy; /* NULL: not counted */
};

static inline bool
sw_queue_is_empty(const struct sw_queue *q)
{
	return q->pushed == q->popped;
}

static inline void
sw_queue_push(struct sw_queue *q, struct rte_mbuf *m)
{
	unsigned int lane = q->pushed % SW_LANES;

	if (q->pushed - q->popped >= SW_LANES)
		pkt_meta(q->tail[lane])->next = m;
	else
		q->head[lane] = m;
	q->tail[lane] = m;
	q->pushed++;
}

/** The oldest packet of a queue that is not empty. */
static inline struct rte_mbuf *
sw_queue_head(const struct sw_queue *q)
{
	return q->head[q->popped % SW_LANES];
}

/** Remove the oldest packet of a queue that is not empty. */
static inline struct rte_mbuf *
sw_queue_pop(struct sw_queue *q)
{
	unsigned int lane = q->popped % SW_LANES;
	struct rte_mbuf *m = q->head[lane];

	if (q->pushed - q->popped++ > SW_LANES) {
		q->head[lane] = pkt_meta(m)->next;
		rte_prefetch0(q->head[lane]);
		rte_prefetch0(pkt_meta(q->head[lane]));
	}
	return m;
}

#endif
