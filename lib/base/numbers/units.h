/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Units of time, rate and size, used throughout the project.
 *
 * Times are uint64_t nanoseconds. Rates are bits per second of wire bytes: a frame, its FCS (4) and
 * preamble, start delimiter and inter-frame gap (20), so that a rate equal to the link speed fills
 * the link. Buffer and queue lengths count frame bytes with FCS. mbuf lengths exclude the FCS.
 */
#ifndef QUENCH_BASE_NUMBERS_UNITS_H
#define QUENCH_BASE_NUMBERS_UNITS_H

#include <stdint.h>

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_SEC UINT64_C(1000000000)
#define NEVER_NS UINT64_MAX

#define KBPS UINT64_C(1000)
#define MBPS UINT64_C(1000000)
#define GBPS UINT64_C(1000000000)

#define FCS_BYTES 4u
/* 7 preamble + 1 start delimiter + 12 inter-frame gap (IEEE 802.3 4.4.2). */
#define GAP_BYTES 20u
/* Shortest frame with FCS; shorter ones are padded by the MAC. */
#define MIN_FRAME_BYTES 64u

/** Buffer bytes of a frame of len bytes (no FCS): with FCS, padded to the minimum. */
static inline uint32_t
frame_bytes(uint32_t len)
{
	uint32_t with_fcs = len + FCS_BYTES;

	return with_fcs < MIN_FRAME_BYTES ? MIN_FRAME_BYTES : with_fcs;
}

/** Wire bytes of a frame of len bytes (no FCS). */
static inline uint32_t
wire_bytes(uint32_t len)
{
	return frame_bytes(len) + GAP_BYTES;
}

/** Time on the wire, rounded up to whole nanoseconds. bytes < 2^31, rate_bps > 0. */
static inline uint64_t
serialization_ns(uint32_t bytes, uint64_t rate_bps)
{
	return (bytes * UINT64_C(8) * NS_PER_SEC + rate_bps - 1) / rate_bps;
}

#endif
