/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCQCN reaction point of one QP: CNPs cut its rate, timers and a byte counter bring it back.
 *
 * Source: Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1,
 * equations 1 to 4 and figure 7 (`paper` profile); NVIDIA "DCQCN CC Parameters" and mlxconfig (`mlx`).
 *
 * Time is lazy: nothing runs between calls. rp_update() catches up with all events before now in
 * closed form or bounded work; a test proves that rates equal those of an event-by-event reference.
 * Invariant: min_rate <= current <= max_rate and current <= target <= max_rate, always.
 */
#ifndef QUENCH_CC_RP_H
#define QUENCH_CC_RP_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/field.h"
#include "base/units.h"

enum rp_profile {
	RP_PROFILE_PAPER, /* each CNP acts at once */
	RP_PROFILE_MLX,   /* CNPs set flags; periodic slots act (ConnectX-4 and later) */
};

/* Names are mlx5's debugfs names plus a unit; paper symbols are aliases in rp_fields. */
struct rp_params {
	int rp_profile;                         /* enum rp_profile */
	bool rp_clamp_tgt_rate;                 /* target follows current on every cut */
	bool rp_clamp_tgt_rate_ati;             /* ... only if an increase came since the last cut */
	uint8_t rp_threshold;                   /* F: fast-recovery steps */
	uint8_t rp_gd;                          /* log2 of the cut's divisor of alpha in 1/1024 */
	uint8_t rp_min_dec_fac_pct;             /* a cut keeps at least this share of the rate */
	uint16_t rp_dce_tcp_g;                  /* weight of the OLD alpha, in 1/1024: 1024 (1 - g of the paper) */
	uint16_t rp_initial_alpha_value;        /* alpha at the first CNP, in 1/1024 */
	uint32_t rp_dce_tcp_rtt_us;             /* K: alpha timer (paper), alpha slot (mlx) */
	uint32_t rp_rate_reduce_monitor_period_us; /* mlx: least time between cuts */
	uint32_t rp_time_reset_us;              /* T: time between increases */
	uint64_t rp_byte_reset_bytes;           /* B: wire bytes between increases; 0 off */
	uint64_t rp_ai_rate_bps;                /* R_AI */
	uint64_t rp_hai_rate_bps;               /* R_HAI */
	uint64_t rp_min_rate_bps;
	uint64_t rp_max_rate_bps;               /* R_C; 0 in a file means the port's speed; resolved before use */
	uint64_t rp_rate_to_set_on_first_cnp_bps; /* 0: no override */
};

extern const struct field rp_fields[];
extern const unsigned int rp_fields_n;

/** Fill in the profile's defaults (facts: `paper` is SIGCOMM'15's 40G testbed; `mlx` today's firmware). */
void rp_params_default(struct rp_params *params, enum rp_profile profile);

/**
 * Cross-field rules (min <= max and so on). @param why  On failure one clause that names the key and the rule.
 * @return 0 or -EINVAL.
 */
int rp_params_check(const struct rp_params *params, const char **why);

struct rp_stats {
	uint64_t rp_cnp_handled; /* CNPs accepted for a known QP */
	uint64_t rp_cnp_ignored; /* CNPs for an unknown QP, or congestion control off */
	uint64_t rp_cuts;
	uint64_t rp_fast_recoveries;
	uint64_t rp_additive_increases;
	uint64_t rp_hyper_increases;
	uint64_t rp_releases;    /* limiter freed at the maximum rate (mlx) */
};

extern const struct counter_field rp_counters[];
extern const unsigned int rp_counters_n;

/* One QP. Embedded by the thousand: one cache line. The caller treats all but the two readers below as private. */
struct rp {
	/* per packet */
	uint64_t current_rate_bps;
	uint64_t next_event_ns;   /* earliest timer or slot end; NEVER_NS when none runs */
	uint64_t byte_count;      /* wire bytes since the last byte event */
	/* per event */
	uint64_t target_rate_bps;
	uint64_t alpha_q32;       /* [0, Q32_ONE] */
	uint64_t next_alpha_ns;
	uint64_t next_increase_ns;
	uint16_t time_stage;      /* T in figure 7, saturating */
	uint16_t byte_stage;      /* BC in figure 7, saturating */
	uint8_t flags;            /* limited, CNP seen in alpha slot, CNP seen in monitor slot */
	uint8_t monitor_phase;    /* mlx: private */
};
static_assert(sizeof(struct rp) <= 64, "one QP's reaction point fits a cache line");

/** Start at start_rate_bps (clamped to [min, max]) with no limiter and no timer running. */
void rp_init(struct rp *rp, const struct rp_params *params, uint64_t start_rate_bps, uint64_t now_ns);

/** Take a CNP for this QP. @return the rate in force now, in [min, max] bits/s of wire bytes. */
uint64_t rp_on_cnp(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint64_t now_ns);

/** Account wire bytes sent by this QP. @return the rate in force now. */
uint64_t rp_on_sent(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint32_t bytes,
		    uint64_t now_ns);

/** Catch up with timers and slots that ended at or before now_ns. @return the rate in force now. */
uint64_t rp_update(struct rp *rp, const struct rp_params *params, struct rp_stats *stats, uint64_t now_ns);

/** Is the QP limited, or free to send at the maximum rate? */
bool rp_limited(const struct rp *rp);

#endif
