/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/threads/counter.h"
#include "base/numbers/fixed.h"
#include "cc/points/rp.h"

enum {
	/* rate timer and byte counter run or, in mlx, start with the first cut */
	RP_LIMITED = 1 << 0,
	RP_SLOTS = 1 << 1,     /* mlx: alpha and monitor slots run, since the first CNP */
	RP_CNP_ALPHA = 1 << 2, /* mlx: CNP in this alpha slot */
	RP_CNP_CUT = 1 << 3,   /* mlx: CNP in this monitor slot */
};

#define ALPHA_ONE (1u << 31)

/* Figure 7: which of equations 3 and 4 an increase follows. */
enum rp_phase { RP_FAST_RECOVERY, RP_ADDITIVE_INCREASE, RP_HYPER_INCREASE };

static_assert(CC_DID_RAISE == CC_DID_FAST << RP_ADDITIVE_INCREASE &&
		      CC_DID_HYPER == CC_DID_FAST << RP_HYPER_INCREASE,
	      "the bits of increases stand in the order of their phases");

/* Equation 2: alpha (1 - g); rounding down makes it fall by at least one unit until it is 0. */
static uint32_t
alpha_decay(const struct rp_params *params, uint32_t alpha_q31)
{
	return (uint32_t)((uint64_t)alpha_q31 * params->rp_dce_tcp_g >> 10);
}

/* Equation 1: alpha (1 - g) + g. The distance from one decays, so that alpha reaches one. */
static uint32_t
alpha_rise(const struct rp_params *params, uint32_t alpha_q31)
{
	return ALPHA_ONE - alpha_decay(params, ALPHA_ONE - alpha_q31);
}

/* 1024 ln(2^31), rounded up. */
#define ALPHA_GONE 22004u

/*
 * Alpha after `slots` slots; cnp: with a CNP in the first one, and none in the others. After n
 * slots alpha is at most 2^31 (1 - g)^n units. Since ln(1 / (1 - g)) >= g, that is less than one
 * unit, which rounds down to 0, if n g >= ln(2^31). Fewer slots (up to 4400 with mlx's g) are run
 * one by one, because each of them rounds.
 */
static uint32_t
alpha_after(const struct rp_params *params, uint32_t alpha_q31, bool cnp, uint64_t slots)
{
	if (cnp) {
		alpha_q31 = alpha_rise(params, alpha_q31);
		slots--;
	}
	if (slots * (1024u - params->rp_dce_tcp_g) >= ALPHA_GONE)
		return 0;
	for (; slots > 0; slots--) {
		uint32_t next_q31 = alpha_decay(params, alpha_q31);

		if (next_q31 == alpha_q31)
			break;
		alpha_q31 = next_q31;
	}
	return alpha_q31;
}

/* Number of alpha slots that end at or before until_ns >= next_alpha_ns. */
static uint64_t
alpha_slots(const struct rp *rp, const struct rp_params *params, uint64_t until_ns)
{
	return (until_ns - rp->next_alpha_ns) / (params->rp_dce_tcp_rtt_us * NS_PER_US) + 1;
}

static void
run_alpha(struct rp *rp, const struct rp_params *params, uint64_t until_ns)
{
	uint64_t slots;

	if (rp->next_alpha_ns > until_ns)
		return;
	slots = alpha_slots(rp, params, until_ns);
	rp->alpha_q31 = alpha_after(params, rp->alpha_q31, rp->flags & RP_CNP_ALPHA, slots);
	rp->flags &= (uint8_t)~RP_CNP_ALPHA;
	rp->next_alpha_ns += slots * params->rp_dce_tcp_rtt_us * NS_PER_US;
}

uint64_t
rp_alpha_q32(const struct rp *rp, const struct rp_params *params, uint64_t now_ns)
{
	uint32_t alpha_q31 = rp->alpha_q31;

	if (rp->next_alpha_ns <= now_ns)
		alpha_q31 = alpha_after(params, alpha_q31, rp->flags & RP_CNP_ALPHA,
					alpha_slots(rp, params, now_ns));
	return (uint64_t)alpha_q31 << 1;
}

bool
rp_limited(const struct rp *rp)
{
	return rp->flags & RP_LIMITED;
}

static bool
at_max(const struct rp *rp, const struct rp_params *params)
{
	return rp->current_rate_bps >= params->rp_max_rate_bps;
}

