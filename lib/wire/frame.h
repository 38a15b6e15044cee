/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checked view of an Ethernet frame down to the transport header: what a switch needs to classify,
 * forward and mark. Buffer and length in, offsets out; never a read beyond the length, for any
 * input.
 *
 * At most one 802.1Q tag is looked through; a second tag is an opaque EtherType. The frame has no
 * FCS.
 */
#ifndef QUENCH_WIRE_FRAME_H
#define QUENCH_WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/headers.h"

/* RFC 3168 section 5: binary code points. */
enum ecn { ECN_NOT_ECT = 0, ECN_ECT1 = 1, ECN_ECT0 = 2, ECN_CE = 3 };

enum frame_verdict {
	FRAME_OK, /* offsets below are valid; non-IP frames are OK with ip_version 0 */
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
	/* After IPv4 options and IPv6 extension headers; valid if ip_version != 0 and no
	 * fragment. */
	uint16_t l4_off;
	uint16_t ip_end;    /* offset one past the IP packet: Ethernet padding is after it */
	uint8_t ip_version; /* 0, 4, 6 */
	uint8_t ip_proto;   /* last next-header looked at */
	uint8_t dscp;
	uint8_t ecn; /* enum ecn */
	uint8_t ttl;
	bool tagged;
	bool fragment; /* part of a fragmented packet: no transport header is looked for */
};

/**
 * Parse buf[0..len). Fills v as far as the verdict allows (Ethernet fields from FRAME_TRUNCATED_IP
 * on).
 *
 * IPv4 options are skipped; of IPv6, up to five hop-by-hop, routing and destination options
 * headers. After a fragment header nothing is looked for. Bytes after the IP packet are Ethernet
 * padding.
 */
enum frame_verdict frame_parse(const uint8_t *buf, size_t len, struct frame_view *v);

#endif
