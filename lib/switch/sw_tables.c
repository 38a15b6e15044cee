/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/sw_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "switch/sw.h"

const struct field sw_static_mac_fields[] = {
	{
		.name = "mac",
		.help = "the station's address",
		.type = FIELD_MAC,
		.offset = offsetof(struct sw_static_mac, mac),
		.min = 1,
	},
	{
		.name = "vlan",
		.help = "its VLAN; 0: untagged, with vlan_filtering off",
		.type = FIELD_U16,
		.offset = offsetof(struct sw_static_mac, vlan),
		.max = VLAN_MAX_ID,
		.def = "0",
	},
	{
		.name = "port",
		.help = "where it is",
		.type = FIELD_U16,
		.offset = offsetof(struct sw_static_mac, port),
		.max = SW_MAX_PORTS - 1,
	},
};

const unsigned int sw_static_mac_fields_n =
	sizeof(sw_static_mac_fields) / sizeof(sw_static_mac_fields[0]);

static const char *
static_mac_fault(const struct sw_params *params, const struct sw_static_mac *mac)
{
	const struct sw_port_params *port = &params->ports[mac->port];
	struct vlan_set set;

	if (mac->port >= params->n_ports)
		return "port: expected a port of this switch";
	if (!params->vlan_filtering)
		return NULL;
	vlan_set_parse(port->tagged_vlans, &set);
	if (mac->vlan == 0 || (mac->vlan != port->access_vlan && !vlan_set_has(&set, mac->vlan)))
		return "vlan: expected a VLAN that the port is in";
	return NULL;
}

int
sw_tables_check(const struct sw_params *params, char *why, unsigned int why_size)
{
	for (uint32_t i = 0; i < params->tables.n_static_macs; i++) {
		const struct sw_static_mac *mac = &params->tables.static_macs[i];
		const char *fault = static_mac_fault(params, mac);

		if (fault == NULL)
			continue;
		snprintf(why, why_size, "fdb %s: %s", mac->name, fault);
		return -EINVAL;
	}
	return 0;
}

void
sw_tables_free(struct sw_tables *tables)
{
	free(tables->static_macs);
	*tables = (struct sw_tables){0};
}
