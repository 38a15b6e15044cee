/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/sw_event.h"

#include <stdio.h>

#include "switch/sw_internal.h"

static const struct {
	const char *name;
	const char *text; /* port, queue */
} kinds[] = {
	[SW_EVENT_STORM_DETECTED] = {"storm_detected",
				     "PFC Watchdog detected PFC storm on port %u, queue index %u"},
	[SW_EVENT_STORM_RESTORED] = {"storm_restored",
				     "PFC Watchdog storm restored on port %u, queue index %u"},
	[SW_EVENT_WAIT_TO_SHUTDOWN] = {"wait_to_shutdown",
				       "PFC Watchdog: queue stuck, wait to shutdown on port %u, "
				       "queue index %u"},
	[SW_EVENT_BIG_RED_SWITCH_ON] = {"big_red_switch_on",
					"PFC Watchdog: BIG_RED_SWITCH mode is enabled"},
	[SW_EVENT_BIG_RED_SWITCH_OFF] = {"big_red_switch_off",
					 "PFC Watchdog: BIG_RED_SWITCH mode is disabled"},
	[SW_EVENT_LINK_DOWN] = {"link_down", "port %u: link down"},
	[SW_EVENT_LINK_UP] = {"link_up", "port %u: link up"},
};

void
sw_event_record(struct sw *sw, enum sw_event_kind kind, uint16_t port, uint8_t queue,
		uint64_t now_ns)
{
	struct sw_event_log *log = &sw->events;

	if (log->written - log->read == SW_EVENTS) {
		counter_inc(&log->lost);
		return;
	}
	log->event[log->written++ % SW_EVENTS] =
		(struct sw_event){.at_ns = now_ns, .kind = kind, .port = port, .queue = queue};
}

bool
sw_event_peek(const struct node *node, uint32_t i, struct sw_event *out)
{
	const struct sw_event_log *log = &sw_of_const(node)->events;

	if (log->written - log->read <= i)
		return false;
	*out = log->event[(log->read + i) % SW_EVENTS];
	return true;
}

bool
sw_event_next(struct node *node, struct sw_event *out)
{
	if (!sw_event_peek(node, 0, out))
		return false;
	sw_of(node)->events.read++;
	return true;
}

uint64_t
sw_events_lost(const struct node *node)
{
	return counter_read(&sw_of_const(node)->events.lost);
}

const char *
sw_event_name(enum sw_event_kind kind)
{
	return kinds[kind].name;
}

/* The formats are of this file: both numbers are always given, and not all are asked for. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
int
sw_event_text(const struct sw_event *e, char *text, size_t size)
{
	return snprintf(text, size, kinds[e->kind].text, e->port, e->queue);
}
