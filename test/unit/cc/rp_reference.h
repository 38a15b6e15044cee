/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reaction point as an event loop: every timer event is executed, one after the other, in time
 * order; alpha slot before monitor slot before rate timer when they fall on one instant. It knows
 * no jump, no fixed point and no cache of the next event; in the paper profile its timers never
 * stop. Rates and alpha are rounded as in cc/points/rp.h.
 */
#ifndef QUENCH_TEST_UNIT_CC_RP_REFERENCE_H
#define QUENCH_TEST_UNIT_CC_RP_REFERENCE_H

#include "cc/points/rp.h"

#define REF_ONE (1ull << 31)

struct ref {
	const struct rp_params *p;
	struct rp_stats stats;
	uint64_t rate, target, alpha, bytes, t, bc;
	uint64_t alpha_at, monitor_at, increase_at;
	bool limited, engaged, slots, cnp_in_alpha_slot, cnp_in_monitor_slot;
};

static inline bool
ref_paper(const struct ref *r)
{
	return r->p->rp_profile == RP_PROFILE_PAPER;
}

static inline void
ref_init(struct ref *r, const struct rp_params *p, uint64_t start, uint64_t now)
{
	*r = (struct ref){
		.p = p, .alpha_at = NEVER_NS, .monitor_at = NEVER_NS, .increase_at = NEVER_NS};
	r->rate = start < p->rp_min_rate_bps ? p->rp_min_rate_bps : start;
	if (r->rate > p->rp_max_rate_bps)
		r->rate = p->rp_max_rate_bps;
	r->target = r->rate;
	r->alpha = p->rp_initial_alpha_value * REF_ONE / 1024;
	if (r->rate < p->rp_max_rate_bps) {
		r->limited = r->engaged = true;
		r->stats.rp_engagements++;
		r->increase_at = now + p->rp_time_reset_us * NS_PER_US;
	}
}

static inline void
ref_alpha(struct ref *r, bool cnp)
{
	uint64_t g = r->p->rp_dce_tcp_g;

	/* The filter rounds towards the sample: down to 0, up to one. */
	if (cnp)
		r->alpha = (r->alpha * g + REF_ONE * (1024 - g) + 1023) / 1024;
	else
		r->alpha = r->alpha * g / 1024;
}

/* Limited, or free at the maximum rate: what is counted, not what paces the timers here. */
static inline void
ref_engage(struct ref *r)
{
	if (!r->engaged)
		r->stats.rp_engagements++;
	r->engaged = r->limited = true;
}

static inline void
ref_cut(struct ref *r, uint64_t now)
{
	const struct rp_params *p = r->p;
	unsigned __int128 alpha_1024 = (unsigned __int128)r->rate * r->alpha * 1024;
	uint64_t cut = (uint64_t)(alpha_1024 / REF_ONE / (1u << p->rp_gd));
	uint64_t most = r->rate * (100 - p->rp_min_dec_fac_pct) / 100;
	uint64_t before = r->rate;

	if (p->rp_clamp_tgt_rate || r->bc > 0 || (p->rp_clamp_tgt_rate_ati && r->t > 0))
		r->target = r->rate;
	r->rate -= cut < most ? cut : most;
	if (r->rate < p->rp_min_rate_bps)
		r->rate = p->rp_min_rate_bps;
	r->t = r->bc = r->bytes = 0;
	ref_engage(r);
	r->increase_at = now + p->rp_time_reset_us * NS_PER_US;
	r->stats.rp_cuts += r->rate < before;
}

