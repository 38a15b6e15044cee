/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/web/web_events.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"
#include "quenchctl/top/top_view.h"
#include "quenchctl/socket/utf8.h"
#include "quenchctl/web/web_picture.h"

struct moment {
	json_t *events;
	int64_t at_ms;
};

void
web_event(json_t *events, int64_t at_ms, int alarm, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	utf8_clean(text);
	json_array_append_new(events, json_pack("{s:I,s:b,s:s}", "at_ms", (json_int_t)at_ms,
						"alarm", alarm, "text", text));
	if (json_array_size(events) > WEB_EVENTS)
		json_array_remove(events, 0);
}

/* An event that does not recur in this time has ended. */
#define GOES_ON_MS 3000

void
web_event_count(json_t *events, int64_t at_ms, double n, const char *what)
{
	json_t *event;
	char text[256];
	size_t i;

	json_array_foreach (events, i, event) {
		const char *known = json_string_value(json_object_get(event, "what"));

		if (known == NULL || strcmp(known, what) != 0 ||
		    at_ms - json_integer_value(json_object_get(event, "until_ms")) > GOES_ON_MS)
			continue;
		n += json_number_value(json_object_get(event, "n"));
		snprintf(text, sizeof(text), "%.0f %s", n, what);
		json_object_set_new(event, "text", json_string(text));
		json_object_set_new(event, "n", json_real(n));
		json_object_set_new(event, "until_ms", json_integer((json_int_t)at_ms));
		return;
	}
	web_event(events, at_ms, true, "%.0f %s", n, what);
	event = json_array_get(events, json_array_size(events) - 1);
	json_object_set_new(event, "what", json_string(what));
	json_object_set_new(event, "n", json_real(n));
	json_object_set_new(event, "until_ms", json_integer((json_int_t)at_ms));
}

static const json_t *
rows_of(const struct snapshot *r, const char *reply)
{
	return json_object_get(json_object_get(r->replies, reply), "rows");
}

static double
risen(const json_t *now, const json_t *before, const char *key)
{
	return top_rate(now, before, key, 1);
}

static void
links(const struct moment *m, const struct snapshot *now, const struct snapshot *before)
{
	static const char *const by[] = {"port", NULL};
	char port[WEB_PORT_CHARS];
	json_t *row;
	size_t i;

	json_array_foreach (rows_of(now, "ports"), i, row) {
		const json_t *was = top_row(rows_of(before, "ports"), row, by);
		const char *link = json_string_value(json_object_get(row, "link"));
		const char *old = json_string_value(json_object_get(was, "link"));

		if (link != NULL && old != NULL && strcmp(link, old) != 0)
			web_event(m->events, m->at_ms, strcmp(link, "up") != 0, "%s: link %s",
				  web_port(row, port), link);
	}
}

static void
storms(const struct moment *m, const struct snapshot *now, const struct snapshot *before)
{
	static const char *const by[] = {"port", "prio", NULL};
	char port[WEB_PORT_CHARS];
	json_t *row;
	size_t i;

	json_array_foreach (rows_of(now, "pfcwd"), i, row) {
		const json_t *was = top_row(rows_of(before, "pfcwd"), row, by);

		if (risen(row, was, "deadlock_detected") > 0)
			web_event(m->events, m->at_ms, true, "%s, priority %.0f: storm of pauses",
				  web_port(row, port), top_value(row, "prio"));
		if (risen(row, was, "deadlock_restored") > 0)
			web_event(m->events, m->at_ms, false, "%s, priority %.0f: storm is over",
				  web_port(row, port), top_value(row, "prio"));
	}
}

static void
dropped(const struct moment *m, const json_t *row, const char *reason, double n)
{
	char what[128], port[WEB_PORT_CHARS];

	snprintf(what, sizeof(what), "packets dropped at %s: %s", web_port(row, port), reason);
	web_event_count(m->events, m->at_ms, n, what);
}

static void
drops(const struct moment *m, const struct snapshot *now, const struct snapshot *before)
{
	static const char *const by[] = {"port", NULL};
	json_t *row, *value;
	const char *reason;
	size_t i;

	json_array_foreach (rows_of(now, "drops"), i, row) {
		const json_t *was = top_row(rows_of(before, "drops"), row, by);
		const json_t *reasons = json_object_get(row, "drops");
		const json_t *were = json_object_get(was, "drops");

		if (reasons == NULL) {
			reasons = row;
			were = was;
		}
		json_object_foreach ((json_t *)reasons, reason, value)
			if (strcmp(reason, "port") != 0 && risen(reasons, were, reason) > 0)
				dropped(m, row, reason, risen(reasons, were, reason));
	}
}

static void
nic_troubles(const struct moment *m, const struct snapshot *now, const struct snapshot *before)
{
	static const struct {
		const char *reply, *key, *text;
	} troubles[] = {
		{"nic", "qp_errors", "QPs gave up"},
		{"nic", "neigh_failed", "requests for a peer's MAC address without an answer"},
		{"nic", "local_ack_timeout_err", "retransmission timeouts"},
		{"nic", "rx_icrc_encapsulated", "packets with a wrong ICRC"},
		{"rp", "rp_cnp_ignored", "CNPs ignored"},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(troubles); i++) {
		double n =
			risen(json_object_get(now->replies, troubles[i].reply),
			      json_object_get(before->replies, troubles[i].reply), troubles[i].key);

		if (n > 0)
			web_event_count(m->events, m->at_ms, n, troubles[i].text);
	}
}

void
web_events_between(json_t *events, int64_t at_ms, const struct snapshot *now,
		   const struct snapshot *before)
{
	const struct moment m = {events, at_ms};

	links(&m, now, before);
	storms(&m, now, before);
	drops(&m, now, before);
	nic_troubles(&m, now, before);
}
