/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run has shown so far. Nothing outside lib/fabric includes it. */
#ifndef QUENCH_FABRIC_RESULTS_PROBE_STATE_H
#define QUENCH_FABRIC_RESULTS_PROBE_STATE_H

#include <stdbool.h>

#include "base/hist.h"
#include "fabric/net/net.h"

struct events;
struct flow_sample;

struct flow_mark {
	uint64_t tx_wire_bytes, rx_payload_bytes;
};

/* The queue of data of one switch port. */
struct probe_queue {
	const struct node *node;
	struct hist *hist;   /* of the window, without the ticks at which it was empty; NULL: all */
	uint64_t peak_bytes; /* since the sample before */
	uint64_t window_wire_bytes;    /* that the port had sent before the window */
	uint64_t window_rx_wire_bytes; /* and received */
	uint32_t sw;
	uint16_t port;
	uint8_t queue;
};

struct probe {
	struct net *net;
	struct events *events;
	struct probe_queue *queues; /* by switch and port */
	uint32_t *first_queue;      /* by switch */
	uint32_t n_queues;
	bool single_switch;  /* a single switch: only the bottleneck is read */
	uint32_t bottleneck; /* then */
	uint64_t tick_ns;
	bool measuring;
	uint64_t ticks;
	uint64_t window_pause_frames;
	uint64_t pause_frames, last_pause_ns;
	uint64_t previous_ns;            /* sample before */
	struct flow_mark *window, *last; /* per flow */
	struct flow_sample *samples;
};

static inline const struct scenario *
scenario_of(const struct probe *p)
{
	return net_scenario(p->net);
}

uint64_t probe_port_wire_bytes(const struct probe_queue *q);
/** The same of what it has received. */
uint64_t probe_port_rx_wire_bytes(const struct probe_queue *q);
/** PFC frames that all switches have sent. */
uint64_t probe_pause_frames(const struct probe *p);
uint64_t probe_bps(uint64_t bytes, uint64_t ns);

#endif
