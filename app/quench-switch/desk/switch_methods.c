/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/desk/switch_desk.h"

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "runtime/methods/methods.h"
#include "runtime/report/report.h"
#include "runtime/notice/say.h"
#include "runtime/report/switch_json.h"
#include "ctl/output/json.h"
#include "quench-switch/config/switch_version.h"
#include "switch/params/sw_counters.h"
#include "tm/queue/mark_accuracy.h"

typedef json_t *port_row_fn(struct desk_call *call, uint16_t port);

static json_t *
row_of_port(struct desk_call *call, void *arg, uint64_t port)
{
	port_row_fn *const *row = arg;

	return (*row)(call, (uint16_t)port);
}

/* A row for each port. */
static json_t *
port_rows(struct desk_call *call, port_row_fn *row)
{
	return desk_list_reply(call, &(struct desk_list){.end = switch_of(call)->params->n_ports,
							 .row = row_of_port,
							 .arg = &row});
}

/* Read parameter port, and begin an object with the port's number and name. */
static json_t *
begin_port(struct desk_call *call, uint16_t *port)
{
	json_t *o;

	if (!switch_port_param(call, port))
		return NULL;
	o = json_object();
	switch_set_port(o, switch_of(call)->params, *port);
	return o;
}

static json_t *
info_reply(struct desk_call *call)
{
	json_t *o = report_program("quench-switch", desk_now_ns(call));

	report_set_u64(o, "ports", switch_of(call)->params->n_ports);
	report_set_u64(o, "suppressed_lines", say_suppressed());
	return o;
}

/* A port without its queues, groups, pauses and drops. */
static json_t *
port_row(struct desk_call *call, uint16_t port)
{
	const struct switch_program *s = switch_of(call);
	json_t *o = switch_port_object(call->desk->result, s->node, s->params, port);

	json_object_set_new(o, "link", json_string(report_link_word(call->desk->result, port)));
	json_object_set_new(o, "tx_disabled", json_boolean(sw_tx_disabled(s->node, port)));
	report_set_u64(o, "pfc_delay_quanta", sw_pfc_delay(s->node, port));
	return o;
}

static json_t *
ports_row(struct desk_call *call, uint16_t port)
{
	json_t *o = port_row(call, port);

	json_object_del(o, "device_stats");
	return o;
}

static json_t *
drops_of(struct desk_call *call, uint16_t port)
{
	json_t *o = switch_drops_object(switch_of(call)->node, port);

	report_set_device_drops(o, "", call->desk->result, port);
	return o;
}

static json_t *
ports_reply(struct desk_call *call)
{
	return port_rows(call, ports_row);
}

static json_t *
port_reply(struct desk_call *call)
{
	const struct switch_program *s = switch_of(call);
	uint16_t port;
	json_t *o = begin_port(call, &port);

	if (o == NULL)
		return NULL;
	json_object_update_new(o, port_row(call, port));
	json_object_set_new(o, "drops", drops_of(call, port));
	json_object_set_new(o, "malformed", switch_malformed_object(s->node, port));
	switch_set_pause(o, s->node, &s->params->ports[port], port, desk_now_ns(call));
	return o;
}

static json_t *
classes_reply(struct desk_call *call, const char *key,
	      json_t *(*row)(const struct node *node, uint16_t port, uint8_t index))
{
	uint16_t port;
	json_t *o = begin_port(call, &port);
	json_t *list = json_array();

	for (uint8_t i = 0; o != NULL && i < TM_CLASSES; i++)
		json_array_append_new(list, row(switch_of(call)->node, port, i));
	if (o == NULL)
		json_decref(list);
	else
		json_object_set_new(o, key, list);
	return o;
}

static json_t *
queues_reply(struct desk_call *call)
{
	return classes_reply(call, "queues", switch_queue_object);
}

static json_t *
pg_reply(struct desk_call *call)
{
	return classes_reply(call, "pgs", switch_pg_object);
}

static json_t *
pfc_row(struct desk_call *call, uint16_t port)
{
	const struct switch_program *s = switch_of(call);
	json_t *o = json_object();

	switch_set_port(o, s->params, port);
	switch_set_pause(o, s->node, &s->params->ports[port], port, desk_now_ns(call));
	return o;
}

