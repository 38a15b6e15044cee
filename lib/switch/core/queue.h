/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Egress queue: a FIFO of entries, with its length and its WRED state.
 *
 * Invariant: bytes is the sum of charged_bytes of the queued entries.
 */
#ifndef QUENCH_SWITCH_CORE_QUEUE_H
#define QUENCH_SWITCH_CORE_QUEUE_H

#include "switch/frame/fifo.h"
#include "tm/queue/mark_accuracy.h"
#include "tm/queue/wred.h"

struct sw_queue {
	struct sw_fifo fifo;
	uint64_t bytes;
	struct wred wred;
	struct mark_accuracy *accuracy; /* NULL: not counted */
};

static inline bool
sw_queue_is_empty(const struct sw_queue *q)
{
	return sw_fifo_is_empty(&q->fifo);
}

#endif
