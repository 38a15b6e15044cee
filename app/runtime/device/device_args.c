/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/device_args.h"

#include <ctype.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>

const char *
device_args(const struct rte_eth_dev_info *info)
{
	const struct rte_devargs *args =
		info->device == NULL ? NULL : rte_dev_devargs(info->device);

	return args == NULL ? NULL : args->args;
}

uint32_t
device_args_number(const char *args, const char *key, uint32_t def)
{
	size_t n = strlen(key);

	for (const char *at = args; at != NULL && *at != '\0';) {
		char *end;

		if (strncmp(at, key, n) == 0 && at[n] == '=' && isdigit((unsigned char)at[n + 1])) {
			unsigned long number = strtoul(at + n + 1, &end, 10);

			return (*end == '\0' || *end == ',') && number <= UINT32_MAX
				       ? (uint32_t)number
				       : def;
		}
		at = strchr(at, ',');
		at = at == NULL ? NULL : at + 1;
	}
	return def;
}

uint32_t
device_most_framesz(uint32_t data_room_bytes)
{
	return data_room_bytes + (uint32_t)(TPACKET2_HDRLEN - sizeof(struct sockaddr_ll));
}
