/* SPDX-License-Identifier: BSD-3-Clause */
/* The reaction point's keys: names, ranges, and the defaults of each profile. */
#include "cc/rp.h"

#include "base/array.h"
#include "base/field_table.h"

static const char *const profiles[] = {"paper", "mlx", NULL};

/*
 * Aliases: the paper's symbol, the name in sysfs (out-of-tree driver) and the name in debugfs
 * (mlx5 cong.c). Vendors count rates in Mb/s and the byte counter in units of 64 bytes; R_AI and
 * R_HAI are in Mb/s as the paper writes them.
 */
const struct field rp_fields[] = {
	{FIELD_OF(struct rp_params, rp_profile), .type = FIELD_ENUM, .choices = profiles,
	 .def = "paper",
	 .help = "paper: SIGCOMM'15, each CNP acts at once; mlx: as ConnectX-4 and later, slots "
		 "act; sets the other defaults (those shown are paper's)"},
	{FIELD_OF(struct rp_params, rp_clamp_tgt_rate), .type = FIELD_BOOL, .def = "on",
	 .live = true, .aliases = {{.name = "clamp_tgt_rate"}},
	 .help = "set the target rate to the current rate on every cut (mlx: off)"},
	{FIELD_OF(struct rp_params, rp_clamp_tgt_rate_ati), .type = FIELD_BOOL, .def = "on",
	 .live = true, .aliases = {{.name = "clamp_tgt_rate_after_time_inc"}},
	 .help = "without rp_clamp_tgt_rate: set it if any increase came since the last cut, not "
		 "only one of the byte counter"},
	{FIELD_OF(struct rp_params, rp_threshold), .type = FIELD_U8, .max = 31, .def = "5",
	 .live = true, .aliases = {{.name = "F"}, {.name = "rpg_threshold"}},
	 .help = "F: steps of fast recovery before the target rate rises (mlx: 1)"},
	{FIELD_OF(struct rp_params, rp_gd), .type = FIELD_U8, .max = 15, .def = "11", .live = true,
	 .aliases = {{.name = "rpg_gd"}},
	 .help = "a cut is rate x alpha x 1024 / 2^rp_gd: 11 halves the rate at alpha 1, 10 takes "
		 "all of it"},
	{FIELD_OF(struct rp_params, rp_min_dec_fac_pct), .type = FIELD_U8, .unit = UNIT_PCT,
	 .max = 100, .def = "50", .live = true,
	 .aliases = {{.name = "rpg_min_dec_fac"}, {.name = "rp_min_dec_fac"}},
	 .help = "one cut keeps at least this share of the rate; 100 forbids cuts"},
	{FIELD_OF(struct rp_params, rp_dce_tcp_g), .type = FIELD_U16, .unit = UNIT_1024,
	 .max = 1024, .def = "1020", .live = true,
	 .aliases = {{.name = "dce_tcp_g"}, {.name = "g", .one_minus = true}},
	 .help = "weight of the OLD alpha in 1/1024; the paper's g weighs the new sample, g = "
		 "1/256 is 1020 here (mlx: 1019)"},
	{FIELD_OF(struct rp_params, rp_initial_alpha_value), .type = FIELD_U16, .unit = UNIT_1024,
	 .max = 1024, .def = "1024", .live = true,
	 .aliases = {{.name = "initial_alpha_value"}, {.name = "alpha0", .scale = 1024}},
	 .help = "alpha at the first CNP in 1/1024 (mlx: 1023); as alpha0 in whole units"},
	{FIELD_OF(struct rp_params, rp_dce_tcp_rtt_us), .type = FIELD_U32, .unit = UNIT_US,
	 .min = 1, .max = 131071, .def = "55us", .live = true,
	 .aliases = {{.name = "K"}, {.name = "dce_tcp_rtt"}, {.name = "rp_dce_tcp_rtt"}},
	 .help = "K: time after which alpha is updated without a CNP; must exceed the peer's N in "
		 "the paper profile (mlx: length of an alpha slot, 1us)"},
	{FIELD_OF(struct rp_params, rp_rate_reduce_monitor_period_us), .type = FIELD_U32,
	 .unit = UNIT_US, .min = 1, .max = UINT32_MAX, .def = "4us", .live = true,
	 .aliases = {{.name = "rate_reduce_monitor_period"},
		     {.name = "rp_rate_reduce_monitor_period"}},
	 .help = "mlx: time between two cuts; the paper profile does not use it"},
	{FIELD_OF(struct rp_params, rp_time_reset_us), .type = FIELD_U32, .unit = UNIT_US, .min = 1,
	 .max = UINT32_MAX, .def = "55us", .live = true,
	 .aliases = {{.name = "T"}, {.name = "rpg_time_reset"}, {.name = "rp_time_reset"}},
	 .help = "T: time between two increases of the rate (mlx: 300us)"},
	{FIELD_OF(struct rp_params, rp_byte_reset_bytes), .type = FIELD_U64, .unit = UNIT_BYTES,
	 .max = RP_MAX_BYTE_RESET, .def = "10MB", .live = true,
	 .aliases = {{.name = "B"},
		     {.name = "rpg_byte_reset", .scale = 64},
		     {.name = "rp_byte_reset", .scale = 64}},
	 .help = "B: wire bytes between two increases of the rate, 0 off (mlx: 2097088); vendor "
		 "names count 64 bytes"},
	{FIELD_OF(struct rp_params, rp_ai_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = RP_MAX_RATE_BPS, .def = "40M", .live = true,
	 .aliases = {{.name = "R_AI", .scale = MBPS},
		     {.name = "rpg_ai_rate", .scale = MBPS},
		     {.name = "rp_ai_rate", .scale = MBPS}},
	 .help = "R_AI: rise of the target rate in additive increase (mlx: 5M); other names count "
		 "Mb/s"},
	{FIELD_OF(struct rp_params, rp_hai_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = RP_MAX_RATE_BPS, .def = "200M", .live = true,
	 .aliases = {{.name = "R_HAI", .scale = MBPS},
		     {.name = "rpg_hai_rate", .scale = MBPS},
		     {.name = "rp_hai_rate", .scale = MBPS}},
	 .help = "R_HAI: rise of the target rate in hyper increase, in the paper profile times "
		 "the step's number (mlx: 50M); other names count Mb/s"},
	{FIELD_OF(struct rp_params, rp_min_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS, .min = 1,
	 .max = RP_MAX_RATE_BPS, .def = "10M", .live = true,
	 .aliases = {{.name = "rpg_min_rate", .scale = MBPS},
		     {.name = "rp_min_rate", .scale = MBPS}},
	 .help = "no cut goes below this rate (mlx: 1M); other names count Mb/s"},
	{FIELD_OF(struct rp_params, rp_max_rate_bps), .type = FIELD_U64, .unit = UNIT_BPS,
	 .max = RP_MAX_RATE_BPS, .def = "0", .live = true,
	 .aliases = {{.name = "rpg_max_rate", .scale = MBPS},
		     {.name = "rp_max_rate", .scale = MBPS}},
	 .help = "rate of a QP that is not limited, 0: the port's speed; other names count Mb/s"},
	{FIELD_OF(struct rp_params, rp_rate_to_set_on_first_cnp_bps), .type = FIELD_U64,
	 .unit = UNIT_BPS, .max = RP_MAX_RATE_BPS, .def = "0", .live = true,
	 .aliases = {{.name = "rate_to_set_on_first_cnp", .scale = MBPS},
		     {.name = "rp_rate_to_set_on_first_cnp", .scale = MBPS}},
	 .help = "mlx: rate that the first CNP sets at once, unless the QP is slower; 0: none; "
		 "other names count Mb/s"},
};
const unsigned int rp_fields_n = ARRAY_LEN(rp_fields);

const struct counter_field rp_counters[] = {
	COUNTER_FIELD(struct rp_stats, rp_cnp_handled, "CNPs accepted for a known QP"),
	COUNTER_FIELD(
		struct rp_stats, rp_cnp_ignored,
		"CNPs for an unknown QP, not of the QP's peer, or of no use to the algorithm"),
	COUNTER_FIELD(struct rp_stats, rp_cuts, "times that a CNP lowered a rate"),
	COUNTER_FIELD(struct rp_stats, rp_fast_recoveries, "steps of fast recovery"),
	COUNTER_FIELD(struct rp_stats, rp_additive_increases, "steps of additive increase"),
	COUNTER_FIELD(struct rp_stats, rp_hyper_increases, "steps of hyper increase"),
	COUNTER_FIELD(struct rp_stats, rp_engagements,
		      "QPs limited, by a CNP or a start below the maximum rate"),
	COUNTER_FIELD(struct rp_stats, rp_releases, "QPs freed again at the maximum rate"),
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
