/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/desk/switch_desk.h"

#include <stdio.h>

#include "base/threads/counter.h"
#include "runtime/report/report.h"
#include "runtime/notice/scaled.h"
#include "ctl/output/json.h"

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

void
switch_walk_port(struct walk *w, const struct run_result *result, const struct sw_view *v,
		 uint16_t port)
{
	uint8_t shard_of_port[SW_DEVICE_PORTS];

	sw_walk_port_key(w, v, port);
	report_walk_port(w, result, port,
			 w->names_only ? 0 : v->params->ports[port].link_speed_bps);
	if (!w->names_only)
		sw_shards_deal(v->params, shard_of_port);
	WALK(number, w, GAUGE, "shard", "shard that owns the port, counted from 1",
	     shard_of_port[port] + 1u);
	WALK(number, w, GAUGE, "shaper_rate_bps", "rate limit of the port; 0: the link's rate",
	     v->params->ports[port].shaper_rate_bps);
	WALK(flag, w, GAUGE, "shutdown",
	     "whether the port has shutdown = on: it neither sends nor takes frames",
	     v->params->ports[port].shutdown);
	sw_walk_port(w, v, port);
}

void
switch_walk_interface(struct walk *w, const struct sw_view *v, uint32_t i)
{
	const struct sw_interface *interface =
		w->names_only ? NULL : &v->params->tables.interfaces[i];

	sw_walk_interface(w, v, w->names_only ? NULL : interface->name);
	WALK(text, w, KEY, "ip", "IPv4 address and prefix", interface->ip);
	WALK(text, w, KEY, "ip6", "IPv6 address and prefix", interface->ip6);
}

void
switch_walk_drops(struct walk *w, const struct run_result *result, const struct sw_view *v,
		  uint16_t port)
{
	static const struct report_drop_words words = {
		"device_missed",
		"Lost before the switch received it: the receive ring of the device, or of the "
		"kernel's socket, was full",
		"device_cut", "device_mtu"};

	sw_walk_drops(w, v, port);
	report_walk_device_drops(w, &words, result, port);
}

static void
walk_port(struct walk *w, const struct run_result *result, const struct sw_view *v, uint16_t port)
{
	switch_walk_port(w, result, v, port);
	walk_enter(w, "device_stats", "");
	report_walk_device_stats(w, result, port);
	walk_leave(w);
	sw_walk_pauses(w, v, port);
	walk_enter(w, "drops", "");
	switch_walk_drops(w, result, v, port);
	walk_leave(w);
	walk_enter(w, "malformed", "");
	sw_walk_malformed(w, v, port);
	walk_leave(w);
	w->optional = true;
	if (w->names_only || v->params->lldp.lldp) {
		walk_enter(w, "dcbx", "");
		sw_walk_dcbx(w, v, port);
		walk_leave(w);
	}
	if (w->names_only || v->params->pfcwd.pfcwd != PFCWD_OFF)
		sw_walk_watched(w, v, port);
	w->optional = false;
	for (uint8_t i = 0; i < TM_CLASSES; i++) {
		walk_item(w, "queues");
		sw_walk_queue(w, v, port, i);
		w->optional = true;
		report_walk_mark_accuracy(w, v->sw, port, i);
		w->optional = false;
		walk_leave(w);
		walk_item(w, "pgs");
		sw_walk_pg(w, v, port, i);
		walk_leave(w);
	}
}

/* result is NULL, and the view empty, with names_only. */
static void
walk_report(struct walk *w, const struct run_result *result, const struct sw_view *v,
	    uint16_t n_ports)
{
	uint32_t n_interfaces = w->names_only ? 1 : v->params->tables.n_interfaces;

	report_walk_program(w, "quench-switch", v->now_ns);
	walk_list(w, "ports");
	for (uint16_t port = 0; port < n_ports; port++) {
		walk_item(w, "ports");
		walk_port(w, result, v, port);
		walk_leave(w);
	}
	w->object = "switch";
	WALK(number, w, GAUGE, "fdb_entries", "addresses in the forwarding table",
	     sw_fdb_entries(v->sw));
	walk_enter(w, "fdb", "");
	sw_walk_fdb(w, v);
	walk_leave(w);
	walk_enter(w, "router", "");
	sw_walk_router(w, v);
	walk_leave(w);
	walk_list(w, "router_interfaces");
	for (uint32_t i = 0; i < n_interfaces; i++) {
		walk_item(w, "router_interfaces");
		switch_walk_interface(w, v, i);
		walk_leave(w);
	}
	sw_walk_buffer(w, v);
}

json_t *
switch_report(const struct run_app *app, const struct sw_params *params,
	      const struct run_result *result)
{
	const struct sw_view view = {app->node, params, result->elapsed_ns};
	struct json_walk j = json_walk(json_object());

	walk_report(&j.walk, result, &view, app->n_ports);
	return j.at;
}

void
switch_report_names(struct walk *w)
{
	const struct sw_view none = {0};

	walk_report(w, NULL, &none, 1);
}