static void
stage_add(uint16_t *stage, uint64_t n)
{
	*stage = (uint16_t)min_u64(UINT16_MAX, *stage + n);
}

static void
restart_recovery(struct rp *rp, uint64_t next_increase_ns)
{
	rp->time_stage = 0;
	rp->byte_stage = 0;
	rp->byte_count = 0;
	rp->next_increase_ns = next_increase_ns;
	rp->flags |= RP_LIMITED;
}

static uint32_t
count_engagement(const struct rp *rp, struct rp_stats *stats)
{
	if (rp->flags & RP_LIMITED)
		return 0;
	counter_inc(&stats->rp_engagements);
	return CC_DID_ENGAGE;
}

/*
 * Does a cut set R_T = R_C? By rpg_clamp_tgt_rate: always; by rpg_clamp_tgt_rate_after_time_inc:
 * after an increase by timer or byte counter; else, as in 802.1Qau, only if the byte counter has
 * expired since the last cut.
 */
static bool
cut_moves_target(const struct rp *rp, const struct rp_params *params)
{
	if (params->rp_clamp_tgt_rate || rp->byte_stage > 0)
		return true;
	return params->rp_clamp_tgt_rate_ati && rp->time_stage > 0;
}

/* SIGCOMM'15 equation 1, with the vendors' knobs. */
static inline uint32_t
cut(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint64_t at_ns)
{
	uint64_t rate_bps = rp->current_rate_bps;
	/* alpha in 1/1024 over 2^gd; 41 + 31 bits. */
	uint64_t by_alpha_bps =
		(uint64_t)((unsigned __int128)rate_bps * rp->alpha_q31 >> (21 + params->rp_gd));
	uint64_t most_bps = rate_bps * (100 - params->rp_min_dec_fac_pct) / 100;
	uint32_t did;

	if (cut_moves_target(rp, params))
		rp->target_rate_bps = rate_bps; /* R_T = R_C */
	rp->current_rate_bps =                  /* R_C = R_C (1 - alpha / 2) */
		max_u64(params->rp_min_rate_bps, rate_bps - min_u64(by_alpha_bps, most_bps));
	did = count_engagement(rp, stats);
	restart_recovery(rp, at_ns + params->rp_time_reset_us * NS_PER_US);
	/* The rate does not change at the minimum, or with rp_min_dec_fac_pct = 100. */
	if (rp->current_rate_bps == rate_bps)
		return did;
	counter_inc(&stats->rp_cuts);
	return did | CC_DID_CUT;
}

/*
 * Figure 7, with F fast steps in both profiles. The stages of `paper` include the present event;
 * the stages of `mlx` do not.
 */
static enum rp_phase
phase_of(const struct rp_params *params, uint16_t time_stage, uint16_t byte_stage)
{
	uint64_t high = max_u64(time_stage, byte_stage);
	uint64_t low = min_u64(time_stage, byte_stage);

	if (params->rp_profile == RP_PROFILE_PAPER ? high <= params->rp_threshold
						   : high < params->rp_threshold)
		return RP_FAST_RECOVERY;
	if (params->rp_profile == RP_PROFILE_MLX && params->rp_hyper_by_timer)
		low = time_stage;
	return low > params->rp_threshold ? RP_HYPER_INCREASE : RP_ADDITIVE_INCREASE;
}

static uint64_t
step_bps(const struct rp_params *params, enum rp_phase phase, uint16_t time_stage,
	 uint16_t byte_stage)
{
	switch (phase) {
	case RP_FAST_RECOVERY:
		return 0;
	case RP_ADDITIVE_INCREASE:
		return params->rp_ai_rate_bps;
	default:
		if (params->rp_profile == RP_PROFILE_MLX)
			return params->rp_hai_rate_bps;
		return (min_u64(time_stage, byte_stage) - params->rp_threshold) *
		       params->rp_hai_rate_bps;
	}
}

static inline uint32_t
count_increases(struct rp_stats *stats, enum rp_phase phase, uint64_t n)
{
	counter_add(phase == RP_FAST_RECOVERY       ? &stats->rp_fast_recoveries
		    : phase == RP_ADDITIVE_INCREASE ? &stats->rp_additive_increases
						    : &stats->rp_hyper_increases,
		    n);
	return n > 0 ? (uint32_t)CC_DID_FAST << phase : 0;
}

