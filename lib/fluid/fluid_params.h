/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of the fluid model: uplinks, queues, classes of flows, and the queues along paths. */
#ifndef QUENCH_FLUID_FLUID_PARAMS_H
#define QUENCH_FLUID_FLUID_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "cc/points/rp.h"
#include "tm/queue/wred.h"

struct fluid_queue_params {
	uint64_t link_rate_bps;
	const struct wred_params *wred; /* the caller's; has passed wred_params_check() */
	bool mark_at_enqueue;
};

/* A queue on a flow's path. */
struct fluid_hop {
	uint32_t queue;
	uint64_t from_last_ns;  /* delay from the previous queue; unused in the first hop */
	uint64_t loop_delay_ns; /* from here through receiver and sender to the first queue */
};

struct fluid_class_params {
	uint32_t hosts;             /* identical hosts */
	uint32_t qps;               /* of each host */
	uint32_t uplink;            /* of each host; shared with other classes only if hosts is 1 */
	uint32_t first_hop, n_hops; /* at least one, in the order of the path */
	double wire_bytes;          /* of a packet: frame + FCS + 20 */
	double frame_bytes;         /* of a packet in a queue, with FCS */
	uint64_t start_ns, stop_ns;
	double bytes; /* wire bytes of a QP before it stops; 0: unlimited */
	uint64_t start_rate_bps;
	uint64_t max_rate_bps; /* of the RP */
	uint64_t cap_bps;      /* limit of a QP's rate in addition to the RP's */
};

struct fluid_params {
	struct rp_params rp; /* rp_max_rate_bps is unused: classes have their own */
	uint32_t np_min_time_between_cnps_us;
	uint32_t n_uplinks, n_queues, n_classes, n_hops;
	/* the caller's, outlive the model */
	const uint64_t *uplink_rates_bps;
	const struct fluid_queue_params *queues;
	const struct fluid_class_params *classes;
	const struct fluid_hop *hops; /* of all classes */
	uint64_t step_ns;             /* 0: from the shortest delay */
};

#endif
