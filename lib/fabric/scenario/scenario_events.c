/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules across keys of an [event NAME] or [record NAME]. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/scenario/scenario_parts.h"

static bool
has_port(int action)
{
	return action <= EVENT_SEND && action != EVENT_SWITCH_RESTART && action != EVENT_SET;
}

/* Actions on a switch only. */
static bool
is_of_switch(int action)
{
	return action == EVENT_TX_DISABLE || action == EVENT_TX_ENABLE ||
	       action == EVENT_PFC_DELAY || action == EVENT_SWITCH_RESTART;
}

static bool
is_of_host(int action)
{
	return action == EVENT_PAUSE_STORM || action == EVENT_PAUSE_STORM_END ||
	       action == EVENT_SLOW_RECEIVER;
}

bool
event_may_last(int action)
{
	return action < EVENT_SEND && action != EVENT_LINK_UP && action != EVENT_TX_ENABLE &&
	       action != EVENT_PAUSE_STORM_END;
}

bool
scenario_sends_frames(const struct scenario *s)
{
	for (uint32_t i = 0; i < s->n_events; i++)
		if (s->events[i].action == EVENT_SEND)
			return true;
	return false;
}

bool
scenario_has_strangers(const struct scenario *s)
{
	/* The tables of a switch keep their sizes when an event sets keys. */
	if (s->before != NULL)
		return scenario_has_strangers(s->before);
	for (uint32_t i = 0; i < s->n_events; i++)
		if (s->events[i].action == EVENT_CORRUPT)
			return true;
	return s->n_streams > 0 || scenario_sends_frames(s);
}

/* Find a port by number, or by the node at its other end. @return -1: none. */
static int32_t
find_port(const struct topology *t, uint32_t node, const char *text)
{
	int n_ports = topology_is_switch(t, node) ? t->switches[node].n_ports : 1;
	int64_t peer = topology_find(t, text);
	uint32_t link;

	if (strspn(text, "0123456789") == strlen(text) && *text != '\0')
		return strlen(text) <= 3 && atoi(text) < n_ports ? atoi(text) : -1;
	link = peer < 0 ? TOPOLOGY_NO_LINK : topology_link_between(t, node, (uint32_t)peer, 0);
	if (link == TOPOLOGY_NO_LINK)
		return -1;
	return t->links[link].a.node == node ? t->links[link].a.port : t->links[link].b.port;
}

static int
check_send(const struct event_params *e, struct scenario_fault *fault)
{
	bool has_frame = strcmp(e->frame, "none") != 0, has_file = strcmp(e->file, "none") != 0;

	if (has_frame == has_file)
		return scenario_refuse(fault, "event", e->name, "frame",
				       "either a frame or a file with action = send");
	if (e->rate_bps > 0 && e->interval_ns > 0)
		return scenario_refuse(fault, "event", e->name, "rate_bps",
				       "either this or interval_ns");
	return 0;
}

/* Check the configuration that a host's fault needs. */
static int
check_host_fault(const struct scenario *s, const struct event_params *e,
		 struct scenario_fault *fault)
{
	struct rx_drain_params receiver = s->nic.receiver;
	char why[256];

	if (e->action != EVENT_SLOW_RECEIVER && s->nic.flow_control == NIC_FLOW_OFF)
		return scenario_refuse(fault, "event", e->name, "action",
				       "flow_control = pfc or pause in [nic] with pause_storm");
	receiver.drain_rate_bps = e->drain_rate_bps;
	if (e->action == EVENT_SLOW_RECEIVER &&
	    rx_drain_params_check(&receiver, why, sizeof(why)) < 0)
		return scenario_refuse(fault, "event", e->name, "drain_rate_bps", why);
	return 0;
}

