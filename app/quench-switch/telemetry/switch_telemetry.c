/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/telemetry/switch_telemetry.h"

#include "base/numbers/array.h"
#include "runtime/report/telemetry_capture.h"
#include "runtime/report/telemetry_config.h"
#include "runtime/telemetry/mempools.h"
#include "runtime/report/report.h"
#include "runtime/notice/say.h"
#include "runtime/report/switch_json.h"
#include "ctl/output/json.h"
#include "quench-switch/telemetry/switch_catalogue.h"
#include "quench-switch/telemetry/switch_port_param.h"
#include "quench-switch/config/switch_version.h"
#include "switch/params/counters.h"
#include "quench-switch/telemetry/switch_telemetry_set.h"
#include "quench-switch/telemetry/switch_telemetry_tables.h"
#include "tm/queue/mark_accuracy.h"

typedef json_t *port_row_fn(struct telemetry_call *call, uint16_t port);

static json_t *
row_of_port(struct telemetry_call *call, void *arg, uint64_t port)
{
	port_row_fn *const *row = arg;

	return (*row)(call, (uint16_t)port);
}

/* A row for each port from FIRST on. @return the page, or NULL: the parameter is wrong. */
static json_t *
port_page(struct telemetry_call *call, port_row_fn *row)
{
	uint16_t n_ports = switch_of(call)->params->n_ports;

	return telemetry_list_reply(call, &(struct telemetry_list){.end = n_ports,
								   .max_first = n_ports - 1u,
								   .row = row_of_port,
								   .arg = &row});
}

/* Rows of the classes of all ports, numbered by port and class. @return as port_page(). */
static json_t *
class_page(struct telemetry_call *call,
	   json_t *(*row)(struct telemetry_call *call, void *arg, uint64_t i), json_t *o)
{
	uint64_t end = (uint64_t)switch_of(call)->params->n_ports * TM_CLASSES;

	return telemetry_list_add(
		call, &(struct telemetry_list){.end = end, .max_first = end - 1, .row = row}, o);
}

/* Parse parameter PORT, and begin an object with the port's number and name. */
static json_t *
begin_port(struct telemetry_call *call, uint16_t *port)
{
	json_t *o;

	if (!switch_port_param(call, 0, port))
		return NULL;
	o = json_object();
	switch_set_port(o, switch_of(call)->params, *port);
	return o;
}

static json_t *
info_reply(struct telemetry_call *call)
{
	json_t *o = report_program("quench-switch", telemetry_now_ns(call));

	report_set_u64(o, "ports", switch_of(call)->params->n_ports);
	report_set_u64(o, "suppressed_lines", say_suppressed());
	return o;
}

/* A port without its queues, groups, pauses and drops. */
static json_t *
port_row(struct telemetry_call *call, uint16_t port)
{
	const struct switch_program *s = switch_of(call);
	json_t *o = switch_port_object(call->telemetry->result, s->node, s->params, port);

	json_object_set_new(o, "link",
			    json_string(report_link_word(call->telemetry->result, port)));
	json_object_set_new(o, "tx_disabled", json_boolean(sw_tx_disabled(s->node, port)));
	report_set_u64(o, "pfc_delay_quanta", sw_pfc_delay(s->node, port));
	return o;
}

static json_t *
ports_row(struct telemetry_call *call, uint16_t port)
{
	json_t *o = port_row(call, port);

	json_object_del(o, "device_stats");
	return o;
}

static json_t *
drops_of(struct telemetry_call *call, uint16_t port)
{
	json_t *o = switch_drops_object(switch_of(call)->node, port);

	report_set_device_drops(o, "", call->telemetry->result, port);
	return o;
}

static json_t *
ports_reply(struct telemetry_call *call)
{
	return port_page(call, ports_row);
}

static json_t *
port_reply(struct telemetry_call *call)
{
	const struct switch_program *s = switch_of(call);
	uint16_t port;
	json_t *o = begin_port(call, &port);

	if (o == NULL)
		return NULL;
	json_object_update_new(o, port_row(call, port));
	json_object_set_new(o, "drops", drops_of(call, port));
	json_object_set_new(o, "malformed", switch_malformed_object(s->node, port));
	switch_set_pause(o, s->node, &s->params->ports[port], port, telemetry_now_ns(call));
	return o;
}

