/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <string.h>

#include "quenchctl/show/rows.h"
#include "quenchctl/top/top_view.h"

#define DEVICE_WIDTH 12 /* characters of a device, at least */
#define BAR 24
#define LEAST_BAR 8
#define LEAST_NAME 8
/* Characters of a line beside names and bars. */
#define PORT_CHARS 63
#define PACKET_CHARS 18 /* packet rates, for wider terminals */
#define QUEUE_CHARS 52
#define MOST_PERCENT 999.0
/* Ethernet's preamble and gap, which count in the use of a link. */
#define GAP_BYTES 20

struct pair {
	const json_t *now, *before;
	double seconds;
};

static const json_t *
rows_of(const struct snapshot *r, const char *reply, const char *list)
{
	return json_object_get(json_object_get(r->replies, reply), list);
}

static double
rise(const struct pair *p, const char *key)
{
	return top_rate(p->now, p->before, key, p->seconds);
}

/* bit/s on the wire. */
static double
wire_rate(const struct pair *p, const char *bytes, const char *packets)
{
	return (rise(p, bytes) + GAP_BYTES * rise(p, packets)) * 8;
}

/* Sum over all reasons. */
static double
drop_rate(const json_t *now, const json_t *before, double seconds)
{
	const json_t *drops = json_object_get(now, "drops"),
		     *were = json_object_get(before, "drops");
	const char *reason;
	json_t *value;
	double sum = 0;

	if (drops == NULL) {
		drops = now;
		were = before;
	}
	json_object_foreach ((json_t *)drops, reason, value)
		if (strcmp(reason, "port") != 0)
			sum += top_rate(drops, were, reason, seconds);
	return sum;
}

static double
percent(double rate, double speed)
{
	double p = speed > 0 ? rate / speed * 100 : 0;

	return p < MOST_PERCENT ? p : MOST_PERCENT;
}

struct widths {
	int port;
	int device; /* 0 with names of ports, which replace it */
	int bar;
	bool packets; /* packet rates, too */
};

static const char *
device_of(const json_t *port)
{
	const char *device = json_string_value(json_object_get(port, "device"));

	return device != NULL ? device : "";
}

/*
 * Names differ in their ends, so none is cut: net_af_packet0. With names of ports, there is no room
 * for devices.
 */
static struct widths
widths_of(struct top_view *v, const json_t *ports)
{
	struct widths w = {.port = top_port_width(ports), .device = DEVICE_WIDTH, .bar = BAR};
	int columns = (int)v->columns;
	bool has_names = false;
	json_t *row;
	size_t i;

	json_array_foreach (ports, i, row) {
		int n = (int)strlen(device_of(row));

		w.device = n > w.device ? n : w.device;
		has_names |= rows_port_name(row) != NULL;
	}
	if (has_names)
		w.device = 0;
	w.packets = top_view_fits(v, w.port + w.device + PORT_CHARS + PACKET_CHARS);
	if (!w.packets && has_names && w.port > columns - PORT_CHARS)
		w.port = columns - PORT_CHARS > LEAST_NAME ? columns - PORT_CHARS : LEAST_NAME;
	if (!top_view_fits(v, w.port + BAR + QUEUE_CHARS))
		w.bar = columns - QUEUE_CHARS - w.port > LEAST_BAR ? columns - QUEUE_CHARS - w.port
								   : LEAST_BAR;
	return w;
}