/* SIGCOMM'15 equations 3 and 4. */
static inline void
raise_once(const struct rp_params *params, uint64_t step, uint64_t *target_bps,
	   uint64_t *current_bps)
{
	/* R_T = R_T + (0 | R_AI | i R_HAI) */
	*target_bps = min_u64(*target_bps + step, params->rp_max_rate_bps);
	/*
	 * R_C = (R_T + R_C) / 2, rounded up, because R_C would never reach R_T if it were rounded
	 * down.
	 */
	*current_bps = (*target_bps + *current_bps + 1) / 2;
}

static uint32_t
raise(struct rp *rp, const struct rp_params *params, struct rp_stats *stats)
{
	enum rp_phase phase = phase_of(params, rp->time_stage, rp->byte_stage);
	uint64_t step = step_bps(params, phase, rp->time_stage, rp->byte_stage);

	if (at_max(rp, params))
		return 0;
	raise_once(params, step, &rp->target_rate_bps, &rp->current_rate_bps);
	return count_increases(stats, phase, 1);
}

/* An event of the rate timer or the byte counter, whose stage is given. */
static uint32_t
increase(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint16_t *stage)
{
	uint32_t did;

	if (params->rp_profile == RP_PROFILE_PAPER) {
		stage_add(stage, 1);
		return raise(rp, params, stats);
	}
	did = raise(rp, params, stats);
	stage_add(stage, 1);
	return did;
}

/*
 * Release the limiter if the rate has reached the maximum and no CNP waits for the end of its slot.
 */
static uint32_t
release_at_max(struct rp *rp, const struct rp_params *params, struct rp_stats *stats,
	       uint64_t at_ns)
{
	if (!at_max(rp, params) || (rp->flags & RP_CNP_CUT))
		return 0;
	rp->next_increase_ns = NEVER_NS;
	if (params->rp_profile == RP_PROFILE_MLX) {
		run_alpha(rp, params, at_ns);
		rp->next_alpha_ns = NEVER_NS;
		rp->next_monitor_ns = NEVER_NS;
		rp->flags = RP_LIMITED;
	}
	if (!(rp->flags & RP_LIMITED))
		return 0;
	counter_inc(&stats->rp_releases);
	rp->flags &= (uint8_t)~RP_LIMITED;
	return CC_DID_FREE;
}

/* Number of events of the rate timer at or before until_ns >= next_increase_ns. */
static inline uint64_t
events_due(const struct rp *rp, const struct rp_params *params, uint64_t until_ns)
{
	uint64_t period_ns = params->rp_time_reset_us * NS_PER_US;
	uint64_t late_ns = until_ns - rp->next_increase_ns;

	/* Mostly one is due, which needs no division. */
	return late_ns < period_ns ? 1 : late_ns / period_ns + 1;
}

/*
 * Do all further events of the rate timer raise the target by the same step? Beyond F the phase is
 * constant. In paper the step is constant too, once T is not below BC.
 */
static inline bool
is_steady(const struct rp *rp, const struct rp_params *params)
{
	if (rp->time_stage <= params->rp_threshold)
		return false;
	return params->rp_profile != RP_PROFILE_PAPER || rp->time_stage >= rp->byte_stage ||
	       rp->byte_stage <= params->rp_threshold;
}

/* The greatest n <= events so that n steps from `from` do not pass `to`. */
static inline uint64_t
steps_within(uint64_t events, uint64_t step, uint64_t from, uint64_t to)
{
	uint64_t room = sub_sat(to, from), rise;

	if (!__builtin_mul_overflow(events, step, &rise) && rise <= room)
		return events;
	return room / step;
}

/*
 * Run events of the rate timer, at most `most` >= 1, in one pass: those that change nothing but the
 * target by one step and the rate. If the next event changes more, only that one is run, and an
 * event that takes the rate to the maximum is not, because it ends the recovery. Their effects are
 * added to *did.
 *
 * With d = R_T - R_C, an event makes d' = floor((d + step) / 2), which converges within 64 events.
 * From then on all events are one addition.
 * @return the number of events that were run.
 */
