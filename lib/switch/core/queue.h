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
	struct mark_accuracy *accuracy; /* NULL: never counted */
	uint64_t count_until_ns;        /* UINT64_MAX: always */
	struct mark_queue scheme;       /* without ops: WRED decides */
};

struct sw_queue {
	struct sw_fifo fifo;
	uint64_t bytes;
	struct wred wred;
	struct sw_marking *marking; /* NULL: WRED alone; another thread may set it */
};

/** @return zeros, with counts if asked for; NULL: no memory. */
struct sw_marking *sw_marking_create(bool counted);
/** NULL is allowed. */
void sw_marking_destroy(struct sw_marking *m);

static inline struct sw_marking *
sw_marking_of(const struct sw_queue *q)
{
	return __atomic_load_n(&q->marking, __ATOMIC_ACQUIRE);
}

static inline bool
sw_queue_is_empty(const struct sw_queue *q)
{
	return sw_fifo_is_empty(&q->fifo);
}

#endif
