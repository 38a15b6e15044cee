/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/desk/switch_desk.h"

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "runtime/methods/methods.h"
#include "runtime/notice/wall_time.h"
#include "runtime/report/report.h"
#include "ctl/output/json.h"
#include "quench-switch/config/switch_version.h"
#include "tm/queue/mark_accuracy.h"

/* @param call  NULL with names_only. */
typedef void port_walk(struct walk *w, struct desk_call *call, uint16_t port);

static struct sw_view
view(const struct desk_call *call)
{
	if (call == NULL)
		return (struct sw_view){0};
	return (struct sw_view){switch_of(call)->node, switch_of(call)->params, desk_now_ns(call)};
}

/* The object of the port that parameter port names. */
static json_t *
of_port(struct desk_call *call, port_walk *walk)
{
	uint16_t port;
	struct json_walk j;

	if (!switch_port_param(call, &port))
		return NULL;
	j = json_walk(json_object());
	walk(&j.walk, call, port);
	return j.at;
}

static bool
row_of_port(struct walk *w, struct desk_call *call, void *arg, uint64_t port)
{
	port_walk *const *walk = arg;

	(*walk)(w, call, (uint16_t)port);
	return true;
}

/* A row for each port. */
static json_t *
of_ports(struct desk_call *call, port_walk *walk)
{
	return desk_list_reply(call, &(struct desk_list){.end = switch_of(call)->params->n_ports,
							 .row = row_of_port,
							 .arg = &walk});
}

static void
names_of_ports(struct walk *w, port_walk *walk)
{
	walk_number(w, WALK_KEY, "total", "number of all rows", 0);
	walk_item(w, "rows");
	walk(w, NULL, 0);
	walk_leave(w);
}

/* The method NAME, of a port or of all ports, by its port_walk. */
#define OF_PORT(name, walk_of)                                                                     \
	static json_t *name##_reply(struct desk_call *call)                                        \
	{                                                                                          \
		return of_port(call, walk_of);                                                     \
	}                                                                                          \
	static void name##_result(struct walk *w)                                                  \
	{                                                                                          \
		walk_of(w, NULL, 0);                                                               \
	}
#define OF_PORTS(name, walk_of)                                                                    \
	static json_t *name##_reply(struct desk_call *call)                                        \
	{                                                                                          \
		return of_ports(call, walk_of);                                                    \
	}                                                                                          \
	static void name##_result(struct walk *w)                                                  \
	{                                                                                          \
		names_of_ports(w, walk_of);                                                        \
	}

static void
walk_info(struct walk *w, const struct desk_call *call)
{
	report_walk_program(w, "quench-switch", call == NULL ? 0 : desk_now_ns(call));
	report_walk_started(w, call == NULL ? 0 : desk_now_ns(call));
	WALK(number, w, KEY, "ports", "number of ports", switch_of(call)->params->n_ports);
	report_walk_suppressed(w);
}

static json_t *
info_reply(struct desk_call *call)
{
	struct json_walk j = json_walk(json_object());

	walk_info(&j.walk, call);
	return j.at;
}

static void
info_result(struct walk *w)
{
	walk_info(w, NULL);
}

static void
walk_ports(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);
	const struct run_result *result = call == NULL ? NULL : call->desk->result;

	switch_walk_port(w, result, &v, port);
	report_walk_link(w, result, port);
	WALK(flag, w, GAUGE, "tx_disabled", "whether the port sends no data",
	     sw_tx_disabled(v.sw, port));
	WALK(number, w, GAUGE, "pfc_delay_quanta",
	     "delay with which the port obeys a pause, in quanta of 512 bit times",
	     sw_pfc_delay(v.sw, port));
}

OF_PORTS(ports, walk_ports)

static void
walk_drops(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);

	switch_walk_drops(w, call == NULL ? NULL : call->desk->result, &v, port);
}

static void
walk_drops_row(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);

	sw_walk_port_key(w, &v, port);
	walk_drops(w, call, port);
}

OF_PORTS(drops, walk_drops_row)

static void
walk_port(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);

	walk_ports(w, call, port);
	walk_enter(w, "device_stats", "");
	report_walk_device_stats(w, call == NULL ? NULL : call->desk->result, port);
	walk_leave(w);
	walk_enter(w, "drops", "");
	walk_drops(w, call, port);
	walk_leave(w);
	walk_enter(w, "malformed", "");
	sw_walk_malformed(w, &v, port);
	walk_leave(w);
	sw_walk_pauses(w, &v, port);
}

OF_PORT(port, walk_port)

