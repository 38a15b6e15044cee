/* SPDX-License-Identifier: BSD-3-Clause */
/* The reaction point's keys: names, ranges, and the defaults of each profile. */
#include "cc/points/rp.h"

#include "base/numbers/array.h"
#include "base/field/field_table.h"

static const char *const profiles[] = {"paper", "mlx", NULL};

/*
 * Aliases: the paper's symbol, the name in sysfs (out-of-tree driver) and the name in debugfs
 * (mlx5 cong.c). Vendors count rates in Mb/s and the byte counter in units of 64 bytes; R_AI and
 * R_HAI are in Mb/s as the paper writes them.
 */
const struct field rp_fields[] = {
	{FIELD_OF(struct rp_params, rp_profile), .type = FIELD_ENUM, .choices = profiles,
	 .def = "paper",
	 .help = "reaction to CNPs: paper: SIGCOMM'15, a cut at each CNP; mlx: as ConnectX-4 "
		 "and later, at most one cut per rp_rate_reduce_monitor_period_us and one rise of "
		 "alpha per rp_dce_tcp_rtt_us; also selects the defaults of the other keys (this "
		 "table shows those of paper)"},
	{FIELD_OF(struct rp_params, rp_clamp_tgt_rate), .type = FIELD_BOOL, .def = "on",
	 .live = true, .aliases = {{.name = "clamp_tgt_rate"}},
	 .help = "whether every cut sets the target rate to the current rate (mlx: off)"},
	{FIELD_OF(struct rp_params, rp_clamp_tgt_rate_ati), .type = FIELD_BOOL, .def = "on",
	 .live = true, .aliases = {{.name = "clamp_tgt_rate_after_time_inc"}},
	 .help = "with rp_clamp_tgt_rate = off, a cut sets the target rate to the current rate "
		 "only if the rate rose since the last cut: by timer or byte counter (on), or by "
		 "the byte counter (off)"},
	{FIELD_OF(struct rp_params, rp_threshold), .type = FIELD_U8, .max = 31, .def = "5",
	 .live = true, .aliases = {{.name = "F"}, {.name = "rpg_threshold"}},
	 .help = "F: number of fast-recovery steps before the target rate rises (mlx: 1)"},
	{FIELD_OF(struct rp_params, rp_hyper_by_timer), .type = FIELD_BOOL, .def = "off",
	 .live = true,
	 .help = "mlx: hyper increase begins after rp_threshold steps of the timer alone (on, as in "
		 "the HPCC simulator), or of both the timer and the byte counter (off); paper: not "
		 "used"},
	{FIELD_OF(struct rp_params, rp_gd), .type = FIELD_U8, .max = 15, .def = "11", .live = true,
	 .aliases = {{.name = "rpg_gd"}},
	 .help = "exponent of the cut: a CNP reduces the rate by rate x alpha x 1024 / 2^rp_gd; "
		 "11: half of the rate at alpha = 1; 10: the whole rate at alpha = 1"},
	{FIELD_OF(struct rp_params, rp_min_dec_fac_pct), .type = FIELD_U8, .unit = UNIT_PCT,
	 .max = 100, .def = "50", .live = true,
	 .aliases = {{.name = "rpg_min_dec_fac"}, {.name = "rp_min_dec_fac"}},
	 .help = "lowest share of the rate that one cut leaves; 100: no cuts"},
	{FIELD_OF(struct rp_params, rp_dce_tcp_g), .type = FIELD_U16, .unit = UNIT_1024,
	 .max = 1024, .def = "1020", .live = true,
	 .aliases = {{.name = "dce_tcp_g"}, {.name = "g", .one_minus = true}},
	 .help = "weight of the OLD alpha in 1/1024; the paper's g is the weight of the new "
		 "sample, so g = 1/256 is 1020 here (mlx: 1019)"},
	{FIELD_OF(struct rp_params, rp_initial_alpha_value), .type = FIELD_U16, .unit = UNIT_1024,
	 .max = 1024, .def = "1024", .live = true,
	 .aliases = {{.name = "initial_alpha_value"}, {.name = "alpha0", .scale = 1024}},
	 .help = "alpha at the first CNP, in 1/1024 (mlx: 1023); the alias alpha0 takes a "
		 "fraction from 0 to 1"},
	{FIELD_OF(struct rp_params, rp_dce_tcp_rtt_us), .type = FIELD_U32, .unit = UNIT_US,
	 .min = 1, .max = 131071, .def = "55us", .live = true,
	 .aliases = {{.name = "K"}, {.name = "dce_tcp_rtt"}, {.name = "rp_dce_tcp_rtt"}},
	 .help = "K: time without a CNP after which alpha is updated; paper: must exceed the "
		 "peer's N; mlx: length of an alpha slot (1us)"},
	{FIELD_OF(struct rp_params, rp_rate_reduce_monitor_period_us), .type = FIELD_U32,
	 .unit = UNIT_US, .min = 1, .max = UINT32_MAX, .def = "4us", .live = true,
	 .aliases = {{.name = "rate_reduce_monitor_period"},
		     {.name = "rp_rate_reduce_monitor_period"}},
	 .help = "mlx: least time between two cuts; paper: not used"},
	{FIELD_OF(struct rp_params, rp_time_reset_us), .type = FIELD_U32, .unit = UNIT_US, .min = 1,
	 .max = UINT32_MAX, .def = "55us", .live = true,
	 .aliases = {{.name = "T"}, {.name = "rpg_time_reset"}, {.name = "rp_time_reset"}},
	 .help = "T: time between two rate increases by the timer (mlx: 300us)"},
	{FIELD_OF(struct rp_params, rp_byte_reset_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,
	 .max = RP_MAX_BYTE_RESET, .def = "10MB", .live = true,
	 .aliases = {{.name = "B"},
		     {.name = "rpg_byte_reset", .scale = 64},
		     {.name = "rp_byte_reset", .scale = 64}},
	 .help = "B: wire bytes between two rate increases by the byte counter; 0: off (mlx: "
		 "2097088); rpg_byte_reset and rp_byte_reset count units of 64 bytes"},
	{FIELD_OF(struct rp_params, rp_ai_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = RP_MAX_RATE_BPS, .def = "40M", .live = true,
	 .aliases = {{.name = "R_AI", .scale = MBPS},
		     {.name = "rpg_ai_rate", .scale = MBPS},
		     {.name = "rp_ai_rate", .scale = MBPS}},
	 .help = "R_AI: rise of the target rate per additive-increase step (mlx: 5M); aliases "
		 "count Mb/s"},
	{FIELD_OF(struct rp_params, rp_hai_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = RP_MAX_RATE_BPS, .def = "200M", .live = true,
	 .aliases = {{.name = "R_HAI", .scale = MBPS},
		     {.name = "rpg_hai_rate", .scale = MBPS},
		     {.name = "rp_hai_rate", .scale = MBPS}},
	 .help = "R_HAI: rise of the target rate per hyper-increase step (mlx: 50M); paper: step "
		 "i raises it by i x R_HAI; aliases count Mb/s"},
	{FIELD_OF(struct rp_params, rp_min_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS, .min = 1,
	 .max = RP_MAX_RATE_BPS, .def = "10M", .live = true,
	 .aliases = {{.name = "rpg_min_rate", .scale = MBPS},
		     {.name = "rp_min_rate", .scale = MBPS}},
	 .help = "lowest rate that a cut can reach (mlx: 1M); aliases count Mb/s"},
	{FIELD_OF(struct rp_params, rp_max_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = RP_MAX_RATE_BPS, .def = "0", .live = true,
	 .aliases = {{.name = "rpg_max_rate", .scale = MBPS},
		     {.name = "rp_max_rate", .scale = MBPS}},
	 .help = "rate of a QP that congestion control does not limit; 0: speed of the port; "
		 "aliases count Mb/s"},
	{FIELD_OF(struct rp_params, rp_rate_to_set_on_first_cnp_bps), .type = FIELD_U64,
	 .unit = UNIT_BPS, .max = RP_MAX_RATE_BPS, .def = "0", .live = true,
	 .aliases = {{.name = "rate_to_set_on_first_cnp", .scale = MBPS},
		     {.name = "rp_rate_to_set_on_first_cnp", .scale = MBPS}},
	 .help = "mlx: upper limit that the first CNP sets on the QP's rate; 0: none; aliases "
		 "count Mb/s"},
};
const unsigned int rp_fields_n = ARRAY_LEN(rp_fields);

const struct counter_field rp_counters[] = {
	COUNTER_FIELD(struct rp_stats, rp_cnp_handled, "CNPs accepted for a known QP"),
	COUNTER_FIELD(struct rp_stats, rp_cnp_ignored,
		      "CNPs ignored: QP unknown or not started, sender not the QP's peer, or an "
		      "algorithm that does not use CNPs"),
	COUNTER_FIELD(struct rp_stats, rp_cuts, "rate cuts by CNPs"),
	COUNTER_FIELD(struct rp_stats, rp_fast_recoveries, "steps of fast recovery"),
	COUNTER_FIELD(struct rp_stats, rp_additive_increases, "steps of additive increase"),
	COUNTER_FIELD(struct rp_stats, rp_hyper_increases, "steps of hyper increase"),
	COUNTER_FIELD(struct rp_stats, rp_engagements,
		      "times that a QP became limited, by a CNP or by a start below the maximum "
		      "rate"),
	COUNTER_FIELD(struct rp_stats, rp_releases,
		      "times that a limited QP reached the maximum "
		      "rate and became unlimited"),
};
const unsigned int rp_counters_n = ARRAY_LEN(rp_counters);

static const struct rp_params profile_defaults[] = {
	/*
	 * SIGCOMM'15 section 3.1 and 5 (F, K, T, g, R_AI, alpha) and the fluid model's figures (B).
	 * The paper gives no R_HAI and no minimum rate: 200 Mb/s is what its authors' simulation
	 * sets, 10 Mb/s is ours.
	 */
	[RP_PROFILE_PAPER] =
		{
			.rp_profile = RP_PROFILE_PAPER,
			.rp_clamp_tgt_rate = true,
			.rp_clamp_tgt_rate_ati = true,
			.rp_threshold = 5,
			.rp_gd = 11,
			.rp_min_dec_fac_pct = 50,
			.rp_dce_tcp_g = 1020,
			.rp_initial_alpha_value = 1024,
			.rp_dce_tcp_rtt_us = 55,
			.rp_rate_reduce_monitor_period_us = 4,
			.rp_time_reset_us = 55,
			.rp_byte_reset_bytes = 10000000,
			.rp_ai_rate_bps = 40 * MBPS,
			.rp_hai_rate_bps = 200 * MBPS,
			.rp_min_rate_bps = 10 * MBPS,
		},
	/* What `mlxconfig query` shows on ConnectX-5 to 7. RPG_BYTE_RESET,
	 * 32767, is in units of 64 bytes. */
	[RP_PROFILE_MLX] =
		{
			.rp_profile = RP_PROFILE_MLX,
			.rp_clamp_tgt_rate = false,
			.rp_clamp_tgt_rate_ati = true,
			.rp_threshold = 1,
			.rp_gd = 11,
			.rp_min_dec_fac_pct = 50,
			.rp_dce_tcp_g = 1019,
			.rp_initial_alpha_value = 1023,
			.rp_dce_tcp_rtt_us = 1,
			.rp_rate_reduce_monitor_period_us = 4,
			.rp_time_reset_us = 300,
			.rp_byte_reset_bytes = 32767 * 64,
			.rp_ai_rate_bps = 5 * MBPS,
			.rp_hai_rate_bps = 50 * MBPS,
			.rp_min_rate_bps = 1 * MBPS,
		},
};

void
rp_params_default(struct rp_params *params, enum rp_profile profile)
{
	*params = profile_defaults[profile];
}

int
rp_params_check(const struct rp_params *p, char *why, unsigned int why_size)
{
	int rc = fields_check(rp_fields, rp_fields_n, p, why, why_size);

	if (rc != 0 || p->rp_max_rate_bps == 0)
		return rc;
	if (p->rp_min_rate_bps > p->rp_max_rate_bps)
		return params_refuse(why, why_size,
				     "rp_min_rate_bps must not exceed rp_max_rate_bps");
	if (p->rp_rate_to_set_on_first_cnp_bps > p->rp_max_rate_bps)
		return params_refuse(
			why, why_size,
			"rp_rate_to_set_on_first_cnp_bps must not exceed rp_max_rate_bps");
	return 0;
}
