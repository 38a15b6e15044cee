/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv6 neighbour discovery (RFC 4861): neighbour solicitation and advertisement. A parsed message
 * has passed the checks of 7.1.1 and 7.1.2: hop limit 255 (so no router forwarded it), checksum,
 * lengths, addresses.
 */
#ifndef QUENCH_WIRE_NEIGHBOUR_ND_H
#define QUENCH_WIRE_NEIGHBOUR_ND_H

#include "wire/frame/l2.h"

#define ND_FRAME_BYTES 90u /* message with its address option, tagged, without FCS */

enum nd_type { ND_SOLICITATION = 135, ND_ADVERTISEMENT = 136 };

/* Flags of an advertisement. */
#define ND_ROUTER 0x80u
#define ND_SOLICITED 0x40u
#define ND_OVERRIDE 0x20u

struct nd {
	uint8_t type;       /* enum nd_type */
	uint8_t flags;      /* 0 in a solicitation */
	uint8_t src_ip[16]; /* unspecified: duplicate address detection for target_ip (RFC 4862) */
	uint8_t dst_ip[16];
	uint8_t target_ip[16];
	bool has_mac; /* source address of a solicitation, target address of an advertisement */
	uint8_t mac[6];
};

/** Parse an ICMPv6 packet after frame_parse(). @return false if it is not a valid message. */
bool nd_parse(const uint8_t *buf, const struct frame_view *eth, struct nd *out);

/** Build a frame in buf, of ND_FRAME_BYTES. @return its length. */
size_t nd_build(uint8_t *buf, const struct l2 *l2, const struct nd *nd);

/** Solicited-node multicast address of an address, ff02::1:ffXX:XXXX (RFC 4291 2.7.1). */
void nd_solicited_node(const uint8_t ip[16], uint8_t group[16]);

/** MAC address of an IPv6 group (RFC 2464 section 7). */
void nd_group_mac(const uint8_t group[16], uint8_t mac[6]);

/** Is this the unspecified address? */
bool nd_is_unspecified(const uint8_t ip[16]);

#endif
