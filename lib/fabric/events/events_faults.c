/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that inject faults: links, frames on cables, hosts, switches. */
#include "base/numbers/fixed.h"
#include "base/numbers/units.h"
#include "fabric/events/events_state.h"

/*
 * Reasons for a link to be down: an event, or a restart of the switch at its first or second end.
 */
#define DOWN_BY_EVENT 0x1u
#define DOWN_BY_END(second) (0x2u << (second))

static struct node *
host_at(const struct events *ev, uint32_t node)
{
	return ev->net->hosts[node - net_scenario(ev->net)->topology->n_switches];
}

static void
poke(struct events *ev, uint32_t node, uint64_t now_ns)
{
	const struct topology *t = net_scenario(ev->net)->topology;

	if (topology_is_switch(t, node))
		fabric_poke(ev->net->fabric, node, now_ns);
	else
		net_poke_host(ev->net, node - t->n_switches + 1, now_ns);
}

/* A switch is notified of its link; a host resets its pauses. */
static void
notify(struct events *ev, struct topology_end at, bool up, uint64_t now_ns)
{
	if (!net_owns(ev->net, at.node))
		return;
	if (topology_is_switch(net_scenario(ev->net)->topology, at.node))
		sw_set_link(events_switch(ev, at.node), at.port, up, now_ns);
	else
		nic_reset_pause(host_at(ev, at.node), now_ns);
}

static int
set_link(struct events *ev, uint32_t index, uint8_t why, bool up, uint64_t now_ns)
{
	const struct topology *t = net_scenario(ev->net)->topology;
	const struct topology_link *link = &t->links[index];
	uint8_t was = ev->down[index];
	int rc;

	ev->down[index] = up ? was & (uint8_t)~why : was | why;
	if ((was == 0) == (ev->down[index] == 0))
		return 0;
	rc = fabric_set_link_up(ev->net->fabric, net_end_at(ev->net, link->a), up);
	if (rc < 0)
		return rc;
	notify(ev, link->a, up, now_ns);
	notify(ev, link->b, up, now_ns);
	/*
	 * The delay counts from the last change, so routes follow only when the links are stable.
	 */
	if (topology_is_switch(t, link->a.node))
		ev->reroute_ns = add_sat(now_ns, net_scenario(ev->net)->fabric.reroute_after_ns);
	poke(ev, link->a.node, now_ns);
	poke(ev, link->b.node, now_ns);
	return 0;
}

static int
restart(struct events *ev, uint32_t sw, bool on, uint64_t now_ns)
{
	const struct topology *t = net_scenario(ev->net)->topology;
	int rc = 0;

	if (on && net_owns(ev->net, sw))
		sw_restart(events_switch(ev, sw), now_ns);
	for (uint16_t port = 0; rc == 0 && port < t->switches[sw].n_ports; port++) {
		uint32_t link = t->switches[sw].link[port];
		bool second = t->links[link].b.node == sw;

		rc = set_link(ev, link, (uint8_t)DOWN_BY_END(second), !on, now_ns);
	}
	return rc;
}

/* Apply the event to a cable, or restore its usual setting. */
static void
change_cable(const struct events *ev, const struct event_params *e, bool on,
	     const struct fabric_cable *usual, struct fabric_cable *link)
{
	struct cable_params *c = &link->errors;

	switch (e->action) {
	case EVENT_LOSS:
		c->loss_ppb[e->frames] = on ? e->frame_ppb : usual->errors.loss_ppb[e->frames];
		break;
	case EVENT_BIT_ERRORS:
		c->bit_errors_per_tbit =
			on ? e->bit_errors_per_tbit : usual->errors.bit_errors_per_tbit;
		break;
	case EVENT_CORRUPT:
		c->corrupt_ppb = on ? e->frame_ppb : 0;
		c->copies = ev->net->frames;
		break;
	case EVENT_REORDER:
		c->reorder_ppb = on ? e->frame_ppb : 0;
		c->reorder_frames = e->reorder_frames;
		c->reorder_delay_ns = e->delay_ns;
		break;
	default:
		link->delay_ns = on ? e->delay_ns : usual->delay_ns;
		break;
	}
}

static int
change_direction(struct events *ev, const struct event_params *e, bool on,
		 const struct topology_link *link, struct topology_end from)
{
	struct fabric_cable cable = *fabric_cable(ev->net->fabric, net_end_at(ev->net, from));

	change_cable(ev, e, on, &link->cable, &cable);
	return fabric_set_cable(ev->net->fabric, net_end_at(ev->net, from), &cable);
}

static int
change_cables(struct events *ev, const struct event_params *e, bool on)
{
	const struct topology *t = net_scenario(ev->net)->topology;
	const struct topology_link *link = &t->links[topology_link_at(t, e->at)];
	bool first = link->a.node == e->at.node && link->a.port == e->at.port;
	int rc = 0;

	if (e->direction != EVENT_RX)
		rc = change_direction(ev, e, on, link, e->at);
	if (rc == 0 && e->direction != EVENT_TX)
		rc = change_direction(ev, e, on, link, first ? link->b : link->a);
	return rc;
}

int
events_fault(struct events *ev, const struct event_params *e, bool on, uint64_t now_ns)
{
	const struct scenario *s = net_scenario(ev->net);

	switch (e->action) {
	case EVENT_LINK_DOWN:
		return set_link(ev, topology_link_at(s->topology, e->at), DOWN_BY_EVENT, !on,
				now_ns);
	case EVENT_SWITCH_RESTART:
		return restart(ev, e->at.node, on, now_ns);
	case EVENT_PAUSE_STORM:
		if (net_owns(ev->net, e->at.node))
			nic_set_pause_storm(host_at(ev, e->at.node), on, now_ns);
		break;
	case EVENT_SLOW_RECEIVER:
		if (!net_owns(ev->net, e->at.node))
			break;
		nic_set_drain_rate(host_at(ev, e->at.node),
				   on ? e->drain_rate_bps
				      : net_drain_rate(s, e->at.node - s->topology->n_switches + 1),
				   now_ns);
		break;
	default:
		return change_cables(ev, e, on);
	}
	poke(ev, e->at.node, now_ns);
	return 0;
}
