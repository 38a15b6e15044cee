/* SPDX-License-Identifier: BSD-3-Clause */
/* Decrement the IPv4 TTL, with an incremental checksum update (RFC 1624), or the IPv6 hop limit. */
#ifndef QUENCH_WIRE_FRAME_TTL_H
#define QUENCH_WIRE_FRAME_TTL_H

#include "wire/bytes/be.h"

/** ip is a complete header after frame_parse(), with TTL > 0. */
static inline void
ip_decrement_ttl(uint8_t *ip, unsigned int ip_version)
{
	uint32_t sum;

	if (ip_version == 6) {
		ip[7]--;
		return;
	}
	ip[8]--;
	/*
	 * Equation 3: ~HC + ~m + m', where m and m' are the word of TTL and protocol before and
	 * after.
	 */
	sum = (uint16_t)~be16_load(ip + 10) + 0xFEFFu;
	sum = (sum & 0xFFFF) + (sum >> 16);
	be16_store(ip + 10, (uint16_t)~sum);
}

#endif
