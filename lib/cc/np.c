/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/np.h"

const struct field np_fields[] = {
	{
		.name = "np_min_time_between_cnps_us",
		.help = "N: least time between two CNPs of a QP; 0 answers every CE mark "
			"(paper 50us, mlx firmware 4us)",
		.type = FIELD_U32,
		.unit = UNIT_US,
		.offset = offsetof(struct np_params, np_min_time_between_cnps_us),
		.max = 1000000,
		.def = "50us",
		.aliases = {{.name = "N"},
			    {.name = "min_time_between_cnps"},
			    {.name = "np_min_time_between_cnps"}},
	},
	{
		.name = "np_cnp_dscp",
		.help = "DSCP of the CNPs that are sent",
		.type = FIELD_U8,
		.offset = offsetof(struct np_params, np_cnp_dscp),
		.max = 63,
		.def = "48",
		.aliases = {{.name = "cnp_dscp"}},
	},
	{
		.name = "np_cnp_prio",
		.help = "802.1p priority of the CNPs that are sent, on links with VLAN tags",
		.type = FIELD_U8,
		.offset = offsetof(struct np_params, np_cnp_prio),
		.max = 7,
		.def = "6",
		.aliases = {{.name = "cnp_802p_prio"}, {.name = "np_cnp_802p_prio"}},
	},
};
const unsigned int np_fields_n = sizeof(np_fields) / sizeof(np_fields[0]);

const struct counter_field np_counters[] = {
	COUNTER_FIELD(struct np_stats, np_ecn_marked_roce_packets,
		      "RoCEv2 data packets received with CE"),
	COUNTER_FIELD(struct np_stats, np_cnp_sent, "CNPs sent"),
	COUNTER_FIELD(struct np_stats, np_ce_on_control,
		      "CNPs, ACKs and NAKs received with CE; not answered"),
};
const unsigned int np_counters_n = sizeof(np_counters) / sizeof(np_counters[0]);

static bool
send_cnp(struct np *np, uint64_t interval_ns, uint64_t now_ns)
{
	np->ce_seen = false;
	np->window_end_ns = interval_ns ? now_ns + interval_ns : 0;
	return true;
}

bool
np_on_ce(struct np *np, const struct np_params *params, uint64_t now_ns)
{
	if (now_ns < np->window_end_ns) {
		np->ce_seen = true;
		return false;
	}
	return send_cnp(np, params->np_min_time_between_cnps_us * NS_PER_US, now_ns);
}

bool
np_on_window_end(struct np *np, const struct np_params *params, uint64_t now_ns)
{
	if (now_ns < np->window_end_ns)
		return false;
	if (np->ce_seen)
		return send_cnp(np, params->np_min_time_between_cnps_us * NS_PER_US, now_ns);
	np->window_end_ns = 0;
	return false;
}
