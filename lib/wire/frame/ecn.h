/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Set CE on an ECN-capable packet and update the IPv4 header checksum incrementally (RFC 1624 eq.
 * 3, HC' = ~(~HC + ~m + m'), which agrees with a full computation also where the result is 0). IPv6
 * has no header checksum. The RoCEv2 ICRC masks the field and stays valid.
 */
#ifndef QUENCH_WIRE_FRAME_ECN_H
#define QUENCH_WIRE_FRAME_ECN_H

#include <stdbool.h>

#include "wire/frame/frame.h"

/**
 * @param ip  Writable IP header that frame_parse() found.
 * @return    true if ECT became CE; false (nothing written) for Not-ECT, and for CE already set.
 */
static inline bool
ecn_set_ce(uint8_t *ip, unsigned int ip_version)
{
	/* IPv4: low two bits of byte 1. IPv6: traffic class bits 0-1 are bits 4-5 of byte 1. */
	unsigned int shift = ip_version == 4 ? 0 : 4;
	unsigned int ecn = ip[1] >> shift & 3;

	if (ecn == ECN_NOT_ECT || ecn == ECN_CE)
		return false;
	ip[1] |= (uint8_t)(ECN_CE << shift);
	if (ip_version == 4) {
		/* The 16-bit word with the ToS grew by CE - ecn, so ~m + m' is that difference. */
		uint32_t sum = (uint16_t) ~(ip[10] << 8 | ip[11]) + (uint32_t)(ECN_CE - ecn);

		sum = ~((sum & 0xFFFFu) + (sum >> 16));
		ip[10] = (uint8_t)(sum >> 8);
		ip[11] = (uint8_t)sum;
	}
	return true;
}

#endif
