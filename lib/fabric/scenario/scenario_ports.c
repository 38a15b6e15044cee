/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of switches: what follows from the fabric, and the keys of sections of ports. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "fabric/scenario/scenario_parts.h"
#include "tm/pfc/pfc_tx.h"

/* VLANs on links between bridges. */
#define ALL_VLANS "1-4094"

static void
port_mac(uint32_t sw, uint16_t port, uint8_t mac[6])
{
	/* The fourth byte is 0 for hosts and 2 for routers, which have no ports above 255. */
	const uint8_t m[6] = {
		0x02,         0, (uint8_t)(sw >> 8), (uint8_t)(port < 256 ? 1 : 3), (uint8_t)sw,
		(uint8_t)port};

	memcpy(mac, m, sizeof(m));
}

static void
set_vlans(const struct scenario *s, uint32_t sw, uint16_t p, struct sw_port_params *port)
{
	const struct topology_switch *t = &s->topology->switches[sw];
	uint32_t tag = s->topology->links[t->link[p]].tag;

	if (s->routes != NULL) {
		port->access_vlan = SCENARIO_HOST_VLAN;
	} else if (s->sw.vlan_filtering && p >= t->n_hosts) {
		strcpy(port->tagged_vlans, ALL_VLANS);
	} else if (s->sw.vlan_filtering) {
		port->access_vlan = tag > 0 ? s->links[tag - 1].access_vlan : SCENARIO_HOST_VLAN;
		if (tag > 0)
			strcpy(port->tagged_vlans, s->links[tag - 1].tagged_vlans);
	}
}

/* Flow control of a port: towards a host, the host's kind; between switches, PFC. */
static int
flow_control(const struct scenario *s, uint32_t sw, uint16_t p)
{
	const int of_host[] = {
		[NIC_FLOW_OFF] = SW_FLOW_OFF,
		[NIC_FLOW_PFC] = SW_FLOW_PFC,
		[NIC_FLOW_PAUSE] = SW_FLOW_PAUSE,
	};

	return p < s->topology->switches[sw].n_hosts ? of_host[s->nic.flow_control] : SW_FLOW_PFC;
}

bool
scenario_port_applies(const struct scenario *s, const struct port_section *section, uint32_t sw,
		      uint16_t port)
{
	return (section->port == SCENARIO_EVERY_PORT || section->port == port) &&
	       (section->sw[0] == '\0' || strcmp(section->sw, s->topology->switches[sw].name) == 0);
}

/* A value that was accepted is formatted and read back without loss. */
static void
copy_field(const struct field *field, const struct sw_port_params *from, struct sw_port_params *to)
{
	char text[FIELD_TEXT_SIZE];

	field_format(field, from, text, sizeof(text));
	field_parse(field, NULL, text, to, NULL, 0);
}

static bool
is_at(const struct event_params *e, uint32_t node, uint16_t port)
{
	return e->everywhere || (e->at.node == node && e->at.port == port);
}

/* The longest delay of a cable in the run: events may lengthen it. */
static uint64_t
cable_delay_ns(const struct scenario *s, const struct topology_link *link)
{
	uint64_t delay_ns = link->cable.delay_ns;

	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct event_params *e = &s->events[i];

		if (e->action == EVENT_DELAY &&
		    (is_at(e, link->a.node, link->a.port) || is_at(e, link->b.node, link->b.port)))
			delay_ns = max_u64(delay_ns, e->delay_ns);
	}
	return delay_ns;
}

static struct sw_port_params
port_of(const struct scenario *s, uint32_t sw, uint16_t p)
{
	const struct topology *t = s->topology;
	struct sw_port_params port = {
		.link_speed_bps = t->links[t->switches[sw].link[p]].cable.rate_bps,
		.flow_control = flow_control(s, sw, p),
		.pfcwd = true,
	};

	port_mac(sw, p, port.mac);
	set_vlans(s, sw, p, &port);
	for (uint32_t i = 0; i < s->n_ports; i++)
		for (unsigned int k = 0;
		     k < sw_port_fields_n && scenario_port_applies(s, &s->ports[i], sw, p); k++)
			if (s->ports[i].given >> k & 1)
				copy_field(&sw_port_fields[k], &s->ports[i].keys, &port);
	return port;
}

/* The longest time in the run before the switch at the other end obeys a pause. */
static uint64_t
peer_delay_ns(const struct scenario *s, struct topology_end peer, uint64_t speed_bps)
{
	uint16_t quanta;

	if (!topology_is_switch(s->topology, peer.node))
		return 0;
	quanta = port_of(s, peer.node, peer.port).pfc_delay_quanta;
	for (uint32_t i = 0; i < s->n_events; i++) {
		const struct event_params *e = &s->events[i];

		if (e->action == EVENT_PFC_DELAY && is_at(e, peer.node, peer.port) &&
		    e->quanta > quanta)
			quanta = e->quanta;
	}
	return quanta == 0 ? 0 : pfc_quanta_ns(quanta, speed_bps) + 1;
}

struct sw_port_params
scenario_port(const struct scenario *s, uint32_t sw, uint16_t p)
{
	const struct topology *t = s->topology;
	struct sw_port_params port = port_of(s, sw, p);

	port.cable_delay_ns = cable_delay_ns(s, &t->links[t->switches[sw].link[p]]);
	port.peer_delay_ns = peer_delay_ns(s, topology_peer(t, sw, p), port.link_speed_bps);
	return port;
}

static bool
applies_somewhere(const struct scenario *s, const struct port_section *section)
{
	for (uint32_t i = 0; i < s->topology->n_switches; i++)
		for (uint16_t p = 0; p < s->topology->switches[i].n_ports; p++)
			if (scenario_port_applies(s, section, i, p))
				return true;
	return false;
}

/* VLANs of ports exist on bridges that filter. */
static int
check_vlan_keys(const struct scenario *s, const struct port_section *section,
		struct scenario_fault *fault)
{
	for (unsigned int k = 0; k < sw_port_fields_n; k++) {
		const char *key = sw_port_fields[k].name;

		if (!(section->given >> k & 1) ||
		    (strcmp(key, "access_vlan") != 0 && strcmp(key, "tagged_vlans") != 0))
			continue;
		if (s->routes != NULL)
			return scenario_refuse(fault, section->name, "", key,
					       "forwarding = l2 in [fabric]: each router has a "
					       "VLAN of its own");
		if (!s->sw.vlan_filtering)
			return scenario_refuse(fault, section->name, "", key,
					       "vlan_filtering = on in [switch]");
	}
	return 0;
}

int
scenario_check_ports(const struct scenario *s, struct scenario_fault *fault)
{
	char expected[96];

	for (uint32_t i = 0; i < s->n_ports; i++) {
		const struct port_section *section = &s->ports[i];
		int64_t sw = topology_find(s->topology, section->sw);

		if (!applies_somewhere(s, section)) {
			snprintf(expected, sizeof(expected), "a port of that switch, from 0 to %d",
				 s->topology->switches[sw < 0 ? 0 : sw].n_ports - 1);
			return scenario_refuse(fault, section->name, "", NULL,
					       section->sw[0] == '\0'
						       ? "the number of a port that a switch has"
						       : expected);
		}
		if (check_vlan_keys(s, section, fault) < 0)
			return -EINVAL;
	}
	return 0;
}