static json_t *
pfc_reply(struct desk_call *call)
{
	return port_rows(call, pfc_row);
}

static json_t *
pauses_reply(struct desk_call *call)
{
	const struct switch_program *s = switch_of(call);
	uint16_t port;
	json_t *o = begin_port(call, &port);

	if (o != NULL)
		json_object_set_new(
			o, "pauses",
			report_pauses(sw_pfc_rx(s->node, port), sw_pfc_tx(s->node, port),
				      s->params->ports[port].flow_control == SW_FLOW_PAUSE,
				      desk_now_ns(call)));
	return o;
}

static json_t *
drops_row(struct desk_call *call, uint16_t port)
{
	json_t *o = json_object();

	switch_set_port(o, switch_of(call)->params, port);
	json_object_update_new(o, drops_of(call, port));
	return o;
}

static json_t *
drops_reply(struct desk_call *call)
{
	return port_rows(call, drops_row);
}

static json_t *
malformed_row(struct desk_call *call, uint16_t port)
{
	json_t *o = switch_malformed_object(switch_of(call)->node, port);

	switch_set_port(o, switch_of(call)->params, port);
	return o;
}

static json_t *
malformed_reply(struct desk_call *call)
{
	return port_rows(call, malformed_row);
}

static json_t *
device_stats_row(struct desk_call *call, uint16_t port)
{
	json_t *o = report_device_stats(call->desk->result, port);

	switch_set_port(o, switch_of(call)->params, port);
	return o;
}

static json_t *
device_stats_reply(struct desk_call *call)
{
	return port_rows(call, device_stats_row);
}

/* The keys of a table as rows: name, value in force, and whether it is the port's own. */
static void
add_maps(json_t *rows, const struct field *fields, unsigned int n, const void *values,
	 const struct sw_port_params *port)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct field_alias *alias;
		const struct field *own =
			field_find(sw_port_fields, sw_port_fields_n, fields[i].name, &alias);
		char value[FIELD_TEXT_SIZE], of_port[FIELD_TEXT_SIZE];

		field_format(&fields[i], values, value, sizeof(value));
		field_format(own, port, of_port, sizeof(of_port));
		json_array_append_new(rows,
				      json_pack("{s:s, s:s, s:b}", "key", fields[i].name, "value",
						value, "own", strcmp(of_port, FIELD_DEFAULT) != 0));
	}
}

static json_t *
maps_reply(struct desk_call *call)
{
	const struct sw_params *params = switch_of(call)->params;
	json_t *rows = json_array(), *o;
	struct sched_params sched;
	struct qos_map_params qos;
	uint16_t port;

	o = begin_port(call, &port);
	if (o == NULL) {
		json_decref(rows);
		return NULL;
	}
	qos = sw_port_qos(params, port);
	sched = sw_port_sched(params, port);
	add_maps(rows, qos_map_fields, qos_map_fields_n, &qos, &params->ports[port]);
	add_maps(rows, sched_fields, sched_fields_n, &sched, &params->ports[port]);
	json_object_set_new(o, "maps", rows);
	return o;
}

/* Rows that the main lcore makes, because watchdog and LLDP belong to it: a few ports at a time. */
#define PORTS_AT_ONCE 8u

struct on_main {
	struct desk_call *call;
	json_t *rows;
	uint16_t first, end;
	void (*add)(struct desk_call *call, json_t *rows, uint16_t port);
};

static void
add_on_main(void *arg, uint64_t now_ns)
{
	const struct on_main *m = arg;

	(void)now_ns;
	for (uint16_t port = m->first; port < m->end; port++)
		m->add(m->call, m->rows, port);
}

/* @return a list of the rows of all ports, or NULL: refused, with the reason in call. */
static json_t *
rows_on_main(struct desk_call *call,
	     void (*add)(struct desk_call *call, json_t *rows, uint16_t port))
{
	uint16_t n_ports = switch_of(call)->params->n_ports;
	struct on_main m = {.call = call, .rows = json_array(), .add = add};

	for (; m.first < n_ports; m.first = m.end) {
		m.end = (uint16_t)min_u64(n_ports, m.first + PORTS_AT_ONCE);
		if (!desk_on_main(call, add_on_main, &m)) {
			json_decref(m.rows);
			return NULL;
		}
	}
	return m.rows;
}

