/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP echo, both versions (RFC 792, RFC 4443): a request is answered in place. */
#ifndef QUENCH_WIRE_ICMP_H
#define QUENCH_WIRE_ICMP_H

#include "wire/frame.h"

#define IP_PROTO_ICMP 1u
#define IP_PROTO_ICMPV6 58u

/** Checksum of an ICMPv6 message as stored (RFC 4443 2.3); 0 when a received one is right. */
uint16_t icmp6_checksum(const uint8_t *ip, const uint8_t *icmp, size_t icmp_bytes);

/** Is this parsed frame a whole echo request with a right checksum? Fragments are none. */
bool icmp_is_echo_request(const uint8_t *buf, const struct frame_view *eth);

/** Turn an echo request into its reply: addresses change places, data and padding stay. */
void icmp_echo_answer(uint8_t *buf, const struct frame_view *eth);

#endif