static void
add_port(struct top_view *v, const struct snapshot *now, const struct snapshot *before,
	 const struct pair *p, struct widths w)
{
	static const char *const by[] = {"port", NULL};
	const json_t *drops = top_row(rows_of(now, "drops", "rows"), p->now, by);
	double dropped =
		drop_rate(drops, top_row(rows_of(before, "drops", "rows"), p->now, by), p->seconds);
	double rx = wire_rate(p, "rx_bytes", "rx_packets");
	double tx = wire_rate(p, "tx_bytes", "tx_packets");
	double speed = top_value(p->now, "link_speed_bps");
	double shaper = top_value(p->now, "shaper_rate_bps");
	const char *link = json_string_value(json_object_get(p->now, "link"));
	bool down = link != NULL && strcmp(link, "down") == 0;
	char n[8][16], port[TOP_COLUMNS], packets[40] = "";

	if (w.packets)
		snprintf(packets, sizeof(packets), " %8s %8s",
			 top_number(rise(p, "rx_packets"), n[6]),
			 top_number(rise(p, "tx_packets"), n[7]));
	top_view_add(v,
		     down || dropped > 0 ? TOP_ALARM
		     : rx + tx > 0       ? TOP_PLAIN
					 : TOP_QUIET,
		     "%*s %-*.*s%-4.4s %6s %7s %7s %3.0f%% %3.0f%% %7s %7s %7s%s", w.port,
		     top_port(p->now, w.port, port), w.device + 1, w.device, device_of(p->now),
		     link != NULL ? link : "", top_number(speed, n[0]), top_number(rx, n[1]),
		     top_number(tx, n[2]), percent(rx, speed),
		     percent(tx, shaper > 0 && shaper < speed ? shaper : speed),
		     top_number(rise(p, "rx_pause_frames"), n[3]),
		     top_number(rise(p, "tx_pause_frames"), n[4]), top_number(dropped, n[5]),
		     packets);
}

static void
add_ports(struct top_view *v, const struct snapshot *now, const struct snapshot *before,
	  struct widths w)
{
	static const char *const by[] = {"port", NULL};
	json_t *row;
	size_t i;

	top_view_add(v, TOP_HEADING, "%*s %-*.*s%-4s %6s %7s %7s %4s %4s %7s %7s %7s%s", w.port,
		     "port", w.device + 1, w.device, "device", "link", "speed", "rx b/s", "tx b/s",
		     "rx", "tx", "pauses<", "pauses>", "drops/s",
		     w.packets ? "   rx p/s   tx p/s" : "");
	json_array_foreach (rows_of(now, "ports", "rows"), i, row) {
		const struct pair p = {
			.now = row,
			.before = top_row(rows_of(before, "ports", "rows"), row, by),
			.seconds = top_seconds(now, before),
		};

		add_port(v, now, before, &p, w);
	}
}

/* Queues with a curve: m and M are WRED's thresholds. */
static void
add_queues(struct top_view *v, const struct snapshot *now, const struct snapshot *before,
	   struct widths w)
{
	static const char *const by[] = {"port", "queue", NULL};
	json_t *row;
	size_t i;

	top_view_add(v, TOP_HEADING, "%*s queue %-*s %8s %8s %8s %8s %8s", w.port, "port", w.bar,
		     w.bar >= 19 ? "m, M: WRED min, max" : "m M WRED", "bytes", "scale", "tx b/s",
		     "marks/s", "drops/s");
	json_array_foreach (rows_of(now, "ecn", "rows"), i, row) {
		const struct pair p = {
			.now = row,
			.before = top_row(rows_of(before, "ecn", "rows"), row, by),
			.seconds = top_seconds(now, before),
		};
		double marks[] = {top_value(row, "green_min_threshold_bytes"),
				  top_value(row, "green_max_threshold_bytes")};
		double bytes = top_value(row, "queue_bytes"), drops = rise(&p, "drop_packets");
		double scale = bytes > marks[1] * 1.25 ? bytes : marks[1] * 1.25;
		char bar[TOP_COLUMNS], port[TOP_COLUMNS], n[5][16];

		top_view_add(v,
			     drops > 0                                 ? TOP_ALARM
			     : bytes > 0 || rise(&p, "tx_packets") > 0 ? TOP_PLAIN
								       : TOP_QUIET,
			     "%*s %5.0f %s %8s %8s %8s %8s %8s", w.port,
			     top_port(row, w.port, port), top_value(row, "queue"),
			     top_bar(bytes, scale, "mM", marks, (unsigned int)w.bar, bar),
			     top_number(bytes, n[0]), top_number(scale, n[1]),
			     top_number(rise(&p, "tx_bytes") * 8, n[2]),
			     top_number(rise(&p, "ecn_marked_packets"), n[3]),
			     top_number(drops, n[4]));
	}
}

