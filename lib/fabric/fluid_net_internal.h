/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of fluid_net share: building, checking, running. */
#ifndef QUENCH_FABRIC_FLUID_NET_INTERNAL_H
#define QUENCH_FABRIC_FLUID_NET_INTERNAL_H

#include "fabric/fluid_net.h"
#include "wire/roce.h"

/* Ethernet, IPv4, UDP, BTH, ICRC, FCS, preamble and gap. */
#define PACKET_WIRE_BYTES (14.0 + 20 + 8 + BTH_BYTES + 4 + FCS_BYTES + GAP_BYTES)
#define RETH_WIRE_BYTES ((double)RETH_BYTES)
#define CNP_WIRE_BYTES (PACKET_WIRE_BYTES + CNP_BODY_BYTES)

struct fluid_net {
	const struct scenario *scenario;
	struct fluid_params params;
	struct fluid *model;
	/* each of n_flows */
	struct fluid_net_flow *flows;
	const struct flow_params **params_of;
	uint16_t *senders, *receivers; /* hosts, of the data */
	uint32_t *class_of;
	double *sent_before, *sent_at_window; /* wire bytes of a QP */
	uint32_t n_flows;
	uint32_t *flows_of; /* flows whose data a host sends, by its number */
	/* at most as many as there are flows */
	struct fluid_class_params *classes;
	struct fluid_class_point *points;
	struct fluid_net_queue *queues;
	double *area_at_window; /* byte seconds */
	uint32_t n_queues;
	uint64_t previous_ns; /* of the model, at the sample before */
};

/** @return 0, or -ENOTSUP with fault filled in. */
int fluid_net_check(const struct scenario *s, struct scenario_fault *fault);

/** Egress queue of a flow's data. */
uint8_t fluid_net_queue_of(const struct scenario *s, const struct flow_params *flow);

#endif
