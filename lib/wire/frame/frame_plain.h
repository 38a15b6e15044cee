/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast path of frame_parse() for the most common frames: untagged IPv4 without options. */
#ifndef QUENCH_WIRE_FRAME_FRAME_PLAIN_H
#define QUENCH_WIRE_FRAME_FRAME_PLAIN_H

#include "wire/bytes/be.h"
#include "wire/frame/frame.h"

/* One's complement sum of 64-bit words. */
static inline uint64_t
frame_plain_add(uint64_t a, uint64_t b)
{
	uint64_t sum = a + b;

	return sum + (sum < a);
}

/**
 * Parse buf[0..len) if it is a valid untagged frame with an IPv4 packet without options. v is then
 * the same as after frame_parse().
 *
 * @return false: any other frame, for frame_parse(). v is unchanged.
 */
static inline bool
frame_parse_plain(const uint8_t *buf, uint16_t len, struct frame_view *v)
{
	uint64_t start, words, more;
	uint32_t last;
	uint16_t ip_bytes;

	if (len < ETH_HDR_BYTES + IPV4_HDR_BYTES)
		return false;
	/* EtherType, version and header length, ToS, total length, identification. */
	start = be64_load(buf + 12);
	ip_bytes = (uint16_t)(start >> 16);
	if (start >> 40 != (ETHERTYPE_IPV4 << 8 | 0x45) || ip_bytes < IPV4_HDR_BYTES ||
	    ip_bytes > len - ETH_HDR_BYTES)
		return false;
	/*
	 * RFC 1071 2(A), (B): words may be added in any order and width if no carry is lost. The
	 * sum of a valid header is a multiple of 0xFFFF, and it is not 0, because the first byte is
	 * 0x45.
	 */
	memcpy(&words, buf + 14, sizeof(words));
	memcpy(&more, buf + 22, sizeof(more));
	memcpy(&last, buf + 30, sizeof(last));
	if (frame_plain_add(frame_plain_add(words, more), last) % 0xFFFF != 0)
		return false;

	v->ethertype = ETHERTYPE_IPV4;
	v->vlan_tci = 0;
	v->l3_off = ETH_HDR_BYTES;
	v->l4_off = ETH_HDR_BYTES + IPV4_HDR_BYTES;
	v->ip_end = (uint16_t)(ETH_HDR_BYTES + ip_bytes);
	v->ip_version = 4;
	v->ip_proto = buf[23];
	v->dscp = (uint8_t)(start >> 34 & 0x3F);
	v->ecn = (uint8_t)(start >> 32 & 3);
	v->ttl = buf[22];
	v->tagged = false;
	/* More Fragments flag or a fragment offset: RFC 791 section 3.1. */
	v->fragment = (be16_load(buf + 20) & 0x3FFF) != 0;
	return true;
}

#endif
