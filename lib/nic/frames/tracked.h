/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Received test frames by stream: counts, latency, times, and by their numbers loss, order and
 * duplicates.
 *
 * The table has a power of two of slots, and a stream has the slot of its id modulo their number. A
 * later id takes the slot over and counts from 0: whoever clears counters gives a stream a new id.
 * A frame of an earlier id that comes late is not counted. Numbers begin again with each start of a
 * stream; counters do not.
 *
 * Numbers are followed in a window. A frame above it moves it, and the numbers between are lost
 * until they come. Within the window, a number comes late (reordered) or again (duplicate). Below
 * it, or of an earlier start, a frame may be either (old). All of them count as received.
 *
 * A signed frame is handled like any other one afterwards: the table only counts.
 *
 * Invariant (tested): of a stream with one start, frames up to the highest number that came =
 * received - duplicates - old + lost.
 */
#ifndef QUENCH_NIC_FRAMES_TRACKED_H
#define QUENCH_NIC_FRAMES_TRACKED_H

#include <stdint.h>

struct nic;
struct node;
struct rte_mbuf;

#define NIC_TRACKED_WINDOW 256u

struct nic_tracked_info {
	uint64_t rx_packets, rx_bytes; /* with FCS */
	uint64_t lost, reordered, duplicates, old;
	uint64_t timed; /* of rx_packets, those with a latency */
	uint64_t latency_sum_ns, latency_min_ns, latency_max_ns;
	uint64_t first_ns, last_ns; /* of the clock that programs share: now_ns + nic_set_epoch() */
	uint64_t id;
	uint64_t numbered; /* 1: lost, reordered, duplicates and old are known */
};

/** Make the table if params.signatures asks for one. @return 0 or -ENOMEM. */
int nic_tracked_init(struct nic *nic);
void nic_tracked_free(struct nic *nic);

/** Count received frames. Only with nic->tracked. */
void nic_tracked_burst(struct nic *nic, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns);

/**
 * A slot of the table, from any thread. rx_packets is 0 while no frame has come, or the node has no
 * table.
 */
struct nic_tracked_info nic_tracked_info(const struct node *node, uint32_t slot);

#endif
