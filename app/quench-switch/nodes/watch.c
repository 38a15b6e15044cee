/* SPDX-License-Identifier: BSD-3-Clause */
#include "quench-switch/nodes/watch.h"

#include <inttypes.h>

#include "runtime/device/port_device.h"
#include "runtime/run/run.h"
#include "runtime/notice/say.h"
#include "switch/sw.h"
#include "switch/control/event_log.h"

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
