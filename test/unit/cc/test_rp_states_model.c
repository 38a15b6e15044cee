/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of the rate timer in a wait, which are not run one by one, beside a loop over each of
 * them, from random states of a limited QP. QUENCH_STEPS sets the number of states (default 10^6).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "unit/cc/rp_random.h"

/* A number below 2^bits; each number of bits is as likely. */
static uint64_t
any(struct prng *rnd, unsigned int bits)
{
	return prng_below(rnd, 1ull << prng_below(rnd, bits + 1));
}

static uint16_t
any_stage(struct prng *rnd)
{
	return (uint16_t)(prng_below(rnd, 64) ? any(rnd, 6) : any(rnd, 16));
}

/* A limited QP in any state. */
static void
draw_state(struct point *p, struct ref *ref, struct prng *rnd, const struct rp_params *params,
	   uint64_t now_ns)
{
	uint64_t room = params->rp_max_rate_bps - params->rp_min_rate_bps;
	struct rp *rp = &p->cc.rp;

	point_start(p, params, params->rp_max_rate_bps - 1, now_ns);
	ref_init(ref, params, params->rp_max_rate_bps - 1, now_ns);
	rp->target_rate_bps = params->rp_min_rate_bps + any(rnd, 41) % (room + 1);
	rp->current_rate_bps = rp->target_rate_bps -
			       any(rnd, 41) % (rp->target_rate_bps - params->rp_min_rate_bps + 1);
	/* In a quarter, at rest or next to it, as after some additive increases. */
	if (prng_below(rnd, 4) == 0)
		rp->current_rate_bps =
			max_u64(params->rp_min_rate_bps,
				sub_sat(rp->target_rate_bps + 2,
					params->rp_ai_rate_bps + prng_below(rnd, 5)));
	rp->current_rate_bps = min_u64(rp->current_rate_bps, rp->target_rate_bps);
	if (rp->current_rate_bps == params->rp_max_rate_bps)
		rp->current_rate_bps--;
	rp->time_stage = any_stage(rnd);
	rp->byte_stage = any_stage(rnd);
	ref->target = rp->target_rate_bps;
	ref->rate = rp->current_rate_bps;
	ref->t = rp->time_stage;
	ref->bc = rp->byte_stage;
}

/* Up to `most` events, and mostly few. */
static uint64_t
draw_wait_ns(struct prng *rnd, const struct rp_params *params, unsigned int bits)
{
	uint64_t period_ns = params->rp_time_reset_us * US;

	return (1 + any(rnd, bits)) * period_ns + prng_below(rnd, period_ns) - prng_below(rnd, 2);
}

TEST(events_of_a_wait_end_as_in_a_loop_over_them)
{
	const char *text = getenv("QUENCH_STEPS");
	uint64_t steps = text != NULL ? strtoull(text, NULL, 10) : 1000000, straight = 0;
	struct rp_params params = {0};
	struct prng rnd;
	struct ref ref;
	struct point p;

	prng_seed(&rnd, 1, 0);
	for (uint64_t i = 0; i < steps; i++) {
		uint64_t now_ns = any(&rnd, 50), gap_bps;

		if (i % 16 == 0)
			params = rp_random_params(
				&rnd, i / 16 % 2 ? RP_PROFILE_MLX : RP_PROFILE_PAPER, 1);
		if (params.rp_max_rate_bps == params.rp_min_rate_bps)
			continue;
		draw_state(&p, &ref, &rnd, &params, now_ns);
		gap_bps = p.cc.rp.target_rate_bps - p.cc.rp.current_rate_bps;
		/* Now and then as long as a QP may be idle, which takes the reference long. */
		now_ns += draw_wait_ns(&rnd, &params, i % 1024 ? 8 : 16);
		point_look(&p, now_ns);
		ref_run(&ref, now_ns);
		if (!rp_same(&p, &ref, now_ns) || !p.honest ||
		    (rp_limited(&p.cc.rp) && p.cc.head.next_event_ns != ref.increase_at))
			fail_msg("state %" PRIu64 ": R_C %" PRIu64 ", not %" PRIu64
				 ", or another member",
				 i, p.cc.rp.current_rate_bps, ref.rate);
		straight += p.stats.rp_additive_increases > 1 &&
			    p.cc.rp.target_rate_bps - p.cc.rp.current_rate_bps == gap_bps;
	}
	/* Both kinds were many: with a gap that stays, and others. */
	assert_in_range(straight, steps / 100, steps / 2);
}

TEST_MAIN()
