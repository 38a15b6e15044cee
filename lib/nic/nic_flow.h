/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the QPs of one flow of a node have done together, and how long its messages took.
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
#ifndef QUENCH_NIC_NIC_FLOW_H
#define QUENCH_NIC_NIC_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hist.h"
#include "nic/nic.h"

#define NIC_TIMED_MESSAGES 4
/* measure_times = auto measures up to so many QPs of a node. */
#define NIC_TIMED_QPS (1u << 15)

struct nic_flow_info {
	uint32_t qps, qps_done, qps_failed;
	struct nic_qp_info sum; /* counts and rates added up; rtt_ns is the longest */
};

struct nic_times {
	struct hist completion_ns;
	struct hist slowdown_milli; /* 1000: as fast as on an idle network */
	struct hist rtt_ns;
	uint64_t least_rtt_ns; /* 0: none yet */
};

/*
 * How evenly paced packets leave: the gap between two of a QP, both of which waited for
 * tokens only, against the time that the first takes at the QP's rate. Measured by the clock of
 * the node's tx(), if measure_pacing says so. The deviation of one gap is jitter as in RFC 3550
 * section 6.4.1, before it is averaged.
 */
struct nic_pacing {
	/* On one page with the histogram's first microsecond: of many flows each is a cache miss.
	 */
	uint64_t gap_ns;      /* sum of the gaps */
	uint64_t expected_ps; /* and of what they should have been */
	uint32_t seq;         /* of both: base/seq.h */
	struct hist jitter_ns;
};

/** Does the node measure times? */
bool nic_measures_times(const struct node *node);

/** Add what the QPs of a flow have done on this node; out is zero or of another node. */
void nic_flow_info(const struct node *node, uint32_t flow_id, struct nic_flow_info *out);

/** The times of a flow on this node, read by anyone; NULL: not measured, or no such flow. */
const struct nic_times *nic_flow_times(const struct node *node, uint32_t flow_id);

/** The pacing of a flow on this node, up to the call of tx() before the last; NULL: not measured,
 * or no such flow. */
const struct nic_pacing *nic_flow_pacing(const struct node *node, uint32_t flow_id);

/** Add the pacing of another node, or copy into what is zero. */
void nic_pacing_merge(struct nic_pacing *to, const struct nic_pacing *from);

/** Rate achieved over rate set, less one, in millionths; 0: no gap was measured. */
int64_t nic_pacing_error_ppm(const struct nic_pacing *pacing);

/** Time in which pauses have held the queue of the flow's data so far; 0: no such flow. */
uint64_t nic_flow_paused_ns(const struct node *node, uint32_t flow_id, uint64_t now_ns);

/** Add the times of another node, or copy into what is zero. */
void nic_times_merge(struct nic_times *to, const struct nic_times *from);

/** What came since the last call with this earlier, which is zero at first: hist_since(). */
void nic_times_since(const struct nic_times *times, struct nic_times *earlier,
		     struct nic_times *out);

#endif
