// SPDX-License-Identifier: BSD-3-Clause
/* Interfaces, which become ports. */
#include <stdlib.h>
#include <string.h>

#include "base/numbers/units.h"
#include "import/conversion/import_ports.h"
#include "import/nxos/parts.h"

#define ASSUMED_SPEED (100 * GBPS)
#define MAX_RANGE 4096u /* ports of a range that are looked at */

/* Settings from the lines of one interface. */
struct interface {
	bool has_mode, has_speed, is_watched;
	uint64_t mtu;
	int mtu_line;
};

static int
read_port_watchdog(struct nxos *x, int line, struct sw_port_params *port, struct interface *has)
{
	struct nx_args a;
	char *state = NULL;
	uint64_t value;
	int rc = 0;

	if (!nx_is(&x->nx.lines[line], "priority-flow-control watch-dog ...", &a) &&
	    !nx_is(&x->nx.lines[line], "priority-flow-control watch-dog-interval on ...", &a))
		return 0;
	if (x->out->sw.pfcwd.pfcwd != PFCWD_NXOS) {
		nx_lose(&x->nx, line,
			"the watchdog is off, since priority-flow-control watch-dog-interval on "
			"is missing");
		return 0;
	}
	nx_use(&x->nx, line);
	has->is_watched = true;
	for (char *w = strtok_r(a.rest, " ", &state); rc == 0 && w != NULL;
	     w = strtok_r(NULL, " ", &state)) {
		if (strcasecmp(w, "disable-action") == 0) {
			port->pfcwd_action = 1 + PFCWD_ALERT;
		} else if (strcasecmp(w, "interface-multiplier") == 0) {
			w = strtok_r(NULL, " ", &state);
			rc = nx_number(&x->nx, line, w != NULL ? w : "", 1, 1000, &value);
			port->pfcwd_interface_multiplier = (uint16_t)value;
		} else {
			rc = nx_refuse(&x->nx, line, "disable-action or interface-multiplier N");
		}
	}
	return rc;
}

static int
read_mode(struct nxos *x, int line, const char *mode, struct sw_port_params *port)
{
	nx_use(&x->nx, line);
	if (strcasecmp(mode, "auto") == 0)
		port->flow_control = SW_FLOW_AUTO;
	else if (strcasecmp(mode, "on") == 0)
		port->flow_control = SW_FLOW_PFC;
	else if (strcasecmp(mode, "off") == 0)
		port->flow_control = SW_FLOW_OFF;
	else
		return nx_refuse(&x->nx, line, "auto, on or off");
	return 0;
}

static int
read_port_line(struct nxos *x, int line, uint16_t number, struct interface *has)
{
	struct sw_port_params *port = &x->out->sw.ports[number];
	const struct nx_line *l = &x->nx.lines[line];
	struct nx_args a;
	uint64_t value;
	int rc = 0;

	/* With send-tlv, LLDP tells the peer about PFC, which lldp of ours does in any mode. */
	if (nx_is(l, "priority-flow-control mode %", &a) ||
	    nx_is(l, "priority-flow-control mode % send-tlv", &a)) {
		has->has_mode = true;
		return read_mode(x, line, a.word[0], port);
	}
	if (nx_is(l, "speed auto", NULL) || nx_is(l, "no shutdown", NULL) ||
	    nx_is(l, "priority-flow-control watch-dog-interval off", NULL)) {
		nx_use(&x->nx, line);
	} else if (nx_is(l, "speed %", &a)) {
		rc = nx_number(&x->nx, line, a.word[0], 1, 1600000, &value);
		port->link_speed_bps = value * MBPS;
		has->has_speed = true;
		nx_use(&x->nx, line);
	} else if (nx_is(l, "mtu %", &a)) {
		has->mtu_line = line;
		nx_use(&x->nx, line);
		return nx_number(&x->nx, line, a.word[0], 64, 16000 - SW_MTU_OVERHEAD_BYTES,
				 &has->mtu);
	} else if (nx_is(l, "shutdown", NULL)) {
		nx_lose(&x->nx, line, "a port is up while its device is up");
	}
	if (rc == 0 && nx_is(l, "service-policy ...", &a))
		rc = nxos_service(x, line, &x->port[number]);
	return rc == 0 ? read_port_watchdog(x, line, port, has) : rc;
}

