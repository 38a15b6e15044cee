/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A switch of four ports, 64 flows all to all, ECN and PFC on. Frames come in again after they
 * left, so no work of a device is measured.
 */
#ifndef QUENCH_TEST_BENCH_SWITCH_FLOWS_H
#define QUENCH_TEST_BENCH_SWITCH_FLOWS_H

#include <stdint.h>

#include "switch/sw.h"

#define SWITCH_FLOWS 64
#define SWITCH_FLOWS_PORTS 4
#define SWITCH_FLOWS_FRAMES 512  /* in flight: more than the first-level cache holds */
#define SWITCH_FLOWS_BURST 32    /* the largest */
#define SWITCH_FLOWS_SMALLEST 60 /* frame length without FCS */
#define SWITCH_FLOWS_ROUND_NS 20e6

struct rte_mbuf;

struct switch_flows {
	struct node *sw;
	struct rte_mbuf *pkts[SWITCH_FLOWS_FRAMES];
	uint16_t in_port[SWITCH_FLOWS_FRAMES], out_port[SWITCH_FLOWS_FRAMES];
	uint64_t now_ns;
	uint16_t burst;
};

/** Build a switch and frames of a length. The stations are to be learned by the caller. */
void switch_flows_start(struct switch_flows *f, struct sw_params *params,
			const struct sw_pools *pools, uint16_t length_bytes);

/** The line that others are compared with: 64-byte frames, bursts of 32, stations learned. */
void switch_flows_start_plain(struct switch_flows *f, const struct sw_pools *pools);
#define SWITCH_FLOWS_NAME "64 flows, bursts of 32"

/** Frame i as switch_flows_start() builds it. */
struct rte_mbuf *switch_flows_frame(const struct switch_flows *f, unsigned int i,
				    struct rte_mempool *pool, uint16_t length_bytes);

/** Learn the stations of the 64 flows. */
void switch_flows_learn(struct switch_flows *f);

/** Check that no frame was lost, and free all. */
void switch_flows_stop(struct switch_flows *f);

/** Move all frames through the switch once. */
void switch_flows_pass(struct switch_flows *f);

/** One round of a struct switch_flows. @return ns for each frame. */
double switch_flows_round_ns(void *flows);

/** @return M frames per second. */
double switch_flows_round_mpps(void *flows);

#endif
