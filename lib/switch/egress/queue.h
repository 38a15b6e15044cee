/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Egress queue: FIFO of packets without memory or limit of its own, linked through their metadata.
 *
 * A packet links to the one that comes SW_LANES after it, so that a queue is as many lists side by
 * side, which take turns: when it leaves, the one that is so far behind is known, and fetched
 * early.
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
	struct rte_mbuf *head[SW_LANES], *tail[SW_LANES]; /* of those lists that hold packets */
	uint32_t pushed, popped;                          /* run over */
	uint64_t bytes;                                   /* charged, of the packets that wait */
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

/** The oldest packet; of no use when there is none. */
static inline struct rte_mbuf *
sw_queue_head(const struct sw_queue *q)
{
	return q->head[q->popped % SW_LANES];
}

/** @return the oldest packet, of a queue that is not empty. */
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
