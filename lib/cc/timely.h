/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TIMELY: the gradient of the round-trip time sets the rate.
 *
 * Mittal et al., SIGCOMM 2015, as restated by Zhu et al., "ECN or Delay", CoNEXT 2016. Each sample
 * updates rtt_diff, the moving average of the difference between samples; the gradient is rtt_diff
 * / timely_min_rtt. Below T_low the rate rises by delta; above T_high it falls by beta (1 - T_high
 * / RTT) of itself. In between it rises by delta if the gradient is not positive, by five delta
 * once that was so in timely_hai_threshold samples in a row, and falls by beta x gradient of itself
 * otherwise.
 *
 * rtt.h measures the samples: at most one per QP and round trip.
 *
 * The algorithm has no unique fixed point: rates within the band need not be fair (CoNEXT 2016,
 * section 4). The sources start a flow at 1 / (N + 1) of the link: initial_rate = fair.
 *
 * Invariant: timely_min_rate <= rate <= the port's speed; on a port slower than timely_min_rate,
 * the rate is the port's speed.
 */
#ifndef QUENCH_CC_TIMELY_H
#define QUENCH_CC_TIMELY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "base/numbers/units.h"
#include "cc/did.h"

struct timely_params {
	uint64_t timely_t_low_ns;
	uint64_t timely_t_high_ns;
	uint64_t timely_min_rtt_ns;   /* D_minRTT: difference that is a gradient of 1 */
	uint64_t timely_ai_rate_bps;  /* delta */
	uint32_t timely_beta_ppm;     /* largest share of the rate that a decrease takes */
	uint32_t timely_ewma_ppm;     /* weight of the new difference */
	uint8_t timely_hai_threshold; /* samples in a row for 5 delta, this one included */
	uint64_t timely_min_rate_bps;
};

FIELD_TABLE(timely_fields);

/** Ranges and rules across keys. @return 0, or as params_refuse(). */
int timely_params_check(const struct timely_params *params, char *why, unsigned int why_size);

struct timely_stats {
	uint64_t timely_samples;
	uint64_t timely_below_low;
	uint64_t timely_above_high;
	uint64_t timely_increases; /* including those below T_low and at the maximum */
	uint64_t timely_cuts;
};

COUNTER_TABLE(timely_counters);

struct timely {
	/* as struct cc_head */
	uint64_t rate_bps;
	uint64_t next_event_ns;
	uint32_t byte_count;
	/* per sample */
	uint8_t good_samples; /* in a row with a gradient of at most 0 */
	uint64_t rtt_ns;      /* of the last sample; 0: none yet */
	int64_t rtt_diff_q10; /* ns, averaged */
};

void timely_init(struct timely *t, const struct timely_params *params, uint64_t start_rate_bps,
		 uint64_t max_rate_bps);

/**
 * Handle a measured round-trip time; one above 18 minutes (2^40 ns) counts as 2^40 ns.
 * @return a mask of enum cc_did: CC_DID_RTT, and the change of the rate if there was one.
 */
uint32_t timely_on_rtt(struct timely *t, const struct timely_params *params,
		       struct timely_stats *stats, uint64_t rtt_ns, uint64_t max_rate_bps);

#endif
