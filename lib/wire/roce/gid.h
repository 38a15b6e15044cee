/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GIDs of RoCEv2: the IP address, IPv4 as an IPv4-mapped IPv6 address (IBTA annex A17.4.2, RFC 4291
 * section 2.5.5.2).
 */
#ifndef QUENCH_WIRE_ROCE_GID_H
#define QUENCH_WIRE_ROCE_GID_H

#include <stdint.h>
#include <string.h>

#include "base/field/field.h"

#define GID_BYTES 16u
/* Zeros before the two bytes of ones of an IPv4-mapped address, and where the address begins. */
#define GID_MAPPED_ONES 10u
#define GID_MAPPED_ADDR 12u

static inline void
gid_of_ip(const struct field_ip *ip, uint8_t gid[GID_BYTES])
{
	memset(gid, 0, GID_BYTES);
	if (ip->version == 6) {
		memcpy(gid, ip->addr, GID_BYTES);
		return;
	}
	gid[GID_MAPPED_ONES] = gid[GID_MAPPED_ONES + 1] = 0xff;
	memcpy(gid + GID_MAPPED_ADDR, ip->addr, GID_BYTES - GID_MAPPED_ADDR);
}

static inline struct field_ip
gid_ip(const uint8_t gid[GID_BYTES])
{
	static const uint8_t mapped[GID_MAPPED_ADDR] = {[GID_MAPPED_ONES] = 0xff, 0xff};
	struct field_ip ip = {.version = 6};

	if (memcmp(gid, mapped, sizeof(mapped)) == 0) {
		ip.version = 4;
		memcpy(ip.addr, gid + GID_MAPPED_ADDR, GID_BYTES - GID_MAPPED_ADDR);
	} else {
		memcpy(ip.addr, gid, GID_BYTES);
	}
	return ip;
}

#endif
