/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion times, slowdown and round-trip times of the messages of a flow.
 *
 * Completion time of a message: from when it could first be sent until the ACK of its last
 * packet arrives. In a closed loop it could first be sent when the QP turns to it, as depth
 * allows; in an open loop from its arrival, so that the wait in the source's queue counts.
 *
 * A READ is complete when its last response is here. Its round-trip time is that of the request
 * and the first response.
 *
 * Slowdown: completion time over the time on an idle network, which is the serialisation, at our
 * link's speed, of all packets before the last one, and the round-trip time of the last one. The
 * latter is base_rtt_ns of the flow or, where this is 0, the least one measured on the flow: it
 * is too long until the flow has once met an idle path, and where messages differ it is that of
 * the shortest packet.
 *
 * Measured for requesters that hear ACKs, if measure_times of the node says so. There is no cost
 * per packet: a packet that asks for an ACK, an ACK, and the begin and the end of a message each
 * touch 80 bytes of the QP. Of a closed loop with a depth above NIC_TIMED_MESSAGES each second,
 * fourth, .. message is timed, so that no more are timed at once.
 */
#ifndef QUENCH_NIC_MEASURE_TIMES_H
#define QUENCH_NIC_MEASURE_TIMES_H

#include <stdint.h>

#include "base/hist.h"

#define NIC_TIMED_MESSAGES 4
/* Most QPs of a node that measure_times = auto measures. */
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
