/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/web/web_picture.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "quenchctl/show/rows.h"
#include "quenchctl/top/top_view.h"

#define GAP_BYTES 20 /* preamble and gap: a link's use counts them (IEEE 802.3 4.2.3) */

/* A picture in the making. */
struct making {
	const struct snapshot *now, *before;
	double seconds;
	json_t *tiles, *ports, *bars, *storms;
	json_t *rates, *depth, *rtt, *signals;
};

struct pair {
	const json_t *now, *before; /* before: NULL if unknown */
};

const char *
web_port(const json_t *row, char text[WEB_PORT_CHARS])
{
	const char *name = rows_port_name(row);

	if (name != NULL)
		snprintf(text, WEB_PORT_CHARS, "%.40s", name);
	else
		snprintf(text, WEB_PORT_CHARS, "port %.0f", top_value(row, "port"));
	return text;
}

static const json_t *
list_of(const struct snapshot *r, const char *reply, const char *list)
{
	return json_object_get(json_object_get(r->replies, reply), list);
}

static bool
same_row(const json_t *a, const json_t *b, const char *const *keys)
{
	for (unsigned int k = 0; keys[k] != NULL; k++)
		if (json_equal(json_object_get(a, keys[k]), json_object_get(b, keys[k])) != 1)
			return false;
	return true;
}

/* Row i of a list, and the same row of the snapshot before: nearly always row i, too. */
static struct pair
pair_at(const struct making *m, const char *reply, const char *list, size_t i,
	const char *const *keys)
{
	const json_t *were = list_of(m->before, reply, list);
	struct pair p = {json_array_get(list_of(m->now, reply, list), i), json_array_get(were, i)};

	if (p.before == NULL || !same_row(p.now, p.before, keys))
		p.before = top_row(were, p.now, keys);
	return p;
}

static struct pair
pair_of(const struct making *m, const char *reply)
{
	return (struct pair){json_object_get(m->now->replies, reply),
			     json_object_get(m->before->replies, reply)};
}

static double
rise(const struct making *m, struct pair p, const char *key)
{
	return top_rate(p.now, p.before, key, m->seconds);
}

static double
wire_bps(const struct making *m, struct pair p, const char *bytes, const char *packets)
{
	return (rise(m, p, bytes) + GAP_BYTES * rise(m, p, packets)) * 8;
}

static void
add_to(json_t *chart, const char *series, double value)
{
	json_t *known = json_object_get(chart, series);

	json_object_set_new(chart, series, json_real(json_real_value(known) + value));
}

static void
add_tile(struct making *m, const char *kind, const char *label, double rate, double total)
{
	json_array_append_new(m->tiles, json_pack("{s:s,s:s,s:f,s:I}", "kind", kind, "label", label,
						  "rate", rate, "total", (json_int_t)total));
}

/* Increase of all members that are not named "port", a second. */
static double
rise_of_all(const struct making *m, struct pair p, double *total)
{
	double sum = 0;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)p.now, key, value) {
		if (strcmp(key, "port") == 0)
			continue;
		*total += json_number_value(value);
		sum += rise(m, p, key);
	}
	return sum;
}

static bool
has_storm(const struct making *m, const json_t *port)
{
	json_t *row;
	size_t i;

	json_array_foreach (list_of(m->now, "pfcwd", "rows"), i, row) {
		const char *status = json_string_value(json_object_get(row, "status"));

		if (status != NULL && strcmp(status, "stormed") == 0 &&
		    json_equal(json_object_get(row, "port"), json_object_get(port, "port")) == 1)
			return true;
	}
	return false;
}

static void
add_storms(struct making *m)
{
	json_t *row;
	size_t i;

	json_array_foreach (list_of(m->now, "pfcwd", "rows"), i, row) {
		const char *status = json_string_value(json_object_get(row, "status"));
		const char *action = json_string_value(json_object_get(row, "action"));
		char text[128], port[WEB_PORT_CHARS];

		if (status == NULL || strcmp(status, "stormed") != 0)
			continue;
		snprintf(text, sizeof(text), "%s, priority %.0f: storm of pauses, %s",
			 web_port(row, port), top_value(row, "prio"),
			 action != NULL ? action : "watched");
		json_array_append_new(m->storms, json_string(text));
	}
}

