/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the model and its past, and its derivatives. Private to lib/fluid. */
#ifndef QUENCH_FLUID_FLUID_SLOPES_H
#define QUENCH_FLUID_FLUID_SLOPES_H

#include "fluid/fluid_law.h"
#include "fluid/fluid_params.h"

struct fluid_class_state {
	double alpha, target_bps, rate_bps;
};

struct fluid_class_life {
	bool active, marked; /* marked: since the start, so that alpha moves */
	bool begun;
	double sent_bytes; /* of a QP */
};

/* All that the equations move. */
struct fluid_state {
	double *queues; /* bytes */
	struct fluid_class_state *classes;
};

/* One step of the past. */
struct fluid_past {
	double *marks, *queues; /* of queues */
	double *sent_bps;       /* of a QP of each class */
	double *left_bps;       /* of each hop: what its class sends on from there */
};

struct fluid {
	struct fluid_params params;
	struct fluid_law *laws;
	struct fluid_class_life *lives;
	struct fluid_state now, guess, slope, slope_there;
	double *sent_bps, *uplink_bps, *arriving_bps, *arriving_bytes_per_s;
	double *hop_bps;       /* what comes to each hop of its class */
	double *hop_shares;    /* of what came last to the queue */
	double *bytes_per_bit; /* of frames, of a bit on the wire */
	double *byte_seconds;
	struct fluid_past *ring; /* of step % ring_steps */
	uint32_t ring_steps;
	uint64_t step, step_ns;
	void *arena;
};

/**
 * All derivatives at a state.
 * @param ahead  0: of this step, 1: of the next.
 */
void fluid_slopes(struct fluid *f, const struct fluid_state *s, struct fluid_state *slope,
		  unsigned int ahead);

/** What QPs send, what comes to the queues, and what leaves them, now: into the past. */
void fluid_remember(struct fluid *f);

#endif
