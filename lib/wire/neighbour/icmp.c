/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/neighbour/icmp.h"

#include <string.h>

#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"

#define ECHO_HDR_BYTES 8u
#define ICMP_ECHO_REPLY 0u
#define ICMP_ECHO_REQUEST 8u
#define ICMPV6_ECHO_REQUEST 128u
#define ICMPV6_ECHO_REPLY 129u
/* TTL of messages that we send. */
#define ECHO_TTL 64
#define ERROR_HDR_BYTES 8u
/* RFC 1812 4.3.2.5: precedence of network control. */
#define TOS_NETWORK_CONTROL 0xC0u
#define IPV4_DONT_FRAGMENT 0x40u

uint16_t
icmp6_checksum(const uint8_t *ip, const uint8_t *icmp, size_t icmp_bytes)
{
	/* The pseudo header of RFC 8200 8.1; the two addresses are adjacent. */
	uint64_t sum = (uint64_t)checksum_bytes(ip + 8, 32) + icmp_bytes + IP_PROTO_ICMPV6;

	return (uint16_t)~checksum_fold(sum + checksum_bytes(icmp, icmp_bytes));
}

bool
icmp_is_echo_request(const uint8_t *buf, const struct frame_view *eth)
{
	const uint8_t *icmp = buf + eth->l4_off;
	size_t n;

	if (eth->ip_version == 0 || eth->fragment || eth->ip_end < eth->l4_off + ECHO_HDR_BYTES)
		return false;
	n = eth->ip_end - eth->l4_off;
	if (eth->ip_version == 4)
		return eth->ip_proto == IP_PROTO_ICMP && icmp[0] == ICMP_ECHO_REQUEST &&
		       icmp[1] == 0 && checksum_bytes(icmp, n) == 0xFFFF;
	return eth->ip_proto == IP_PROTO_ICMPV6 && icmp[0] == ICMPV6_ECHO_REQUEST && icmp[1] == 0 &&
	       icmp6_checksum(buf + eth->l3_off, icmp, n) == 0;
}

static void
exchange(uint8_t *a, uint8_t *b, size_t n)
{
	uint8_t copy[16];

	memcpy(copy, a, n);
	memcpy(a, b, n);
	memcpy(b, copy, n);
}

void
icmp_echo_answer(uint8_t *buf, const struct frame_view *eth)
{
	uint8_t *ip = buf + eth->l3_off, *icmp = buf + eth->l4_off;
	size_t n = eth->ip_end - eth->l4_off;

	exchange(buf, buf + 6, 6);
	be16_store(icmp + 2, 0);
	if (eth->ip_version == 4) {
		size_t hdr_bytes = eth->l4_off - eth->l3_off;

		exchange(ip + 12, ip + 16, 4);
		ip[8] = ECHO_TTL;
		be16_store(ip + 10, 0);
		be16_store(ip + 10, ipv4_header_checksum(ip, hdr_bytes));
		icmp[0] = ICMP_ECHO_REPLY;
		be16_store(icmp + 2, (uint16_t)~checksum_bytes(icmp, n));
		return;
	}
	exchange(ip + 8, ip + 24, 16);
	ip[7] = ECHO_TTL;
	icmp[0] = ICMPV6_ECHO_REPLY;
	be16_store(icmp + 2, icmp6_checksum(ip, icmp, n));
}

/* Echoes are the only messages to which an error may be sent: errors never answer errors. */
static bool
is_echo(const uint8_t *icmp, uint8_t ip_version)
{
	if (ip_version == 4)
		return icmp[0] == ICMP_ECHO_REQUEST || icmp[0] == ICMP_ECHO_REPLY;
	return icmp[0] == ICMPV6_ECHO_REQUEST || icmp[0] == ICMPV6_ECHO_REPLY;
}

