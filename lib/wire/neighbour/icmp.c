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
/* TTL of the reply. */
#define ECHO_TTL 64

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
