/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN's fluid model: delay differential equations of rates, alpha and queues (fluid_law.h). Flows
 * with their own start times, rates, packet sizes and paths share queues that mark.
 *
 * A flow passes its queues in order. Packets reach the next queue after a serialisation and a cable
 * delay. Queues mark independently: the probability that a packet is unmarked is the
 * product of the probabilities that each queue leaves it unmarked. Traffic leaves a queue in the
 * mix in which it arrives. The QPs of a host share its uplink in proportion to their rates.
 * Identical flows are one class with one state. Queues count bytes of frames with FCS; rates count
 * wire bytes. The buffer is unlimited: there is no loss and no pause.
 *
 * A mark acts on its flow one loop delay later: tau* of the papers, from the queue through receiver
 * and sender back to the flow's first queue. So cuts and increases depend on the marks and on the
 * flow's sending rate as they were one loop delay ago. The wait in the queues after the marking one
 * adds to the delay, and with mark_at_enqueue so does the wait in the marking queue.
 *
 * Heun's method with a fixed step, at most the shortest delay; the past between two steps is
 * interpolated linearly. Halving the step shows the error (tested).
 */
#ifndef QUENCH_FLUID_FLUID_H
#define QUENCH_FLUID_FLUID_H

#include <stdbool.h>
#include <stdint.h>

#include "fluid/fluid_params.h"

struct fluid;

/**
 * params are copied, but not the arrays that they point to, which must stay. params->rp must have
 * passed rp_params_check().
 * @return owned by the caller, or NULL with errno ENOMEM, or EINVAL: step_ns is above a delay, or
 *         step_ns and a delay are both 0.
 */
struct fluid *fluid_create(const struct fluid_params *params);
void fluid_destroy(struct fluid *f);

/** Run all whole steps that end at or before until_ns. */
void fluid_run(struct fluid *f, uint64_t until_ns);

uint64_t fluid_step_ns(const struct fluid *f);
uint64_t fluid_now_ns(const struct fluid *f);

/* One QP of a class, now. */
struct fluid_qp {
	double rate_bps, target_rate_bps, alpha;
	double sent_bytes; /* wire, since the start */
};

struct fluid_qp fluid_qp(const struct fluid *f, uint32_t class);

struct fluid_queue {
	double bytes, mark;
	double byte_seconds; /* integral of bytes since the start */
};

struct fluid_queue fluid_queue(const struct fluid *f, uint32_t queue);

/* A queue where all derivatives are 0. */
struct fluid_point {
	/*
	 * 0 < mark < Pmax on a curve with a slope; false: at an end of the curve, or the queue
	 * oscillates about a step
	 */
	bool interior;
	/*
	 * p*, the probability of a mark at which the offered load equals the link's rate; 0 if the
	 * link is not full, or only earlier links limit its flows
	 */
	double mark;
	double queue_bytes;
	double load; /* offered load over the link's rate; below 1 the link is not full */
};

struct fluid_class_point {
	/* of a QP; if rate_bps exceeds the QP's share of the uplink, it sends at that share */
	double rate_bps, target_rate_bps, alpha;
};

/**
 * The fixed point of all queues, with all classes active for ever and limited only by queues, caps
 * and uplinks.
 *
 * With x = -ln(1 - p) the marks along a path add up, and a flow's rate falls as their sum rises
 * (CoNEXT 2016, theorem 1). The rates that fill each marking link and overload none are therefore
 * unique: each flow maximises a utility, and x are the prices. If flows share several full links,
 * the queue is at the first of them.
 *
 * @param of_queues   n_queues points.
 * @param of_classes  NULL, or n_classes points.
 * @return            0 or -ENOMEM.
 */
int fluid_fixed_point(const struct fluid_params *params, struct fluid_point *of_queues,
		      struct fluid_class_point *of_classes);

/* How far a queue's control loop is from oscillation about its fixed point. */
struct fluid_margin {
	/* above 0: a disturbance dies away; below 0: the queue oscillates */
	double phase_deg;
	double crossover_hz; /* frequency at which the gain of the open loop is 1 */
};

/**
 * Phase margin of equations 5 to 9, linearised at the fixed point, with the loop delay (CoNEXT
 * 2016, section 3 and appendix A).
 *
 * @param of_queues, of_classes  from fluid_fixed_point()
 * @return false: there is none. The fixed point is not on the slope, or it is not the loop of equal
 *         flows through one full queue: flows differ in rate, packet or loop delay, pass another
 *         queue that marks, or are limited by a cap, an uplink or the line rate.
 */
bool fluid_phase_margin(const struct fluid_params *params, const struct fluid_point *of_queues,
			const struct fluid_class_point *of_classes, uint32_t queue,
			struct fluid_margin *out);

#endif
