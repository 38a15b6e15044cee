/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/report/catalogue.h"

/* clang-format off */
const struct meaning run_counters[] = {
	{"suppressed_lines", "event lines not printed, because their kind of event had reached its "
			     "limit of lines in that second"},
	{0},
};

const struct meaning run_meanings[] = {
	{"elapsed_ns", "run time of the program"},
	{0},
};

const struct meaning port_counter_meanings[] = {
	{"refusals", "times that the device did not take all frames offered; "
		     "each further attempt counts again"},
	{"link_down_events_phy", "times that the link went down"},
	{"link_down_ns", "total time during which the link was down"},
	{"device_removals", "1 if the device was removed while the program ran"},
	{"device_removal_drops", "frames dropped because the device was removed before it took "
				 "them"},
	{0},
};

const struct meaning port_gauge_meanings[] = {
	{"link_speed_bps", "speed of the link, from the configuration"},
	{"held", "frames that wait for room in the device's transmit ring"},
	{"link", "whether the link is up"},
	{"poll_gap_p50_ns", "time between two polls of the port, median since the start"},
	{"poll_gap_p99_ns", "time between two polls of the port, 99th percentile since the start"},
	{"poll_gap_max_ns", "time between two polls of the port, maximum since the start"},
	{0},
};

const struct meaning device_meanings[] = {
	{"ipackets", "frames received, as counted by the device"},
	{"opackets", "frames sent, as counted by the device"},
	{"imissed", "frames lost because the receive ring was full, as counted by the device"},
	{"ierrors", "frames received with an error, as counted by the device"},
	{"oerrors", "frames that the device failed to send, as counted by the device"},
	{"rx_nombuf", "times that the device had no mbuf for a received frame, as counted by the "
		      "device"},
	{0},
};

const struct meaning pfc_meanings[] = {
	{"rx_prioN_pause", "pause frames received for the priority"},
	{"rx_prioN_pause_transition", "pauses of the priority that the peer began and that have "
				       "ended"},
	{"rx_prioN_pause_duration_us", "time during which the peer paused the priority"},
	{"tx_prioN_pause", "pause frames sent for the priority"},
	{"tx_prioN_pause_transition", "pauses of the priority that the program began and that "
				       "have ended"},
	{"tx_prioN_pause_duration_us", "time during which the program paused the priority"},
	{"rx_global_pause_transition", "802.3x pauses of the port that the peer began and that "
				       "have ended"},
	{"rx_global_pause_duration_us", "time during which the peer paused the port with 802.3x "
					"link pause"},
	{"tx_global_pause_transition", "802.3x pauses of the peer that the program began and that "
				       "have ended"},
	{"tx_global_pause_duration_us", "time during which the program paused the peer with "
					"802.3x link pause"},
	{0},
};
/* clang-format on */

static void
add(json_t *rows, const char *object, const char *name, const char *help)
{
	json_array_append_new(
		rows, json_pack("{s:s, s:s, s:s}", "object", object, "name", name, "help", help));
}

static bool
is_number(const struct field *field)
{
	return field->type == FIELD_BOOL || (field->type >= FIELD_U8 && field->type <= FIELD_U64);
}

static void
add_table(json_t *rows, const struct catalogue *t)
{
	for (unsigned int i = 0; i < t->n_fields; i++)
		add(rows, t->object, t->fields[i].name, t->fields[i].help);
	for (const struct meaning *m = t->meanings; m != NULL && m->name != NULL; m++)
		add(rows, t->object, m->name, m->help);
	for (unsigned int i = 0; i < t->n_params; i++)
		if (is_number(&t->params[i]))
			add(rows, t->object, t->params[i].name, t->params[i].help);
}

json_t *
catalogue_object(const struct catalogue *tables, unsigned int n)
{
	json_t *rows = json_array();

	for (unsigned int i = 0; i < n; i++)
		add_table(rows, &tables[i]);
	return json_pack("{s:o}", "rows", rows);
}