static void
walk_queues(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);

	sw_walk_port_key(w, &v, port);
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		walk_item(w, "queues");
		sw_walk_queue(w, &v, port, i);
		walk_leave(w);
	}
}

OF_PORT(queues, walk_queues)

static void
walk_pgs(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);

	sw_walk_port_key(w, &v, port);
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		walk_item(w, "pgs");
		sw_walk_pg(w, &v, port, i);
		walk_leave(w);
	}
}

OF_PORT(pg, walk_pgs)

static void
walk_pfc(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);

	sw_walk_port_key(w, &v, port);
	sw_walk_pauses(w, &v, port);
}

OF_PORTS(pfc, walk_pfc)

static void
walk_latest_pauses(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);

	sw_walk_port_key(w, &v, port);
	report_walk_macs(w, call == NULL ? 0 : sw_port_mac(v.sw, port),
			 call == NULL ? 0 : sw_pause_source(v.sw, port));
	if (call == NULL)
		report_walk_pauses(w, NULL, NULL, false, 0);
	else
		report_walk_pauses(w, sw_pfc_rx(v.sw, port), sw_pfc_tx(v.sw, port),
				   v.params->ports[port].flow_control == SW_FLOW_PAUSE, v.now_ns);
}

OF_PORT(pauses, walk_latest_pauses)

static void
walk_malformed(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);

	sw_walk_port_key(w, &v, port);
	sw_walk_malformed(w, &v, port);
}

OF_PORTS(malformed, walk_malformed)

static void
walk_device_stats(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);

	sw_walk_port_key(w, &v, port);
	report_walk_device_stats(w, call == NULL ? NULL : call->desk->result, port);
}

OF_PORTS(device_stats, walk_device_stats)

/* A key, its value in force, and whether it is the port's own. @param f  NULL with names_only. */
static void
walk_map(struct walk *w, const struct field *f, const void *values,
	 const struct sw_port_params *port)
{
	char value[FIELD_TEXT_SIZE] = "", of_port[FIELD_TEXT_SIZE] = "";
	const struct field_alias *alias;

	if (f != NULL) {
		field_format(f, values, value, sizeof(value));
		field_format(field_find(sw_port_fields, sw_port_fields_n, f->name, &alias), port,
			     of_port, sizeof(of_port));
	}
	walk_item(w, "maps");
	WALK(text, w, KEY, "key", "key of [qos_map] or [scheduler]", f->name);
	walk_text(w, WALK_KEY, "value", "value in force on the port", value);
	walk_flag(w, WALK_KEY, "own", "whether the port's section gives it",
		  strcmp(of_port, FIELD_DEFAULT) != 0);
	walk_leave(w);
}

static void
walk_maps(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);
	struct sched_params sched;
	struct qos_map_params qos;

	sw_walk_port_key(w, &v, port);
	if (call == NULL) {
		walk_map(w, NULL, NULL, NULL);
		return;
	}
	qos = sw_port_qos(v.params, port);
	sched = sw_port_sched(v.params, port);
	for (unsigned int i = 0; i < qos_map_fields_n; i++)
		walk_map(w, &qos_map_fields[i], &qos, &v.params->ports[port]);
	for (unsigned int i = 0; i < sched_fields_n; i++)
		walk_map(w, &sched_fields[i], &sched, &v.params->ports[port]);
}

OF_PORT(maps, walk_maps)

/* Rows that the main lcore makes, because watchdog and LLDP belong to it: a few ports at a time. */
#define PORTS_AT_ONCE 8u

struct on_main {
	struct desk_call *call;
	struct json_walk *reply;
	uint16_t first, end;
	port_walk *walk; /* enters rows */
};

static void
add_on_main(void *arg, uint64_t now_ns)
{
	const struct on_main *m = arg;

	(void)now_ns;
	for (uint16_t port = m->first; port < m->end; port++)
		m->walk(&m->reply->walk, m->call, port);
}

/* Set the rows of all ports. @return false: refused, with the reason in call. */
static bool
rows_on_main(struct desk_call *call, struct json_walk *reply, port_walk *walk)
{
	uint16_t n_ports = switch_of(call)->params->n_ports;
	struct on_main m = {.call = call, .reply = reply, .walk = walk};

	walk_list(&reply->walk, "rows");
	for (; m.first < n_ports; m.first = m.end) {
		m.end = (uint16_t)min_u64(n_ports, m.first + PORTS_AT_ONCE);
		if (!desk_on_main(call, add_on_main, &m))
			return false;
	}
	return true;
}

