/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurements so far. Private to lib/fabric. */
#ifndef QUENCH_FABRIC_RESULTS_PROBE_STATE_H
#define QUENCH_FABRIC_RESULTS_PROBE_STATE_H

#include <stdbool.h>

#include "fabric/net/net.h"
#include "fabric/results/lengths.h"

struct events;
struct fast_forward;
struct flow_sample;
struct pauses;

/* Byte counters of a flow at one time. */
struct flow_bytes {
	uint64_t tx_wire_bytes, rx_payload_bytes;
};

/* The data queue of one switch port. */
struct probe_queue {
	const struct node *node;
	/* at the ticks of the measured window, without those at which the queue was empty */
	struct lengths lengths;
	uint64_t peak_bytes;            /* since the previous sample */
	uint64_t wire_bytes_at_open;    /* sent by the port before the window */
	uint64_t rx_wire_bytes_at_open; /* received before the window */
	uint32_t sw;
	uint16_t port;
	uint8_t queue;
};

/* A switch, which its own thread samples at each tick. */
struct probe_switch {
	struct probe *probe;
	uint32_t index;
	uint64_t pause_frames, last_pause_ns;
	uint64_t ticks; /* of the measured window */
	bool no_memory;
};

struct probe {
	struct net *net;
	struct events *events;
	struct fast_forward *fast_forward; /* NULL: every packet is simulated */
	struct probe_queue *queues;        /* by switch and port */
	uint32_t *first_queue;             /* by switch */
	struct probe_switch *switches;
	uint32_t n_queues;
	bool single_switch;  /* single switch: only the bottleneck is sampled */
	uint32_t bottleneck; /* only with a single switch */
	uint64_t tick_ns;
	bool measuring;
	uint64_t pause_frames_at_open; /* sent before the window */
	uint64_t previous_ns;          /* time of the previous sample */
	uint64_t acts_ns; /* as of the previous sample: nothing happens before this time */
	struct flow_bytes *at_open, *at_sample; /* per flow */
	struct flow_sample *samples;
	struct slowdowns *slowdowns;
	struct pauses *pauses;
	/* As probe_on_messages() wants it; NULL: nobody wants them. */
	void (*messages_fn)(void *arg, const struct net *net, const struct nic_message *messages,
			    uint32_t n);
	void *messages_arg;
	uint64_t next_messages_ns;
};

static inline const struct scenario *
scenario_of(const struct probe *p)
{
	return net_scenario(p->net);
}

/*
 * With ranks: let rank 0 read the state of all nodes, and what other ranks have measured of them
 * since the last sample, or of the whole run. @return false, with errno.
 */
bool probe_gather_nodes(struct probe *p, bool all); /* state alone */
bool probe_gather_sample(struct probe *p);
bool probe_gather_end(struct probe *p);

uint64_t probe_port_wire_bytes(const struct probe_queue *q);
/** Wire bytes received by the port. */
uint64_t probe_port_rx_wire_bytes(const struct probe_queue *q);
/** PFC frames sent by all switches. */
uint64_t probe_pause_frames(const struct probe *p);
uint64_t probe_bps(uint64_t bytes, uint64_t ns);

#endif
