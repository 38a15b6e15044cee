/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measuring, as packets go: round trips and messages (times.h), gaps between packets (pacing.h).
 *
 * Invariant: of a closed loop each message that is timed has a place of its own in begun_ns[]
 * while it is in flight.
 */
#ifndef QUENCH_NIC_MEASURE_MEASURE_H
#define QUENCH_NIC_MEASURE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "cc/rtt.h"
#include "nic/measure/pacing.h"
#include "nic/measure/times.h"
#include "nic/qp/qp.h"

struct nic;

/* What measuring keeps of a QP. */
struct nic_qp_times {
	/* 1 + time of those being timed, by number; 0: none. Open loop: the first is the arrival of
	 * the oldest message that is not acknowledged. */
	uint64_t begun_ns[NIC_TIMED_MESSAGES];
	uint64_t sum_ns, max_ns; /* completion times */
	uint32_t completions;
	uint32_t seq; /* of the three above: base/seq.h */
	uint32_t ce_packets;
	uint32_t cnps_ignored;
} __rte_cache_aligned;

/* The packet of a QP that left last. */
struct nic_departure {
	uint64_t sent_ns;
	uint32_t wire_bytes;
	bool paced; /* for tokens only: those that it found are not left over from an idle time */
};

/* A gap between two packets of a QP, for its flow. */
struct nic_gap {
	struct nic_pacing *pacing;
	uint64_t gap_ns, expected_ps, jitter_ns;
};

/*
 * With a thousand flows each histogram is a cache miss or two, for which the next frame would wait.
 * So they are fetched, and written by the tx() that follows.
 */
#define NIC_GAPS 64u

/* Each is NULL if it is not wanted; of max_qps. */
struct nic_measure {
	struct rtt *rtts;                 /* for congestion control or for people */
	struct nic_qp_times *times;       /* measure_times */
	struct nic_departure *departures; /* measure_pacing */
	uint32_t n_gaps;                  /* with measure_pacing: not yet in the histograms */
	struct nic_gap gaps[NIC_GAPS];
};

/** @return 0 or -ENOMEM; nic_measure_free() in both cases. */
int nic_measure_init(struct nic *nic);
void nic_measure_free(struct nic *nic);
/** Histograms of a new flow, the last one. @return 0 or -ENOMEM. */
int nic_measure_add_flow(struct nic *nic, struct qp_flow *flow);

/** The flow is removed. */
void nic_measure_remove_flow(struct qp_flow *flow);

/** A message is begun; or begun again, if nothing of it had been sent. */
void nic_measure_begun(struct nic *nic, uint32_t item, uint64_t message, uint64_t now_ns);
/** Messages from this one on, up to the QP's acked_msg, are acknowledged. */
void nic_measure_completed(struct nic *nic, uint32_t item, uint64_t message, uint64_t now_ns);
/** All before seq is acknowledged. @return the round-trip time that this shows, or 0. */
uint64_t nic_measure_rtt(struct nic *nic, uint32_t item, uint32_t seq, uint64_t now_ns);
/** A QP is another one now: nothing was measured of it. */
void nic_measure_clear(struct nic *nic, uint32_t item);
/** With measure_pacing: the QP's next packet leaves, which was due at nic->due_ns if that is
 * known. */
void nic_measure_departure(struct nic *nic, uint32_t item, uint64_t now_ns);
/** The length of the packet that left last. */
void nic_measure_departed(struct nic *nic, uint32_t item, uint32_t wire_bytes);
/** Write the gaps measured so far into the histograms of their flows. */
void nic_measure_gaps(struct nic *nic);
/** A frame with CE came. */
void nic_measure_ce(struct nic *nic, uint32_t item);
/** A CNP changed nothing. */
void nic_measure_cnp_ignored(struct nic *nic, uint32_t item);

#endif