/* The watchdog's action and times on a port. */
static void
walk_pfcwd_keys(struct walk *w, const struct sw_view *v, uint16_t port)
{
	static const char *const keys[] = {"action", "detection_time_ns", "restoration_time_ns"};
	const struct pfcwd_params p =
		w->names_only ? (struct pfcwd_params){0} : sw_port_pfcwd(v->params, port);
	const struct field_alias *alias;

	for (unsigned int i = 0; i < ARRAY_LEN(keys); i++)
		walk_fields(w, WALK_PARAM,
			    field_find(pfcwd_fields, pfcwd_fields_n, keys[i], &alias), 1, &p);
}

/* A time of the watchdog as UTC, ISO 8601; "" if it never was. */
static void
walk_storm_time(struct walk *w, const char *key, const char *help, uint64_t at_ns, uint64_t now_ns)
{
	char text[WALL_TIME_CHARS] = "";

	if (at_ns > 0)
		wall_time_of(at_ns, now_ns, text);
	walk_text(w, WALK_KEY, key, help, text);
}

static void
walk_storm_times(struct walk *w, const struct sw_view *v, uint16_t port, uint8_t prio)
{
	const struct pfcwd_stats *stats =
		w->names_only ? NULL : &sw_pfcwd(v->sw, port, prio)->stats;

	walk_storm_time(w, "storm_detected_at", "storm_detected_ns as UTC, ISO 8601; empty: never",
			stats == NULL ? 0 : counter_read(&stats->detected_ns), v->now_ns);
	walk_storm_time(w, "storm_restored_at", "storm_restored_ns as UTC, ISO 8601; empty: never",
			stats == NULL ? 0 : counter_read(&stats->restored_ns), v->now_ns);
}

static void
walk_watched(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);

	for (uint8_t prio = 0; prio < (call == NULL ? 1 : TM_CLASSES); prio++) {
		if (call != NULL &&
		    (v.params->pfcwd.pfcwd == PFCWD_OFF || !sw_pfcwd_watches(v.sw, port, prio)))
			continue;
		walk_item(w, "rows");
		sw_walk_port_key(w, &v, port);
		sw_walk_pfcwd(w, &v, port, prio);
		walk_storm_times(w, &v, port, prio);
		walk_pfcwd_keys(w, &v, port);
		walk_leave(w);
	}
}

static void
walk_pfcwd(struct walk *w, struct desk_call *call)
{
	const struct sw_view v = view(call);

	w->object = "pfcwd";
	WALK(text, w, KEY, "pfcwd", "the mode: off, sonic or nxos",
	     pfcwd_mode_name(v.params->pfcwd.pfcwd));
	WALK(flag, w, GAUGE, "big_red_switch",
	     "whether all watched queues drop their frames (SONiC's Big Red Switch)",
	     sw_big_red_switch(v.sw));
}

static json_t *
pfcwd_reply(struct desk_call *call)
{
	struct json_walk j = json_walk(json_object());

	walk_pfcwd(&j.walk, call);
	if (rows_on_main(call, &j, walk_watched))
		return j.at;
	json_decref(j.at);
	return NULL;
}

static void
pfcwd_result(struct walk *w)
{
	walk_pfcwd(w, NULL);
	walk_watched(w, NULL, 0);
}

/* A neighbour's ID, as text if it is printable, else as hexadecimal bytes. */
static void
walk_id(struct walk *w, const char *key, const char *help, const uint8_t *bytes, unsigned int len)
{
	char text[3 * 32 + 1] = "";
	bool is_text = len > 0 && len < sizeof(text);

	for (unsigned int i = 0; i < len; i++)
		is_text = is_text && bytes[i] >= ' ' && bytes[i] < 0x7F;
	if (is_text)
		snprintf(text, sizeof(text), "%.*s", (int)len, (const char *)bytes);
	else
		for (unsigned int i = 0; i < len && i < 32; i++)
			snprintf(text + (i == 0 ? 0 : 3 * i - 1), 4, i == 0 ? "%02x" : ":%02x",
				 bytes[i]);
	walk_text(w, WALK_KEY, key, help, text);
}

static void
walk_lldp(struct walk *w, struct desk_call *call, uint16_t port)
{
	const struct sw_view v = view(call);
	const struct dcbx_port *d = call == NULL ? NULL : sw_dcbx(v.sw, port);
	static const struct lldp_info none;
	const struct lldp_info *peer = d != NULL && d->has_peer ? &d->peer : &none;

	walk_item(w, "rows");
	sw_walk_port_key(w, &v, port);
	w->object = "dcbx";
	WALK(flag, w, GAUGE, "neighbour", "whether a neighbour sends LLDP", d->has_peer);
	walk_id(w, "system_name", "of the neighbour: text, or bytes as 02:5a",
		peer->system_name.text, peer->system_name.len);
	walk_id(w, "chassis_id", "of the neighbour: text, or bytes as 02:5a", peer->chassis.id,
		peer->chassis.len);
	walk_id(w, "port_id", "of the neighbour: text, or bytes as 02:5a", peer->port.id,
		peer->port.len);
	sw_walk_dcbx(w, &v, port);
	walk_leave(w);
}

