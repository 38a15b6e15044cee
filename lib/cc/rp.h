/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN reaction point of one QP: CNPs cut its rate, timers and a byte counter bring it back.
 *
 * Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section
 * 3.1, equations 1 to 4 and figure 7 (`paper` profile); NVIDIA "DCQCN CC Parameters" and the help
 * of mlxconfig (`mlx` profile). Rates are bits/s of wire bytes, and so is the byte counter.
 *
 * Time is lazy: nothing runs between calls. A call catches up with all events at or before now in
 * work that is bounded however long the idle time was; a test proves that rates, alpha and stages
 * equal those of a reference that steps through every event, bit for bit. Events of one instant
 * happen in the order alpha slot, monitor slot (cut), rate timer, and then the call's own CNP or
 * bytes.
 *
 * Invariant: min_rate <= current <= target <= max_rate, always.
 *
 * Life of a QP. At the maximum rate it is free: no rate timer runs and bytes are not counted. A CNP
 * limits it. When recovery has brought both rates back to the maximum it is free again: `paper`
 * goes on decaying alpha, `mlx` frees the limiter, so that the next CNP is a first CNP again and
 * sets alpha again. A QP that starts below the maximum rate is limited from the start, with
 * target = current = start rate: F steps later it probes upward by R_AI. Alpha holds its initial
 * value until the first CNP in any case.
 */
#ifndef QUENCH_CC_RP_H
#define QUENCH_CC_RP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/units.h"
#include "cc/did.h"

/* Bounds of what rp_fields accepts; the arithmetic relies on them. */
#define RP_MAX_RATE_BPS (1600 * GBPS)
#define RP_MAX_BYTE_RESET (1ull << 31)

enum rp_profile {
	RP_PROFILE_PAPER, /* each CNP acts at once */
	RP_PROFILE_MLX,   /* CNPs set flags; periodic slots act (ConnectX-4 and later) */
};

/*
 * Names are mlx5's debugfs names plus a unit; paper symbols are aliases in rp_fields. All QPs of a
 * node share them. A change applies from the next event on; after one of the minimum or maximum
 * rate rp_on_params() has to be called for each QP.
 */
struct rp_params {
	int rp_profile;                  /* enum rp_profile */
	bool rp_clamp_tgt_rate;          /* target follows current on every cut */
	bool rp_clamp_tgt_rate_ati;      /* ... only after an increase since the last cut */
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
	uint64_t rp_max_rate_bps; /* 0 in a file means the port's speed; resolved before use */
	uint64_t rp_rate_to_set_on_first_cnp_bps; /* mlx: 0 no override; never raises the rate */
};

/*
 * Defaults shown in rp_fields are the paper's. A file is read over rp_params_default() of the
 * profile it names, so that keys it leaves out are those of that profile.
 */
extern const struct field rp_fields[];
extern const unsigned int rp_fields_n;

/** Fill in the profile's defaults (`paper`: SIGCOMM'15's 40G testbed; `mlx`: today's firmware). */
void rp_params_default(struct rp_params *params, enum rp_profile profile);

/**
 * The ranges of rp_fields, and rules that a range of one key cannot say (min <= max and so on).
 * @return 0, or as params_refuse().
 */
int rp_params_check(const struct rp_params *params, char *why, unsigned int why_size);

struct rp_stats {
	uint64_t rp_cnp_handled; /* CNPs accepted for a known QP: counted by rp_on_cnp() */
	/* CNPs for no known QP, not of its peer, or control off: counted by the caller */
	uint64_t rp_cnp_ignored;
	uint64_t rp_cuts; /* that lowered the rate */
	/* Increases that did something: not those of a QP that is at the maximum rate already. */
	uint64_t rp_fast_recoveries;
	uint64_t rp_additive_increases;
	uint64_t rp_hyper_increases;
	/* Of a free QP, by a CNP or a start below the maximum; back to free at the maximum. */
	uint64_t rp_engagements;
	uint64_t rp_releases;
};

extern const struct counter_field rp_counters[];
extern const unsigned int rp_counters_n;

/* One QP. Embedded by the thousand: one cache line. Read it with the readers below. */
struct rp {
	/* per packet */
	uint64_t current_rate_bps;
	uint64_t next_event_ns; /* when the rate may change by itself; NEVER_NS when it will not */
	uint32_t byte_count;    /* wire bytes since the last byte event */
	/* per event */
	uint32_t alpha_q31; /* [0, 2^31] */
	uint64_t target_rate_bps;
	uint64_t next_alpha_ns; /* each NEVER_NS when it does not run */
	uint64_t next_monitor_ns;
	uint64_t next_increase_ns;
	uint16_t time_stage; /* T in figure 7, saturating */
	uint16_t byte_stage; /* BC in figure 7, saturating */
	uint8_t flags;
};
static_assert(sizeof(struct rp) <= 64, "one QP's reaction point fits a cache line");

/**
 * Start at start_rate_bps, clamped to [min, max]: free at the maximum, else limited, which the
 * caller counts as an engagement.
 */
void rp_init(struct rp *rp, const struct rp_params *params, uint64_t start_rate_bps,
	     uint64_t now_ns);

/*
 * Each of these three returns what it did, as a mask of enum cc_did. Updates of alpha have no bit:
 * they change no rate, and are done late, when a cut needs alpha.
 */

/**
 * Take a CNP for this QP, after all timer events at or before now_ns.
 *
 * `paper`: equation 1, at once: R_T = R_C, R_C = R_C (1 - alpha/2), alpha = (1 - g) alpha + g.
 * `mlx`: the first one sets alpha and starts the slots; each one marks the alpha slot and the
 * monitor slot that it came in, and at the end of that monitor slot the rate is cut.
 */
uint32_t rp_on_cnp(struct rp *rp, const struct rp_params *params, struct rp_stats *stats,
		   uint64_t now_ns);

/**
 * Catch up with the timer events at or before now_ns, of which at least one is due:
 * now_ns >= rp->next_event_ns. Events of alpha alone never set that time.
 */
uint32_t rp_on_timer(struct rp *rp, const struct rp_params *params, struct rp_stats *stats,
		     uint64_t now_ns);

/**
 * Account wire bytes sent by this QP, after all timer events at or before now_ns. One call
 * completes at most one count of B; bytes beyond B count towards the next. cc_on_sent() calls it
 * only when an event is due or the bytes complete B, and else adds the bytes to rp->byte_count
 * itself.
 */
uint32_t rp_on_sent(struct rp *rp, const struct rp_params *params, struct rp_stats *stats,
		    uint32_t bytes, uint64_t now_ns);

/** Is the QP limited, or free to send at the maximum rate? */
bool rp_limited(const struct rp *rp);

/**
 * The parameters have changed: a free QP goes on at the maximum rate, a limited one within the
 * bounds. @return CC_DID_RELOAD if the rate changed, else 0.
 */
uint32_t rp_on_params(struct rp *rp, const struct rp_params *params);

/** Alpha at now_ns, the time of the last event or later, as a fraction in [0, Q32_ONE]. */
uint64_t rp_alpha_q32(const struct rp *rp, const struct rp_params *params, uint64_t now_ns);

#endif