static inline uint64_t
increase_steadily(struct rp *rp, const struct rp_params *params, struct rp_stats *stats,
		  uint64_t most, uint32_t *did)
{
	const uint64_t max_bps = params->rp_max_rate_bps;
	uint64_t target_bps = rp->target_rate_bps, current_bps = rp->current_rate_bps;
	uint64_t step, n = 0;
	uint16_t stage = rp->time_stage;
	enum rp_phase phase;

	if (most > 1 && !is_steady(rp, params))
		most = 1;
	/* As in increase(). */
	if (params->rp_profile == RP_PROFILE_PAPER)
		stage_add(&stage, 1);
	phase = phase_of(params, stage, rp->byte_stage);
	step = step_bps(params, phase, stage, rp->byte_stage);
	while (n < most) {
		uint64_t next_target_bps = target_bps, next_bps = current_bps, gap_bps, jumps;

		raise_once(params, step, &next_target_bps, &next_bps);
		if (next_bps >= max_bps)
			break;
		gap_bps = target_bps - current_bps;
		target_bps = next_target_bps;
		current_bps = next_bps;
		n++;
		if (n == most || target_bps - current_bps != gap_bps)
			continue;
		/* The rate is below the target unless the gap is 0. */
		jumps = steps_within(most - n, step, target_bps, max_bps - (gap_bps == 0));
		target_bps += jumps * step;
		current_bps += jumps * step;
		n += jumps;
	}
	rp->target_rate_bps = target_bps;
	rp->current_rate_bps = current_bps;
	stage_add(&rp->time_stage, n);
	rp->next_increase_ns += n * (params->rp_time_reset_us * NS_PER_US);
	*did |= count_increases(stats, phase, n);
	return n;
}

/*
 * Run the rate timer's events at or before until_ns. Bounded: F fast steps, at most 2^16 hyper
 * steps of increasing size until T has caught up with BC, 64 steps until the gap is constant, a
 * jump to the maximum, and 64 steps until R_C is there.
 */
static uint32_t
run_increases(struct rp *rp, const struct rp_params *params, struct rp_stats *stats,
	      uint64_t until_ns)
{
	uint64_t period_ns = params->rp_time_reset_us * NS_PER_US;
	uint32_t did = 0;

	while (rp->next_increase_ns <= until_ns) {
		uint64_t left = events_due(rp, params, until_ns);
		uint64_t at_ns, done = 1;

		if (!at_max(rp, params) && increase_steadily(rp, params, stats, left, &did) > 0)
			continue;
		if (at_max(rp, params)) {
			/*
			 * The QP is still limited only because a CNP waits for the end of its slot,
			 * and that is after until_ns.
			 */
			done = rp->flags & RP_CNP_CUT ? left : 1;
			stage_add(&rp->time_stage, done);
		} else {
			did |= increase(rp, params, stats, &rp->time_stage);
		}
		at_ns = rp->next_increase_ns + (done - 1) * period_ns;
		rp->next_increase_ns = at_ns + period_ns;
		did |= release_at_max(rp, params, stats, at_ns);
	}
	return did;
}

/* Does a monitor slot with a CNP end at or before until_ns? */
static bool
cut_is_due(const struct rp *rp, uint64_t until_ns)
{
	return (rp->flags & RP_CNP_CUT) && rp->next_monitor_ns <= until_ns;
}

/*
 * Alpha slots are not among the events: they change no rate, and every cut, CNP and release first
 * updates alpha.
 */
static void
set_next_event(struct rp *rp)
{
	rp->next_event_ns = rp->next_increase_ns;
	if (rp->flags & RP_CNP_CUT)
		rp->next_event_ns = min_u64(rp->next_event_ns, rp->next_monitor_ns);
}

static __attribute__((noinline)) uint32_t
catch_up(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint64_t now_ns)
{
	uint64_t monitor_ns = params->rp_rate_reduce_monitor_period_us * NS_PER_US;
	uint32_t did = 0;

	if (cut_is_due(rp, now_ns)) {
		uint64_t at_ns = rp->next_monitor_ns;

		/*
		 * The cut restarts the rate timer, so an event of the timer at the same time is
		 * cancelled.
		 */
		did |= run_increases(rp, params, stats, at_ns - 1);
		run_alpha(rp, params, at_ns);
		rp->flags &= (uint8_t)~RP_CNP_CUT;
		did |= cut(rp, params, stats, at_ns);
	}
	did |= run_increases(rp, params, stats, now_ns);
	if (rp->next_monitor_ns <= now_ns)
		rp->next_monitor_ns +=
			((now_ns - rp->next_monitor_ns) / monitor_ns + 1) * monitor_ns;
	set_next_event(rp);
	assert(rp->current_rate_bps <= rp->target_rate_bps);
	return did;
}

