/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fluid model is made of: uplinks, queues, classes of flows and the queues on their
 * ways. */
#ifndef QUENCH_FLUID_FLUID_PARAMS_H
#define QUENCH_FLUID_FLUID_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "cc/rp.h"
#include "tm/wred.h"

struct fluid_queue_params {
	uint64_t link_rate_bps;
	const struct wred_params *wred; /* of the caller, passed wred_params_check() */
	bool mark_at_enqueue;
};

/* A queue on a flow's way. */
struct fluid_hop {
	uint32_t queue;
	uint64_t from_last_ns;  /* from the queue before to this one; of the first hop of no use */
	uint64_t loop_delay_ns; /* from here over receiver and sender to the first hop's queue */
};

struct fluid_class_params {
	uint32_t hosts; /* that do the same, each with: */
	uint32_t qps;
	uint32_t uplink; /* of one of the hosts; shared with other classes only if hosts is 1 */
	uint32_t first_hop, n_hops; /* at least one, in the order of the way */
	double wire_bytes;          /* of a packet: frame + FCS + 20 */
	double frame_bytes;         /* of a packet in a queue, with FCS */
	uint64_t start_ns, stop_ns;
	double bytes; /* wire bytes after which a QP ends; 0: never */
	uint64_t start_rate_bps;
	uint64_t max_rate_bps; /* of the RP */
	uint64_t cap_bps;      /* what a QP never exceeds, whatever the RP allows */
};

struct fluid_params {
	struct rp_params rp; /* but for rp_max_rate_bps: that is of each class */
	uint32_t np_min_time_between_cnps_us;
	uint32_t n_uplinks, n_queues, n_classes, n_hops;
	/* of the caller, outlive the model */
	const uint64_t *uplink_rates_bps;
	const struct fluid_queue_params *queues;
	const struct fluid_class_params *classes;
	const struct fluid_hop *hops; /* of all classes */
	uint64_t step_ns;             /* 0: chosen */
};

#endif
