/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/control/event_log.h"

#include "switch/control/control_state.h"

void
sw_event_record(struct sw *sw, const struct sw_event *e)
{
	struct sw_event_log *log = &sw->control->events;

	if (log->written - log->read == SW_EVENTS)
		log->lost++;
	else
		log->event[log->written++ % SW_EVENTS] = *e;
}

bool
sw_event_peek(const struct node *node, uint32_t i, struct sw_event *out)
{
	const struct sw_event_log *log = &sw_of_const(node)->control->events;

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
	sw_of(node)->control->events.read++;
	return true;
}

uint32_t
sw_events_lost(const struct node *node)
{
	return sw_of_const(node)->control->events.lost;
}

uint32_t
sw_events_take_lost(struct node *node)
{
	uint32_t lost = sw_events_lost(node);

	sw_of(node)->control->events.lost = 0;
	return lost;
}