static int
check_times(const struct event_params *e, struct scenario_fault *fault)
{
	if (e->for_ns > 0 && !event_may_last(e->action))
		return scenario_refuse(fault, "event", e->name, "for_ns",
				       "0 with an action that has no duration");
	if (e->for_ns == 0 && e->action == EVENT_SWITCH_RESTART)
		return scenario_refuse(fault, "event", e->name, "for_ns",
				       "the time in which the switch starts, with switch_restart");
	if (e->delay_ns == 0 && e->action == EVENT_REORDER && e->frame_ppb > 0)
		return scenario_refuse(fault, "event", e->name, "delay_ns",
				       "a time above 0 with reorder");
	return 0;
}

static int
check_set(const struct event_params *e, struct scenario_fault *fault)
{
	bool has_set = strcmp(e->set, "none") != 0;

	if (has_set != (e->action == EVENT_SET))
		return scenario_refuse(fault, "event", e->name, "set",
				       e->action == EVENT_SET
					       ? "SECTION.KEY=VALUE with action = set"
					       : "none unless action = set");
	if (e->action == EVENT_SET && strcmp(e->node, "all") != 0)
		return scenario_refuse(fault, "event", e->name, "node",
				       "all with action = set: of one switch alone, set = switch "
				       "NAME.KEY=VALUE");
	return 0;
}

static int
check_event(const struct scenario *s, struct event_params *e, struct scenario_fault *fault)
{
	const struct topology *t = s->topology;
	int64_t node = topology_find(t, e->node);
	int32_t port;

	if (check_times(e, fault) < 0 || check_set(e, fault) < 0)
		return -EINVAL;
	/* The keys in `set` name their target. */
	if (e->action == EVENT_SET)
		return 0;
	e->everywhere = strcmp(e->node, "all") == 0 && e->action > EVENT_SEND;
	if (e->everywhere)
		return 0;
	if (node < 0)
		return scenario_refuse(fault, "event", e->name, "node",
				       "a switch or a host of the fabric");
	if (is_of_switch(e->action) && !topology_is_switch(t, (uint32_t)node))
		return scenario_refuse(fault, "event", e->name, "node", "a switch");
	if (is_of_host(e->action) && topology_is_switch(t, (uint32_t)node))
		return scenario_refuse(fault, "event", e->name, "node", "a host");
	port = has_port(e->action) ? find_port(t, (uint32_t)node, e->port) : 0;
	if (port < 0)
		return scenario_refuse(fault, "event", e->name, "port",
				       "a port of the node, or a node at the other end of one");
	e->at = (struct topology_end){.node = (uint32_t)node, .port = (uint16_t)port};
	if (is_of_host(e->action))
		return check_host_fault(s, e, fault);
	return e->action == EVENT_SEND ? check_send(e, fault) : 0;
}

static int
check_record(const struct topology *t, struct record_params *r, struct scenario_fault *fault)
{
	int64_t node = topology_find(t, r->node);
	int32_t port = node < 0 ? -1 : find_port(t, (uint32_t)node, r->port);

	if (node < 0)
		return scenario_refuse(fault, "record", r->name, "node",
				       "a switch or a host of the fabric");
	if (port < 0)
		return scenario_refuse(fault, "record", r->name, "port",
				       "a port of the node, or a node at the other end of one");
	r->at = (struct topology_end){.node = (uint32_t)node, .port = (uint16_t)port};
	return 0;
}

/* A port has at most one recording, because a second would be identical. */
static bool
is_recorded(const struct scenario *s, uint32_t index)
{
	const struct topology_end *at = &s->records[index].at;

	for (uint32_t i = 0; i < index; i++)
		if (s->records[i].at.node == at->node && s->records[i].at.port == at->port)
			return true;
	return false;
}

int
scenario_check_events(struct scenario *s, struct scenario_fault *fault)
{
	for (uint32_t i = 0; i < s->n_records; i++) {
		if (check_record(s->topology, &s->records[i], fault) < 0)
			return -EINVAL;
		if (is_recorded(s, i))
			return scenario_refuse(fault, "record", s->records[i].name, "port",
					       "a port that no other [record NAME] has");
	}
	for (uint32_t i = 0; i < s->n_events; i++)
		if (check_event(s, &s->events[i], fault) < 0)
			return -EINVAL;
	return 0;
}
