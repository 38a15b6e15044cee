/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN's fluid model: delay differential equations of rates, alpha and queues (fluid_law.h), over
 * marked queues that flows of several start times, rates and packet sizes share.
 *
 * A flow is marked in one queue. The QPs of a host share its uplink, in proportion to their rates.
 * Flows that do the same are one class with one state. Queues count bytes of frames with FCS, rates
 * are wire bytes. Nothing is lost and nothing is paused: the buffer has no end.
 *
 * What a queue marks acts at the flow one loop delay later (tau* of the papers: from the queue over
 * receiver and sender back to it), and so do the flow's own rate's consequences. With
 * mark_at_enqueue a packet's wait in the queue comes on top.
 *
 * Heun's method with a fixed step, which no loop delay may be shorter than; what lies between two
 * steps of the past is taken from a straight line. Halving the step shows the error (a test does).
 */
#ifndef QUENCH_FLUID_FLUID_H
#define QUENCH_FLUID_FLUID_H

#include <stdbool.h>
#include <stdint.h>

#include "cc/rp.h"
#include "tm/wred.h"

struct fluid_class_params {
	uint32_t hosts; /* that do the same, each with: */
	uint32_t qps;
	uint32_t uplink; /* of one of the hosts; shared with other classes only if hosts is 1 */
	uint32_t queue;
	double wire_bytes;  /* of a packet: frame + FCS + 20 */
	double frame_bytes; /* of a packet in the queue, with FCS */
	uint64_t start_ns, stop_ns;
	double bytes; /* wire bytes after which a QP ends; 0: never */
	uint64_t start_rate_bps;
	uint64_t cap_bps; /* what a QP never exceeds, whatever the RP allows */
	uint64_t loop_delay_ns;
};

struct fluid_params {
	struct rp_params rp; /* rp_max_rate_bps resolved */
	struct wred_params wred;
	uint32_t np_min_time_between_cnps_us;
	bool mark_at_enqueue;
	uint64_t link_rate_bps; /* of uplinks and of the queues */
	uint32_t n_uplinks, n_queues, n_classes;
	const struct fluid_class_params *classes; /* of the caller, outlive the model */
	uint64_t step_ns;                         /* 0: chosen */
};

struct fluid;

/**
 * params (copied) must have passed rp_params_check() and wred_params_check().
 * @return owned by the caller, or NULL with errno ENOMEM, or EINVAL: step_ns is above a loop delay.
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

/* Where all derivatives are 0. */
struct fluid_point {
	bool interior; /* on the slope of the curve; else the queue is at an end of it, or swings
			  about it */
	double mark;   /* p*: what keeps the link full and no more */
	double queue_bytes;
	double load; /* what the classes send there, over the link's rate: below 1 they do not fill
			it */
};

struct fluid_class_point {
	double rate_bps, target_rate_bps, alpha; /* of a QP */
};

/**
 * The fixed point of a queue if all its classes run without end and nothing but it and their caps
 * limits them. It is unique (CoNEXT 2016, theorem 1): the rate that a marking probability allows
 * falls with it.
 * @param of_classes  NULL, or one for each class of params; those of other queues are left alone.
 */
struct fluid_point fluid_fixed_point(const struct fluid_params *params, uint32_t queue,
				     struct fluid_class_point *of_classes);

#endif
