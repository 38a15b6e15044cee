/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/mad/cm_ip.h"

#include <string.h>

#include "wire/bytes/be.h"

/* Annex A11.3: bytes 5 of the ID is the service (1), byte 6 the IP protocol, 7 and 8 the port. */
#define SERVICE 0x0000000001060000ull

/* Annex A11.4: version 4 bits, reserved 4, IP version 4 bits, reserved 4, port, two addresses. */
enum { VERSION = 0, IP_VERSION = 1, PORT = 2, SRC = 4, DST = 20, IPV4_PAD = 12 };

uint64_t
cm_ip_service(uint16_t port)
{
	return SERVICE | port;
}

bool
cm_ip_port(uint64_t service_id, uint16_t *port)
{
	*port = (uint16_t)service_id;
	return (service_id & ~0xFFFFull) == SERVICE;
}

static void
load_address(const uint8_t *at, uint8_t ip_version, uint8_t out[16])
{
	memset(out, 0, 16);
	if (ip_version == 4)
		memcpy(out, at + IPV4_PAD, 4);
	else
		memcpy(out, at, 16);
}

static void
store_address(uint8_t *at, uint8_t ip_version, const uint8_t ip[16])
{
	memset(at, 0, 16);
	if (ip_version == 4)
		memcpy(at + IPV4_PAD, ip, 4);
	else
		memcpy(at, ip, 16);
}

bool
cm_ip_parse(const uint8_t *data, struct cm_ip *out)
{
	out->ip_version = data[IP_VERSION] >> 4;
	out->sport = be16_load(data + PORT);
	if (data[VERSION] >> 4 != 0 || (out->ip_version != 4 && out->ip_version != 6))
		return false;
	load_address(data + SRC, out->ip_version, out->src_ip);
	load_address(data + DST, out->ip_version, out->dst_ip);
	return true;
}

void
cm_ip_build(uint8_t *data, const struct cm_ip *ip)
{
	data[VERSION] = 0;
	data[IP_VERSION] = (uint8_t)(ip->ip_version << 4);
	be16_store(data + PORT, ip->sport);
	store_address(data + SRC, ip->ip_version, ip->src_ip);
	store_address(data + DST, ip->ip_version, ip->dst_ip);
}
