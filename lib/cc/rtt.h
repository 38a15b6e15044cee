/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Round-trip times of one QP: from when a packet that asks for an ACK is handed to the wire until
 * it and all before it are acknowledged.
 *
 * One sample is outstanding at a time, so a QP has at most one per round trip. A packet that is
 * sent again gives none (Karn's rule): its ACK may be of either sending.
 */
#ifndef QUENCH_CC_RTT_H
#define QUENCH_CC_RTT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fixed.h"

/* Zero-initialised state: no sample yet, none outstanding. */
struct rtt {
	uint64_t since_ns; /* 1 + when the packet left; 0: none outstanding */
	uint32_t seq;      /* of the packet, modulo 2^32 */
	uint32_t last_ns;  /* last sample, at most 4.29 s; 0: none yet */
};

/** Packet seq leaves for the first time and asks for an ACK. */
static inline void
rtt_on_ask(struct rtt *r, uint32_t seq, uint64_t now_ns)
{
	if (r->since_ns != 0)
		return;
	r->since_ns = now_ns + 1;
	r->seq = seq;
}

/** All before acked_seq is acknowledged. @return the sample, at least 1 ns; 0: this was none. */
static inline uint64_t
rtt_on_ack(struct rtt *r, uint32_t acked_seq, uint64_t now_ns)
{
	uint64_t ns;

	if (r->since_ns == 0 || (int32_t)(acked_seq - r->seq) <= 0)
		return 0;
	ns = max_u64(now_ns + 1 - r->since_ns, 1);
	r->since_ns = 0;
	r->last_ns = (uint32_t)min_u64(ns, UINT32_MAX);
	return ns;
}

/** The requester goes back: what is outstanding gives no sample. */
static inline void
rtt_on_loss(struct rtt *r)
{
	r->since_ns = 0;
}

#endif
