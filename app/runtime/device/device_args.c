/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/device/device_args.h"

#include <ctype.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

const char *
device_args(const struct rte_eth_dev_info *info)
{
	const struct rte_devargs *args =
		info->device == NULL ? NULL : rte_dev_devargs(info->device);

	return args == NULL ? NULL : args->args;
}

/* What follows KEY= in arguments, or NULL. */
static const char *
value_of(const char *args, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = args; at != NULL && *at != '\0';) {
		if (strncmp(at, key, n) == 0 && at[n] == '=')
			return at + n + 1;
		at = strchr(at, ',');
		at = at == NULL ? NULL : at + 1;
	}
	return NULL;
}

bool
device_args_has(const char *args, const char *key)
{
	return value_of(args, key) != NULL;
}

uint32_t
device_args_number(const char *args, const char *key, uint32_t def)
{
	const char *value = value_of(args, key);
	unsigned long number;
	char *end;

	if (value == NULL || !isdigit((unsigned char)*value))
		return def;
	number = strtoul(value, &end, 10);
	return (*end == '\0' || *end == ',') && number <= UINT32_MAX ? (uint32_t)number : def;
}

bool
device_args_text(const char *args, const char *key, char *text, size_t size)
{
	const char *value = value_of(args, key);
	size_t n = value == NULL ? 0 : strcspn(value, ",");

	if (value == NULL || n >= size)
		return false;
	memcpy(text, value, n);
	text[n] = '\0';
	return true;
}

/* The driver's own framesz. */
#define DEFAULT_FRAMESZ 2048u
/* Blocks are whole pages. */
#define PAGE_BYTES 4096u
/* Slots are a multiple of this, so that few of them are whole pages. */
#define STEP_BYTES 1024u
/* Where a frame begins in a slot: after the header and 16 bytes for a MAC header, aligned. */
#define FRAME_OFFSET (TPACKET_ALIGN(TPACKET2_HDRLEN + 16) - 14)

struct device_slots
device_slots(const char *args)
{
	return (struct device_slots){
		.framesz = device_args_number(args, "framesz", DEFAULT_FRAMESZ),
		.blocksz = device_args_number(args, "blocksz", PAGE_BYTES),
	};
}

uint32_t
device_whole_frame(uint32_t framesz)
{
	return framesz <= FRAME_OFFSET ? 0 : framesz - (uint32_t)FRAME_OFFSET - 1;
}

struct device_slots
device_slots_for(uint32_t frame_bytes)
{
	uint32_t needed = frame_bytes + (uint32_t)FRAME_OFFSET + 1;
	struct device_slots s = {.framesz = (needed + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES};

	s.blocksz = s.framesz;
	while (s.blocksz % PAGE_BYTES != 0)
		s.blocksz += s.framesz;
	return s;
}

/* The driver's own bsize. */
#define DEFAULT_BSIZE 2048u

uint32_t
device_memif_frame(const struct rte_eth_dev_info *info)
{
	uint32_t bsize;

	if (strcmp(info->driver_name, "net_memif") != 0)
		return 0;
	bsize = device_args_number(device_args(info), "bsize", DEFAULT_BSIZE);
	return bsize <= RTE_VLAN_HLEN ? 1 : bsize - RTE_VLAN_HLEN;
}

uint32_t
device_slot_room(uint32_t framesz)
{
	const uint32_t header = (uint32_t)(TPACKET2_HDRLEN - sizeof(struct sockaddr_ll));

	return framesz <= header ? 0 : framesz - header;
}