/*
 * Groups, with their use of the shared buffer. A group sends XOFF at X; beyond that it fills
 * headroom.
 */
static void
add_groups(struct top_view *v, const struct snapshot *now, const struct snapshot *before,
	   struct widths w)
{
	static const char *const by[] = {"port", "pg", NULL};
	bool heading = false;
	json_t *row;
	size_t i;

	json_array_foreach (rows_of(now, "pg", "pgs"), i, row) {
		const struct pair p = {
			.now = row,
			.before = top_row(rows_of(before, "pg", "pgs"), row, by),
			.seconds = top_seconds(now, before),
		};
		double shared = top_value(row, "shared_bytes"),
		       headroom = top_value(row, "headroom_bytes");
		double limit = top_value(row, "shared_limit_bytes"),
		       drops = rise(&p, "drop_packets");
		double scale = shared + headroom > limit * 1.25 ? shared + headroom : limit * 1.25;
		char bar[TOP_COLUMNS], port[TOP_COLUMNS], n[4][16];

		if (shared + headroom <= 0 && drops <= 0)
			continue;
		if (!heading)
			top_view_add(v, TOP_HEADING, "%*s group %-*s %8s %8s %8s %8s", w.port,
				     "port", w.bar, w.bar >= 18 ? "X: limit of shared" : "X: limit",
				     "shared", "headroom", "limit", "drops/s");
		heading = true;
		top_view_add(
			v, drops > 0 || headroom > 0 ? TOP_ALARM : TOP_PLAIN,
			"%*s %5.0f %s %8s %8s %8s %8s", w.port, top_port(row, w.port, port),
			top_value(row, "pg"),
			top_bar(shared + headroom, scale, "X", &limit, (unsigned int)w.bar, bar),
			top_number(shared, n[0]), top_number(headroom, n[1]),
			top_number(limit, n[2]), top_number(drops, n[3]));
	}
}

static void
add_storms(struct top_view *v, const struct snapshot *now, struct widths w)
{
	char port[TOP_COLUMNS];
	json_t *row;
	size_t i;

	json_array_foreach (rows_of(now, "pfcwd", "rows"), i, row) {
		const char *status = json_string_value(json_object_get(row, "status"));

		if (status != NULL && strcmp(status, "stormed") == 0)
			top_view_add(v, TOP_ALARM,
				     "STORM: port %s, priority %.0f, queue %.0f: %s; %.0f storm%s",
				     top_port(row, w.port, port), top_value(row, "prio"),
				     top_value(row, "queue"),
				     json_string_value(json_object_get(row, "action")),
				     top_value(row, "deadlock_detected"),
				     top_value(row, "deadlock_detected") == 1 ? "" : "s");
	}
}

void
top_switch(struct top_view *v, const struct snapshot *now, const struct snapshot *before)
{
	const json_t *buffer = json_object_get(now->replies, "buffer");
	double size = top_value(buffer, "buffer_bytes"),
	       used = top_value(buffer, "buffer_used_bytes");
	struct widths w = widths_of(v, rows_of(now, "ports", "rows"));
	char bar[TOP_COLUMNS], n[2][16];

	top_view_add(v, TOP_PLAIN, "buffer     %s %9s of %s",
		     top_bar(used, size, "", NULL, BAR, bar), top_number(used, n[0]),
		     top_number(size, n[1]));
	add_storms(v, now, w);
	add_ports(v, now, before, w);
	add_queues(v, now, before, w);
	add_groups(v, now, before, w);
}
