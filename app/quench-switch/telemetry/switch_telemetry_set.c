/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes to a switch by telemetry: settings for tests, and watermarks. The main lcore changes
 * settings. The owner of a watermark reads and clears it in one step, so that no peak is lost in
 * between.
 */
#include "quench-switch/telemetry/switch_telemetry_set.h"

#include <stdio.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "runtime/report/report.h"
#include "runtime/report/switch_json.h"
#include "runtime/notice/say.h"
#include "quench-switch/config/switch_version.h"
#include "quench-switch/telemetry/switch_port_param.h"
#include "switch/params/port_names.h"
#include "quench-switch/telemetry/switch_telemetry_tables.h"
#include "tm/buffer/mmu.h"

struct knob {
	const struct switch_program *program;
	uint16_t port;
	bool on;
	uint16_t quanta;
};

static void
set_tx_disabled(void *arg, uint64_t now_ns)
{
	const struct knob *k = arg;

	(void)now_ns;
	sw_set_tx_disabled(k->program->node, k->port, k->on);
	say_event(false, "set", "port %s: tx_disabled = %s; port=%u key=tx_disabled",
		  sw_port_text(k->program->params, k->port).text, k->on ? "on" : "off", k->port);
}

json_t *
switch_set_tx_disabled_reply(struct telemetry_call *call)
{
	struct knob k = {.program = switch_of(call)};
	json_t *reply;

	if (!switch_port_param(call, 0, &k.port) ||
	    !telemetry_switch(call, 1, "tx_disabled", &k.on) ||
	    !telemetry_on_main(call, set_tx_disabled, &k))
		return NULL;
	reply = json_object();
	switch_set_port(reply, k.program->params, k.port);
	json_object_set_new(reply, "tx_disabled", json_boolean(k.on));
	return reply;
}

static void
set_pfc_delay(void *arg, uint64_t now_ns)
{
	const struct knob *k = arg;

	(void)now_ns;
	sw_set_pfc_delay(k->program->node, k->port, k->quanta);
	say_event(false, "set", "port %s: pfc_delay_quanta = %u; port=%u key=pfc_delay_quanta",
		  sw_port_text(k->program->params, k->port).text, k->quanta, k->port);
}

json_t *
switch_set_pfc_delay_reply(struct telemetry_call *call)
{
	struct knob k = {.program = switch_of(call)};
	uint64_t quanta;
	json_t *reply;

	if (!switch_port_param(call, 0, &k.port) ||
	    !telemetry_number(call, 1, "QUANTA", 0, UINT16_MAX, &quanta))
		return NULL;
	k.quanta = (uint16_t)quanta;
	if (!telemetry_on_main(call, set_pfc_delay, &k))
		return NULL;
	reply = json_object();
	switch_set_port(reply, k.program->params, k.port);
	report_set_u64(reply, "pfc_delay_quanta", k.quanta);
	return reply;
}

static void
set_big_red_switch(void *arg, uint64_t now_ns)
{
	const struct knob *k = arg;

	(void)now_ns;
	sw_set_big_red_switch(k->program->node, k->on);
	say_event(false, "set", "big_red_switch = %s; key=big_red_switch", k->on ? "on" : "off");
}

json_t *
switch_set_big_red_switch_reply(struct telemetry_call *call)
{
	struct knob k = {.program = switch_of(call)};

	if (k.program->params->pfcwd.pfcwd == PFCWD_OFF)
		return telemetry_refuse(call, "[pfcwd] pfcwd = sonic or nxos",
					"the watchdog is off: no queue is watched");
	if (!telemetry_switch(call, 0, "big_red_switch", &k.on) ||
	    !telemetry_on_main(call, set_big_red_switch, &k))
		return NULL;
	return json_pack("{s:b}", "big_red_switch", k.on);
}

/* Parse KIND: "pg", "queue" and so on. @return false: refused with the list. */
static bool
read_kind(struct telemetry_call *call, enum mmu_watermark *kind)
{
	char kinds[96] = "one of";

	for (unsigned int i = 0; i < MMU_WATERMARKS; i++) {
		const char *name = mmu_watermark_name((enum mmu_watermark)i);
		size_t n = strlen(kinds);

		*kind = (enum mmu_watermark)i;
		if (call->n_args > 0 && strcmp(call->args[0], name) == 0)
			return true;
		snprintf(kinds + n, sizeof(kinds) - n, "%s %s", i == 0 ? "" : ",", name);
	}
	if (call->n_args == 0)
		telemetry_refuse(call, kinds, "KIND is missing");
	else
		telemetry_refuse(call, kinds, "KIND = %s", call->args[0]);
	return false;
}

static bool
is_of_ports(enum mmu_watermark kind)
{
	return kind < MMU_WATERMARK_POOL;
}

static json_t *
add_row(json_t *rows, uint32_t index, uint64_t bytes)
{
	json_t *row = json_object();

	report_set_u64(row, "index", index);
	report_set_u64(row, "watermark_bytes", bytes);
	json_array_append_new(rows, row);
	return row;
}

/* Take and clear the watermarks of ports first to end - 1. @return false: refused. */
static bool
take_ports(struct telemetry_call *call, enum mmu_watermark kind, uint16_t first, uint16_t end,
	   json_t *rows)
{
	for (uint16_t port = first; port < end; port++) {
		struct sw_snapshot s = {.table = SW_SNAPSHOT_WATERMARKS, .kind = kind, .at = port};

		if (!switch_take(call, &s))
			return false;
		for (uint32_t i = 0; i < s.n; i++)
			switch_set_port(add_row(rows, i, s.watermark_bytes[i]),
					switch_of(call)->params, port);
	}
	return true;
}

/* A pool's watermark is the maximum over its shards. @return false: refused. */
static bool
take_pools(struct telemetry_call *call, enum mmu_watermark kind, json_t *rows)
{
	uint64_t highest[TM_CLASSES] = {0};
	uint32_t n = 0;

	for (uint16_t shard = 0; shard < sw_shards(switch_of(call)->node); shard++) {
		struct sw_snapshot s = {.table = SW_SNAPSHOT_WATERMARKS, .kind = kind, .at = shard};

		if (!switch_take(call, &s))
			return false;
		for (n = 0; n < s.n; n++)
			highest[n] = max_u64(highest[n], s.watermark_bytes[n]);
	}
	for (uint32_t i = 0; i < n; i++)
		add_row(rows, i, highest[i]);
	return true;
}

json_t *
switch_clear_watermark_reply(struct telemetry_call *call)
{
	uint16_t first = 0, end = switch_of(call)->params->n_ports;
	bool of_port = call->n_args > 1, taken;
	enum mmu_watermark kind;
	json_t *rows;

	if (!read_kind(call, &kind))
		return NULL;
	if (!is_of_ports(kind) && of_port)
		return telemetry_refuse(call, "no PORT",
					"%s applies to the whole switch: leave "
					"out the port",
					mmu_watermark_name(kind));
	if (of_port && !switch_port_param(call, 1, &first))
		return NULL;
	if (of_port)
		end = (uint16_t)(first + 1);
	rows = json_array();
	taken = is_of_ports(kind) ? take_ports(call, kind, first, end, rows)
				  : take_pools(call, kind, rows);
	if (!taken) {
		json_decref(rows);
		return NULL;
	}
	return json_pack("{s:s, s:o}", "kind", mmu_watermark_name(kind), "rows", rows);
}