static void
add_switch_ports(struct making *m)
{
	static const char *const by[] = {"port", NULL};
	size_t n = json_array_size(list_of(m->now, "ports", "rows"));
	double sent = 0, received = 0, sent_total = 0, received_total = 0;

	for (size_t i = 0; i < n; i++) {
		struct pair p = pair_at(m, "ports", "rows", i, by);
		double rx = wire_bps(m, p, "rx_bytes", "rx_packets");
		double tx = wire_bps(m, p, "tx_bytes", "tx_packets");
		double in = rise(m, p, "rx_pause_frames"), out = rise(m, p, "tx_pause_frames");
		const char *link = json_string_value(json_object_get(p.now, "link"));
		const char *device = json_string_value(json_object_get(p.now, "device"));
		char key[WEB_PORT_CHARS], name[64];

		web_port(p.now, key);
		json_array_append_new(m->ports,
				      json_pack("{s:s,s:s,s:s,s:f,s:f,s:f,s:O?,s:O?,s:b,s:b}",
						"key", key, "name", key, "device",
						device != NULL ? device : "", "rx", rx, "tx", tx,
						"pauses", in + out, "speed",
						json_object_get(p.now, "link_speed_bps"), "shaped",
						json_object_get(p.now, "shaper_rate_bps"), "down",
						link != NULL && strcmp(link, "down") == 0, "storm",
						has_storm(m, p.now)));
		sent += out;
		received += in;
		sent_total += top_value(p.now, "tx_pause_frames");
		received_total += top_value(p.now, "rx_pause_frames");
		snprintf(name, sizeof(name), "%s in", key);
		add_to(m->rates, name, rx);
		snprintf(name, sizeof(name), "%s out", key);
		add_to(m->rates, name, tx);
		snprintf(name, sizeof(name), "%s pauses", key);
		add_to(m->signals, name, in + out);
	}
	add_tile(m, "pause", "pauses sent", sent, sent_total);
	add_tile(m, "pause", "pauses received", received, received_total);
}

static void
add_switch_drops(struct making *m)
{
	static const char *const by[] = {"port", NULL};
	size_t n = json_array_size(list_of(m->now, "drops", "rows"));
	double rate = 0, total = 0;

	for (size_t i = 0; i < n; i++) {
		struct pair p = pair_at(m, "drops", "rows", i, by);
		const json_t *now = json_object_get(p.now, "drops");

		if (now != NULL)
			p = (struct pair){now, json_object_get(p.before, "drops")};
		rate += rise_of_all(m, p, &total);
	}
	add_tile(m, "drop", "drops", rate, total);
}

static json_t *
mark(const char *name, const char *kind, const json_t *row, const char *key)
{
	return json_pack("{s:s,s:s,s:f}", "name", name, "kind", kind, "at", top_value(row, key));
}

static void
add_switch_queues(struct making *m)
{
	static const char *const by[] = {"port", "queue", NULL};
	size_t n = json_array_size(list_of(m->now, "ecn", "rows"));
	double rate = 0, total = 0;

	for (size_t i = 0; i < n; i++) {
		struct pair p = pair_at(m, "ecn", "rows", i, by);
		double bytes = top_value(p.now, "queue_bytes");
		double marks = rise(m, p, "ecn_marked_packets");
		char key[64], port[WEB_PORT_CHARS];

		web_port(p.now, port);
		snprintf(key, sizeof(key), "%s queue %.0f", port, top_value(p.now, "queue"));
		json_array_append_new(
			m->bars,
			json_pack("{s:s,s:s,s:f,s:s,s:b,s:[o,o]}", "key", key, "port", port,
				  "value", bytes, "unit", "B", "alarm", 0, "marks",
				  mark("Kmin", "wred", p.now, "green_min_threshold_bytes"),
				  mark("Kmax", "wred", p.now, "green_max_threshold_bytes")));
		add_to(m->depth, key, bytes);
		snprintf(key, sizeof(key), "%s marks", port);
		add_to(m->signals, key, marks);
		rate += marks;
		total += top_value(p.now, "ecn_marked_packets");
	}
	add_tile(m, "plain", "ECN marks", rate, total);
}

static void
add_switch_groups(struct making *m)
{
	json_t *row;
	size_t i;

	json_array_foreach (list_of(m->now, "pg", "pgs"), i, row) {
		double headroom = top_value(row, "headroom_bytes");
		double bytes = top_value(row, "shared_bytes") + headroom;
		char key[64], port[WEB_PORT_CHARS];
		json_t *marks;

		if (bytes <= 0 && top_value(row, "watermark_bytes") <= 0)
			continue;
		/* The last one is on top, where both are at one place. */
		marks = json_array();
		if (json_object_get(row, "shared_xon_bytes") != NULL)
			json_array_append_new(marks, mark("XON", "xon", row, "shared_xon_bytes"));
		json_array_append_new(marks, mark("XOFF", "xoff", row, "shared_limit_bytes"));
		web_port(row, port);
		snprintf(key, sizeof(key), "%s group %.0f", port, top_value(row, "pg"));
		json_array_append_new(m->bars, json_pack("{s:s,s:s,s:f,s:s,s:b,s:o}", "key", key,
							 "port", port, "value", bytes, "unit", "B",
							 "alarm", headroom > 0, "marks", marks));
		add_to(m->depth, key, bytes);
	}
}

static void
draw_switch(struct making *m)
{
	const json_t *buffer = json_object_get(m->now->replies, "buffer");

	add_switch_drops(m);
	add_switch_ports(m);
	add_switch_queues(m);
	add_switch_groups(m);
	add_storms(m);
	json_array_append_new(m->tiles, json_pack("{s:s,s:s,s:O?,s:O?}", "kind", "plain", "label",
						  "buffer in use", "value",
						  json_object_get(buffer, "buffer_used_bytes"),
						  "of", json_object_get(buffer, "buffer_bytes")));
}

