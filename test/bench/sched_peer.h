/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_sched as a peer: one subport, one pipe, RED in each class, rates that never hold anything
 * back. It reads and writes mbufs and shapes two levels that ours has not; it has no ingress side,
 * pause or marking.
 */
#ifndef QUENCH_TEST_BENCH_SCHED_PEER_H
#define QUENCH_TEST_BENCH_SCHED_PEER_H

#include <stdint.h>

struct rte_sched_port;

#define SCHED_PEER_NAME "rte_sched enqueue + dequeue, 1 pipe, RED"
#define SCHED_PEER_QUEUE_FRAMES 256

/** A port; RED begins at red_min_frames in a queue. Ends the program when it cannot. */
struct rte_sched_port *sched_peer_create(uint16_t red_min_frames);

#endif
