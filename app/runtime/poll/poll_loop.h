/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drives one node over ethdev ports: receive a burst, pass it to the node, ask the node for the
 * frames that the wire can take now, pass them to the device.
 *
 * The loop holds frames that a device refuses, in order, and offers them again before it asks the
 * node for more. So no frame is dropped or counted twice between node and device. While a device
 * takes no frames, they wait in the node, where WRED, PFC and the scheduler act on them. All calls
 * for one burst pass the same time to the node.
 *
 * If the device has a spare transmit queue, control frames use it: they wait neither for data in
 * the device's ring nor for data that it refused.
 *
 * Invariant (tested): frames taken from the node = frames taken by the device + frames held, in
 * that order, for each queue.
 */
#ifndef QUENCH_APP_RUNTIME_POLL_POLL_LOOP_H
#define QUENCH_APP_RUNTIME_POLL_POLL_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "node/node.h"
#include "runtime/capture/capture_tap.h"
#include "runtime/eal/intr_gate.h"
#include "runtime/poll/pace_meter.h"
#include "runtime/poll/poll_gap.h"
#include "runtime/device/port_link.h"
#include "runtime/eal/tsc_clock.h"

struct rte_mbuf;

/* Largest burst, in each direction. With larger bursts queues would overshoot thresholds. */
#define POLL_BURST 32

/* A transmit queue with the frames that it refused. */
struct poll_txq {
	uint16_t queue;
	uint16_t first; /* index in held[] of the frame to offer next */
	uint16_t end;
	struct rte_mbuf *held[POLL_BURST];
	uint64_t refusals; /* offers of which the device did not take all frames */
};

/* Queues of a port that one loop uses: every rx_step-th receive queue, from rx_first to rx_end. */
struct poll_queues {
	uint16_t rx_first, rx_step, rx_end; /* rx_end = rx_first: none */
	uint16_t data;                      /* transmit queue of data, or of all frames */
	uint16_t control;                   /* transmit queue of control frames, if apart */
	bool control_apart;
};

struct poll_port {
	uint16_t ethdev;
	struct poll_queues queues;
	const struct port_link *link; /* send nothing while it is down; NULL: always send */
	struct capture_tap tap;       /* of this loop's frames */
	/* the interrupt thread may free the port's rings: use it only with the gate open */
	bool gated;
	bool gone; /* the device was removed: never use it again */
	/* limits the length of the frames it sends, if that is not 0; NULL: any */
	const struct port_link *limit;
	uint64_t mtu_drops;      /* frames longer than that */
	uint64_t removal_drops;  /* held frames when it was removed */
	struct poll_txq control; /* used if queues.control_apart */
	struct poll_txq data;
};

/* A mask of 64 bits names the ports of a loop. */
#define POLL_MAX_PORTS 64

struct poll_loop {
	struct node *node;
	const struct tsc_clock *clock;
	const atomic_bool *stop;
	uint64_t idle_sleep_ns; /* 0: spin */
	uint64_t idle_since_ns; /* NEVER_NS: busy */
	/* Work at long intervals. Returns the time of its next call. */
	uint64_t (*slow)(void *arg, uint64_t now_ns);
	void *slow_arg;
	uint64_t slow_next_ns;
	uint64_t sleeps;
	uint64_t due_ns; /* when work was due, if the loop slept before the next round; or 0 */
	struct poll_wake wake;
	/*
	 * Ports whose devices were removed: requested by the control thread, and of those the ones
	 * that this loop no longer uses. NULL: devices are never removed.
	 */
	const _Atomic uint64_t *removed;
	_Atomic uint64_t let_go;
	struct pace_meter *pace; /* NULL: departures are not measured */
	struct intr_gate *gate;  /* for gated ports; NULL: none */
	uint16_t gate_poller;    /* this loop's number there */
	uint16_t n_polled;
	uint16_t polled[POLL_MAX_PORTS]; /* ports of this loop */
	uint16_t n_ports;                /* all ports of the node */
	struct poll_port ports[POLL_MAX_PORTS];
	struct capture_intake intake; /* of the burst that the node is given */
	struct poll_gap gap;
};

/**
 * Set up over ports 0..n_ports-1 of the node, at most POLL_MAX_PORTS; ethdevs holds their device
 * numbers.
 */
void poll_loop_init(struct poll_loop *loop, struct node *node, const uint16_t *ethdevs,
		    uint16_t n_ports, const struct tsc_clock *clock, const atomic_bool *stop);

/** Set the queues of every port. Default: the first receive queue and the first transmit queue. */
void poll_loop_use_queues(struct poll_loop *loop, const struct poll_queues *queues);

/** Poll only the ports of a mask. Other loops poll the others. */
void poll_loop_use_ports(struct poll_loop *loop, uint64_t ports);

/** Poll every port once. @return the number of frames moved. */
uint32_t poll_loop_round(struct poll_loop *loop);

/**
 * Poll until *stop, then offer the held frames repeatedly, for up to 20 ms in all, and free the
 * rest.
 */
void poll_loop_run(struct poll_loop *loop);

/** Does this loop poll the port? */
static inline bool
poll_loop_polls(const struct poll_loop *loop, uint16_t port)
{
	for (uint16_t i = 0; i < loop->n_polled; i++)
		if (loop->polled[i] == port)
			return true;
	return false;
}

static inline uint16_t
poll_txq_held(const struct poll_txq *q)
{
	return (uint16_t)(q->end - q->first);
}

/** Frames held for one port. */
static inline uint16_t
poll_port_held(const struct poll_port *port)
{
	return (uint16_t)(poll_txq_held(&port->data) + poll_txq_held(&port->control));
}

/* From another thread. end < first: the queue became empty between the two reads. */
static inline uint16_t
poll_txq_read_held(const struct poll_txq *q)
{
	uint16_t first = __atomic_load_n(&q->first, __ATOMIC_ACQUIRE);
	uint16_t end = __atomic_load_n(&q->end, __ATOMIC_RELAXED);

	return (uint16_t)(end > first ? end - first : 0);
}

/** Frames held for one port, from any thread. */
static inline uint16_t
poll_port_read_held(const struct poll_port *port)
{
	return (uint16_t)(poll_txq_read_held(&port->data) + poll_txq_read_held(&port->control));
}

/** Offers of which a port's device did not take all frames. */
static inline uint64_t
poll_port_refusals(const struct poll_port *port)
{
	return port->data.refusals + port->control.refusals;
}

#endif