/* "Ethernet 2/24" is "Ethernet2/24"; in a script, "Ethernet1/1-4" is four ports. */
struct port_range {
	char prefix[IMPORT_PORT_NAME + 1]; /* up to the last number */
	unsigned long first, last;
};

/* @return false: no ports of this kind. */
static bool
port_range(const struct nx_line *line, struct port_range *range)
{
	static const char ethernet[] = "Ethernet", digits[] = "0123456789";
	const char *place, *number;
	struct nx_args a;
	char *end;

	if (!nx_is(line, "interface ...", &a) ||
	    strncasecmp(a.rest, ethernet, sizeof(ethernet) - 1) != 0)
		return false;
	place = a.rest + sizeof(ethernet) - 1;
	place += *place == ' ';
	number = strrchr(place, '/');
	number = number != NULL ? number + 1 : place;
	if (strspn(place, "0123456789/") < (size_t)(number - place) ||
	    strchr(digits, *number) == NULL || *number == '\0' || strlen(number) > 9)
		return false;
	range->first = range->last = strtoul(number, &end, 10);
	if (*end == '-' && end[1] != '\0' && strchr(digits, end[1]) != NULL)
		range->last = strtoul(end + 1, &end, 10);
	return *end == '\0' && range->first <= range->last &&
	       snprintf(range->prefix, sizeof(range->prefix), "%s%.*s", ethernet,
			(int)(number - place), place) <= IMPORT_PORT_NAME - 10;
}

static int
read_interface(struct nxos *x, int line, uint16_t number, struct interface *has)
{
	struct sw_port_params *port = &x->out->sw.ports[number];
	int rc = 0;

	*has = (struct interface){.mtu_line = -1};
	port->link_speed_bps = ASSUMED_SPEED;
	port->flow_control = SW_FLOW_AUTO; /* NX-OS's default */
	nx_use(&x->nx, line);
	for (int i = nx_next(&x->nx, line, -1); rc == 0 && i >= 0; i = nx_next(&x->nx, line, i))
		rc = read_port_line(x, i, number, has);
	port->pfcwd = has->is_watched;
	return rc;
}

/* Policies and PFC of a port-channel are those of its ports. */
static int
read_channel(struct nxos *x, uint16_t number, struct interface *has)
{
	int channel = nxos_channel_of(x, number), rc = 0;

	for (int i = channel >= 0 ? nx_next_of(&x->nx, channel, -1) : -1; rc == 0 && i >= 0;
	     i = nx_next_of(&x->nx, channel, i))
		if (nx_is(&x->nx.lines[i], "service-policy ...", NULL) ||
		    nx_is(&x->nx.lines[i], "priority-flow-control ...", NULL))
			rc = read_port_line(x, i, number, has);
	x->out->sw.ports[number].pfcwd = has->is_watched;
	return rc;
}

/* Log one note for all ports that share it. */
static void
note_ports(struct nxos *x, const bool which[SW_DEVICE_PORTS], const char *what)
{
	char list[256] = "";
	unsigned int n = 0;

	for (uint16_t i = 0; i < x->out->sw.n_ports; i++) {
		size_t used = strlen(list);

		if (which[i] && n++ < 4)
			snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? ", " : "",
				 x->out->sw.ports[i].name);
	}
	if (n > 4)
		import_note(x->log, " %s and %u more ports: %s", list, n - 4, what);
	else if (n > 0)
		import_note(x->log, " %s: %s", list, what);
}

/* Use the largest MTU: quench has one limit for all ports. */
static void
join_mtus(struct nxos *x, const struct interface has[SW_DEVICE_PORTS])
{
	uint64_t longest = 0;

	for (uint16_t i = 0; i < x->out->sw.n_ports; i++)
		longest = has[i].mtu > longest ? has[i].mtu : longest;
	for (uint16_t i = 0; i < x->out->sw.n_ports; i++)
		if (has[i].mtu_line >= 0 && has[i].mtu < longest)
			nx_lose(&x->nx, has[i].mtu_line,
				"max_frame_bytes applies to all ports: it is that of the largest "
				"mtu");
	if (longest + SW_MTU_OVERHEAD_BYTES > x->out->sw.max_frame_bytes)
		x->out->sw.max_frame_bytes = (uint32_t)longest + SW_MTU_OVERHEAD_BYTES;
}

