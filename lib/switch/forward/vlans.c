/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the VLAN membership from the parameters of ports and the interfaces of routed ports. */
#include "switch/forward/vlans.h"

#include <string.h>

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
add_member(struct sw_vlans *v, uint32_t domain, uint16_t port)
{
	v->members[domain * v->words + port / 64] |= 1ull << (port % 64);
}

static void
join(struct sw_vlans *v, uint16_t port, const struct sw_params *all)
{
	const struct sw_port_params *params = &all->ports[port];
	struct vlan_set set;

	v->access_domain[port] = SW_NO_DOMAIN;
	if (is_routed(&all->tables, port)) {
		v->access_domain[port] = (uint16_t)(SW_PORT_DOMAIN + port);
		add_member(v, SW_PORT_DOMAIN + port, port);
		return;
	}
	if (!all->vlan_filtering) {
		v->access_domain[port] = SW_TRANSPARENT;
		for (unsigned int vid = 0; vid < SW_PORT_DOMAIN; vid++)
			add_member(v, vid, port);
		return;
	}
	vlan_set_parse(params->tagged_vlans, &set);
	for (uint16_t vid = 1; vid <= VLAN_MAX_ID; vid++) {
		if (vlan_set_has(&set, vid))
			add_member(v, vid, port);
	}
	if (params->access_vlan != 0) {
		v->access_domain[port] = params->access_vlan;
		add_member(v, params->access_vlan, port);
	}
}

static size_t
size_of(uint16_t words)
{
	return sizeof(struct sw_vlans) + (size_t)SW_DOMAINS * words * sizeof(uint64_t);
}

struct sw_vlans *
sw_vlans_create(const struct sw_params *params)
{
	uint16_t words = port_words(params->n_ports);
	struct sw_vlans *v = pages_alloc_sparse(size_of(words));

	if (v != NULL)
		v->words = words;
	for (uint16_t port = 0; v != NULL && port < params->n_ports; port++)
		join(v, port, params);
	return v;
}

bool
sw_vlans_equal(const struct sw_vlans *a, const struct sw_vlans *b)
{
	return memcmp(a, b, size_of(a->words)) == 0;
}

void
sw_vlans_free(struct sw_vlans *vlans)
{
	if (vlans != NULL)
		pages_free_sparse(vlans, size_of(vlans->words));
}