/* The watchdog's action and times on a port. */
static void
set_pfcwd_keys(json_t *row, const struct sw_params *params, uint16_t port)
{
	static const char *const keys[] = {"action", "detection_time_ns", "restoration_time_ns"};
	const struct pfcwd_params p = sw_port_pfcwd(params, port);
	const struct field_alias *alias;

	for (unsigned int i = 0; i < ARRAY_LEN(keys); i++)
		json_set_fields(row, field_find(pfcwd_fields, pfcwd_fields_n, keys[i], &alias), 1,
				&p);
}

static void
add_pfcwd(struct desk_call *call, json_t *rows, uint16_t port)
{
	const struct switch_program *s = switch_of(call);

	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		json_t *row;

		if (s->params->pfcwd.pfcwd == PFCWD_OFF || !sw_pfcwd_watches(s->node, port, prio))
			continue;
		row = json_object();
		switch_set_port(row, s->params, port);
		json_object_update_new(row, switch_pfcwd_object(s->node, s->params, port, prio));
		set_pfcwd_keys(row, s->params, port);
		json_array_append_new(rows, row);
	}
}

static json_t *
pfcwd_reply(struct desk_call *call)
{
	const struct switch_program *s = switch_of(call);
	json_t *rows = rows_on_main(call, add_pfcwd);

	if (rows == NULL)
		return NULL;
	return json_pack("{s:s, s:b, s:o}", "pfcwd", pfcwd_mode_name(s->params->pfcwd.pfcwd),
			 "big_red_switch", sw_big_red_switch(s->node), "rows", rows);
}

/* A neighbour's ID, as text if it is printable, else as hexadecimal bytes. */
static void
set_text(json_t *o, const char *key, const uint8_t *bytes, unsigned int len)
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
	json_object_set_new(o, key, json_string(text));
}

static void
add_lldp(struct desk_call *call, json_t *rows, uint16_t port)
{
	const struct switch_program *s = switch_of(call);
	const struct dcbx_port *d = sw_dcbx(s->node, port);
	static const struct lldp_info none;
	const struct lldp_info *peer = d->has_peer ? &d->peer : &none;
	json_t *o = json_object();

	switch_set_port(o, s->params, port);
	json_object_set_new(o, "neighbour", json_boolean(d->has_peer));
	set_text(o, "system_name", peer->system_name.text, peer->system_name.len);
	set_text(o, "chassis_id", peer->chassis.id, peer->chassis.len);
	set_text(o, "port_id", peer->port.id, peer->port.len);
	json_object_update_new(o, switch_dcbx_object(s->node, port));
	json_array_append_new(rows, o);
}

static json_t *
lldp_reply(struct desk_call *call)
{
	json_t *rows;

	if (!switch_of(call)->params->lldp.lldp)
		return desk_refuse(call, "[lldp] lldp = on", "LLDP is off");
	rows = rows_on_main(call, add_lldp);
	return rows == NULL ? NULL : json_pack("{s:o}", "rows", rows);
}

/* The active curve of a queue, and its marks. */
static json_t *
ecn_row(struct desk_call *call, void *arg, uint64_t i)
{
	const struct switch_program *s = switch_of(call);
	uint16_t port = (uint16_t)(i / TM_CLASSES);
	uint8_t queue = i % TM_CLASSES;
	const struct wred_params *w = sw_queue_wred(s->params, port, queue);
	json_t *o;

	(void)arg;
	if (w == NULL)
		return NULL;
	o = json_object();
	switch_set_port(o, s->params, port);
	report_set_u64(o, "queue", queue);
	report_set_u64(o, "queue_bytes", sw_queue_bytes(s->node, port, queue));
	json_set_counters(o, sw_queue_counter_fields, sw_queue_counter_fields_n,
			  &sw_port_stats(s->node, port)->queue[queue]);
	json_set_fields(o, wred_fields, wred_fields_n, w);
	return o;
}

