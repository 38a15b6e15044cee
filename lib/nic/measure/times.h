/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the messages of a flow took.
 *
 * Completion time of a message: from when it could first be sent until the ACK of its last packet
 * has come. In a closed loop it can be sent when the QP turns to it, which depth allows; in an open
 * loop from its arrival on, so that the time in the queue of the source counts.
 *
 * A READ is complete when its last response is here. Its round-trip time is that of the request and
 * the first response.
 *
 * Slowdown: completion time over what an idle network takes, which is the serialisation, at our
 * link's speed, of all packets before the last one, and the round-trip time of the last one. That
 * is base_rtt_ns of the flow or, where this is 0, the least one measured on the flow so far: it is
 * too long until the flow has once met an idle path, and where messages differ it is that of the
 * shortest packet.
 *
 * Measured for requesters that hear ACKs, if measure_times of the node says so. Nothing is done per
 * packet: a packet that asks for an ACK, an ACK, and the begin and the end of a message each touch
 * 80 bytes that a QP has for it. Of a closed loop with a depth above NIC_TIMED_MESSAGES every
 * second, fourth, .. message is timed, so that as many are at a time.
 */
#ifndef QUENCH_NIC_MEASURE_TIMES_H
#define QUENCH_NIC_MEASURE_TIMES_H

#include <stdint.h>

#include "base/hist.h"

#define NIC_TIMED_MESSAGES 4
/* measure_times = auto measures up to so many QPs of a node. */
#define NIC_TIMED_QPS (1u << 15)

struct nic_times {
	struct hist completion_ns;
	struct hist slowdown_milli; /* 1000: as fast as on an idle network */
	struct hist rtt_ns;
	uint64_t least_rtt_ns; /* 0: none yet */
};

/** Add the times of another node, or copy into what is zero. */
void nic_times_merge(struct nic_times *to, const struct nic_times *from);

/** What came since the last call with this earlier, which is zero at first: hist_since(). */
void nic_times_since(const struct nic_times *times, struct nic_times *earlier,
		     struct nic_times *out);

#endif
