/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One's complement sums (RFC 1071). A message may be split at even offsets and its parts summed in
 * any order.
 */
#ifndef QUENCH_WIRE_BYTES_CHECKSUM_H
#define QUENCH_WIRE_BYTES_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Fold a sum of 16-bit words to 16 bits; 0 only if every word was 0. sum < 2^48. */
static inline uint16_t
checksum_fold(uint64_t sum)
{
	sum = (sum & 0xFFFFFFFFu) + (sum >> 32);
	sum = (sum & 0xFFFFu) + (sum >> 16);
	sum = (sum & 0xFFFFu) + (sum >> 16);
	return (uint16_t)((sum & 0xFFFFu) + (sum >> 16));
}

/**
 * Sum of 32-bit words in the CPU's byte order; n is a multiple of 4 and below 2^16. Folded, it is
 * the sum of 16-bit words in that order (RFC 1071 2(B)).
 */
static inline uint64_t
checksum_words(const void *buf, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i += 4) {
		uint32_t word;

		memcpy(&word, (const uint8_t *)buf + i, sizeof(word));
		sum += word;
	}
	return sum;
}

/** Folded sum of n bytes as big-endian words; an odd last byte is the high half of a word. */
uint16_t checksum_bytes(const void *buf, size_t n);

/** Sum of the UDP pseudo header without its length field (RFC 768, RFC 8200 section 8.1). */
uint32_t checksum_udp_pseudo(const uint8_t *ip, unsigned int ip_version);

/**
 * Internet checksum (RFC 1071) of an IPv4 header; 0 for a valid received header. hdr_len is a
 * multiple of 4.
 */
uint16_t ipv4_header_checksum(const uint8_t *hdr, size_t hdr_len);

/**
 * UDP checksum over IPv4 or IPv6 (RFC 768, RFC 8200 8.1) as stored in the header: 0 becomes 0xFFFF.
 * ip points at the IP header, udp at the UDP header; udp_len covers UDP header and payload.
 */
uint16_t udp_checksum(const uint8_t *ip, unsigned int ip_version, const uint8_t *udp,
		      size_t udp_len);

#endif
