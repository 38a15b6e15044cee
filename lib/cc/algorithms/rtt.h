/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Round-trip times of one QP: from the departure of a packet that requests an ACK until it and all
 * packets before it are acknowledged.
 *
 * One measurement is outstanding at a time: at most one sample per round trip.
 *
 * After a NAK, packets sent again give samples: the responder drops what it had received out of
 * sequence, so an ACK is for the second transmission. After a timeout, the first ACK gives none,
 * since it may be for either (Karn's rule). The next ones do: an algorithm whose window has become
 * small would otherwise hear nothing until all is sent again.
 */
#ifndef QUENCH_CC_ALGORITHMS_RTT_H
#define QUENCH_CC_ALGORITHMS_RTT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/numbers/fixed.h"

#define RTT_BARRED UINT64_MAX

/* Zero-initialised state: no sample yet, none outstanding. */
struct rtt {
	uint64_t
		since_ns; /* 1 + departure of the packet; 0: none; RTT_BARRED: an ACK comes first */
	uint32_t seq;     /* number of the packet, modulo 2^32 */
	uint32_t last_ns; /* last sample, at most 4.29 s; 0: none yet */
};

/** Packet seq leaves and requests an ACK. */
static inline void
rtt_on_ask(struct rtt *r, uint32_t seq, uint64_t now_ns)
{
	if (r->since_ns != 0)
		return;
	r->since_ns = now_ns + 1;
	r->seq = seq;
}

/** All packets before acked_seq are acknowledged. @return the sample, at least 1 ns; 0: none. */
static inline uint64_t
rtt_on_ack(struct rtt *r, uint32_t acked_seq, uint64_t now_ns)
{
	uint64_t ns;

	if (r->since_ns == RTT_BARRED) {
		r->since_ns = 0;
		return 0;
	}
	if (r->since_ns == 0 || (int32_t)(acked_seq - r->seq) <= 0)
		return 0;
	ns = max_u64(now_ns + 1 - r->since_ns, 1);
	r->since_ns = 0;
	r->last_ns = (uint32_t)min_u64(ns, UINT32_MAX);
	return ns;
}

/** The requester goes back: drop the outstanding measurement. */
static inline void
rtt_on_loss(struct rtt *r)
{
	r->since_ns = 0;
}

/** ... after a timeout. */
static inline void
rtt_on_timeout(struct rtt *r)
{
	r->since_ns = RTT_BARRED;
}

#endif
