/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/neighbour/nd.h"

#include "wire/neighbour/icmp.h"

#define ND_HDR_BYTES 24u   /* type, code, checksum, flags, target */
#define ND_OPTION_BYTES 8u /* a link-layer address of Ethernet */
#define ND_HOP_LIMIT 255u
#define ND_SOURCE_MAC 1u
#define ND_TARGET_MAC 2u

static const uint8_t solicited_node[13] = {0xFF, 0x02, [11] = 0x01, [12] = 0xFF};

bool
nd_is_unspecified(const uint8_t ip[16])
{
	static const uint8_t zero[16];

	return memcmp(ip, zero, 16) == 0;
}

void
nd_solicited_node(const uint8_t ip[16], uint8_t group[16])
{
	memcpy(group, solicited_node, 13);
	memcpy(group + 13, ip + 13, 3);
}

void
nd_group_mac(const uint8_t group[16], uint8_t mac[6])
{
	mac[0] = mac[1] = 0x33;
	memcpy(mac + 2, group + 12, 4);
}

/*
 * Parse the options.
 * @return false if an option has length 0 or exceeds the packet, or if the MAC address is a group
 * address.
 */
static bool
parse_options(const uint8_t *at, size_t n, struct nd *out)
{
	uint8_t wanted = out->type == ND_SOLICITATION ? ND_SOURCE_MAC : ND_TARGET_MAC;

	while (n > 0) {
		size_t option_bytes;

		if (n < 2 || at[1] == 0 || at[1] * 8u > n)
			return false;
		option_bytes = at[1] * 8u;
		if (at[0] == wanted && option_bytes == ND_OPTION_BYTES && !out->has_mac) {
			out->has_mac = true;
			memcpy(out->mac, at + 2, 6);
		}
		at += option_bytes;
		n -= option_bytes;
	}
	/* A station's address is never a group address. */
	return !(out->mac[0] & 1);
}

/* Are the addresses valid for this type of message? */
static bool
addresses_agree(const struct nd *nd)
{
	if (nd->target_ip[0] == 0xFF)
		return false;
	if (nd->type == ND_ADVERTISEMENT)
		return !(nd->dst_ip[0] == 0xFF && nd->flags & ND_SOLICITED);
	if (!nd_is_unspecified(nd->src_ip))
		return true;
	return !nd->has_mac && memcmp(nd->dst_ip, solicited_node, sizeof(solicited_node)) == 0;
}

bool
nd_parse(const uint8_t *buf, const struct frame_view *eth, struct nd *out)
{
	const uint8_t *ip = buf + eth->l3_off, *icmp = buf + eth->l4_off;
	size_t n;

	memset(out, 0, sizeof(*out));
	if (eth->ip_version != 6 || eth->ip_proto != IP_PROTO_ICMPV6 || eth->fragment ||
	    eth->ip_end < eth->l4_off + ND_HDR_BYTES)
		return false;
	n = eth->ip_end - eth->l4_off;
	if ((icmp[0] != ND_SOLICITATION && icmp[0] != ND_ADVERTISEMENT) || icmp[1] != 0 ||
	    eth->ttl != ND_HOP_LIMIT || icmp6_checksum(ip, icmp, n) != 0)
		return false;
	out->type = icmp[0];
	out->flags = out->type == ND_ADVERTISEMENT ? icmp[4] : 0;
	memcpy(out->src_ip, ip + 8, 16);
	memcpy(out->dst_ip, ip + 24, 16);
	memcpy(out->target_ip, icmp + 8, 16);
	return parse_options(icmp + ND_HDR_BYTES, n - ND_HDR_BYTES, out) && addresses_agree(out);
}

size_t
nd_build(uint8_t *buf, const struct l2 *l2, const struct nd *nd)
{
	size_t off = l2_write(buf, l2, ETHERTYPE_IPV6);
	size_t n = ND_HDR_BYTES + (nd->has_mac ? ND_OPTION_BYTES : 0);
	uint8_t *ip = buf + off, *icmp = ip + IPV6_HDR_BYTES;

	memset(ip, 0, IPV6_HDR_BYTES + n);
	ip[0] = 0x60;
	be16_store(ip + 4, (uint16_t)n);
	ip[6] = IP_PROTO_ICMPV6;
	ip[7] = ND_HOP_LIMIT;
	memcpy(ip + 8, nd->src_ip, 16);
	memcpy(ip + 24, nd->dst_ip, 16);
	icmp[0] = nd->type;
	icmp[4] = nd->flags;
	memcpy(icmp + 8, nd->target_ip, 16);
	if (nd->has_mac) {
		icmp[ND_HDR_BYTES] = nd->type == ND_SOLICITATION ? ND_SOURCE_MAC : ND_TARGET_MAC;
		icmp[ND_HDR_BYTES + 1] = 1;
		memcpy(icmp + ND_HDR_BYTES + 2, nd->mac, 6);
	}
	be16_store(icmp + 2, icmp6_checksum(ip, icmp, n));
	return off + IPV6_HDR_BYTES + n;
}
