/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/bytes/checksum.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "wire/bytes/headers.h"

uint16_t
checksum_bytes(const void *buf, size_t n)
{
	const uint8_t *p = buf;
	uint64_t sum = 0;
	uint16_t folded;
	size_t i;

	/*
	 * Add words in the CPU's byte order: the sum of byte-swapped words is the byte-swapped sum
	 * (RFC 1071 2(B)). 32-bit words are added in 64 bits, so no carry is lost in up to 2^32 of
	 * them. Compilers vectorise this loop.
	 */
	for (i = 0; i + 4 <= n; i += 4) {
		uint32_t two;

		memcpy(&two, p + i, 4);
		sum += two;
	}
	for (; i < n; i += 2) {
		uint16_t word = 0;

		memcpy(&word, p + i, n - i < 2 ? 1 : 2);
		sum += word;
	}
	folded = checksum_fold(sum);
	return be16toh(folded);
}

uint16_t
ipv4_header_checksum(const uint8_t *hdr, size_t hdr_len)
{
	assert(hdr_len % 4 == 0);
	return (uint16_t)~be16toh(checksum_fold(checksum_words(hdr, hdr_len)));
}

uint32_t
checksum_udp_pseudo(const uint8_t *ip, unsigned int ip_version)
{
	/* The two addresses are adjacent, at the end of the fixed header. */
	if (ip_version == 4)
		return (uint32_t)checksum_bytes(ip + 12, 8) + IP_PROTO_UDP;
	return (uint32_t)checksum_bytes(ip + 8, 32) + IP_PROTO_UDP;
}

uint16_t
udp_checksum(const uint8_t *ip, unsigned int ip_version, const uint8_t *udp, size_t udp_len)
{
	uint64_t sum = checksum_udp_pseudo(ip, ip_version);
	uint16_t checksum;

	/* Everything except the checksum field, which is at offset 6. */
	sum += udp_len + checksum_bytes(udp, 6) + checksum_bytes(udp + 8, udp_len - 8);
	checksum = (uint16_t)~checksum_fold(sum);
	return checksum == 0 ? 0xFFFF : checksum;
}
