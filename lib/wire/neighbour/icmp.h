/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP echo for IPv4 and IPv6 (RFC 792, RFC 4443): a request is turned into its reply in place. */
#ifndef QUENCH_WIRE_NEIGHBOUR_ICMP_H
#define QUENCH_WIRE_NEIGHBOUR_ICMP_H

#include "wire/frame/frame.h"

#define IP_PROTO_ICMP 1u
#define IP_PROTO_ICMPV6 58u

/** Checksum of an ICMPv6 message as stored (RFC 4443 2.3); 0 for a valid received message. */
uint16_t icmp6_checksum(const uint8_t *ip, const uint8_t *icmp, size_t icmp_bytes);

/** Is this parsed frame a complete echo request with a valid checksum? Fragments are not. */
bool icmp_is_echo_request(const uint8_t *buf, const struct frame_view *eth);

/** Turn an echo request into its reply: addresses are swapped; data and padding stay. */
void icmp_echo_answer(uint8_t *buf, const struct frame_view *eth);

#endif
