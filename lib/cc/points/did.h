/* SPDX-License-Identifier: BSD-3-Clause */
/* Effects of an event on the rate of a QP, as all algorithms report them. */
#ifndef QUENCH_CC_POINTS_DID_H
#define QUENCH_CC_POINTS_DID_H

/* A mask; 0: rate and state are unchanged. */
enum cc_did {
	CC_DID_START = 1 << 0,
	CC_DID_CNP = 1 << 1,     /* a CNP was handled */
	CC_DID_CUT = 1 << 2,     /* the rate was cut */
	CC_DID_FAST = 1 << 3,    /* fast recovery */
	CC_DID_RAISE = 1 << 4,   /* additive increase */
	CC_DID_HYPER = 1 << 5,   /* hyper increase */
	CC_DID_ENGAGE = 1 << 6,  /* the QP was not rate-limited, and is now */
	CC_DID_FREE = 1 << 7,    /* the QP is no longer rate-limited */
	CC_DID_LOSS = 1 << 8,    /* a packet was lost */
	CC_DID_RTT = 1 << 9,     /* a round-trip time was measured */
	CC_DID_RELOAD = 1 << 10, /* a change of parameters changed the rate */
	CC_DID_INT = 1 << 11,    /* an ACK brought in-band telemetry */
	CC_DID_ECN = 1 << 12,    /* an ACK echoed a mark */
};
#define CC_REASONS 13

#endif