static json_t *
lldp_reply(struct desk_call *call)
{
	struct json_walk j;

	if (!switch_of(call)->params->lldp.lldp)
		return desk_refuse(call, "[lldp] lldp = on", "LLDP is off");
	j = json_walk(json_object());
	if (rows_on_main(call, &j, walk_lldp))
		return j.at;
	json_decref(j.at);
	return NULL;
}

static void
lldp_result(struct walk *w)
{
	walk_lldp(w, NULL, 0);
}

/* The active curve of a queue, and its marks. Queues without a curve have no row. */
static bool
ecn_row(struct walk *w, struct desk_call *call, void *arg, uint64_t i)
{
	const struct sw_view v = view(call);
	uint16_t port = (uint16_t)(i / TM_CLASSES);
	uint8_t queue = i % TM_CLASSES;
	const struct wred_params *curve =
		call == NULL ? NULL : sw_queue_wred(v.params, port, queue);

	(void)arg;
	if (call != NULL && curve == NULL)
		return false;
	sw_walk_port_key(w, &v, port);
	sw_walk_queue_counters(w, &v, port, queue);
	w->object = "wred";
	walk_fields(w, WALK_GAUGE, wred_fields, wred_fields_n, curve);
	return true;
}

/* Ports that have received frames which had to be marked, but are Not-ECT. */
static void
walk_not_ect_from(struct walk *w, struct desk_call *call)
{
	const struct sw_view v = view(call);
	uint16_t n_ports = call == NULL ? 1 : v.params->n_ports;

	walk_list(w, "not_ect_from");
	for (uint16_t port = 0; port < n_ports; port++) {
		uint64_t n = call == NULL ? 0 : sw_not_ect_packets(v.sw, port);

		if (call != NULL && n == 0)
			continue;
		walk_item(w, "not_ect_from");
		sw_walk_port_key(w, &v, port);
		walk_number(w, WALK_KEY, "ecn_not_ect_packets",
			    "the counter of this name of the port", n);
		walk_leave(w);
	}
}

static json_t *
ecn_reply(struct desk_call *call)
{
	uint64_t end = (uint64_t)switch_of(call)->params->n_ports * TM_CLASSES;
	struct json_walk j = json_walk(json_object());

	walk_not_ect_from(&j.walk, call);
	return desk_list_add(call, &(struct desk_list){.end = end, .row = ecn_row}, j.at);
}

static void
ecn_result(struct walk *w)
{
	walk_not_ect_from(w, NULL);
	desk_rows_result(w, ecn_row);
}

static void
walk_mark_look(struct walk *w, const struct sw_view *v, const struct sw_mark_look *look)
{
	sw_walk_port_key(w, v, look->port);
	walk_number(w, WALK_KEY, "queue", "number of the queue", look->queue);
	walk_flag(w, WALK_KEY, "always",
		  "whether mark_accuracy = on: the counts are those since the start. Else a queue "
		  "counts from a request on, and until 5 s after the last one",
		  look->always);
	report_walk_marks(w, &look->counts, &look->curve);
}

static void
mark_accuracy_result(struct walk *w)
{
	walk_mark_look(w, &(struct sw_view){0}, &(struct sw_mark_look){0});
}

static json_t *
mark_accuracy_reply(struct desk_call *call)
{
	const struct sw_view v = view(call);
	struct sw_mark_look look = {0};
	struct sw_snapshot s = {.table = SW_SNAPSHOT_MARKS, .marks = &look};
	const struct wred_params *wred;
	struct json_walk j;
	uint64_t queue;

	if (!switch_port_param(call, &look.port) ||
	    !desk_number(call, "queue", 0, TM_CLASSES - 1, &queue))
		return NULL;
	look.queue = (uint8_t)queue;
	wred = sw_queue_wred(v.params, look.port, look.queue);
	if (wred != NULL && wred->ecn == WRED_ECN_ALL) {
		if (sw_mark_look_prepare(switch_of(call)->node, look.port, look.queue) < 0)
			return desk_refuse(call, "", "no memory");
		if (!switch_take(call, &s))
			return NULL;
	}
	if (!look.marks)
		return desk_refuse(call, "one with a curve of [wred], and ecn = ecn_all",
				   "queue %u of port %u does not mark by a curve", look.queue,
				   look.port);
	j = json_walk(json_object());
	walk_mark_look(&j.walk, &v, &look);
	return j.at;
}

