/* SPDX-License-Identifier: BSD-3-Clause */
/* State of the model, its history and its derivatives. Private to lib/fluid. */
#ifndef QUENCH_FLUID_FLUID_SLOPES_H
#define QUENCH_FLUID_FLUID_SLOPES_H

#include "fluid/fluid_law.h"
#include "fluid/fluid_params.h"

struct fluid_class_state {
	double alpha, target_bps, rate_bps;
};

struct fluid_class_life {
	bool active, marked; /* marked: at least once since the start, so that alpha changes */
	bool begun;
	double sent_bytes; /* of a QP */
};

/* Variables of the equations. */
struct fluid_state {
	double *queues; /* bytes */
	struct fluid_class_state *classes;
};

/* History: one past step. */
struct fluid_past {
	double *marks, *queues; /* of queues */
	double *sent_bps;       /* of a QP of each class */
	double *left_bps;       /* of each hop: rate at which its class leaves the queue */
};

struct fluid {
	struct fluid_params params;
	struct fluid_law *laws;
	struct fluid_class_life *lives;
	struct fluid_state now, guess, slope, slope_there;
	double *sent_bps, *uplink_bps, *arriving_bps, *arriving_bytes_per_s;
	double *hop_bps;       /* rate at which the class arrives at each hop */
	double *hop_shares;    /* of each hop in the latest arrivals at its queue */
	double *bytes_per_bit; /* of each queue's arrivals: frame bytes in a wire bit */
	double *byte_seconds;
	struct fluid_past *ring; /* indexed by step % ring_steps */
	uint32_t ring_steps;
	uint64_t step, step_ns;
	void *arena;
};

/**
 * Compute all derivatives at a state.
 * @param ahead  0: at this step, 1: at the next.
 */
void fluid_slopes(struct fluid *f, const struct fluid_state *s, struct fluid_state *slope,
		  unsigned int ahead);

/** Record the rates of QPs, arrivals and departures of this step in the history. */
void fluid_remember(struct fluid *f);

#endif