static json_t *
classes_reply(struct telemetry_call *call, const char *key,
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
queues_reply(struct telemetry_call *call)
{
	return classes_reply(call, "queues", switch_queue_object);
}

static json_t *
pg_reply(struct telemetry_call *call)
{
	return classes_reply(call, "pgs", switch_pg_object);
}

static json_t *
pfc_row(struct telemetry_call *call, uint16_t port)
{
	const struct switch_program *s = switch_of(call);
	json_t *o = json_object();

	switch_set_port(o, s->params, port);
	switch_set_pause(o, s->node, &s->params->ports[port], port, telemetry_now_ns(call));
	return o;
}

static json_t *
pfc_reply(struct telemetry_call *call)
{
	return port_page(call, pfc_row);
}

static json_t *
pauses_reply(struct telemetry_call *call)
{
	const struct switch_program *s = switch_of(call);
	uint16_t port;
	json_t *o = begin_port(call, &port);

	if (o != NULL)
		json_object_set_new(
			o, "pauses",
			report_pauses(sw_pfc_rx(s->node, port), sw_pfc_tx(s->node, port),
				      s->params->ports[port].flow_control == SW_FLOW_PAUSE,
				      telemetry_now_ns(call)));
	return o;
}

static json_t *
drops_row(struct telemetry_call *call, uint16_t port)
{
	json_t *o = json_object();

	switch_set_port(o, switch_of(call)->params, port);
	json_object_update_new(o, drops_of(call, port));
	return o;
}

static json_t *
drops_reply(struct telemetry_call *call)
{
	return port_page(call, drops_row);
}

static json_t *
malformed_row(struct telemetry_call *call, uint16_t port)
{
	json_t *o = switch_malformed_object(switch_of(call)->node, port);

	switch_set_port(o, switch_of(call)->params, port);
	return o;
}

static json_t *
malformed_reply(struct telemetry_call *call)
{
	return port_page(call, malformed_row);
}

static json_t *
device_stats_row(struct telemetry_call *call, uint16_t port)
{
	json_t *o = report_device_stats(call->telemetry->result, port);

	switch_set_port(o, switch_of(call)->params, port);
	return o;
}

static json_t *
device_stats_reply(struct telemetry_call *call)
{
	return port_page(call, device_stats_row);
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
maps_reply(struct telemetry_call *call)
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

/* For replies that the main lcore makes, because watchdog and LLDP belong to it. */
struct on_main {
	struct telemetry_call *call;
	json_t *reply;
	json_t *(*make)(struct telemetry_call *call);
};

static void
make_on_main(void *arg, uint64_t now_ns)
{
	struct on_main *m = arg;

	(void)now_ns;
	m->reply = m->make(m->call);
}

static json_t *
reply_on_main(struct telemetry_call *call, json_t *(*make)(struct telemetry_call *call))
{
	struct on_main m = {.call = call, .make = make};

	return telemetry_on_main(call, make_on_main, &m) ? m.reply : NULL;
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

static json_t *
pfcwd_row(struct telemetry_call *call, void *arg, uint64_t i)
{
	const struct switch_program *s = switch_of(call);
	uint16_t port = (uint16_t)(i / TM_CLASSES);
	uint8_t prio = i % TM_CLASSES;
	json_t *row;

	(void)arg;
	if (s->params->pfcwd.pfcwd == PFCWD_OFF || !sw_pfcwd_watches(s->node, port, prio))
		return NULL;
	row = json_object();
	switch_set_port(row, s->params, port);
	json_object_update_new(row, switch_pfcwd_object(s->node, s->params, port, prio));
	set_pfcwd_keys(row, s->params, port);
	return row;
}

static json_t *
make_pfcwd(struct telemetry_call *call)
{
	const struct switch_program *s = switch_of(call);
	json_t *o = json_object();

	json_object_set_new(o, "pfcwd", json_string(pfcwd_mode_name(s->params->pfcwd.pfcwd)));
	json_object_set_new(o, "big_red_switch", json_boolean(sw_big_red_switch(s->node)));
	return class_page(call, pfcwd_row, o);
}

static json_t *
pfcwd_reply(struct telemetry_call *call)
{
	return reply_on_main(call, make_pfcwd);
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

static json_t *
lldp_row(struct telemetry_call *call, uint16_t port)
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
	return o;
}

static json_t *
make_lldp(struct telemetry_call *call)
{
	return port_page(call, lldp_row);
}

static json_t *
lldp_reply(struct telemetry_call *call)
{
	if (!switch_of(call)->params->lldp.lldp)
		return telemetry_refuse(call, "[lldp] lldp = on", "LLDP is off");
	return reply_on_main(call, make_lldp);
}

/* The active curve of a queue, and its marks. */
static json_t *
ecn_row(struct telemetry_call *call, void *arg, uint64_t i)
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
ecn_reply(struct telemetry_call *call)
{
	return class_page(call, ecn_row, json_object());
}

static json_t *
mark_accuracy_reply(struct telemetry_call *call)
{
	const struct switch_program *s = switch_of(call);
	uint64_t queue;
	uint16_t port;
	json_t *o = begin_port(call, &port);

	if (o == NULL)
		return NULL;
	if (!telemetry_number(call, 1, "QUEUE", 0, TM_CLASSES - 1, &queue) ||
	    (sw_mark_accuracy(s->node, port, (uint8_t)queue) == NULL &&
	     telemetry_refuse(call, "[switch] mark_accuracy = on, and a queue that marks",
			      "queue %u of port %u does not count marks by length",
			      (unsigned int)queue, port) == NULL)) {
		json_decref(o);
		return NULL;
	}
	report_set_u64(o, "queue", queue);
	report_set_mark_accuracy(o, sw_mark_accuracy(s->node, port, (uint8_t)queue),
				 sw_mark_curve(s->node, port, (uint8_t)queue));
	return o;
}

static json_t *
buffer_reply(struct telemetry_call *call)
{
	json_t *o = json_object();

	switch_set_buffer(o, switch_of(call)->node, switch_of(call)->params);
	return o;
}

static json_t *
router_reply(struct telemetry_call *call)
{
	return switch_router_object(switch_of(call)->node);
}

/* clang-format off */
const struct telemetry_endpoint switch_endpoints[] = {
	{"/quench/info", "", "Returns program, version, run time", 0, info_reply},
	{"/quench/counters", "[,FIRST]", "Returns names and meanings of counters", 1, switch_counters_reply},
	{"/quench/gauges", "[,FIRST]", "Returns names and meanings of gauges", 1, switch_gauges_reply},
	{"/quench/ports", "[,FIRST]", "Returns counters of all ports", 1, ports_reply},
	{"/quench/port", ",PORT", "Returns all counters of a port, drops and pauses included", 1, port_reply},
	{"/quench/device_stats", "[,FIRST]", "Returns counters of devices", 1, device_stats_reply},
	{"/quench/malformed", "[,FIRST]", "Returns malformed frames of all ports", 1, malformed_reply},
	{"/quench/queues", ",PORT", "Returns the egress queues of a port", 1, queues_reply},
	{"/quench/pg", ",PORT", "Returns the priority groups of a port", 1, pg_reply},
	{"/quench/maps", ",PORT", "Returns the maps and the scheduler of a port", 1, maps_reply},
	{"/quench/pfc", "[,FIRST]", "Returns pauses of all ports", 1, pfc_reply},
	{"/quench/pauses", ",PORT", "Returns the latest pauses of a port", 1, pauses_reply},
	{"/quench/pfcwd", "[,FIRST]", "Returns the PFC watchdog", 1, pfcwd_reply},
	{"/quench/drops", "[,FIRST]", "Returns drops of all ports", 1, drops_reply},
	{"/quench/ecn", "[,FIRST]", "Returns marking curves and marks", 1, ecn_reply},
	{"/quench/mark_accuracy", ",PORT,QUEUE", "Returns marks by queue length", 2,
	 mark_accuracy_reply},
	{"/quench/buffer", "", "Returns the shared buffer", 0, buffer_reply},
	{"/quench/mempools", "", "Returns mbuf pools", 0, mempools_reply},
	{"/quench/fdb", "[,PLACE]", "Returns the forwarding table", 1, switch_fdb_reply},
	{"/quench/vlans", "[,FIRST]", "Returns VLANs and their ports", 1, switch_vlans_reply},
	{"/quench/routes", "[,FIRST]", "Returns routes", 1, switch_routes_reply},
	{"/quench/interfaces", "[,FIRST]", "Returns router interfaces", 1, switch_interfaces_reply},
	{"/quench/neigh", "[,PLACE]", "Returns neighbours of the router", 1, switch_neigh_reply},
	{"/quench/router", "", "Returns counters of the router", 0, router_reply},
	{"/quench/set/tx_disabled", ",PORT,on|off", "Sets whether a port sends no data", 2,
	 switch_set_tx_disabled_reply},
	{"/quench/set/pfc_delay_quanta", ",PORT,QUANTA", "Sets the delay of obeying pauses", 2,
	 switch_set_pfc_delay_reply},
	{"/quench/set/big_red_switch", ",on|off", "Sets whether all watched queues drop", 1,
	 switch_set_big_red_switch_reply},
	{"/quench/clear/watermark", ",KIND[,PORT]", "Sets watermarks to the bytes in use", 2,
	 switch_clear_watermark_reply},
	{"/quench/lldp", "[,FIRST]", "Returns LLDP neighbours and DCBX", 1, lldp_reply},
	CAPTURE_ENDPOINT,
	CONFIG_ENDPOINTS,
};
/* clang-format on */

const unsigned int switch_endpoints_n = ARRAY_LEN(switch_endpoints);
