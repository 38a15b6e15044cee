/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which flows wait for which: the keys `after` and `barrier` of [flow NAME].
 *
 * A flow with `after` begins when all flows that it names have ended. The QPs of all flows with one
 * `barrier` send in rounds: a message each, and the next round begins when all messages of this one
 * have ended (bulk-synchronous, Valiant 1990).
 *
 * Invariant: no flow of an order waits, directly or in the end, for itself.
 */
#ifndef QUENCH_NIC_WORKLOAD_FLOW_ORDER_H
#define QUENCH_NIC_WORKLOAD_FLOW_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_BARRIER_CHARS 32

/* The words of one flow. */
struct flow_words {
	const char *name;
	const char *after;   /* names of flows, separated by commas; "none" or "": none */
	const char *barrier; /* a name; "none" or "": none */
	/* Why others may not wait for its end, such as "has no messages"; NULL: they may. */
	const char *endless;
};

/* All zero: no flow waits. */
struct flow_order {
	uint32_t n; /* flows */
	/* Flow i waits for the end of awaited[first[i]] to awaited[first[i + 1] - 1]. */
	uint32_t *first, *awaited;
	uint32_t *barrier; /* of flow i, from 1 on; 0: none */
	uint32_t n_barriers;
};

/* The flow whose key `after` is refused, and what was expected. */
struct flow_order_fault {
	uint32_t flow;
	char expected[256];
};

/**
 * Find the flows that the words name.
 * @return 0, and flow_order_free() must follow; -EINVAL with fault filled in, or -ENOMEM.
 */
int flow_order_read(struct flow_order *order, const struct flow_words *flows, uint32_t n,
		    struct flow_order_fault *fault);
void flow_order_free(struct flow_order *order);

/** Is the word of a key `after` or `barrier` a name? */
bool flow_order_is_given(const char *word);

/** Number of flows that flow i waits for. */
static inline uint32_t
flow_order_waits(const struct flow_order *order, uint32_t i)
{
	return i < order->n ? order->first[i + 1] - order->first[i] : 0;
}

/** The barrier of flow i, from 1 on; 0: none. */
static inline uint32_t
flow_order_barrier(const struct flow_order *order, uint32_t i)
{
	return i < order->n ? order->barrier[i] : 0;
}

#endif
