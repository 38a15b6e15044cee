/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN, VLAN_MEMBER, VLAN_INTERFACE, INTERFACE, STATIC_ROUTE, and the router's address. */
#include <string.h>

#include "fwd/route.h"
#include "import/export/tables.h"

static void
export_vlan(struct export_tables *t, uint16_t port, uint16_t vlan, const char *mode)
{
	char vlan_name[16], key[EXPORT_NAME + 16];

	snprintf(vlan_name, sizeof(vlan_name), "Vlan%u", vlan);
	snprintf(key, sizeof(key), "%s|%s", vlan_name, t->sw->ports[port].name);
	export_set(t, "VLAN", vlan_name, "vlanid", "%u", vlan);
	export_set(t, "VLAN_MEMBER", key, "tagging_mode", "%s", mode);
}

static void
export_vlans(struct export_tables *t)
{
	for (uint16_t i = 0; i < t->sw->n_ports; i++) {
		const struct sw_port_params *p = &t->sw->ports[i];
		struct vlan_set tagged = {{0}};

		if (p->access_vlan != 0)
			export_vlan(t, i, p->access_vlan, "untagged");
		if (vlan_set_parse(p->tagged_vlans, &tagged) != 0)
			continue;
		for (uint16_t v = 1; v <= VLAN_MAX_ID; v++)
			if (vlan_set_has(&tagged, v) && v != p->access_vlan)
				export_vlan(t, i, v, "tagged");
	}
}

/* @param name  "vlan 10" or "port 3"; receives SONiC's name. @return its table. */
static const char *
interface_table(struct export_tables *t, const char *name, char out[EXPORT_NAME])
{
	int32_t port = sw_interface_domain(name) - (int32_t)SW_PORT_DOMAIN;

	if (port >= 0) {
		snprintf(out, EXPORT_NAME, "%s", t->sw->ports[port].name);
		return "INTERFACE";
	}
	snprintf(out, EXPORT_NAME, "Vlan%.8s", name + strlen("vlan "));
	export_set(t, "VLAN", out, "vlanid", "%s", out + strlen("Vlan"));
	return "VLAN_INTERFACE";
}

static void
export_interfaces(struct export_tables *t)
{
	const struct sw_tables *tables = &t->sw->tables;
	const uint8_t *mac = t->sw->router.router_mac;

	for (uint32_t i = 0; i < tables->n_interfaces; i++) {
		const struct sw_interface *own = &tables->interfaces[i];
		const char *const addresses[] = {own->ip, own->ip6};
		char name[EXPORT_NAME], key[EXPORT_NAME + SW_PREFIX_CHARS + 2];
		const char *table = interface_table(t, own->name, name);

		export_entry(t, table, name);
		for (unsigned int k = 0; k < 2; k++) {
			if (strcmp(addresses[k], "none") == 0)
				continue;
			snprintf(key, sizeof(key), "%s|%s", name, addresses[k]);
			export_entry(t, table, key);
		}
	}
	if (tables->n_interfaces > 0)
		export_set(t, "DEVICE_METADATA", "localhost", "mac",
			   "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
			   mac[5]);
}

/* "10.0.0.1, 10.0.0.2" without its blanks. */
static void
export_route(struct export_tables *t, const struct sw_static_route *route)
{
	char nexthops[SW_NEXTHOP_CHARS + 1];
	size_t n = 0;

	if (strcmp(route->nexthop, "blackhole") == 0) {
		export_set(t, "STATIC_ROUTE", route->name, "nexthop", "0.0.0.0");
		export_set(t, "STATIC_ROUTE", route->name, "blackhole", "true");
		return;
	}
	for (const char *c = route->nexthop; *c != '\0'; c++)
		if (*c != ' ' && *c != '\t')
			nexthops[n++] = *c;
	nexthops[n] = '\0';
	export_set(t, "STATIC_ROUTE", route->name, "nexthop", "%s", nexthops);
}

void
export_network(struct export_tables *t)
{
	if (!t->sw->vlan_filtering)
		return;
	export_vlans(t);
	export_interfaces(t);
	for (uint32_t i = 0; i < t->sw->tables.n_routes; i++)
		export_route(t, &t->sw->tables.routes[i]);
}
