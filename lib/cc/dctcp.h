/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCTCP as the rate of a RoCEv2 QP: the share of marked packets in a round trip sets the cut.
 *
 * RFC 8257 with a rate in place of a window, as in the NIC model of the HPCC simulator: alpha is
 * the moving average of the marked fraction; the first mark of a round trip cuts the rate by alpha
 * / 2, and a round trip without a mark and a loss adds dctcp_ai_rate. A round trip ends when all
 * packets sent before its start are acknowledged. A loss halves the rate. Mark and loss together
 * cut the rate once in a round trip (RFC 8257 3.5).
 *
 * RoCEv2 has no ECN echo in its ACKs. So CNPs count the marked packets, and the receiver must
 * answer each of these: np_min_time_between_cnps_us = 0 per QP at the peer. With a longer interval
 * the fraction is too small. Made for switches whose curve is a step at K (Kmin = Kmax = K, Pmax
 * 1).
 *
 * Invariant: dctcp_min_rate <= rate <= the port's speed; on a port slower than dctcp_min_rate, the
 * rate is the port's speed.
 */
#ifndef QUENCH_CC_DCTCP_H
#define QUENCH_CC_DCTCP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "base/numbers/units.h"
#include "cc/did.h"

struct dctcp_params {
	uint16_t dctcp_g;             /* weight of the NEW fraction, in 1/1024 (RFC 8257: 1/16) */
	uint16_t dctcp_initial_alpha; /* in 1/1024 (RFC 8257: 1) */
	uint64_t dctcp_ai_rate_bps;   /* rise in a round trip without mark and loss */
	uint64_t dctcp_min_rate_bps;
};

FIELD_TABLE(dctcp_fields);

struct dctcp_stats {
	uint64_t dctcp_round_trips;
	uint64_t dctcp_marked_round_trips;
	uint64_t dctcp_cuts;
	uint64_t dctcp_increases;
};

COUNTER_TABLE(dctcp_counters);

struct dctcp {
	/* as struct cc_head */
	uint64_t rate_bps;
	uint64_t next_event_ns;
	uint32_t byte_count;
	/* per ACK and CNP */
	uint32_t alpha_q31; /* [0, 2^31] */
	uint32_t end_seq;   /* the round trip ends when all packets before it are acknowledged */
	uint32_t acked_packets;  /* in this round trip */
	uint32_t marked_packets; /* CNPs in this round trip */
	bool cut;                /* in this round trip */
	bool running;            /* end_seq is valid, since the first ACK */
};

struct dctcp_ack {
	uint32_t acked_seq; /* first packet not acknowledged, modulo 2^32 */
	uint32_t next_seq;  /* first packet not sent */
	uint32_t packets;   /* acknowledged now */
};

void dctcp_init(struct dctcp *d, const struct dctcp_params *params, uint64_t start_rate_bps,
		uint64_t max_rate_bps);

/* These return a mask of enum cc_did. */

/** Handle a CNP: the first one of a round trip cuts the rate, unless a loss has cut it. */
uint32_t dctcp_on_cnp(struct dctcp *d, const struct dctcp_params *params,
		      struct dctcp_stats *stats);

/**
 * Handle an ACK: at the end of a round trip update alpha, and raise the rate if there was neither
 * a CNP nor a loss.
 */
uint32_t dctcp_on_ack(struct dctcp *d, const struct dctcp_params *params, struct dctcp_stats *stats,
		      const struct dctcp_ack *ack, uint64_t max_rate_bps);

/** Handle a loss: halve the rate, unless it was cut in this round trip. */
uint32_t dctcp_on_loss(struct dctcp *d, const struct dctcp_params *params,
		       struct dctcp_stats *stats);

#endif