static json_t *
ecn_reply(struct desk_call *call)
{
	uint64_t end = (uint64_t)switch_of(call)->params->n_ports * TM_CLASSES;

	return desk_list_add(call, &(struct desk_list){.end = end, .row = ecn_row}, json_object());
}

static json_t *
mark_accuracy_reply(struct desk_call *call)
{
	const struct switch_program *s = switch_of(call);
	uint64_t queue;
	uint16_t port;
	json_t *o = begin_port(call, &port);

	if (o == NULL)
		return NULL;
	if (!desk_number(call, "queue", 0, TM_CLASSES - 1, &queue) ||
	    (sw_mark_accuracy(s->node, port, (uint8_t)queue) == NULL &&
	     desk_refuse(call, "[switch] mark_accuracy = on, and a queue that marks",
			 "queue %u of port %u does not count marks by length", (unsigned int)queue,
			 port) == NULL)) {
		json_decref(o);
		return NULL;
	}
	report_set_u64(o, "queue", queue);
	report_set_mark_accuracy(o, sw_mark_accuracy(s->node, port, (uint8_t)queue),
				 sw_mark_curve(s->node, port, (uint8_t)queue));
	return o;
}

static json_t *
buffer_reply(struct desk_call *call)
{
	json_t *o = json_object();

	switch_set_buffer(o, switch_of(call)->node, switch_of(call)->params);
	return o;
}

static json_t *
router_reply(struct desk_call *call)
{
	return switch_router_object(switch_of(call)->node);
}

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

static const struct desk_param count_params[] = {
	{"count", DESK_NUMBER, false, "most rows; 0: none, only the rest"},
	{0},
};

/* clang-format off */
const struct desk_method switch_methods[] = {
	{"info", NULL, "Returns program, version, run time", info_reply},
	{"counters", NULL, "Returns names and meanings of counters", switch_counters_reply},
	{"gauges", NULL, "Returns names and meanings of gauges", switch_gauges_reply},
	{"ports", NULL, "Returns counters of all ports", ports_reply},
	{"port", port_params, "Returns all counters of a port, drops and pauses included", port_reply},
	{"device_stats", NULL, "Returns counters of devices", device_stats_reply},
	{"malformed", NULL, "Returns malformed frames of all ports", malformed_reply},
	{"queues", port_params, "Returns the egress queues of a port", queues_reply},
	{"pg", port_params, "Returns the priority groups of a port", pg_reply},
	{"maps", port_params, "Returns the maps and the scheduler of a port", maps_reply},
	{"pfc", NULL, "Returns pauses of all ports", pfc_reply},
	{"pauses", port_params, "Returns the latest pauses of a port", pauses_reply},
	{"pfcwd", NULL, "Returns the PFC watchdog", pfcwd_reply},
	{"drops", NULL, "Returns drops of all ports", drops_reply},
	{"ecn", NULL, "Returns marking curves and marks", ecn_reply},
	{"mark_accuracy", queue_params, "Returns marks by queue length", mark_accuracy_reply},
	{"buffer", NULL, "Returns the shared buffer", buffer_reply},
	{"mempools", NULL, "Returns mbuf pools", mempools_reply},
	{"fdb", count_params, "Returns the forwarding table", switch_fdb_reply},
	{"vlans", NULL, "Returns VLANs and their ports", switch_vlans_reply},
	{"routes", NULL, "Returns routes", switch_routes_reply},
	{"interfaces", NULL, "Returns router interfaces", switch_interfaces_reply},
	{"neigh", count_params, "Returns neighbours of the router", switch_neigh_reply},
	{"router", NULL, "Returns counters of the router", router_reply},
	{"clear_watermark", switch_clear_params, "Sets watermarks to the bytes in use", switch_clear_watermark_reply},
	{"lldp", NULL, "Returns LLDP neighbours and DCBX", lldp_reply},
	CAPTURE_METHOD,
	CONFIG_METHODS,
};
/* clang-format on */

const unsigned int switch_methods_n = ARRAY_LEN(switch_methods);
