/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fluid model of a scenario: the same hosts, links, marking curve, reaction and notification
 * points and flows as the net's, as the classes and queues of fluid/fluid.h.
 *
 * A flow goes through the queues of all ports on its way, which are those that bridges and routers
 * choose for its packets (path.h); each QP's way is its own. Its loop delay is that of the cables
 * there and back. Flows of one section whose hosts send nothing else, on one way, are one class.
 *
 * What the equations do not know is refused by name: other algorithms and the mlx profile, open
 * loops, UD, slow receivers, an averaged queue, events that change a link, a host or a parameter.
 * Windows, pauses, losses and ACKs are left out.
 */
#ifndef QUENCH_FABRIC_FLUID_FLUID_NET_H
#define QUENCH_FABRIC_FLUID_FLUID_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/scenario/scenario.h"
#include "fluid/fluid.h"

struct fluid_net;

/**
 * @param s      Passed scenario_resolve(); outlives the result.
 * @param most_hops  Queues on the ways of all classes, each way counted; more are refused. 0: any.
 * @param fault  Filled in when the model does not know what the scenario asks for.
 * @return owned by the caller, or NULL: with errno ENOTSUP and a fault, or ENOMEM.
 */
struct fluid_net *fluid_net_create(const struct scenario *s, uint32_t most_hops,
				   struct scenario_fault *fault);
void fluid_net_destroy(struct fluid_net *net);

/* One flow as results name it; rates are sums over its QPs, alpha is their mean. */
struct fluid_net_flow {
	char name[FLOW_TITLE_CHARS + 1]; /* "incast h1" */
	uint16_t src, dst;               /* host numbers of the flow, not of its data */
	uint16_t qps;
	uint64_t loop_delay_ns;       /* of the first QP */
	uint32_t first_part, n_parts; /* ways of its QPs; of no use to others */
	struct fluid_class_point point;
	double wire_rate_bps; /* since the sample before */
	struct fluid_qp now;
	double mean_rate_bps, min_rate_bps, max_rate_bps; /* wire, of the measured window */
};

/* Where on the curve of marks a queue's fixed point is. */
enum fluid_net_end {
	FLUID_NET_ON_SLOPE,     /* or nothing waits */
	FLUID_NET_NEAR_END,     /* packets, which have noise, reach Kmax and hold less */
	FLUID_NET_BEYOND_SLOPE, /* p* is above Pmax: packets and model swing about Kmax */
};

struct fluid_net_queue {
	uint32_t sw; /* number in the topology */
	uint16_t port;
	uint8_t queue;
	enum fluid_net_end end;
	struct fluid_point point;
	double bytes, mark;                      /* now */
	double mean_bytes, min_bytes, max_bytes; /* of the measured window */
};

uint32_t fluid_net_flow_count(const struct fluid_net *net);
const struct fluid_net_flow *fluid_net_flow(const struct fluid_net *net, uint32_t index);
uint32_t fluid_net_queue_count(const struct fluid_net *net);
const struct fluid_net_queue *fluid_net_queue(const struct fluid_net *net, uint32_t index);
uint64_t fluid_net_step_ns(const struct fluid_net *net);

/* Called at each sample_ns and at the end. false stops the run. */
typedef bool (*fluid_net_sample_fn)(void *arg, const struct fluid_net *net, uint64_t now_ns);

/**
 * Run the model over duration_ns, once. Points are there before; what is of the measured window is
 * there after it. @return false when the callback stopped it.
 */
bool fluid_net_run(struct fluid_net *net, fluid_net_sample_fn sample, void *arg);

#endif
