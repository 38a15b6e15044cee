/* SPDX-License-Identifier: BSD-3-Clause */
#include "quenchctl/show/rows.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/array.h"

/* Index after the priorities, for link pause. */
#define LINK 8

const char *
rows_port_name(const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "port_name"));

	return name != NULL && *name != '\0' ? name : NULL;
}

void
rows_set_port(json_t *row, const json_t *of)
{
	json_object_set(row, "port", json_object_get(of, "port"));
	if (rows_port_name(of) != NULL)
		json_object_set(row, "port_name", json_object_get(of, "port_name"));
}

/* @return 0 if the port has no such counter. */
static json_int_t
pause_counter(const json_t *port, const char *way, unsigned int prio, const char *what)
{
	char key[64];

	if (prio == LINK && *what == '\0')
		snprintf(key, sizeof(key), "%s_global_pause_frames", way);
	else if (prio == LINK)
		snprintf(key, sizeof(key), "%s_global_pause%s", way, what);
	else
		snprintf(key, sizeof(key), "%s_prio%u_pause%s", way, prio, what);
	return json_integer_value(json_object_get(port, key));
}

/* Frames that a port received ("rx") or sent ("tx"). */
static void
add_pauses(json_t *list, const json_t *port, const char *way)
{
	json_t *row = json_object();

	rows_set_port(row, port);
	json_object_set_new(row, "frames", json_string(way));
	for (unsigned int prio = 0; prio <= LINK; prio++) {
		char key[8] = "link";

		if (prio != LINK)
			snprintf(key, sizeof(key), "pfc%u", prio);
		json_object_set_new(row, key, json_integer(pause_counter(port, way, prio, "")));
	}
	json_array_append_new(list, row);
}

json_t *
rows_of_pauses(const json_t *rows)
{
	json_t *list = json_array(), *port;
	size_t i;

	if (json_is_object(rows)) {
		add_pauses(list, rows, "rx");
		add_pauses(list, rows, "tx");
	}
	json_array_foreach (rows, i, port) {
		add_pauses(list, port, "rx");
		add_pauses(list, port, "tx");
	}
	return list;
}

static void
add_pause_times(json_t *list, const json_t *port)
{
	for (unsigned int prio = 0; prio <= LINK; prio++) {
		json_int_t rx = pause_counter(port, "rx", prio, "_duration_us");
		json_int_t tx = pause_counter(port, "tx", prio, "_duration_us");
		json_t *row;

		if (rx == 0 && tx == 0 && pause_counter(port, "rx", prio, "_transition") == 0 &&
		    pause_counter(port, "tx", prio, "_transition") == 0)
			continue;
		row = json_pack("{s:I, s:I, s:I, s:I}", "rx_pause_transition",
				pause_counter(port, "rx", prio, "_transition"),
				"rx_pause_duration_ns", rx * 1000, "tx_pause_transition",
				pause_counter(port, "tx", prio, "_transition"),
				"tx_pause_duration_ns", tx * 1000);
		rows_set_port(row, port);
		json_object_set_new(row, "prio",
				    prio == LINK ? json_string("link")
						 : json_integer((json_int_t)prio));
		json_array_append_new(list, row);
	}
}

json_t *
rows_of_pause_times(const json_t *rows)
{
	json_t *list = json_array(), *port;
	size_t i;

	if (json_is_object(rows))
		add_pause_times(list, rows);
	json_array_foreach (rows, i, port)
		add_pause_times(list, port);
	return list;
}

static bool
is_in_use(const json_t *row, const char *keys)
{
	while (*keys != '\0') {
		size_t n = strcspn(keys, " ");
		char key[64];

		snprintf(key, sizeof(key), "%.*s", (int)n, keys);
		if (json_integer_value(json_object_get(row, key)) != 0)
			return true;
		keys += n + (keys[n] == ' ');
	}
	return false;
}

json_t *
rows_in_use(const json_t *rows, const char *keys)
{
	json_t *list = json_array(), *row;
	size_t i;

	json_array_foreach (rows, i, row)
		if (is_in_use(row, keys))
			json_array_append(list, row);
	return list;
}

json_t *
rows_of_drops(const json_t *rows)
{
	json_t *list = json_array(), *port, *n;
	const char *reason;
	size_t i;

	json_array_foreach (rows, i, port) {
		json_object_foreach (port, reason, n) {
			json_t *row;

			if (strcmp(reason, "port") == 0 || json_integer_value(n) <= 0)
				continue;
			row = json_pack("{s:s, s:O}", "reason", reason, "packets", n);
			rows_set_port(row, port);
			json_array_append_new(list, row);
		}
	}
	return list;
}

/* Is this counter one of drops? Some have names of vendors. */
static bool
is_nic_drop(const char *name)
{
	return strncmp(name, "drop_", 5) == 0 || strcmp(name, "rx_icrc_encapsulated") == 0 ||
	       strcmp(name, "qkey_violations") == 0 || strcmp(name, "out_of_buffer") == 0 ||
	       strcmp(name, "rx_discards_phy") == 0;
}

json_t *
rows_of_nic_drops(const json_t *counters)
{
	json_t *list = json_array(), *n;
	const char *name;

	json_object_foreach ((json_t *)counters, name, n) {
		if (is_nic_drop(name) && json_integer_value(n) > 0)
			json_array_append_new(
				list, json_pack("{s:s, s:O}", "reason", name, "packets", n));
	}
	return list;
}

json_t *
rows_of_marks(const json_t *rows)
{
	json_t *list = json_array(), *queue;
	size_t i;

	json_array_foreach (rows, i, queue) {
		double sent = (double)json_integer_value(json_object_get(queue, "tx_packets"));
		double marked =
			(double)json_integer_value(json_object_get(queue, "ecn_marked_packets"));
		json_t *row = json_copy(queue);

		json_object_set_new(row, "marked_pct",
				    json_real(sent > 0 ? 100 * marked / sent : 0));
		json_array_append_new(list, row);
	}
	return list;
}

/* Two counters as SONiC shows them: "3/1". */
static void
set_pair(json_t *row, const char *key, const char *first, const char *second)
{
	json_object_set_new(row, key,
			    json_sprintf("%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT,
					 json_integer_value(json_object_get(row, first)),
					 json_integer_value(json_object_get(row, second))));
}

/* A queue in a storm shows what the watchdog does with its frames. */
static void
set_status(json_t *row)
{
	const char *status = json_string_value(json_object_get(row, "status"));
	const char *action = json_string_value(json_object_get(row, "action"));

	if (status != NULL && action != NULL && strcmp(status, "stormed") == 0)
		json_object_set_new(row, "status", json_sprintf("%s: %s", status, action));
}

json_t *
rows_of_storms(const json_t *rows)
{
	static const char *const times[] = {"storm_detected_ns", "storm_restored_ns",
					    "longest_storm_ns"};
	json_t *list = json_array(), *queue;
	size_t i;

	json_array_foreach (rows, i, queue) {
		json_t *row = json_copy(queue);

		/* 0: never, which a table shows as "-". */
		for (size_t k = 0; k < ARRAY_LEN(times); k++)
			if (json_integer_value(json_object_get(row, times[k])) == 0)
				json_object_del(row, times[k]);
		set_pair(row, "storms", "deadlock_detected", "deadlock_restored");
		set_pair(row, "tx", "tx_packets", "tx_dropped_packets");
		set_pair(row, "rx", "rx_packets", "rx_dropped_packets");
		set_status(row);
		json_array_append_new(list, row);
	}
	return list;
}
