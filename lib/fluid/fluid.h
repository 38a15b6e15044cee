/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN's fluid model: delay differential equations of rates, alpha and queues (fluid_law.h), over
 * marked queues that flows of several start times, rates, packet sizes and paths share.
 *
 * A flow goes through one queue after the other. What leaves a queue comes to the next one a
 * sending and a cable later; of several queues the marks are independent draws, so that a packet is
 * unmarked with the product of what each leaves unmarked. What waits together leaves mixed as it
 * comes. The QPs of a host share its uplink, in proportion to their rates. Flows that do the same
 * are one class with one state. Queues count bytes of frames with FCS, rates are wire bytes.
 * Nothing is lost and nothing is paused: the buffer has no end.
 *
 * What a queue marks acts at the flow one loop delay later (tau* of the papers: from the queue over
 * receiver and sender back to the flow's first queue), and so do the flow's own rate's
 * consequences. The packet's wait in the queues after the one that marks comes on top, and with
 * mark_at_enqueue that in the queue itself.
 *
 * Heun's method with a fixed step, which no delay may be shorter than; what lies between two steps
 * of the past is taken from a straight line. Halving the step shows the error (a test does).
 */
#ifndef QUENCH_FLUID_FLUID_H
#define QUENCH_FLUID_FLUID_H

#include <stdbool.h>
#include <stdint.h>

#include "fluid/fluid_params.h"

struct fluid;

/**
 * params (copied) must have passed rp_params_check().
 * @return owned by the caller, or NULL with errno ENOMEM, or EINVAL: step_ns is above a delay.
 */
struct fluid *fluid_create(const struct fluid_params *params);
void fluid_destroy(struct fluid *f);

/** As many whole steps as end at or before until_ns. */
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
	bool interior; /* on the slope of the curve; else the queue is at an end of it, or swings
			  about it */
	double mark;   /* p*: what keeps the link full and no more */
	double queue_bytes;
	double load; /* what the classes send there, over the link's rate: below 1 they do not fill
			it */
};

struct fluid_class_point {
	/* of a QP; what its uplink has no room for is part of the rate, but is not sent */
	double rate_bps, target_rate_bps, alpha;
};

/**
 * The fixed point of all queues if all classes run without end and nothing but the queues, their
 * caps and their uplinks limits them.
 *
 * With x = -ln(1 - p), marks of the queues of a way add up, and the rate that their sum allows
 * falls with it (CoNEXT 2016, theorem 1). So the rates that fill each marking link and overload
 * none are unique: they are those of a utility that each flow maximises, and x the prices. Where
 * flows share several links in the same way, the first of them that is full has the queue.
 *
 * @param of_queues   n_queues points.
 * @param of_classes  NULL, or n_classes points.
 * @return            0 or -ENOMEM.
 */
int fluid_fixed_point(const struct fluid_params *params, struct fluid_point *of_queues,
		      struct fluid_class_point *of_classes);

#endif
