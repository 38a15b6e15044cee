/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Assigns nodes to parts. Results do not depend on the assignment, so it can follow the load.
 *
 * A switch and its hosts stay together, unless there are too few switches for parts of equal work.
 */
#ifndef QUENCH_FABRIC_LINKS_FABRIC_PARTS_H
#define QUENCH_FABRIC_LINKS_FABRIC_PARTS_H

#include <rte_branch_prediction.h>

#include "base/numbers/fixed.h"
#include "fabric/links/fabric_state.h"

/**
 * Divide the nodes into sides, and by the rates of their links among the ranks.
 * @param rank_of  Filled: by node.
 * @return         0, -ENOMEM.
 */
int parts_of_ranks(struct fabric *f, uint8_t *rank_of);

/**
 * Divide the nodes of this rank by the rates of their links into parts; without ranks, first into
 * sides. @return 0, -ENOMEM.
 */
int parts_create(struct fabric *f);
void parts_destroy(struct fabric *f);

/** The delay of a cable has changed: find the fastest ones in a part, between parts and ranks. */
void parts_find_lookahead(struct fabric *f);

/**
 * Call between windows, when no frame waits for another rank. If one part has made far more than
 * its share of the calls into nodes since the last time, divide the nodes again by their numbers of
 * calls. Without memory, the parts stay.
 */
void parts_balance(struct fabric *f);

/** Put on the cables towards p's nodes the frames that other parts sent to p in this window. */
void part_collect(struct fabric *f, struct part *p, uint64_t window);
/** Call between windows: the same of the frames that parts sent to each other. */
void parts_collect(struct fabric *f);

/** Earliest time of the next event at a part's nodes on one side. */
uint64_t part_next_ns(const struct side *side);

/** Keep a frame for another part until the next window. */
void part_send(struct fabric *f, struct part *p, uint32_t direction, const struct flight *frame);

/** Out of memory to keep a frame: free it, and end the run. */
void part_lose(struct part *p, struct rte_mbuf *m);

/* Inline definitions */

/** The next arrival at a node is on this direction, or has been lost. */
static inline void
part_set_arrival(struct fabric *f, struct part *p, const struct direction *d)
{
	struct node_slot *slot = &f->nodes[d->to_node];
	struct side *side = &p->sides[slot->side];
	uint64_t next_ns = flights_next_ns(&d->on_cable);

	event_queue_set(&slot->rx, d->source, next_ns);
	side->node_next_ns[slot->place] = min_u64(side->node_next_ns[slot->place], next_ns);
	side->next_ns = min_u64(side->next_ns, next_ns);
}

/** Put a frame on the cable towards one of the part's nodes. */
static inline void
part_put(struct fabric *f, struct part *p, struct direction *d, struct flight *frame)
{
	bool kept;

	if (unlikely(d->cable != NULL)) {
		kept = cable_queue(d->cable, &d->on_cable, frame);
	} else {
		/* Injected frames may be due later than this one. */
		d->last_due_ns = frame->due_ns = max_u64(frame->due_ns, d->last_due_ns);
		kept = flights_push(&d->on_cable, frame);
	}
	if (unlikely(!kept))
		part_lose(p, flight_mbuf(frame));
	if (flights_count(&d->on_cable) == 1 || unlikely(d->cable != NULL))
		part_set_arrival(f, p, d);
}

#endif