/* Mean round-trip time of the samples between the snapshots. @return false: there are none. */
static bool
rtt_between(struct pair p, double *seconds)
{
	double n = top_value(p.now, "rtt_samples"), n_before = top_value(p.before, "rtt_samples");
	double sum_ns =
		n * top_value(p.now, "rtt_mean_ns") - n_before * top_value(p.before, "rtt_mean_ns");

	if (p.before == NULL || n <= n_before || sum_ns <= 0)
		return false;
	*seconds = sum_ns / (n - n_before) / 1e9;
	return true;
}

static void
add_flows(struct making *m, double speed_bps)
{
	static const char *const by[] = {"flow", NULL};
	size_t n = json_array_size(list_of(m->now, "flows", "rows"));

	for (size_t i = 0; i < n; i++) {
		struct pair p = pair_at(m, "flows", "rows", i, by);
		const char *flow = json_string_value(json_object_get(p.now, "flow"));
		double rate = rise(m, p, "wire_bytes") * 8, rtt;
		double cap = top_value(p.now, "configured_rate_bps");
		json_t *marks;

		if (flow == NULL || top_value(p.now, "gone") != 0)
			continue;
		marks = cap > 0 ? json_pack("[o]",
					    mark("cap", "wred", p.now, "configured_rate_bps"))
				: json_array();
		json_array_append_new(m->bars,
				      json_pack("{s:s,s:s,s:f,s:s,s:b,s:f,s:o}", "key", flow,
						"port", "port", "value", rate, "unit", "b/s",
						"alarm", 0, "full", speed_bps, "marks", marks));
		add_to(m->rates, flow, rate);
		if (rtt_between(p, &rtt))
			add_to(m->rtt, flow, rtt);
	}
}

static void
add_nic_signal(struct making *m, struct pair p, const char *key, const char *kind,
	       const char *label)
{
	add_to(m->signals, label, rise(m, p, key));
	add_tile(m, kind, label, rise(m, p, key), top_value(p.now, key));
}

static void
add_nic_drops(struct making *m, struct pair nic)
{
	double rate = 0, total = 0;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)nic.now, key, value) {
		if (strncmp(key, "drop_", 5) != 0)
			continue;
		rate += rise(m, nic, key);
		total += json_number_value(value);
	}
	add_tile(m, "drop", "drops", rate, total);
}

static void
draw_nic(struct making *m)
{
	struct pair nic = pair_of(m, "nic"), rp = pair_of(m, "rp"), np = pair_of(m, "np");
	const json_t *port = json_object_get(m->now->replies, "port");
	const char *link = json_string_value(json_object_get(port, "link"));
	const char *device = json_string_value(json_object_get(port, "device"));

	json_array_append_new(m->ports,
			      json_pack("{s:s,s:s,s:s,s:f,s:f,s:f,s:O?,s:b,s:b}", "key", "port",
					"name", "port", "device", device != NULL ? device : "",
					"rx", wire_bps(m, nic, "rx_bytes", "rx_packets"), "tx",
					wire_bps(m, nic, "tx_bytes", "tx_packets"), "pauses",
					rise(m, nic, "rx_pause_frames"), "speed",
					json_object_get(port, "link_speed_bps"), "down",
					link != NULL && strcmp(link, "down") == 0, "storm", 0));
	add_nic_drops(m, nic);
	add_nic_signal(m, nic, "rx_pause_frames", "pause", "pauses received");
	add_nic_signal(m, rp, "rp_cnp_handled", "plain", "CNPs handled");
	add_nic_signal(m, np, "np_cnp_sent", "plain", "CNPs sent");
	add_nic_signal(m, nic, "retransmitted_packets", "drop", "retransmitted");
	add_flows(m, top_value(port, "link_speed_bps"));
}

json_t *
web_picture(const char *program, const struct snapshot *now, const struct snapshot *before)
{
	struct making m = {
		.now = now,
		.before = before,
		.seconds = top_seconds(now, before),
		.tiles = json_array(),
		.ports = json_array(),
		.bars = json_array(),
		.storms = json_array(),
		.rates = json_object(),
		.depth = json_object(),
		.rtt = json_object(),
		.signals = json_object(),
	};

	if (strcmp(program, "quench-switch") == 0)
		draw_switch(&m);
	else
		draw_nic(&m);
	return json_pack("{s:O?,s:o,s:o,s:o,s:o,s:{s:o,s:o,s:o,s:o}}", "version",
			 json_object_get(json_object_get(now->replies, "info"), "version"), "tiles",
			 m.tiles, "ports", m.ports, "bars", m.bars, "storms", m.storms, "charts",
			 "rates", m.rates, "depth", m.depth, "rtt", m.rtt, "signals", m.signals);
}
