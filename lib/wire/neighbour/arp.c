/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/neighbour/arp.h"

#define ARP_ETHERNET 1u

bool
arp_parse(const uint8_t *buf, size_t len, const struct frame_view *eth, struct arp *out)
{
	const uint8_t *p = buf + eth->l3_off;

	if (eth->ethertype != ETHERTYPE_ARP || len < eth->l3_off + ARP_BYTES)
		return false;
	if (be16_load(p) != ARP_ETHERNET || be16_load(p + 2) != ETHERTYPE_IPV4 || p[4] != 6 ||
	    p[5] != 4)
		return false;
	out->op = be16_load(p + 6);
	memcpy(out->sender_mac, p + 8, 6);
	memcpy(out->sender_ip, p + 14, 4);
	memcpy(out->target_mac, p + 18, 6);
	memcpy(out->target_ip, p + 24, 4);
	return (out->op == ARP_REQUEST || out->op == ARP_REPLY) && !(out->sender_mac[0] & 1);
}

size_t
arp_build(uint8_t *buf, const struct l2 *l2, const struct arp *arp)
{
	size_t off = l2_write(buf, l2, ETHERTYPE_ARP);
	uint8_t *p = buf + off;

	be16_store(p, ARP_ETHERNET);
	be16_store(p + 2, ETHERTYPE_IPV4);
	p[4] = 6;
	p[5] = 4;
	be16_store(p + 6, arp->op);
	memcpy(p + 8, arp->sender_mac, 6);
	memcpy(p + 14, arp->sender_ip, 4);
	memcpy(p + 18, arp->target_mac, 6);
	memcpy(p + 24, arp->target_ip, 4);
	return l2_pad(buf, off + ARP_BYTES);
}
