// SPDX-License-Identifier: BSD-3-Clause
/* VLANs, access and trunk ports, and port-channels of one port. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/numbers/decimal.h"
#include "import/conversion/import_memory.h"
#include "import/conversion/import_network.h"
#include "import/nxos/parts.h"

#define A_VLAN_LIST "VLANs from 1 to 4094, such as 10,20-29"

/* Lines of an interface that concern VLANs. NX-OS's defaults: access in VLAN 1; trunk of all. */
struct switchport {
	bool is_given, is_trunk, is_routed;
	uint16_t access, native;
	struct vlan_set allowed;
	bool names_vlans; /* allowed is a list in the file */
};

static void
combine(struct vlan_set *set, const struct vlan_set *other, bool keep)
{
	for (unsigned int i = 0; i < 64; i++)
		set->bits[i] =
			keep ? set->bits[i] | other->bits[i] : set->bits[i] & ~other->bits[i];
}

static void
add_all_vlans(struct vlan_set *set)
{
	for (uint16_t v = 1; v <= VLAN_MAX_ID; v++)
		import_vlan_add(set, v);
}

/* The rest of "switchport trunk allowed vlan". */
static int
read_allowed(struct nxos *x, int line, const char *text, struct switchport *port)
{
	struct vlan_set list = {{0}};
	const char *vlans = strchr(text, ' ');
	bool is_add = strncasecmp(text, "add ", 4) == 0;
	bool is_remove = strncasecmp(text, "remove ", 7) == 0;
	bool is_except = strncasecmp(text, "except ", 7) == 0;

	nx_use(&x->nx, line);
	port->names_vlans = true;
	if (strcasecmp(text, "all") == 0) {
		add_all_vlans(&port->allowed);
		port->names_vlans = false;
		return 0;
	}
	vlans = is_add || is_remove || is_except ? vlans + 1 : text;
	if (*text == '\0' || vlan_set_parse(vlans, &list) != 0)
		return nx_refuse(&x->nx, line, A_VLAN_LIST);
	if (is_except)
		add_all_vlans(&port->allowed);
	else if (!is_add && !is_remove)
		port->allowed = (struct vlan_set){{0}};
	combine(&port->allowed, &list, !is_remove && !is_except);
	return 0;
}

static int
read_line(struct nxos *x, int i, struct switchport *port)
{
	const struct nx_line *l = &x->nx.lines[i];
	bool is_access = false;
	struct nx_args a;
	uint64_t vlan;
	int rc;

	if (nx_is(l, "ip address ...", &a) || nx_is(l, "ipv6 address ...", &a)) {
		port->is_routed = port->is_given = true;
		return 0;
	}
	if (!nx_is(l, "switchport ...", &a))
		return 0;
	port->is_given = true;
	port->is_routed = false;
	if (*a.rest == '\0') {
		nx_use(&x->nx, i);
	} else if (nx_is(l, "switchport mode trunk", NULL) ||
		   nx_is(l, "switchport mode access", NULL)) {
		port->is_trunk = strcasecmp(a.rest, "mode trunk") == 0;
		nx_use(&x->nx, i);
	} else if (nx_is(l, "switchport trunk allowed vlan ...", &a)) {
		return read_allowed(x, i, a.rest, port);
	} else if ((is_access = nx_is(l, "switchport access vlan %", &a)) ||
		   nx_is(l, "switchport trunk native vlan %", &a)) {
		nx_use(&x->nx, i);
		rc = nx_number(&x->nx, i, a.word[0], 1, VLAN_MAX_ID, &vlan);
		*(is_access ? &port->access : &port->native) = (uint16_t)vlan;
		return rc;
	}
	return 0;
}

