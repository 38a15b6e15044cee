/* SPDX-License-Identifier: BSD-3-Clause */
/* Random parameters of a reaction point, and its state beside that of the reference. */
#ifndef QUENCH_TEST_UNIT_CC_RP_RANDOM_H
#define QUENCH_TEST_UNIT_CC_RP_RANDOM_H

#include "unit/cc/rp_test.h"

#include "base/numbers/prng.h"
#include "unit/cc/rp_reference.h"

/* Random knobs; scale stretches all periods so that long idle times are few events for the
 * reference. */
static inline struct rp_params
rp_random_params(struct prng *rnd, enum rp_profile profile, uint32_t scale)
{
	static const uint16_t weights[] = {1019, 1020, 1023, 1024};
	struct rp_params p = params_of(profile, 40 * GBPS);
	char why[256];

	if (prng_below(rnd, 4) == 0)
		return p;
	p.rp_clamp_tgt_rate = prng_below(rnd, 2);
	p.rp_clamp_tgt_rate_ati = prng_below(rnd, 2);
	p.rp_threshold = (uint8_t)prng_below(rnd, prng_below(rnd, 4) ? 4 : 32);
	p.rp_gd = (uint8_t)(8 + prng_below(rnd, 6));
	p.rp_min_dec_fac_pct = (uint8_t)prng_below(rnd, 101);
	p.rp_dce_tcp_g = prng_below(rnd, 3) ? weights[prng_below(rnd, ARRAY_LEN(weights))]
					    : (uint16_t)prng_below(rnd, 1025);
	p.rp_initial_alpha_value = (uint16_t)prng_below(rnd, 1025);
	p.rp_dce_tcp_rtt_us = (uint32_t)(1 + prng_below(rnd, 60)) * scale;
	p.rp_rate_reduce_monitor_period_us = (uint32_t)(1 + prng_below(rnd, 40)) * scale;
	p.rp_time_reset_us = (uint32_t)(1 + prng_below(rnd, 100)) * scale;
	p.rp_byte_reset_bytes =
		prng_below(rnd, 5) ? prng_below(rnd, 1ull << prng_below(rnd, 24)) : 0;
	p.rp_ai_rate_bps = prng_below(rnd, 1ull << prng_below(rnd, 31));
	p.rp_hai_rate_bps = prng_below(rnd, 1ull << prng_below(rnd, 31));
	p.rp_min_rate_bps = 1 + prng_below(rnd, 1ull << prng_below(rnd, 30));
	p.rp_max_rate_bps = p.rp_min_rate_bps + prng_below(rnd, 1ull << prng_below(rnd, 40));
	p.rp_rate_to_set_on_first_cnp_bps =
		prng_below(rnd, 3) ? 0 : prng_below(rnd, p.rp_max_rate_bps + 1);
	p.rp_hyper_by_timer = prng_below(rnd, 2);
	assert_int_equal(rp_params_check(&p, why, sizeof(why)), 0);
	return p;
}

static inline bool
rp_same(const struct point *p, const struct ref *ref, uint64_t now_ns)
{
	const struct rp *rp = &p->cc.rp;

	if (rp->current_rate_bps != ref->rate || rp->target_rate_bps != ref->target ||
	    rp_alpha_q32(rp, &p->params, now_ns) != ref->alpha << 1)
		return false;
	if (memcmp(&p->stats, &ref->stats, sizeof(p->stats)) != 0)
		return false;
	/* Once a QP is free, nobody reads its stages. */
	return !rp_limited(rp) ||
	       (rp->time_stage == ref->t && rp->byte_stage == ref->bc &&
		(p->params.rp_byte_reset_bytes == 0 || rp->byte_count == ref->bytes));
}

#endif
