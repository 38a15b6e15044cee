/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/frame/frame.h"

#include <string.h>

#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"

/* IPv6 extension headers (RFC 8200 section 4). */
#define IPV6_HOP_BY_HOP 0u
#define IPV6_ROUTING 43u
#define IPV6_FRAGMENT 44u
#define IPV6_DESTINATION 60u
/*
 * Limit of the work per frame. RFC 8200 section 4.1 lists at most five extension headers in a
 * packet.
 */
#define IPV6_EXT_MAX 5

static const char *const verdict_names[FRAME_VERDICTS] = {
	[FRAME_OK] = "ok",
	[FRAME_TRUNCATED_ETH] = "truncated_eth",
	[FRAME_TRUNCATED_VLAN] = "truncated_vlan",
	[FRAME_TRUNCATED_IP] = "truncated_ip",
	[FRAME_BAD_IP_VERSION] = "bad_ip_version",
	[FRAME_BAD_IP_HEADER_LENGTH] = "bad_ip_header_length",
	[FRAME_BAD_IP_LENGTH] = "bad_ip_length",
	[FRAME_BAD_IP_CHECKSUM] = "bad_ip_checksum",
};

const char *
frame_verdict_name(enum frame_verdict v)
{
	return (unsigned int)v < FRAME_VERDICTS ? verdict_names[v] : "unknown";
}

/* With a length known at compile time this is a few additions. */
static inline bool
checksum_is_valid(const uint8_t *ip, size_t hdr_bytes)
{
	return checksum_fold(checksum_words(ip, hdr_bytes)) == 0xFFFF;
}

static inline enum frame_verdict
parse_ipv4(const uint8_t *ip, size_t avail, struct frame_view *v)
{
	size_t hdr_bytes, ip_bytes;

	if (avail < IPV4_HDR_BYTES)
		return FRAME_TRUNCATED_IP;
	if (ip[0] >> 4 != 4)
		return FRAME_BAD_IP_VERSION;
	hdr_bytes = (ip[0] & 0xFu) * 4;
	if (hdr_bytes < IPV4_HDR_BYTES)
		return FRAME_BAD_IP_HEADER_LENGTH;
	if (hdr_bytes > avail)
		return FRAME_TRUNCATED_IP;
	ip_bytes = be16_load(ip + 2);
	if (ip_bytes < hdr_bytes || ip_bytes > avail)
		return FRAME_BAD_IP_LENGTH;
	if (hdr_bytes == IPV4_HDR_BYTES ? !checksum_is_valid(ip, IPV4_HDR_BYTES)
					: !checksum_is_valid(ip, hdr_bytes))
		return FRAME_BAD_IP_CHECKSUM;

	v->ip_version = 4;
	v->dscp = ip[1] >> 2;
	v->ecn = ip[1] & 3;
	v->ttl = ip[8];
	v->ip_proto = ip[9];
	/* More Fragments flag or a fragment offset: RFC 791 section 3.1. */
	v->fragment = (be16_load(ip + 6) & 0x3FFF) != 0;
	v->l4_off = (uint16_t)(v->l3_off + hdr_bytes);
	v->ip_end = (uint16_t)(v->l3_off + ip_bytes);
	return FRAME_OK;
}

/* Skip the extension headers that may precede UDP. ip[0..ip_bytes) is readable. */
static enum frame_verdict
skip_ipv6_extensions(const uint8_t *ip, size_t ip_bytes, struct frame_view *v)
{
	size_t at = IPV6_HDR_BYTES;

	for (int i = 0; i < IPV6_EXT_MAX && v->ip_proto != IP_PROTO_UDP; i++) {
		bool fragment = v->ip_proto == IPV6_FRAGMENT;

		if (!fragment && v->ip_proto != IPV6_HOP_BY_HOP && v->ip_proto != IPV6_ROUTING &&
		    v->ip_proto != IPV6_DESTINATION)
			break;
		if (ip_bytes - at < 8)
			return FRAME_BAD_IP_HEADER_LENGTH;
		v->ip_proto = ip[at];
		if (fragment) {
			v->fragment = true;
			at += 8;
			break;
		}
		/* Length in units of 8 bytes, not counting the first 8. */
		if (ip_bytes - at < (ip[at + 1] + 1u) * 8)
			return FRAME_BAD_IP_HEADER_LENGTH;
		at += (ip[at + 1] + 1u) * 8;
	}
	v->l4_off = (uint16_t)(v->l3_off + at);
	return FRAME_OK;
}

static inline enum frame_verdict
parse_ipv6(const uint8_t *ip, size_t avail, struct frame_view *v)
{
	size_t ip_bytes;

	if (avail < IPV6_HDR_BYTES)
		return FRAME_TRUNCATED_IP;
	if (ip[0] >> 4 != 6)
		return FRAME_BAD_IP_VERSION;
	ip_bytes = IPV6_HDR_BYTES + be16_load(ip + 4);
	if (ip_bytes > avail)
		return FRAME_BAD_IP_LENGTH;

	v->ip_version = 6;
	/* The traffic class straddles bytes 0 and 1. */
	v->dscp = (uint8_t)((ip[0] & 0xF) << 2 | ip[1] >> 6);
	v->ecn = ip[1] >> 4 & 3;
	v->ip_proto = ip[6];
	v->ttl = ip[7];
	v->ip_end = (uint16_t)(v->l3_off + ip_bytes);
	return skip_ipv6_extensions(ip, ip_bytes, v);
}

enum frame_verdict
frame_parse(const uint8_t *buf, size_t len, struct frame_view *v)
{
	memset(v, 0, sizeof(*v));
	/* Offsets are 16 bits; Ethernet frames are far shorter. */
	if (len > UINT16_MAX)
		len = UINT16_MAX;
	if (len < ETH_HDR_BYTES)
		return FRAME_TRUNCATED_ETH;
	v->l3_off = ETH_HDR_BYTES;
	v->ethertype = be16_load(buf + 12);
	if (v->ethertype == ETHERTYPE_VLAN) {
		if (len < ETH_HDR_BYTES + VLAN_TAG_BYTES)
			return FRAME_TRUNCATED_VLAN;
		v->tagged = true;
		v->vlan_tci = be16_load(buf + 14);
		v->ethertype = be16_load(buf + 16);
		v->l3_off = ETH_HDR_BYTES + VLAN_TAG_BYTES;
	}
	if (v->ethertype == ETHERTYPE_IPV4)
		return parse_ipv4(buf + v->l3_off, len - v->l3_off, v);
	if (v->ethertype == ETHERTYPE_IPV6)
		return parse_ipv6(buf + v->l3_off, len - v->l3_off, v);
	return FRAME_OK;
}