static int
read_switchport(struct nxos *x, int block, struct switchport *port)
{
	int rc = 0;

	*port = (struct switchport){.access = 1, .native = 1};
	add_all_vlans(&port->allowed);
	for (int i = nx_next_of(&x->nx, block, -1); rc == 0 && i >= 0;
	     i = nx_next_of(&x->nx, block, i)) {
		/* Of a routed port. nx_lines_read() has removed the lines that it takes back. */
		if (nx_is(&x->nx.lines[i], "no switchport", NULL)) {
			port->is_routed = port->is_given = true;
			nx_use(&x->nx, i);
		} else if (!x->nx.lines[i].used) {
			rc = read_line(x, i, port);
		}
	}
	return rc;
}

/* The number of "interface KIND N" or "interface KINDN", as text; or NULL. */
static const char *
interface_number(const struct nx_line *line, const char *kind, struct nx_args *a)
{
	size_t n = strlen(kind);
	uint64_t number;

	if (!nx_is(line, "interface ...", a) || strncasecmp(a->rest, kind, n) != 0)
		return NULL;
	n += a->rest[n] == ' ';
	return decimal_parse(a->rest + n, 1, UINT16_MAX, &number) ? a->rest + n : NULL;
}

bool
nxos_is_channel(const struct nx_line *line)
{
	struct nx_args a;

	return interface_number(line, "port-channel", &a) != NULL;
}

/* The block "interface port-channelN", or -1. */
static int
find_channel(struct nxos *x, const char *number)
{
	struct nx_args a;

	for (int i = nx_next_of(&x->nx, NX_TOP, -1); i >= 0; i = nx_next_of(&x->nx, NX_TOP, i)) {
		const char *own = interface_number(&x->nx.lines[i], "port-channel", &a);

		if (own != NULL && strcmp(own, number) == 0)
			return i;
	}
	return -1;
}

int
nxos_channel_of(struct nxos *x, uint16_t port)
{
	struct nx_args a;

	for (int i = nx_next_of(&x->nx, x->port_line[port], -1); i >= 0;
	     i = nx_next_of(&x->nx, x->port_line[port], i))
		if (nx_is(&x->nx.lines[i], "channel-group % ...", &a))
			return find_channel(x, a.word[0]);
	return -1;
}

/*
 * Without link aggregation, the first port of a port-channel gets its VLANs and addresses. The
 * others would bring frames back to their sender: they are in no VLAN.
 */
static void
join_channels(struct nxos *x)
{
	for (uint16_t port = 0; port < x->out->sw.n_ports; port++) {
		struct nx_args a;

		for (int i = nx_next_of(&x->nx, x->port_line[port], -1); i >= 0;
		     i = nx_next_of(&x->nx, x->port_line[port], i)) {
			int channel;

			if (!nx_is(&x->nx.lines[i], "channel-group % ...", &a))
				continue;
			channel = find_channel(x, a.word[0]);
			if (channel >= 0 && !x->nx.lines[channel].used) {
				nx_use(&x->nx, channel);
				x->network_line[port] = channel;
				nx_lose(&x->nx, i,
					"no link aggregation: the port alone is the port-channel");
			} else if (channel >= 0) {
				x->network_line[port] = -1;
				nx_lose(&x->nx, i,
					"no link aggregation: the port-channel is its first port, "
					"and its other ports are in no VLAN");
			}
		}
	}
}

uint16_t
nxos_vlan_interface(const struct nx_line *line)
{
	struct nx_args a;
	const char *number = interface_number(line, "vlan", &a);
	uint64_t vlan;

	return number != NULL && decimal_parse(number, 1, VLAN_MAX_ID, &vlan) ? (uint16_t)vlan : 0;
}

/* @param defined  Receives the VLANs that the file defines. @param any  Are there any? */
static int
read_vlans(struct nxos *x, struct vlan_set *defined, bool *any)
{
	struct vlan_set list;
	struct nx_args a;

	*any = false;
	for (int i = nx_next(&x->nx, NX_TOP, -1); i >= 0; i = nx_next(&x->nx, NX_TOP, i)) {
		if (!nx_is(&x->nx.lines[i], "vlan %", &a))
			continue;
		if (vlan_set_parse(a.word[0], &list) != 0)
			return nx_refuse(&x->nx, i, A_VLAN_LIST);
		combine(defined, &list, true);
		*any = true;
		nx_use(&x->nx, i);
		for (int k = nx_next(&x->nx, i, -1); k >= 0; k = nx_next(&x->nx, i, k))
			if (nx_is(&x->nx.lines[k], "name ...", &a))
				nx_use(&x->nx, k);
	}
	return 0;
}

