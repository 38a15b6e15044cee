/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN reaction point of one QP: CNPs cut its rate; a timer and a byte counter raise it again.
 *
 * Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section
 * 3.1, equations 1 to 4 and figure 7 (`paper` profile); NVIDIA "DCQCN CC Parameters" and the help
 * of mlxconfig (`mlx` profile). Rates are bits/s of wire bytes, and so is the byte counter.
 *
 * Nothing runs between calls: each call first catches up with all events at or before its time, and
 * its work is bounded after any idle time. A test proves that rates, alpha and stages equal, bit
 * for bit, those of a reference that steps through every event. The order of simultaneous events is
 * alpha slot, monitor slot (cut), rate timer, then the CNP or the bytes of the call.
 *
 * Invariant: min_rate <= current <= target <= max_rate, always.
 *
 * A QP is free or limited. At the maximum rate it is free: the rate timer does not run, and bytes
 * are not counted. A CNP makes the QP limited. It is free again when both rates have recovered to
 * the maximum: `paper` then continues to decay alpha, `mlx` releases the limiter, so that the next
 * CNP is a first CNP and resets alpha. A QP that starts below the maximum rate is limited, with
 * target = current = start rate: after F steps it probes upward by R_AI. Alpha keeps its initial
 * value until the first CNP.
 */
#ifndef QUENCH_CC_POINTS_RP_H
#define QUENCH_CC_POINTS_RP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/field/field.h"
#include "base/numbers/units.h"
#include "cc/points/did.h"

/* Bounds of rp_fields, on which the arithmetic relies. */
#define RP_MAX_RATE_BPS (1600 * GBPS)
#define RP_MAX_BYTE_RESET (1ull << 31)

enum rp_profile {
	RP_PROFILE_PAPER, /* each CNP cuts the rate at once */
	RP_PROFILE_MLX,   /* CNPs set flags that act at the end of slots (ConnectX-4 and later) */
};

/*
 * Names are those of mlx5's debugfs plus a unit; the paper's symbols are aliases in rp_fields. All
 * QPs of a node share the parameters. A change applies from the next event; after a change of the
 * minimum or maximum rate call rp_on_params() for each QP.
 */
struct rp_params {
	int rp_profile;         /* enum rp_profile */
	bool rp_clamp_tgt_rate; /* target follows current on every cut */
	/* ... after an event of timer or byte counter; off: only after one of the byte counter */
	bool rp_clamp_tgt_rate_ati;
	bool rp_hyper_by_timer;          /* mlx: hyper increase after F time stages, whatever BC */
	uint8_t rp_threshold;            /* F: fast-recovery steps */
	uint8_t rp_gd;                   /* log2 of the divisor of alpha, in 1/1024, in a cut */
	uint8_t rp_min_dec_fac_pct;      /* a cut keeps at least this share of the rate */
	uint16_t rp_dce_tcp_g;           /* weight of the OLD alpha: 1024 (1 - g of the paper) */
	uint16_t rp_initial_alpha_value; /* alpha at the first CNP, in 1/1024 */
	uint32_t rp_dce_tcp_rtt_us;      /* K: alpha timer (paper), alpha slot (mlx) */
	uint32_t rp_rate_reduce_monitor_period_us; /* mlx: least time between cuts */
	uint32_t rp_time_reset_us;                 /* T: time between increases */
	uint64_t rp_byte_reset_bytes;              /* B: wire bytes between increases; 0 off */
	uint64_t rp_ai_rate_bps;                   /* R_AI */
	uint64_t rp_hai_rate_bps;                  /* R_HAI */
	uint64_t rp_min_rate_bps;
	uint64_t rp_max_rate_bps; /* 0 in a file: the port's speed; resolved before use */
	uint64_t rp_rate_to_set_on_first_cnp_bps; /* mlx: 0 no override; never raises the rate */
};

/*
 * Defaults in rp_fields are the paper's. A file is read over rp_params_default() of its profile, so
 * that omitted keys have the defaults of that profile.
 */
FIELD_TABLE(rp_fields);

/** Fill in the profile's defaults (`paper`: SIGCOMM'15's 40G testbed; `mlx`: today's firmware). */
void rp_params_default(struct rp_params *params, enum rp_profile profile);

/**
 * Check the ranges of rp_fields, and rules between keys (min <= max and so on).
 * @return 0, or as params_refuse().
 */
int rp_params_check(const struct rp_params *params, char *why, unsigned int why_size);