bool
icmp_may_answer(const uint8_t *buf, const struct frame_view *eth, enum icmp_error_kind kind)
{
	uint8_t icmp_proto = eth->ip_version == 4 ? IP_PROTO_ICMP : IP_PROTO_ICMPV6;

	if (eth->ip_version == 0 || eth->fragment)
		return false;
	if (kind == ICMP_TOO_BIG && eth->ip_version == 4 &&
	    !(buf[eth->l3_off + 6] & IPV4_DONT_FRAGMENT))
		return false;
	return eth->ip_proto != icmp_proto ||
	       (eth->l4_off < eth->ip_end && is_echo(buf + eth->l4_off, eth->ip_version));
}

static void
write_ipv4(uint8_t *ip, const struct icmp_error *error, size_t icmp_bytes)
{
	uint8_t *icmp = ip + IPV4_HDR_BYTES;

	memset(ip, 0, IPV4_HDR_BYTES);
	ip[0] = 0x45;
	ip[1] = TOS_NETWORK_CONTROL;
	be16_store(ip + 2, (uint16_t)(IPV4_HDR_BYTES + icmp_bytes));
	ip[6] = IPV4_DONT_FRAGMENT;
	ip[8] = ECHO_TTL;
	ip[9] = IP_PROTO_ICMP;
	memcpy(ip + 12, error->src_ip, 4);
	memcpy(ip + 16, error->packet + 12, 4);
	be16_store(ip + 10, ipv4_header_checksum(ip, IPV4_HDR_BYTES));
	if (error->kind == ICMP_TOO_BIG) {
		/* RFC 1191 4: destination unreachable, fragmentation needed and DF set. */
		icmp[0] = 3;
		icmp[1] = 4;
		be16_store(icmp + 6, (uint16_t)error->mtu_bytes);
	} else {
		icmp[0] = 11;
	}
	be16_store(icmp + 2, (uint16_t)~checksum_bytes(icmp, icmp_bytes));
}

static void
write_ipv6(uint8_t *ip, const struct icmp_error *error, size_t icmp_bytes)
{
	uint8_t *icmp = ip + IPV6_HDR_BYTES;

	be32_store(ip, 6u << 28 | TOS_NETWORK_CONTROL << 20);
	be16_store(ip + 4, (uint16_t)icmp_bytes);
	ip[6] = IP_PROTO_ICMPV6;
	ip[7] = ECHO_TTL;
	memcpy(ip + 8, error->src_ip, 16);
	memcpy(ip + 24, error->packet + 8, 16);
	if (error->kind == ICMP_TOO_BIG) {
		icmp[0] = 2;
		be32_store(icmp + 4, error->mtu_bytes);
	} else {
		icmp[0] = 3;
	}
	be16_store(icmp + 2, icmp6_checksum(ip, icmp, icmp_bytes));
}

size_t
icmp_error_build(uint8_t *frame, size_t size, const struct l2 *l2, const struct icmp_error *error)
{
	bool is_v4 = error->ip_version == 4;
	size_t l3_off = l2_write(frame, l2, is_v4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
	size_t hdr_bytes = (is_v4 ? IPV4_HDR_BYTES : IPV6_HDR_BYTES) + ERROR_HDR_BYTES;
	size_t most_bytes = is_v4 ? 576 : 1280, n = error->packet_bytes;
	uint8_t *ip = frame + l3_off;

	if (n > most_bytes - hdr_bytes)
		n = most_bytes - hdr_bytes;
	if (n > size - l3_off - hdr_bytes)
		n = size - l3_off - hdr_bytes;
	memset(ip + hdr_bytes - ERROR_HDR_BYTES, 0, ERROR_HDR_BYTES);
	memcpy(ip + hdr_bytes, error->packet, n);
	if (is_v4)
		write_ipv4(ip, error, ERROR_HDR_BYTES + n);
	else
		write_ipv6(ip, error, ERROR_HDR_BYTES + n);
	return l2_pad(frame, l3_off + hdr_bytes + n);
}