/*
 * The usual case between two CNPs, without a loop: only the rate timer is due, all its events are
 * additive increases, and the QP stays limited. Target and rate rise by R_AI alone at each event if
 * the gap between them has come to rest: gap = floor((gap + R_AI) / 2), as in increase_steadily().
 * It does not advance monitor slots without a CNP: a later call that needs the current slot does
 * that.
 *
 * @return false: nothing was done.
 */
static inline bool
rise_straight(struct rp *rp, const struct rp_params *params, struct rp_stats *stats,
	      uint64_t now_ns)
{
	const uint64_t step = params->rp_ai_rate_bps;
	uint64_t gap_bps = rp->target_rate_bps - rp->current_rate_bps, events, rise_bps;

	if ((rp->flags & RP_CNP_CUT) || now_ns < rp->next_increase_ns ||
	    rp->time_stage <= params->rp_threshold || rp->byte_stage > params->rp_threshold ||
	    params->rp_hyper_by_timer || step - gap_bps > 1)
		return false;
	events = events_due(rp, params, now_ns);
	if (__builtin_mul_overflow(events, step, &rise_bps) ||
	    rise_bps >= params->rp_max_rate_bps - rp->target_rate_bps)
		return false;
	rp->target_rate_bps += rise_bps;
	rp->current_rate_bps += rise_bps;
	stage_add(&rp->time_stage, events);
	rp->next_increase_ns += events * (params->rp_time_reset_us * NS_PER_US);
	rp->next_event_ns = rp->next_increase_ns;
	counter_add(&stats->rp_additive_increases, events);
	return true;
}

/* rp_on_timer() in all other cases. Out of line, so that the usual one saves no registers. */
static __attribute__((noinline)) uint32_t
run_timer(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint64_t now_ns)
{
	uint64_t events;
	uint32_t did = 0;

	if ((rp->flags & RP_CNP_CUT) || now_ns < rp->next_increase_ns)
		return catch_up(rp, params, stats, now_ns);
	events = events_due(rp, params, now_ns);
	if (increase_steadily(rp, params, stats, events, &did) < events)
		return did | catch_up(rp, params, stats, now_ns);
	rp->next_event_ns = rp->next_increase_ns;
	return did;
}

uint32_t
rp_on_timer(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint64_t now_ns)
{
	if (rise_straight(rp, params, stats, now_ns))
		return CC_DID_RAISE;
	return run_timer(rp, params, stats, now_ns);
}

void
rp_rest(struct rp *rp, uint64_t until_ns)
{
	rp->next_event_ns = max_u64(rp->next_event_ns, until_ns);
	if (rp->flags & RP_CNP_CUT)
		rp->next_event_ns = min_u64(rp->next_event_ns, rp->next_monitor_ns);
}

/* A timer that expires after now_ns + ns. */
static uint64_t
earlier(uint64_t at_ns, uint64_t ns)
{
	return at_ns == NEVER_NS ? NEVER_NS : at_ns - ns;
}

uint32_t
rp_pass(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint64_t ns,
	uint64_t now_ns)
{
	uint64_t until_ns = now_ns + ns,
		 monitor_ns = params->rp_rate_reduce_monitor_period_us * NS_PER_US;
	uint32_t did = 0;

	if (until_ns >= min_u64(rp->next_event_ns, rp->next_increase_ns))
		did = rp_on_timer(rp, params, stats, until_ns);
	run_alpha(rp, params, until_ns);
	/* Monitor slots without a CNP have ended. */
	if (rp->next_monitor_ns <= until_ns)
		rp->next_monitor_ns +=
			((until_ns - rp->next_monitor_ns) / monitor_ns + 1) * monitor_ns;
	rp->next_event_ns = earlier(rp->next_event_ns, ns);
	rp->next_alpha_ns = earlier(rp->next_alpha_ns, ns);
	rp->next_monitor_ns = earlier(rp->next_monitor_ns, ns);
	rp->next_increase_ns = earlier(rp->next_increase_ns, ns);
	return did;
}

