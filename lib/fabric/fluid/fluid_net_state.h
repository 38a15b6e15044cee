/* SPDX-License-Identifier: BSD-3-Clause */
/* State of a fluid net that its creation, checks and run share. */
#ifndef QUENCH_FABRIC_FLUID_FLUID_NET_STATE_H
#define QUENCH_FABRIC_FLUID_FLUID_NET_STATE_H

#include "fabric/fluid/fluid_net.h"
#include "wire/roce/roce.h"

/* Ethernet, IPv4, UDP, BTH, ICRC, FCS, preamble and gap. */
#define PACKET_WIRE_BYTES (14.0 + 20 + 8 + BTH_BYTES + 4 + FCS_BYTES + GAP_BYTES)
#define RETH_WIRE_BYTES ((double)RETH_BYTES)
#define CNP_WIRE_BYTES (PACKET_WIRE_BYTES + CNP_BODY_BYTES)

/* QPs of a flow with the same path. */
struct fluid_net_part {
	uint32_t class;
	uint16_t qps;
};

struct fluid_net {
	const struct scenario *scenario;
	struct fluid_params params;
	uint32_t most_hops;
	struct fluid *model;
	struct routes *bridge_routes; /* NULL: the scenario's routes are used */
	/* n_flows of each */
	struct fluid_net_flow *flows;
	const struct flow_params **params_of;
	const struct flow_pair **pair_of;
	uint32_t *senders, *receivers;        /* hosts that send and receive the data */
	double *sent_before, *sent_at_window; /* wire bytes */
	uint32_t n_flows;
	uint32_t *n_flows_at_host;  /* by host number: flows whose data it sends */
	uint64_t *uplink_rates_bps; /* by host number - 1 */
	/* growing arrays */
	struct fluid_net_part *parts;
	uint32_t n_parts;
	struct fluid_class_params *classes; /* params.n_classes */
	struct fluid_hop *hops;             /* params.n_hops */
	struct fluid_net_queue *queues;     /* params.n_queues */
	struct fluid_queue_params *queue_params;
	/* per class or queue, allocated when all are known */
	struct fluid_class_point *points;
	struct fluid_point *queue_points;
	double *area_at_window; /* byte seconds */
	uint64_t previous_ns;   /* model time of the previous sample */
};

/** Name all flows, and add their classes. @return as fluid_net_add_path(). */
int fluid_net_add_flows(struct fluid_net *net);

struct fluid_net_ends {
	const struct flow_params *params;
	uint32_t sender, receiver; /* hosts that send and receive the data */
	uint16_t udp_sport;        /* in both directions */
};

/**
 * Append the path from sender to receiver to all hops, and give it to the class, whose packets are
 * known.
 * @return 0, -ENOMEM, -E2BIG (more hops than most_hops) or -ELOOP (more than the TTL allows).
 */
int fluid_net_add_path(struct fluid_net *net, struct fluid_class_params *class,
		       const struct fluid_net_ends *ends);

/** Do two classes pass the same queues with the same delays? */
bool fluid_net_same_path(const struct fluid_net *net, const struct fluid_class_params *a,
			 const struct fluid_class_params *b);

/** Grow an array of n items by one. @return NULL: out of memory, and the array is unchanged. */
void *fluid_net_grow(void *array, uint32_t n, size_t item_bytes);

/** @return 0, or -ENOTSUP with fault filled in. */
int fluid_net_check(const struct scenario *s, struct scenario_fault *fault);

/** Egress queue of a flow's data in a switch with these params. */
uint8_t fluid_net_queue_of(const struct scenario *s, const struct sw_params *sw,
			   const struct flow_params *flow);

#endif
