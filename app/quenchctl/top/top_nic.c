/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include "base/numbers/array.h"
#include "quenchctl/top/top_view.h"

#define FLOW_WIDTH 12 /* characters of a flow, at least */
/* Characters of a line beside the name of a flow. */
#define FLOW_CHARS 68
/* Row of totals; packet rates are for wider terminals. */
#define ROW "%7s %8s %8s %7s %7s %7s %8s %7s %7s%s"
#define ROW_CHARS 94

static const json_t *
reply(const struct snapshot *r, const char *name)
{
	return json_object_get(r->replies, name);
}

static double
rise(const struct snapshot *now, const struct snapshot *before, const char *name, const char *key)
{
	return top_rate(reply(now, name), reply(before, name), key, top_seconds(now, before));
}

/* Counters of drops begin with drop_, or have mlx5's names. */
static double
drop_rate(const struct snapshot *now, const struct snapshot *before)
{
	static const char *const others[] = {"rx_icrc_encapsulated", "qkey_violations",
					     "out_of_buffer", "rx_discards_phy"};
	const char *key;
	json_t *value;
	double sum = 0;

	json_object_foreach ((json_t *)reply(now, "nic"), key, value)
		if (strncmp(key, "drop_", 5) == 0)
			sum += rise(now, before, "nic", key);
	for (unsigned int i = 0; i < ARRAY_LEN(others); i++)
		sum += rise(now, before, "nic", others[i]);
	return sum;
}

static void
add_total(struct top_view *v, const struct snapshot *now, const struct snapshot *before)
{
	double drops = drop_rate(now, before), ignored = rise(now, before, "rp", "rp_cnp_ignored");
	double speed = top_value(reply(now, "port"), "link_speed_bps");
	char n[11][16], packets[40] = "";
	bool wide = top_view_fits(v, ROW_CHARS);

	if (wide)
		snprintf(packets, sizeof(packets), " %9s %9s",
			 top_number(rise(now, before, "nic", "rx_packets"), n[3]),
			 top_number(rise(now, before, "nic", "tx_packets"), n[4]));
	top_view_add(v, TOP_HEADING, ROW, "speed", "rx b/s", "tx b/s", "CNPs<", "CNPs>", "ignored",
		     "resent/s", "pauses<", "drops/s", wide ? "    rx p/s    tx p/s" : "");
	top_view_add(v, drops + ignored > 0 ? TOP_ALARM : TOP_PLAIN, ROW, top_number(speed, n[0]),
		     top_number(8 * rise(now, before, "nic", "rx_bytes"), n[1]),
		     top_number(8 * rise(now, before, "nic", "tx_bytes"), n[2]),
		     top_number(rise(now, before, "rp", "rp_cnp_handled"), n[5]),
		     top_number(rise(now, before, "np", "np_cnp_sent"), n[6]),
		     top_number(ignored, n[7]),
		     top_number(rise(now, before, "nic", "retransmitted_packets"), n[8]),
		     top_number(rise(now, before, "nic", "rx_pause_frames"), n[9]),
		     top_number(drops, n[10]), packets);
}

static int
flow_width(struct top_view *v, const json_t *rows)
{
	int width = FLOW_WIDTH;
	json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		const char *flow = json_string_value(json_object_get(row, "flow"));
		int n = flow != NULL ? (int)strlen(flow) : 0;

		width = n > width ? n : width;
	}
	if (top_view_fits(v, width + FLOW_CHARS))
		return width;
	width = (int)v->columns - FLOW_CHARS;
	return width > FLOW_WIDTH ? width : FLOW_WIDTH;
}

static void
add_flow(struct top_view *v, const json_t *row, const json_t *was, double seconds, int width)
{
	double wire = 8 * top_rate(row, was, "wire_bytes", seconds);
	double resent = top_rate(row, was, "retransmitted_packets", seconds);
	double failed = top_value(row, "qps_failed");
	double paused = top_rate(row, was, "rx_pause_duration_us", seconds) / 1e4;
	double rtt_ns = top_value(row, "rtt_p50_ns"); /* 0: none was measured */
	const char *flow = json_string_value(json_object_get(row, "flow"));
	char n[8][16], name[TOP_COLUMNS];

	top_view_add(v,
		     resent + failed > 0 ? TOP_ALARM
		     : wire > 0          ? TOP_PLAIN
					 : TOP_QUIET,
		     "%-*s %5s %8s %8s %7s %6s %6s %6s %5.1f%% %7s", width,
		     top_short(flow != NULL ? flow : "", width, name),
		     top_number(top_value(row, "qps"), n[0]), top_number(wire, n[1]),
		     top_number(8 * top_rate(row, was, "payload_bytes", seconds), n[2]),
		     top_number(top_rate(row, was, "messages", seconds), n[3]),
		     top_number(top_rate(row, was, "cnps_handled", seconds), n[4]),
		     top_number(top_rate(row, was, "rate_cuts", seconds), n[5]),
		     top_number(resent, n[6]), paused,
		     rtt_ns > 0 ? top_number(rtt_ns / 1e3, n[7]) : "-");
}

void
top_nic(struct top_view *v, const struct snapshot *now, const struct snapshot *before)
{
	static const char *const by[] = {"flow", NULL};
	const json_t *rows = json_object_get(reply(now, "flows"), "rows");
	const json_t *were = json_object_get(reply(before, "flows"), "rows");
	json_t *row;
	size_t i;

	int width = flow_width(v, rows);

	add_total(v, now, before);
	top_view_add(v, TOP_HEADING, "%-*s %5s %8s %8s %7s %6s %6s %6s %6s %7s", width, "flow",
		     "QPs", "wire b/s", "goodput", "msgs/s", "CNPs/s", "cuts/s", "resent", "paused",
		     "RTT us");
	json_array_foreach (rows, i, row)
		if (top_value(row, "gone") == 0)
			add_flow(v, row, top_row(were, row, by), top_seconds(now, before), width);
}
