/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMP for IPv4 and IPv6 (RFC 792, RFC 4443): an echo request is turned into its reply in place,
 * and errors of a router are built.
 */
#ifndef QUENCH_WIRE_NEIGHBOUR_ICMP_H
#define QUENCH_WIRE_NEIGHBOUR_ICMP_H

#include "wire/frame/l2.h"

#define IP_PROTO_ICMP 1u
#define IP_PROTO_ICMPV6 58u

/** Checksum of an ICMPv6 message as stored (RFC 4443 2.3); 0 for a valid received message. */
uint16_t icmp6_checksum(const uint8_t *ip, const uint8_t *icmp, size_t icmp_bytes);

/** Is this parsed frame a complete echo request with a valid checksum? Fragments are not. */
bool icmp_is_echo_request(const uint8_t *buf, const struct frame_view *eth);

/** Turn an echo request into its reply: addresses are swapped; data and padding stay. */
void icmp_echo_answer(uint8_t *buf, const struct frame_view *eth);

enum icmp_error_kind { ICMP_TIME_EXCEEDED, ICMP_TOO_BIG };

struct icmp_error {
	enum icmp_error_kind kind;
	uint8_t ip_version;    /* 4, 6 */
	const uint8_t *src_ip; /* 4 or 16 bytes: an address of the router */
	const uint8_t *packet; /* the dropped IP packet; the error goes to its source */
	size_t packet_bytes;
	uint32_t mtu_bytes; /* ICMP_TOO_BIG: the largest IP packet */
};

/**
 * May a router send an error about this parsed frame? No error is about a fragment or about an ICMP
 * message other than an echo (RFC 1812 4.3.2.7, RFC 4443 2.4 e). ICMP_TOO_BIG is not about an IPv4
 * packet without DF.
 */
bool icmp_may_answer(const uint8_t *buf, const struct frame_view *eth, enum icmp_error_kind kind);

/**
 * Build the frame of an error, with as much of the packet as RFC 1812 4.3.2.3 (576 bytes in all)
 * and RFC 4443 2.4 c (1280 bytes in all) allow, and as fits.
 *
 * @param size  Of frame: at least ICMP_ERROR_MIN_BYTES.
 * @return      Length of the frame.
 */
size_t icmp_error_build(uint8_t *frame, size_t size, const struct l2 *l2,
			const struct icmp_error *error);

/* Headers of the frame and of the packet, with options or an extension header; 8 bytes of data. */
#define ICMP_ERROR_MIN_BYTES 160u

#endif
