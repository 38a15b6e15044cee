/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/nodes/shards.h"

#include <inttypes.h>
#include <stdio.h>
#include <rte_common.h>

#include "runtime/run/opts.h"
#include "runtime/run/run.h"
#include "runtime/notice/say.h"
#include "runtime/device/port_device.h"
#include "switch/sw.h"
#include "switch/control/event_log.h"

int
shards_plan(struct sw_params *params, const char *path)
{
	uint16_t lcores = run_poll_lcores();
	const char *fault;

	if (params->shards > lcores) {
		say_error("%s: [switch] shards = %u: there are %u lcores to poll, and each shard "
			  "needs one (-l or --lcores: one more, the first, does control work)",
			  path, params->shards, lcores);
		return APP_BAD_USAGE;
	}
	if (params->shards == 0)
		params->shards = RTE_MIN(lcores, params->n_ports);
	fault = sw_shards_fault(params);
	if (fault == NULL)
		return 0;
	say_error("%s: with %u shards: %s", path, params->shards, fault);
	return APP_BAD_USAGE;
}

unsigned int
shards_lcore(const struct sw_params *params, uint16_t port)
{
	uint8_t shard_of_port[SW_DEVICE_PORTS];

	sw_shards_deal(params, shard_of_port);
	return run_poll_lcore(shard_of_port[port]);
}

void
shards_find(struct shards *s, struct node *sw)
{
	uint16_t n = sw_shards(sw);

	for (uint16_t i = 0; i < n; i++) {
		char text[256] = "";
		int at = 0;

		s->node[i] = sw_shard(sw, i);
		s->ports[i] = sw_shard_ports(sw, i);
		for (uint64_t p = s->ports[i]; n > 1 && p != 0; p &= p - 1)
			at += snprintf(text + at, sizeof(text) - (size_t)at, " %d",
				       __builtin_ctzll(p));
		if (n > 1)
			say("lcore %u polls %s%s", run_poll_lcore(i),
			    s->ports[i] == 0 ? "no port" : "port", text);
	}
}

static void
say_one(const struct run_app *app, const struct sw_event *e)
{
	const char *name = sw_event_name(e->kind);
	char text[128];

	sw_event_text(e, port_word(app->ethdevs[e->port], e->port), text, sizeof(text));
	if (e->kind <= SW_EVENT_WAIT_TO_SHUTDOWN)
		say_event(true, name, "%s; port=%u queue=%u", text, e->port, e->queue);
	else if (e->kind <= SW_EVENT_BIG_RED_SWITCH_OFF)
		say_event(true, name, "%s;", text);
	else
		say_event(false, name, "%s; port=%u ours=0x%02x theirs=0x%02x", text, e->port,
			  e->ours, e->theirs);
}

void
switch_watch(const struct run_app *app, const struct port_link *links, uint64_t now_ns)
{
	struct sw_event event;
	uint32_t lost;

	for (uint16_t port = 0; links != NULL && port < app->n_ports; port++)
		sw_set_link(app->node, port, !port_link_is_down(&links[port]), now_ns);
	while (sw_event_next(app->node, &event)) {
		/* port_link_look() has reported link changes. */
		if (event.kind == SW_EVENT_LINK_DOWN || event.kind == SW_EVENT_LINK_UP)
			continue;
		say_one(app, &event);
	}
	lost = sw_events_take_lost(app->node);
	if (lost > 0)
		say_event(true, "events_lost",
			  "%" PRIu32 " events occurred at once and have no line; events=%" PRIu32,
			  lost, lost);
}
