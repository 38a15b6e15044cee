/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/desk/switch_desk.h"

#include <stdio.h>

#include "base/threads/counter.h"
#include "runtime/report/report.h"
#include "runtime/notice/scaled.h"
#include "runtime/report/switch_json.h"

void
switch_stats(const struct run_app *app, struct run_traffic *traffic, char *text,
	     unsigned int text_size)
{
	uint64_t drops = 0, marked = 0, tx_pause = 0, rx_pause = 0, buffer_bytes = 0;
	char n[5][SCALED_CHARS];

	*traffic = (struct run_traffic){0};
	for (uint16_t port = 0; port < app->n_ports; port++) {
		const struct sw_port_stats *s = sw_port_stats(app->node, port);

		traffic->rx_packets += counter_read(&s->rx_packets);
		traffic->rx_bytes += counter_read(&s->rx_bytes);
		traffic->tx_packets += counter_read(&s->tx_packets);
		traffic->tx_bytes += counter_read(&s->tx_bytes);
		tx_pause += counter_read(&s->tx_pause_frames);
		rx_pause += counter_read(&s->rx_pause_frames);
		for (unsigned int d = 0; d < SW_DROPS; d++)
			drops += counter_read(&s->drops[d]);
		for (uint8_t q = 0; q < TM_CLASSES; q++) {
			marked += counter_read(&s->queue[q].ecn_marked_packets);
			buffer_bytes += sw_queue_bytes(app->node, port, q);
		}
	}
	snprintf(text, text_size, "drops %s marked %s pause tx %s rx %s queued %s",
		 scaled_count(n[0], drops), scaled_count(n[1], marked),
		 scaled_count(n[2], tx_pause), scaled_count(n[3], rx_pause),
		 scaled(n[4], (double)buffer_bytes, "B"));
}

static json_t *
queue_list(const struct node *node, uint16_t port)
{
	json_t *list = json_array();

	for (uint8_t queue = 0; queue < TM_CLASSES; queue++) {
		json_t *o = switch_queue_object(node, port, queue);

		report_set_mark_accuracy(o, sw_mark_accuracy(node, port, queue),
					 sw_mark_curve(node, port, queue));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *
pg_list(const struct node *node, uint16_t port)
{
	json_t *list = json_array();

	for (uint8_t pg = 0; pg < TM_CLASSES; pg++)
		json_array_append_new(list, switch_pg_object(node, port, pg));
	return list;
}

static json_t *
pfcwd_list(const struct node *node, const struct sw_params *params, uint16_t port)
{
	json_t *list = json_array();

	for (uint8_t prio = 0; prio < TM_CLASSES; prio++) {
		if (sw_pfcwd_watches(node, port, prio))
			json_array_append_new(list, switch_pfcwd_object(node, params, port, prio));
	}
	return list;
}

static json_t *
port_object(const struct node *node, const struct sw_params *params,
	    const struct run_result *result, uint16_t port)
{
	json_t *o = switch_port_object(result, node, params, port);
	json_t *drops = switch_drops_object(node, port);

	json_object_set_new(o, "drops", drops);
	report_set_device_drops(drops, "", result, port);
	json_object_set_new(o, "malformed", switch_malformed_object(node, port));
	switch_set_pause(o, node, &params->ports[port], port, result->elapsed_ns);
	if (params->lldp.lldp)
		json_object_set_new(o, "dcbx", switch_dcbx_object(node, port));
	if (params->pfcwd.pfcwd != PFCWD_OFF)
		json_object_set_new(o, "pfcwd", pfcwd_list(node, params, port));
	json_object_set_new(o, "queues", queue_list(node, port));
	json_object_set_new(o, "pgs", pg_list(node, port));
	return o;
}

json_t *
switch_report(const struct run_app *app, const struct sw_params *params,
	      const struct run_result *result)
{
	json_t *o = report_program("quench-switch", result->elapsed_ns);
	json_t *ports = json_array(), *interfaces = json_array();

	for (uint16_t port = 0; port < app->n_ports; port++)
		json_array_append_new(ports, port_object(app->node, params, result, port));
	json_object_set_new(o, "ports", ports);
	report_set_u64(o, "fdb_entries", sw_fdb_entries(app->node));
	json_object_set_new(o, "fdb", switch_fdb_object(app->node));
	json_object_set_new(o, "router", switch_router_object(app->node));
	for (uint32_t i = 0; i < params->tables.n_interfaces; i++)
		json_array_append_new(interfaces, switch_interface_object(app->node, params, i));
	json_object_set_new(o, "router_interfaces", interfaces);
	switch_set_buffer(o, app->node, params);
	return o;
}