static inline void
ref_increase(struct ref *r, uint64_t *stage)
{
	const struct rp_params *p = r->p;
	uint64_t f = p->rp_threshold, high, low;

	if (ref_paper(r) && *stage < UINT16_MAX)
		++*stage;
	high = r->t > r->bc ? r->t : r->bc;
	low = r->t > r->bc && (ref_paper(r) || !p->rp_hyper_by_timer) ? r->bc : r->t;
	if (r->rate < p->rp_max_rate_bps) {
		if (ref_paper(r) ? high <= f : high < f) {
			r->stats.rp_fast_recoveries++;
		} else if (low > f) {
			r->target +=
				ref_paper(r) ? (low - f) * p->rp_hai_rate_bps : p->rp_hai_rate_bps;
			r->stats.rp_hyper_increases++;
		} else {
			r->target += p->rp_ai_rate_bps;
			r->stats.rp_additive_increases++;
		}
		if (r->target > p->rp_max_rate_bps)
			r->target = p->rp_max_rate_bps;
		r->rate += (r->target - r->rate + 1) / 2;
	}
	if (!ref_paper(r) && *stage < UINT16_MAX)
		++*stage;
	if (!ref_paper(r) && r->rate == p->rp_max_rate_bps && !r->cnp_in_monitor_slot) {
		r->limited = r->slots = r->cnp_in_alpha_slot = false;
		r->alpha_at = r->monitor_at = r->increase_at = NEVER_NS;
	}
	if (r->engaged && r->rate == p->rp_max_rate_bps && !r->cnp_in_monitor_slot) {
		r->engaged = false;
		r->stats.rp_releases++;
	}
}

static inline void
ref_run(struct ref *r, uint64_t now)
{
	for (;;) {
		uint64_t at = r->alpha_at;

		at = r->monitor_at < at ? r->monitor_at : at;
		at = r->increase_at < at ? r->increase_at : at;
		if (at > now)
			return;
		if (at == r->alpha_at) {
			ref_alpha(r, r->cnp_in_alpha_slot);
			r->cnp_in_alpha_slot = false;
			r->alpha_at += r->p->rp_dce_tcp_rtt_us * NS_PER_US;
		} else if (at == r->monitor_at) {
			if (r->cnp_in_monitor_slot)
				ref_cut(r, at);
			r->cnp_in_monitor_slot = false;
			r->monitor_at += r->p->rp_rate_reduce_monitor_period_us * NS_PER_US;
		} else {
			r->increase_at += r->p->rp_time_reset_us * NS_PER_US;
			ref_increase(r, &r->t);
		}
	}
}

static inline void
ref_cnp(struct ref *r, uint64_t now)
{
	const struct rp_params *p = r->p;

	ref_run(r, now);
	r->stats.rp_cnp_handled++;
	if (ref_paper(r)) {
		ref_cut(r, now);
		ref_alpha(r, true);
		r->alpha_at = now + p->rp_dce_tcp_rtt_us * NS_PER_US;
		return;
	}
	r->cnp_in_monitor_slot = true;
	if (r->slots) {
		r->cnp_in_alpha_slot = true;
		return;
	}
	if (p->rp_rate_to_set_on_first_cnp_bps > 0 && p->rp_rate_to_set_on_first_cnp_bps < r->rate)
		r->rate = p->rp_rate_to_set_on_first_cnp_bps;
	if (r->rate < p->rp_min_rate_bps)
		r->rate = p->rp_min_rate_bps;
	r->target = r->rate;
	r->alpha = p->rp_initial_alpha_value * REF_ONE / 1024;
	ref_engage(r);
	r->slots = true;
	r->t = r->bc = r->bytes = 0;
	r->increase_at = NEVER_NS;
	r->alpha_at = now + p->rp_dce_tcp_rtt_us * NS_PER_US;
	r->monitor_at = now + p->rp_rate_reduce_monitor_period_us * NS_PER_US;
}

static inline void
ref_sent(struct ref *r, uint32_t bytes, uint64_t now)
{
	uint64_t b = r->p->rp_byte_reset_bytes;

	ref_run(r, now);
	if (!r->limited || b == 0)
		return;
	r->bytes += bytes;
	if (r->bytes >= b) {
		r->bytes %= b;
		ref_increase(r, &r->bc);
	}
}

#endif
