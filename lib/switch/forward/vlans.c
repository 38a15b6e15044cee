/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the VLAN membership from the parameters of ports and the interfaces of routed ports. */
#include "switch/forward/vlans.h"

#include "base/threads/pages.h"

static bool
is_routed(const struct sw_tables *tables, uint16_t port)
{
	for (uint32_t i = 0; i < tables->n_interfaces; i++) {
		if (sw_interface_domain(tables->interfaces[i].name) ==
		    (int32_t)SW_PORT_DOMAIN + port)
			return true;
	}
	return false;
}

static void
join(struct sw_vlans *v, uint16_t port, const struct sw_params *all)
{
	const struct sw_port_params *params = &all->ports[port];
	struct vlan_set set;
	uint64_t bit = 1ull << port;

	v->access_domain[port] = SW_NO_DOMAIN;
	if (is_routed(&all->tables, port)) {
		v->access_domain[port] = (uint16_t)(SW_PORT_DOMAIN + port);
		v->members[SW_PORT_DOMAIN + port] = bit;
		return;
	}
	if (!all->vlan_filtering) {
		v->access_domain[port] = SW_TRANSPARENT;
		for (unsigned int vid = 0; vid < SW_PORT_DOMAIN; vid++)
			v->members[vid] |= bit;
		return;
	}
	vlan_set_parse(params->tagged_vlans, &set);
	for (uint16_t vid = 1; vid <= VLAN_MAX_ID; vid++) {
		if (vlan_set_has(&set, vid))
			v->members[vid] |= bit;
	}
	if (params->access_vlan != 0) {
		v->access_domain[port] = params->access_vlan;
		v->members[params->access_vlan] |= bit;
	}
}

struct sw_vlans *
sw_vlans_create(const struct sw_params *params)
{
	struct sw_vlans *v = pages_alloc(sizeof(*v));

	for (uint16_t port = 0; v != NULL && port < params->n_ports; port++)
		join(v, port, params);
	return v;
}

void
sw_vlans_free(struct sw_vlans *vlans)
{
	pages_free(vlans, sizeof(*vlans));
}
