/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP for IPv4 over Ethernet (RFC 826): the MAC address of an IPv4 address on the local link. */
#ifndef QUENCH_WIRE_NEIGHBOUR_ARP_H
#define QUENCH_WIRE_NEIGHBOUR_ARP_H

#include "wire/frame/l2.h"

#define ARP_BYTES 28u       /* after the Ethernet header */
#define ARP_FRAME_BYTES 60u /* padded, without FCS; tagged or not */

enum arp_op { ARP_REQUEST = 1, ARP_REPLY = 2 };

struct arp {
	uint16_t op; /* enum arp_op */
	uint8_t sender_mac[6];
	uint8_t sender_ip[4]; /* 0.0.0.0: a probe whether another host uses target_ip (RFC 5227) */
	uint8_t target_mac[6];
	uint8_t target_ip[4];
};

/**
 * Parse an ARP frame after frame_parse().
 *
 * @return false if it is too short, not IPv4 over Ethernet, neither request nor reply, or if the
 *         sender's MAC address is a group address.
 */
bool arp_parse(const uint8_t *buf, size_t len, const struct frame_view *eth, struct arp *out);

/** Build a frame of ARP_FRAME_BYTES in buf. @return its length. */
size_t arp_build(uint8_t *buf, const struct l2 *l2, const struct arp *arp);

#endif
