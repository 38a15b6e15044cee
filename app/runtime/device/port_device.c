/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/port_device.h"

#include <stdio.h>
#include <string.h>
#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

static char kept[RTE_MAX_ETHPORTS][RTE_ETH_NAME_MAX_LEN];
static char given[RTE_MAX_ETHPORTS][RTE_ETH_NAME_MAX_LEN];

void
port_give_name(uint16_t ethdev, const char *name)
{
	snprintf(given[ethdev], sizeof(given[ethdev]), "%s", name);
}

const char *
port_word(uint16_t ethdev, uint16_t number)
{
	static _Thread_local char text[8];

	if (given[ethdev][0] != '\0')
		return given[ethdev];
	snprintf(text, sizeof(text), "%u", number);
	return text;
}

void
port_keep_name(uint16_t ethdev)
{
	(void)rte_eth_dev_get_name_by_port(ethdev, kept[ethdev]);
}

const char *
port_name(uint16_t ethdev)
{
	static _Thread_local char name[RTE_ETH_NAME_MAX_LEN];

	if (ethdev < RTE_MAX_ETHPORTS && kept[ethdev][0] != '\0')
		return kept[ethdev];
	if (rte_eth_dev_get_name_by_port(ethdev, name) != 0)
		snprintf(name, sizeof(name), "port %u", ethdev);
	return name;
}

bool
port_is_virtual(const struct rte_eth_dev_info *info)
{
	const struct rte_bus *bus = info->device == NULL ? NULL : rte_dev_bus(info->device);

	return bus == NULL || strcmp(rte_bus_name(bus), "vdev") == 0;
}