static void
note_assumptions(struct nxos *x, const struct interface has[SW_DEVICE_PORTS])
{
	bool no_mode[SW_DEVICE_PORTS] = {0}, no_speed[SW_DEVICE_PORTS] = {0},
	     no_qos[SW_DEVICE_PORTS] = {0};
	bool any_qos = false;

	for (uint16_t i = 0; i < x->out->sw.n_ports; i++) {
		no_mode[i] = !has[i].has_mode;
		no_speed[i] = !has[i].has_speed;
		no_qos[i] = !x->port[i].of[NX_QOS].is_set;
		any_qos |= !no_qos[i];
	}
	note_ports(x, no_speed, "no speed: link_speed_bps = 100G is assumed");
	note_ports(x, no_mode, "no priority-flow-control mode: auto, as NX-OS does");
	if (any_qos && !x->system.of[NX_QOS].is_set)
		note_ports(x, no_qos,
			   "no service-policy type qos: all packets are of qos-group 0, as in "
			   "NX-OS");
}

/* Ports that are no ports of the switch. */
struct left_out {
	unsigned int n;
	char first[IMPORT_PORT_NAME + 1];
};

/* Add the ports of one interface line, which are equal. */
static int
add_ports(struct nxos *x, int line, const struct port_range *range, struct import_ports *wanted,
	  struct left_out *left, struct interface has[SW_DEVICE_PORTS])
{
	struct sw_params *sw = &x->out->sw;
	uint16_t first = sw->n_ports;
	int rc;

	for (unsigned long n = range->first; n <= range->last; n++) {
		char name[IMPORT_PORT_NAME + 1];

		snprintf(name, sizeof(name), "%.21s%lu", range->prefix, n);
		if (!import_ports_want(wanted, name, sw->n_ports)) {
			if (left->n++ == 0)
				memcpy(left->first, name, sizeof(name));
			/* Of a range, only the first of them is needed for the report. */
			if (n - range->first <= MAX_RANGE)
				continue;
			left->n += (unsigned int)(range->last - n);
			break;
		}
		x->port_line[sw->n_ports] = x->network_line[sw->n_ports] = line;
		memcpy(sw->ports[sw->n_ports++].name, name, sizeof(name));
	}
	if (sw->n_ports == first) {
		nx_use_block(&x->nx, line);
		return 0;
	}
	rc = read_interface(x, line, first, &has[first]);
	for (uint16_t i = first; i < sw->n_ports; i++) {
		char name[IMPORT_PORT_NAME + 1];

		memcpy(name, sw->ports[i].name, sizeof(name));
		sw->ports[i] = sw->ports[first];
		memcpy(sw->ports[i].name, name, sizeof(name));
		x->port[i] = x->port[first];
		has[i] = has[first];
	}
	return rc;
}

int
nxos_ports(struct nxos *x)
{
	struct interface has[SW_DEVICE_PORTS];
	struct left_out left = {0};
	struct import_ports wanted;
	struct port_range range;
	int rc = import_ports_parse(x->log->ports, &wanted, x->log);

	for (int i = nx_next(&x->nx, NX_TOP, -1); rc == 0 && i >= 0;
	     i = nx_next(&x->nx, NX_TOP, i)) {
		if (!nx_is(&x->nx.lines[i], "interface ...", NULL))
			continue;
		if (port_range(&x->nx.lines[i], &range))
			rc = add_ports(x, i, &range, &wanted, &left, has);
		else if (!nxos_is_channel(&x->nx.lines[i]) &&
			 nxos_vlan_interface(&x->nx.lines[i]) == 0)
			nx_lose_block(&x->nx, i, "not an Ethernet port");
	}
	if (rc == 0)
		rc = import_ports_check(&wanted, x->log);
	if (rc == 0)
		import_ports_left(&wanted, left.first, left.n, x->log);
	for (uint16_t i = 0; rc == 0 && i < x->out->sw.n_ports; i++)
		rc = read_channel(x, i, &has[i]);
	if (rc == 0 && x->out->sw.n_ports == 0)
		return import_refuse(x->log,
				     " expected at least one interface Ethernet: the ports");
	if (rc == 0) {
		join_mtus(x, has);
		note_assumptions(x, has);
	}
	return rc;
}