static struct import_bridge
bridge_of(const struct switchport *port, const struct vlan_set *defined)
{
	struct import_bridge bridge = {0};

	if (port->is_routed)
		return bridge;
	if (!port->is_trunk) {
		bridge.access_vlan = port->access;
		return bridge;
	}
	for (uint16_t v = 1; v <= VLAN_MAX_ID; v++) {
		if (!vlan_set_has(&port->allowed, v) || !vlan_set_has(defined, v))
			continue;
		if (v == port->native)
			bridge.access_vlan = v;
		else
			import_vlan_add(&bridge.tagged, v);
	}
	return bridge;
}

/*
 * A trunk of all VLANs has those that exist. A part of a running-config may lack its vlan lines:
 * then the VLANs that its interfaces name exist.
 */
static void
find_vlans(struct nxos *x, const struct switchport *ports, bool any, struct vlan_set *defined)
{
	import_vlan_add(defined, 1);
	for (int i = nx_next(&x->nx, NX_TOP, -1); i >= 0; i = nx_next(&x->nx, NX_TOP, i))
		if (nxos_vlan_interface(&x->nx.lines[i]) != 0)
			import_vlan_add(defined, nxos_vlan_interface(&x->nx.lines[i]));
	for (uint16_t i = 0; i < x->out->sw.n_ports; i++) {
		import_vlan_add(defined, ports[i].access);
		import_vlan_add(defined, ports[i].native);
		if (!any && ports[i].names_vlans)
			combine(defined, &ports[i].allowed, true);
	}
}

static void
set_vlans(struct nxos *x, const struct switchport *ports, const struct vlan_set *defined)
{
	struct import_bridge *bridges = import_alloc(SW_DEVICE_PORTS, sizeof(*bridges));
	const char *why[SW_DEVICE_PORTS];

	for (uint16_t i = 0; i < x->out->sw.n_ports; i++)
		if (x->network_line[i] >= 0)
			bridges[i] = bridge_of(&ports[i], defined);
	import_set_vlans(x->out, bridges, why);
	for (uint16_t i = 0; i < x->out->sw.n_ports; i++)
		if (why[i] != NULL)
			import_lost(x->log, " %s: switchport trunk allowed vlan: %s",
				    x->out->sw.ports[i].name, why[i]);
	free(bridges);
}

int
nxos_switchports(struct nxos *x)
{
	struct switchport *ports = import_alloc(SW_DEVICE_PORTS, sizeof(*ports));
	struct vlan_set defined = {{0}};
	bool any, is_given;
	int rc = read_vlans(x, &defined, &any);

	is_given = any;
	if (rc == 0)
		join_channels(x);
	for (uint16_t i = 0; rc == 0 && i < x->out->sw.n_ports; i++) {
		int line = x->network_line[i];

		/* Lines of a port-channel's port repeat those of the port-channel. */
		if (line != x->port_line[i])
			rc = read_switchport(x, x->port_line[i], &ports[i]);
		/* The ports of a range share their lines. */
		if (rc == 0 && i > 0 && line >= 0 && line == x->network_line[i - 1])
			ports[i] = ports[i - 1];
		else if (rc == 0 && line >= 0)
			rc = read_switchport(x, line, &ports[i]);
		is_given |= ports[i].is_given || line != x->port_line[i];
	}
	if (rc == 0 && is_given) {
		find_vlans(x, ports, any, &defined);
		set_vlans(x, ports, &defined);
	}
	free(ports);
	return rc;
}
