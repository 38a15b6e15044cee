/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Egress queue: a FIFO of entries, with its length and its marking state.
 *
 * Invariant: bytes is the sum of charged_bytes of the queued entries.
 */
#ifndef QUENCH_SWITCH_CORE_QUEUE_H
#define QUENCH_SWITCH_CORE_QUEUE_H

#include "switch/frame/fifo.h"
#include "tm/queue/mark.h"
#include "tm/queue/mark_accuracy.h"
#include "tm/queue/wred.h"

/* What makes the marking of a queue more than WRED. */
struct sw_marking {
	struct mark_accuracy *accuracy; /* NULL: not counted */
	struct mark_queue scheme;       /* without ops: WRED decides */
};

struct sw_queue {
	struct sw_fifo fifo;
	uint64_t bytes;
	struct wred wred;
	struct sw_marking *marking; /* NULL: WRED alone */
};

static inline bool
sw_queue_is_empty(const struct sw_queue *q)
{
	return sw_fifo_is_empty(&q->fifo);
}

#endif
