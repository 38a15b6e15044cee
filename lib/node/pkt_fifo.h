/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FIFO of packets, linked through their metadata: it needs no memory of its own, and has no limit.
 */
#ifndef QUENCH_NODE_PKT_FIFO_H
#define QUENCH_NODE_PKT_FIFO_H

#include "node/pkt_meta.h"

/* Zero-initialised state is an empty FIFO. A packet is in one FIFO at a time. */
struct pkt_fifo {
	struct rte_mbuf *head;
	struct rte_mbuf *tail;
	uint32_t count;
};

static inline void
pkt_fifo_push(struct pkt_fifo *f, struct rte_mbuf *m)
{
	pkt_meta(m)->next = NULL;
	if (f->head == NULL)
		f->head = m;
	else
		pkt_meta(f->tail)->next = m;
	f->tail = m;
	f->count++;
}

/** @return the oldest packet, or NULL. */
static inline struct rte_mbuf *
pkt_fifo_pop(struct pkt_fifo *f)
{
	struct rte_mbuf *m = f->head;

	if (m != NULL) {
		f->head = pkt_meta(m)->next;
		f->count--;
	}
	return m;
}

#endif
