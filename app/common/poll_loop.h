/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drives one node over ethdev ports: receive a burst, give it to the node, ask the node for what
 * the wire can take now, hand that to the device.
 *
 * Frames that a device refused are held, in order, and offered again before the node is asked for
 * more: nothing is dropped between node and device and nothing is counted twice, and a device that
 * takes nothing lets the frames wait where WRED, PFC and the scheduler see them. The node sees one
 * time per burst.
 *
 * Invariant (tested): frames taken from the node = frames taken by the device + frames held, in
 * that order.
 */
#ifndef QUENCH_APP_POLL_LOOP_H
#define QUENCH_APP_POLL_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "common/pace_meter.h"
#include "common/tsc_clock.h"

struct rte_mbuf;

/* Frames asked for and received at once. Larger bursts would arrive behind a threshold and
 * overshoot it. */
#define POLL_BURST 32

struct poll_port {
	uint16_t ethdev;
	uint16_t queue;      /* of both ways */
	bool tx_only;        /* another loop has the only receive queue */
	uint16_t held_first; /* of held[]: the next to offer */
	uint16_t held_end;
	struct rte_mbuf *held[POLL_BURST];
	uint64_t refusals; /* bursts that the device did not take whole */
};

struct poll_loop {
	struct node *node;
	const struct tsc_clock *clock;
	const atomic_bool *stop;
	uint64_t idle_sleep_ns; /* 0: spin */
	uint64_t idle_since_ns; /* NEVER_NS: busy */
	/* Work at long intervals, called with the time; returns when it wants to be called again.
	 */
	uint64_t (*slow)(void *arg, uint64_t now_ns);
	void *slow_arg;
	uint64_t slow_next_ns;
	uint64_t sleeps;
	struct pace_meter *pace; /* NULL: departures are not measured */
	uint16_t n_ports;
	struct poll_port ports[NODE_MAX_PORTS];
};

/** Set up over ports 0..n_ports-1 of the node; ethdevs holds their device numbers. */
void poll_loop_init(struct poll_loop *loop, struct node *node, const uint16_t *ethdevs,
		    uint16_t n_ports, const struct tsc_clock *clock, const atomic_bool *stop);

/** Use another queue of every port than the first. tx_only: the ports have one receive queue. */
void poll_loop_use_queue(struct poll_loop *loop, uint16_t queue, bool tx_only);

/** Poll every port once. @return the number of frames moved. */
uint32_t poll_loop_round(struct poll_loop *loop);

/** Poll until *stop, then offer the held frames a last time and free the rest. */
void poll_loop_run(struct poll_loop *loop);

/** Frames held for one port. */
static inline uint16_t
poll_port_held(const struct poll_port *port)
{
	return (uint16_t)(port->held_end - port->held_first);
}

#endif
