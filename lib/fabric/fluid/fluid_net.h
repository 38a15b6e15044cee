/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fluid model of a scenario: the hosts, links, marking curve, reaction points, notification
 * points and flows of its net, as classes and queues of fluid/fluid.h.
 *
 * A flow passes the queues of all ports on its path, which are those that bridges and routers
 * choose for its packets (scenario_path.h); each QP has its own path. Its loop delay is that of the
 * cables in both directions. Flows of one section and on one path, whose hosts send nothing else,
 * form one class.
 *
 * Features that the equations do not cover are refused by name: other algorithms and the mlx
 * profile, open loops, UD, slow receivers, an averaged queue, and events that change a link, a host
 * or a parameter. Windows, pauses, losses and ACKs are ignored.
 */
#ifndef QUENCH_FABRIC_FLUID_FLUID_NET_H
#define QUENCH_FABRIC_FLUID_FLUID_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/scenario/scenario.h"
#include "fluid/fluid.h"

struct fluid_net;

/**
 * @param s          Has passed scenario_resolve(); must outlive the result.
 * @param most_hops  Limit on the number of queues on the paths of all classes, summed, and 1/64 of
 *                   the limit on the number of flows. 0: none.
 * @param fault      Filled in when the model does not support the scenario.
 * @return           Owned by the caller, or NULL: with errno ENOTSUP and a fault, or ENOMEM.
 */
struct fluid_net *fluid_net_create(const struct scenario *s, uint32_t most_hops,
				   struct scenario_fault *fault);
void fluid_net_destroy(struct fluid_net *net);

/* One flow under its name in results. Rates are sums over its QPs, alpha is their mean. */
struct fluid_net_flow {
	char name[FLOW_TITLE_CHARS + 1]; /* "incast h1" */
	/* host numbers of the flow, which for READ are not those of its data */
	uint32_t src, dst;
	uint16_t qps;
	uint64_t loop_delay_ns;       /* of the first QP */
	uint32_t first_part, n_parts; /* paths of its QPs; internal */
	struct fluid_class_point point;
	double wire_rate_bps; /* since the previous sample */
	struct fluid_qp now;
	double mean_rate_bps, min_rate_bps, max_rate_bps; /* wire, over the measured window */
};

/* Position of a queue's fixed point on the marking curve. */
enum fluid_net_end {
	FLUID_NET_ON_SLOPE,     /* or the queue is empty */
	FLUID_NET_NEAR_END,     /* real queues reach Kmax by noise, and are shorter */
	FLUID_NET_BEYOND_SLOPE, /* p* is above Pmax: packets and model oscillate around Kmax */
	FLUID_NET_LARGE_CUT,    /* one flow's cut takes much of the queue, which is often empty */
};

struct fluid_net_queue {
	uint32_t sw; /* number in the topology */
	uint16_t port;
	uint8_t queue;
	enum fluid_net_end end;
	struct fluid_point point;
	bool has_margin;
	struct fluid_margin margin;
	double bytes, mark;                      /* present values */
	double mean_bytes, min_bytes, max_bytes; /* over the measured window */
};

uint32_t fluid_net_flow_count(const struct fluid_net *net);
const struct fluid_net_flow *fluid_net_flow(const struct fluid_net *net, uint32_t index);
uint32_t fluid_net_queue_count(const struct fluid_net *net);
const struct fluid_net_queue *fluid_net_queue(const struct fluid_net *net, uint32_t index);
uint64_t fluid_net_step_ns(const struct fluid_net *net);

/* Called every sample_ns and at the end. Returns false to stop the run. */
typedef bool (*fluid_net_sample_fn)(void *arg, const struct fluid_net *net, uint64_t now_ns);

/**
 * Run the model up to end_ns, at most duration_ns; only once. Fixed points are available before it,
 * values of the measured window (up to end_ns) after it. @return false if the callback stopped it.
 */
bool fluid_net_run(struct fluid_net *net, uint64_t end_ns, fluid_net_sample_fn sample, void *arg);

#endif
