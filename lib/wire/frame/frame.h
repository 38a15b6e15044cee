/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checked view of an Ethernet frame down to the transport header: the fields that a switch needs to
 * classify, forward and mark. For any input, no byte beyond the length is read.
 *
 * Invariant for an IP frame with FRAME_OK: l3_off <= l4_off <= ip_end <= len.
 *
 * One 802.1Q tag is skipped; a second tag is an opaque EtherType. The frame has no FCS.
 */
#ifndef QUENCH_WIRE_FRAME_FRAME_H
#define QUENCH_WIRE_FRAME_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/bytes/headers.h"

/* RFC 3168 section 5: binary code points. */
enum ecn { ECN_NOT_ECT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 };

enum frame_verdict {
	FRAME_OK, /* offsets below are valid; a non-IP frame is OK with ip_version 0 */
	FRAME_TRUNCATED_ETH,
	FRAME_TRUNCATED_VLAN,
	FRAME_TRUNCATED_IP,
	FRAME_BAD_IP_VERSION,
	FRAME_BAD_IP_HEADER_LENGTH,
	FRAME_BAD_IP_LENGTH, /* total length below the header or beyond the frame */
	FRAME_BAD_IP_CHECKSUM,
	FRAME_VERDICTS
};

/** The verdict's counter name, without prefix, e.g. "truncated_ip". */
const char *frame_verdict_name(enum frame_verdict v);

struct frame_view {
	uint16_t ethertype; /* after the tag, host order */
	uint16_t vlan_tci;  /* host order; valid if tagged */
	uint16_t l3_off;
	/*
	 * After IPv4 options or IPv6 extension headers; valid if ip_version != 0 and not a
	 * fragment.
	 */
	uint16_t l4_off;
	uint16_t ip_end;    /* offset just past the IP packet; Ethernet padding may follow */
	uint8_t ip_version; /* 0, 4, 6 */
	uint8_t ip_proto;   /* last next-header value that was read */
	uint8_t dscp;
	uint8_t ecn; /* enum ecn */
	uint8_t ttl;
	bool tagged;
	bool fragment; /* part of a fragmented packet: the transport header is not parsed */
};

/**
 * Parse buf[0..len). Fills in the fields of v that were read before the verdict; the others are 0.
 * With FRAME_OK, FRAME_TRUNCATED_IP and all later verdicts, the fields of Ethernet and the tag, and
 * l3_off, are valid.
 *
 * Skips IPv4 options and up to five IPv6 extension headers (hop-by-hop, routing, destination
 * options). Stops at a fragment header. Bytes after the IP packet are Ethernet padding.
 */
enum frame_verdict frame_parse(const uint8_t *buf, size_t len, struct frame_view *v);

#endif
