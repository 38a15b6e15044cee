/* SPDX-License-Identifier: BSD-3-Clause */
#include "cc/points/np.h"

#include "base/numbers/array.h"
#include "base/field/field_table.h"

static const char *const moderations[] = {"qp", "ip_pair", "port", NULL};
/* In the order of their code points, RFC 3168 section 5. */
const char *const np_code_points[] = {"not_ect", "ect1", "ect0", NULL};

const struct field np_fields[] = {
	{FIELD_OF(struct np_params, np_min_time_between_cnps_us), .type = FIELD_U32,
	 .unit = UNIT_US, .max = 1000000, .def = "50us", .live = true,
	 .aliases = {{.name = "N"},
		     {.name = "min_time_between_cnps"},
		     {.name = "np_min_time_between_cnps"}},
	 .help = "N: least time between two CNPs of a unit (np_cnp_moderation); 0: a CNP for "
		 "every CE mark (paper: 50us; mlx firmware: 4us). Default 0 with cc = dctcp"},
	{FIELD_OF(struct np_params, np_cnp_moderation), .type = FIELD_ENUM, .choices = moderations,
	 .def = "qp", .aliases = {{.name = "roce_cc_cnp_moderation"}},
	 .help = "unit to which N applies: qp: each QP; ip_pair: each pair of IP addresses; "
		 "port: the port; the CNP of a unit goes to its QP that was marked last"},
	{FIELD_OF(struct np_params, np_cnp_delay_ns), .type = FIELD_U32, .unit = UNIT_NS,
	 .max = 1000000000, .def = "0",
	 .help = "delay from the CE mark, or from the end of the interval N, until the CNP "
		 "leaves; 0: none; at most 64 N (adapters: about 50us)"},
	{FIELD_OF(struct np_params, np_min_port_cnp_interval_ns), .type = FIELD_U32,
	 .unit = UNIT_NS, .max = 1000000000, .def = "0", .live = true,
	 .help = "least time between any two CNPs of the port; 0: none (ConnectX-3 Pro: 1us to "
		 "5us)"},
	{FIELD_OF(struct np_params, np_cnp_ecn), .type = FIELD_ENUM, .choices = np_code_points,
	 .def = "ect0", .help = "ECN code point of the CNPs that are sent"},
	{FIELD_OF(struct np_params, np_cnp_dscp), .type = FIELD_U8, .max = 63, .def = "48",
	 .aliases = {{.name = "cnp_dscp"}}, .help = "DSCP of the CNPs that are sent"},
	{FIELD_OF(struct np_params, np_cnp_prio), .type = FIELD_U8, .max = 7, .def = "6",
	 .aliases = {{.name = "cnp_802p_prio"}, {.name = "np_cnp_802p_prio"}},
	 .help = "802.1p priority of the CNPs that are sent, on links with VLAN tags"},
	{FIELD_OF(struct np_params, np_ecn_echo), .type = FIELD_BOOL, .def = "off",
	 .help = "echo CE marks in the BECN bit of ACKs, and send no CNPs for them; for algorithms "
		 "that react to ACKs, with ack_every = 1; READ responses and datagrams, which have "
		 "no ACKs, still cause CNPs"},
};
const unsigned int np_fields_n = ARRAY_LEN(np_fields);

int
np_params_check(const struct np_params *p, char *why, unsigned int why_size)
{
	int rc = fields_check(np_fields, np_fields_n, p, why, why_size);

	if (rc == 0 && p->np_min_time_between_cnps_us > 0 &&
	    p->np_cnp_delay_ns > NP_MOST_IN_DELAY * p->np_min_time_between_cnps_us * NS_PER_US)
		rc = params_refuse(
			why, why_size,
			"np_cnp_delay_ns must not exceed 64 times np_min_time_between_cnps_us");
	return rc;
}

const struct counter_field np_counters[] = {
	COUNTER_FIELD(struct np_stats, np_ecn_marked_roce_packets,
		      "RoCEv2 data packets received with CE"),
	COUNTER_FIELD(struct np_stats, np_cnp_sent, "CNPs sent"),
	COUNTER_FIELD(struct np_stats, np_ce_on_control,
		      "CNPs, ACKs and NAKs received with CE; no CNP answers them"),
};
const unsigned int np_counters_n = ARRAY_LEN(np_counters);

static bool
send_cnp(struct np *np, uint64_t interval_ns, uint64_t now_ns)
{
	np->ce_seen = false;
	np->start_ns = now_ns & (UINT64_MAX >> 2);
	np->runs = interval_ns != 0;
	return true;
}

static bool
is_open(const struct np *np, uint64_t interval_ns, uint64_t now_ns)
{
	return np->runs && now_ns < np->start_ns + interval_ns;
}

bool
np_on_ce(struct np *np, uint64_t interval_ns, uint64_t now_ns)
{
	if (!is_open(np, interval_ns, now_ns))
		return send_cnp(np, interval_ns, now_ns);
	np->ce_seen = true;
	return false;
}

bool
np_on_window_end(struct np *np, uint64_t interval_ns, uint64_t now_ns)
{
	if (is_open(np, interval_ns, now_ns))
		return false;
	if (np->ce_seen)
		return send_cnp(np, interval_ns, now_ns);
	np->runs = false;
	return false;
}