struct rp_stats {
	/* CNPs accepted for a known QP; counted by rp_on_cnp(), for dctcp by cc_on_cnp() */
	uint64_t rp_cnp_handled;
	/* CNPs for an unknown QP, not from its peer, or with control off; counted by the caller */
	uint64_t rp_cnp_ignored;
	uint64_t rp_cuts; /* cuts that lowered the rate */
	/* Rate increases, except those of a QP at the maximum rate. */
	uint64_t rp_fast_recoveries;
	uint64_t rp_additive_increases;
	uint64_t rp_hyper_increases;
	/*
	 * Changes from free to limited (including a start below the maximum), and from limited to
	 * free.
	 */
	uint64_t rp_engagements;
	uint64_t rp_releases;
};

COUNTER_TABLE(rp_counters);

/* One QP. Embedded by the thousand: one cache line. */
struct rp {
	/* per packet */
	uint64_t current_rate_bps;
	uint64_t next_event_ns; /* next change of the rate by time; NEVER_NS: none */
	uint32_t byte_count;    /* wire bytes since the last byte event */
	/* per event */
	uint32_t alpha_q31; /* [0, 2^31] */
	uint64_t target_rate_bps;
	uint64_t next_alpha_ns; /* this and the next two: NEVER_NS if the timer does not run */
	uint64_t next_monitor_ns;
	uint64_t next_increase_ns;
	uint16_t time_stage; /* T in figure 7, saturating */
	uint16_t byte_stage; /* BC in figure 7, saturating */
	uint8_t flags;
};
static_assert(sizeof(struct rp) <= 64, "one QP's reaction point fits a cache line");

/**
 * Start at start_rate_bps, clamped to [min, max]. At the maximum the QP is free, else limited,
 * which the caller counts as an engagement.
 */
void rp_init(struct rp *rp, const struct rp_params *params, uint64_t start_rate_bps,
	     uint64_t now_ns);

/*
 * These three return a mask of enum cc_did. An update of alpha has no bit: it changes no rate, and
 * is delayed until a cut needs alpha.
 */

/**
 * Handle a CNP for this QP, after all timer events at or before now_ns.
 *
 * `paper`: equation 1, at once: R_T = R_C, R_C = R_C (1 - alpha/2), alpha = (1 - g) alpha + g.
 * `mlx`: the first CNP sets alpha, lowers the rate to rp_rate_to_set_on_first_cnp, starts the slots
 * and marks the first monitor slot. Each later one marks the current alpha slot and monitor slot.
 * The rate is cut at the end of a marked monitor slot.
 */
uint32_t rp_on_cnp(struct rp *rp, const struct rp_params *params, struct rp_stats *stats,
		   uint64_t now_ns);

/**
 * Run all timer events at or before now_ns, those that rp_rest() let wait included. Alpha slots do
 * not set next_event_ns.
 */
uint32_t rp_on_timer(struct rp *rp, const struct rp_params *params, struct rp_stats *stats,
		     uint64_t now_ns);

/**
 * Account wire bytes sent by this QP, after all timer events at or before now_ns. One call
 * completes B at most once; the remaining bytes count towards the next B. cc_on_sent() calls it
 * only if an event is due or the bytes complete B; otherwise it adds the bytes to rp->byte_count
 * itself.
 */
uint32_t rp_on_sent(struct rp *rp, const struct rp_params *params, struct rp_stats *stats,
		    uint32_t bytes, uint64_t now_ns);

/**
 * Let the rate timer's events wait until until_ns, or until the next CNP or byte event if that is
 * earlier. They only raise the rate. Cuts do not wait.
 */
void rp_rest(struct rp *rp, uint64_t until_ns);

/**
 * ns pass without bytes and CNPs, and the clock stays at now_ns: run the events of this time, and
 * let the timers expire earlier by it.
 */
uint32_t rp_pass(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint64_t ns,
		 uint64_t now_ns);

/** Is the QP limited, or free to send at the maximum rate? */
bool rp_limited(const struct rp *rp);

/**
 * Apply changed parameters: a free QP sends at the new maximum rate, a limited one is clamped to
 * the new bounds. @return CC_DID_RELOAD if the rate changed, else 0.
 */
uint32_t rp_on_params(struct rp *rp, const struct rp_params *params);

/** Alpha at now_ns, the time of the last event or later, as a fraction in [0, Q32_ONE]. */
uint64_t rp_alpha_q32(const struct rp *rp, const struct rp_params *params, uint64_t now_ns);

#endif
