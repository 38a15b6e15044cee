/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet header of a frame that we build, with or without one 802.1Q tag. */
#ifndef QUENCH_WIRE_FRAME_L2_H
#define QUENCH_WIRE_FRAME_L2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/bytes/be.h"
#include "wire/frame/frame.h"

/* Shortest frame without FCS (IEEE 802.3 4A.4.2). */
#define L2_MIN_BYTES 60u

struct l2 {
	uint8_t dst_mac[6];
	uint8_t src_mac[6];
	bool tagged;
	uint16_t vlan_tci;
};

/** Write the header. @return offset of the next header: 14 or 18. */
static inline size_t
l2_write(uint8_t *buf, const struct l2 *l2, uint16_t ethertype)
{
	size_t off = ETH_HDR_BYTES + (l2->tagged ? VLAN_TAG_BYTES : 0);

	memcpy(buf, l2->dst_mac, 6);
	memcpy(buf + 6, l2->src_mac, 6);
	if (l2->tagged) {
		be16_store(buf + 12, ETHERTYPE_VLAN);
		be16_store(buf + 14, l2->vlan_tci);
	}
	be16_store(buf + off - 2, ethertype);
	return off;
}

/** Pad a frame of len bytes with zeros. @return its length: at least L2_MIN_BYTES. */
static inline size_t
l2_pad(uint8_t *buf, size_t len)
{
	if (len >= L2_MIN_BYTES)
		return len;
	memset(buf + len, 0, L2_MIN_BYTES - len);
	return L2_MIN_BYTES;
}

#endif
