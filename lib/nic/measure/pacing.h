/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of single packets, with measure_pacing: pacing where the data leaves, bursts and one-way
 * times where it arrives.
 *
 * For two consecutive packets of a QP that both waited for tokens alone, the measured gap is
 * compared with the expected one, 8 * wire bytes of the first / rate of the QP. Times are the
 * now_ns of tx(). jitter = |gap - expected|, as in RFC 3550 section 6.4.1 before averaging.
 *
 * A burst of a QP is a sequence of packets that arrive back to back: between two of them, no other
 * frame of a full MTU fits on our link. The burst gap is the time from the arrival of a burst's
 * last packet to that of the next burst's first packet. Arrival is the now_ns of rx(), so packets
 * of one poll are of one burst. Packets that the transport drops count too.
 *
 * With imm_timestamp, the last packet of a message carries the time at which it leaves, modulo 2^32
 * ns, of a clock that both ends share: now_ns + nic_set_epoch(). The one-way time is from tx() to
 * rx(), and means something below 4.3 s only.
 */
#ifndef QUENCH_NIC_MEASURE_PACING_H
#define QUENCH_NIC_MEASURE_PACING_H

#include <stdint.h>

#include "base/sets/hist.h"

/* Measurements of a flow on a node. */
#define NIC_PACING_JITTER 0x1u
#define NIC_PACING_BURSTS 0x2u
#define NIC_PACING_ONE_WAY 0x4u

/* A sum of 128 bits: a million QPs of a flow add up to 2^64 ns in 5 h. */
struct nic_wide {
	uint64_t low, high;
};

struct nic_pacing {
	/*
	 * On the same page as the histogram's first microsecond, which saves TLB misses with many
	 * flows.
	 */
	struct nic_wide gap_ns;      /* sum of the gaps */
	struct nic_wide expected_ps; /* sum of the expected gaps */
	uint32_t seq;                /* protects both: base/threads/seq.h */
	uint32_t has;                /* mask of NIC_PACING_... */
	struct hist jitter_ns;
	struct hist burst_gap_ns;
	struct hist one_way_ns;
};

struct node;

/**
 * Before the node runs: when was now_ns = 0, by a clock that is common to senders and receivers of
 * imm_timestamp? Default: 0, for nodes that share now_ns.
 */
void nic_set_epoch(struct node *node, uint64_t epoch_ns);

/** Add the pacing measured on another node; *to may be zero-initialised. */
void nic_pacing_merge(struct nic_pacing *to, const struct nic_pacing *from);

/** (achieved rate / configured rate - 1) in millionths; 0: no gap was measured. */
int64_t nic_pacing_error_ppm(const struct nic_pacing *pacing);

#endif
