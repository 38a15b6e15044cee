/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of a marking scheme: parameters, state of a queue, counters, and a struct mark_ops.
 * Schemes include this file, their users mark.h.
 */
#ifndef QUENCH_TM_QUEUE_MARK_OPS_H
#define QUENCH_TM_QUEUE_MARK_OPS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/field/field_table.h"

/* Room for the parameters of a scheme, for its state of one queue, and for its counters of one
 * queue, all uint64_t. */
union mark_keys {
	uint64_t words[8];
};
union mark_state {
	uint64_t words[8];
};
union mark_counts {
	uint64_t words[4];
};

#define MARK_FITS(keys, state, counts)                                                             \
	static_assert(sizeof(keys) <= sizeof(union mark_keys) &&                                   \
			      sizeof(state) <= sizeof(union mark_state) &&                         \
			      sizeof(counts) <= sizeof(union mark_counts),                         \
		      "params, state and counters fit")

/* A packet at the moment of its decision: as it leaves the queue, or enters it (mark_at). */
struct mark_packet {
	uint64_t queue_bytes; /* charged bytes of the queue without the packet */
	uint32_t bytes;       /* of the packet, in wire bytes */
	uint32_t rnd;         /* uniform */
	uint64_t now_ns;      /* never decreases for one queue */
};

/*
 * A scheme: its tables, and the decision. State and counters begin as zeros, and keep their values
 * when parameters change.
 */
struct mark_ops {
	const struct field *fields;
	const unsigned int *n_fields;
	const struct counter_field *counters;
	const unsigned int *n_counters;
	/* Rules between keys, beyond the ranges of fields. @return 0, or as params_refuse(). NULL:
	 * there are none. */
	int (*check)(const void *params, char *why, unsigned int why_size);
	/*
	 * Should this packet be marked? Called for every packet, also for those that cannot be
	 * marked, except non-ECT packets that WRED may drop instead.
	 *
	 * @param rate_bps  Rate of the queue's port, in wire bytes.
	 */
	bool (*hit)(const void *params, void *state, void *counts, uint64_t rate_bps,
		    const struct mark_packet *packet);
	/* Is there a state in which hit() is true at this length of the queue? */
	bool (*may_hit)(const void *params, uint64_t queue_bytes);
};

/* The tables in a struct mark_ops. */
#define MARK_TABLES(word)                                                                          \
	.fields = word##_fields, .n_fields = &word##_fields_n, .counters = word##_counters,        \
	.n_counters = &word##_counters_n

#endif