/* A method of the whole switch. */
#define OF_SWITCH(name, walk_of)                                                                   \
	static json_t *name##_reply(struct desk_call *call)                                        \
	{                                                                                          \
		const struct sw_view v = view(call);                                               \
		struct json_walk j = json_walk(json_object());                                     \
                                                                                                   \
		walk_of(&j.walk, &v);                                                              \
		return j.at;                                                                       \
	}                                                                                          \
	static void name##_result(struct walk *w)                                                  \
	{                                                                                          \
		walk_of(w, &(struct sw_view){0});                                                  \
	}

OF_SWITCH(buffer, sw_walk_buffer)
OF_SWITCH(router, sw_walk_router)

#define PORT_PARAM                                                                                 \
	{                                                                                          \
		"port", DESK_WORD, true, "number or name of a port"                                \
	}
static const struct desk_param port_params[] = {PORT_PARAM, {0}};

static const struct desk_param queue_params[] = {
	PORT_PARAM,
	{"queue", DESK_NUMBER, true, "0 to 7"},
	{0},
};

static const struct desk_param remove_params[] = {
	{"routes", DESK_WORDS, true, "prefixes of [route PREFIX]"},
	{0},
};

static const struct desk_param count_params[] = {
	{"count", DESK_NUMBER, false, "most rows; 0: none, only the rest"},
	{0},
};

/* clang-format off */
const struct desk_method switch_methods[] = {
	{"info", NULL, "Returns program, version, run time", info_reply, info_result},
	{"ports", NULL, "Returns counters of all ports", ports_reply, ports_result},
	{"port", port_params, "Returns all counters of a port, drops and pauses included", port_reply, port_result},
	{"device_stats", NULL, "Returns counters of devices", device_stats_reply, device_stats_result},
	{"malformed", NULL, "Returns malformed frames of all ports", malformed_reply, malformed_result},
	{"queues", port_params, "Returns the egress queues of a port", queues_reply, queues_result},
	{"pg", port_params, "Returns the priority groups of a port", pg_reply, pg_result},
	{"maps", port_params, "Returns the maps and the scheduler of a port", maps_reply, maps_result},
	{"pfc", NULL, "Returns pauses of all ports", pfc_reply, pfc_result},
	{"pauses", port_params, "Returns the latest pauses of a port", pauses_reply, pauses_result},
	{"pfcwd", NULL, "Returns the PFC watchdog", pfcwd_reply, pfcwd_result},
	{"drops", NULL, "Returns drops of all ports", drops_reply, drops_result},
	{"ecn", NULL, "Returns marking curves and marks", ecn_reply, ecn_result},
	{"look", queue_params, "Returns what waits in a queue, where it came from, and why it waits", switch_look_reply, switch_look_result},
	{"mark_accuracy", queue_params, "Returns marks by queue length, and has them counted", mark_accuracy_reply, mark_accuracy_result},
	{"buffer", NULL, "Returns the shared buffer", buffer_reply, buffer_result},
	{"mempools", NULL, "Returns mbuf pools", mempools_reply, mempools_result},
	{"fdb", count_params, "Returns the forwarding table", switch_fdb_reply, switch_fdb_result},
	{"vlans", NULL, "Returns VLANs and their ports", switch_vlans_reply, switch_vlans_result},
	{"routes", NULL, "Returns routes", switch_routes_reply, switch_routes_result},
	{"route", switch_route_params, "Returns the way of a destination, or of a flow to it", switch_route_reply, switch_route_result},
	{"nexthops", NULL, "Returns next hops of routes, and what was routed to them", switch_nexthops_reply, switch_nexthops_result},
	{"remove", remove_params, "Sets the configuration to one without these routes", switch_remove_reply, config_change_result},
	{"interfaces", NULL, "Returns router interfaces", switch_interfaces_reply, switch_interfaces_result},
	{"neigh", count_params, "Returns neighbours of the router", switch_neigh_reply, switch_neigh_result},
	{"router", NULL, "Returns counters of the router", router_reply, router_result},
	{"clear_watermark", switch_clear_params, "Sets watermarks to the bytes in use", switch_clear_watermark_reply, switch_clear_watermark_result},
	{"lldp", NULL, "Returns LLDP neighbours and DCBX", lldp_reply, lldp_result},
	CAPTURE_METHOD,
	CONFIG_METHODS,
};
/* clang-format on */

const unsigned int switch_methods_n = ARRAY_LEN(switch_methods);
