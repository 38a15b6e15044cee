/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion times, slowdown and round-trip times of the messages of a flow.
 *
 * Completion time of a message: from its start until the ACK of its last packet arrives. In a
 * closed loop a message starts when `depth` allows the QP to begin it. In an open loop it starts at
 * its arrival, so that the wait at the source counts.
 *
 * A READ completes with its last response; its round-trip time is measured from the request to the
 * first response.
 *
 * Slowdown: completion time / completion time of the same message alone on its path. That time
 * follows from the path (ideal.h), if nic_set_path() has given it. Otherwise, it is the
 * serialisation of all packets before the last, at our link's speed, + the base round-trip time:
 * base_rtt_ns of the flow or, if that is 0, the minimum measured on the flow. The minimum is too
 * high until the flow has met an idle path; if message sizes differ, it belongs to the shortest
 * packet. Messages that complete before NIC_LEAST_RTT_SAMPLES round trips have no slowdown.
 *
 * Measured for requesters that receive ACKs, with measure_times. Most packets cost nothing: only a
 * packet with AckReq, an ACK, and the beginning and end of a message each touch 184 bytes of the
 * QP.
 * In a closed loop with a depth above NIC_TIMED_MESSAGES only one message in 2, 4, 8, ... is timed,
 * depending on the depth, so that at most NIC_TIMED_MESSAGES are timed at once. Of a job, all are.
 */
#ifndef QUENCH_NIC_MEASURE_TIMES_H
#define QUENCH_NIC_MEASURE_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sets/hist.h"

#define NIC_TIMED_MESSAGES 4
/* measure_times = auto measures up to this many QPs of a node. */
#define NIC_TIMED_QPS (1u << 15)

/* A minimum of fewer round-trip times says little about an idle network. */
#define NIC_LEAST_RTT_SAMPLES 100u

/* Source of the completion times on an idle network. */
enum nic_ideal_from { NIC_IDEAL_FROM_LEAST_RTT, NIC_IDEAL_FROM_BASE_RTT, NIC_IDEAL_FROM_PATH };

struct nic_times {
	struct hist completion_ns;
	struct hist slowdown_milli; /* 1000: as fast as on an idle network */
	struct hist rtt_ns;
	uint64_t least_rtt_ns; /* 0: none yet */
	uint64_t waited; /* open loops: messages that found the previous one of their QP unsent */
	int ideal_from;  /* enum nic_ideal_from; constant during the run */
};

/* A completed message. */
struct nic_message {
	uint64_t begun_ns, end_ns; /* end_ns NEVER_NS: not ended */
	uint64_t ideal_ns;         /* 0: unknown */
	uint64_t number;           /* of the QP's messages */
	uint32_t flow_id, item;
	uint32_t bytes;
	uint32_t retransmitted_packets; /* sent again since the QP's previous timed message */
	uint32_t hops;                  /* links on the way of its data; 0: unknown */
};

struct ideal_path;
struct node;

/** Before the run: keep a record of each message that is timed. @return 0 or -ENOMEM. */
int nic_record_messages(struct node *node);

/**
 * The messages recorded since the last nic_clear_messages(), in the order of their ends. For the
 * owner. @return their number, or -ENOMEM: some are lost.
 */
int64_t nic_recorded_messages(const struct node *node, const struct nic_message **messages);
void nic_clear_messages(struct node *node);

/* A QP that has sent everything. */
struct nic_end {
	uint64_t end_ns;
	uint32_t item;
};

/** Before the run, after all QPs are added: record their ends. @return 0 or -ENOMEM. */
int nic_record_ends(struct node *node);
/** Ends since the last nic_clear_ends(), in their order. For the owner. @return their number. */
uint32_t nic_recorded_ends(const struct node *node, const struct nic_end **ends);
void nic_clear_ends(struct node *node);

/**
 * At the end of the run, record the timed messages that have begun and not ended, and in an open
 * loop those that have arrived, at most `most` of each QP. Their end_ns is NEVER_NS. For the owner.
 * @return false: more had arrived.
 */
bool nic_record_not_ended(struct node *node, uint64_t most, uint64_t now_ns);

/**
 * Before the run: the path of a QP, which must outlive the node. @return 0 or -ENOMEM.
 */
int nic_set_path(struct node *node, uint32_t index, const struct ideal_path *path);

/** Add the times measured on another node; *to may be zero-initialised. */
void nic_times_merge(struct nic_times *to, const struct nic_times *from);

/**
 * Times since the previous call with the same `earlier`, which is zero at first: hist_since().
 * least_rtt_ns and waited are those since the start.
 */
void nic_times_since(const struct nic_times *times, struct nic_times *earlier,
		     struct nic_times *out);

#endif