void
rp_init(struct rp *rp, const struct rp_params *params, uint64_t start_rate_bps, uint64_t now_ns)
{
	uint64_t rate_bps =
		min_u64(max_u64(start_rate_bps, params->rp_min_rate_bps), params->rp_max_rate_bps);

	assert(params->rp_max_rate_bps > 0);
	*rp = (struct rp){
		.current_rate_bps = rate_bps,
		.target_rate_bps = rate_bps,
		.alpha_q31 = (uint32_t)params->rp_initial_alpha_value << 21,
		.next_event_ns = NEVER_NS,
		.next_alpha_ns = NEVER_NS,
		.next_monitor_ns = NEVER_NS,
		.next_increase_ns = NEVER_NS,
	};
	if (!at_max(rp, params))
		restart_recovery(rp, now_ns + params->rp_time_reset_us * NS_PER_US);
	set_next_event(rp);
}

uint32_t
rp_on_params(struct rp *rp, const struct rp_params *params)
{
	uint64_t before_bps = rp->current_rate_bps;

	if (!rp_limited(rp)) {
		rp->current_rate_bps = rp->target_rate_bps = params->rp_max_rate_bps;
	} else {
		rp->target_rate_bps =
			max_u64(params->rp_min_rate_bps,
				min_u64(rp->target_rate_bps, params->rp_max_rate_bps));
		rp->current_rate_bps = max_u64(params->rp_min_rate_bps,
					       min_u64(rp->current_rate_bps, rp->target_rate_bps));
	}
	return rp->current_rate_bps != before_bps ? CC_DID_RELOAD : 0;
}

/*
 * mlx: the first CNP engages the limiter. The alpha flag is clear and the cut flag is set: the
 * first cut follows one monitor period later, with an alpha that decays unless more CNPs arrive.
 * The rate timer starts with that cut.
 */
static uint32_t
first_cnp(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint64_t now_ns)
{
	uint64_t override_bps = params->rp_rate_to_set_on_first_cnp_bps;
	uint32_t did;

	if (override_bps > 0)
		rp->current_rate_bps = min_u64(rp->current_rate_bps,
					       max_u64(override_bps, params->rp_min_rate_bps));
	rp->target_rate_bps = rp->current_rate_bps;
	rp->alpha_q31 = (uint32_t)params->rp_initial_alpha_value << 21;
	did = count_engagement(rp, stats);
	rp->flags = RP_SLOTS | RP_CNP_CUT;
	restart_recovery(rp, NEVER_NS);
	rp->next_alpha_ns = now_ns + params->rp_dce_tcp_rtt_us * NS_PER_US;
	rp->next_monitor_ns = now_ns + params->rp_rate_reduce_monitor_period_us * NS_PER_US;
	return did;
}

uint32_t
rp_on_cnp(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint64_t now_ns)
{
	uint32_t did = CC_DID_CNP;

	/* Increases may have waited beyond next_event_ns. */
	if (now_ns >= min_u64(rp->next_event_ns, rp->next_increase_ns))
		did |= rp_on_timer(rp, params, stats, now_ns);
	/* A monitor slot without a CNP has ended: the next one begins. */
	if (now_ns >= rp->next_monitor_ns)
		did |= catch_up(rp, params, stats, now_ns);
	run_alpha(rp, params, now_ns);
	counter_inc(&stats->rp_cnp_handled);
	if (params->rp_profile == RP_PROFILE_PAPER) {
		did |= cut(rp, params, stats, now_ns);
		rp->alpha_q31 = alpha_rise(params, rp->alpha_q31);
		rp->next_alpha_ns = now_ns + params->rp_dce_tcp_rtt_us * NS_PER_US;
	} else if (rp->flags & RP_SLOTS) {
		rp->flags |= RP_CNP_ALPHA | RP_CNP_CUT;
	} else {
		did |= first_cnp(rp, params, stats, now_ns);
	}
	set_next_event(rp);
	return did;
}

uint32_t
rp_on_sent(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint32_t bytes,
	   uint64_t now_ns)
{
	uint64_t byte_reset = params->rp_byte_reset_bytes;
	uint32_t did = rp_on_timer(rp, params, stats, now_ns);
	uint64_t sum = (uint64_t)rp->byte_count + bytes;

	if (!rp_limited(rp)) {
		sum = 0;
	} else if (byte_reset > 0 && sum >= byte_reset) {
		sum %= byte_reset;
		did |= increase(rp, params, stats, &rp->byte_stage);
		did |= release_at_max(rp, params, stats, now_ns);
		set_next_event(rp);
	}
	rp->byte_count = (uint32_t)sum;
	return did;
}
