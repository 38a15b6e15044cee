/* SPDX-License-Identifier: BSD-3-Clause */
/* ARP, neighbour discovery and echo: layouts from the RFCs, and everything that makes one
 * invalid. */
#include <string.h>

#include "base/numbers/array.h"
#include "unit/cases.h"
#include "wire/neighbour/arp.h"
#include "wire/bytes/checksum.h"
#include "wire/neighbour/icmp.h"
#include "wire/neighbour/nd.h"

static const struct l2 plain = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, false, 0};
static const struct l2 tagged = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}, true, 0x6064};
static const struct arp request = {
	.op = ARP_REQUEST,
	.sender_mac = {2, 0, 0, 0, 0, 2},
	.sender_ip = {10, 0, 0, 2},
	.target_ip = {10, 0, 0, 1},
};
static const struct nd solicitation = {
	.type = ND_SOLICITATION,
	.src_ip = {0x20, 1, 0xd, 0xb8, [15] = 2},
	.dst_ip = {0xFF, 2, [11] = 1, [12] = 0xFF, [15] = 1},
	.target_ip = {0x20, 1, 0xd, 0xb8, [15] = 1},
	.has_mac = true,
	.mac = {2, 0, 0, 0, 0, 2},
};

TEST(arp_request_is_laid_out_as_in_rfc_826)
{
	static const uint8_t want[ARP_FRAME_BYTES] = {
		2, 0, 0,    0,    0, 1, 2,  0, 0, 0, 0, 2, 0x08, 0x06, /* Ethernet */
		0, 1, 0x08, 0x00, 6, 4, 0,  1,                         /* Ethernet, IPv4, request */
		2, 0, 0,    0,    0, 2, 10, 0, 0, 2,                   /* sender */
		0, 0, 0,    0,    0, 0, 10, 0, 0, 1,                   /* target */
	};
	uint8_t buf[ARP_FRAME_BYTES];

	memset(buf, 0xEE, sizeof(buf));
	assert_int_equal(arp_build(buf, &plain, &request), sizeof(want));
	assert_memory_equal(buf, want, sizeof(want));
}

TEST(arp_is_parsed_back_with_and_without_a_tag)
{
	const struct l2 *l2s[] = {&plain, &tagged};
	struct frame_view eth;
	struct arp arp;
	uint8_t buf[ARP_FRAME_BYTES];

	for (unsigned int i = 0; i < 2; i++) {
		size_t len = arp_build(buf, l2s[i], &request);

		assert_int_equal(len, ARP_FRAME_BYTES);
		assert_int_equal(frame_parse(buf, len, &eth), FRAME_OK);
		assert_int_equal(eth.tagged, i == 1);
		assert_true(arp_parse(buf, len, &eth, &arp));
		assert_memory_equal(&arp, &request, sizeof(arp));
		for (size_t n = 0; n < eth.l3_off + ARP_BYTES; n++)
			assert_false(arp_parse(buf, n, &eth, &arp));
	}
}

TEST(arp_of_another_kind_is_none)
{
	/* hardware type, protocol, lengths, operation, a group as the sender */
	static const unsigned int offsets[] = {15, 16, 18, 19, 21, 22};
	struct frame_view eth;
	struct arp arp;
	uint8_t buf[ARP_FRAME_BYTES];

	for (unsigned int i = 0; i < ARRAY_LEN(offsets); i++) {
		arp_build(buf, &plain, &request);
		buf[offsets[i]] |= 9;
		assert_int_equal(frame_parse(buf, sizeof(buf), &eth), FRAME_OK);
		assert_false(arp_parse(buf, sizeof(buf), &eth, &arp));
	}
}

TEST(solicited_node_address_is_that_of_rfc_4291)
{
	/* RFC 4291 2.7.1: of 4037::01:800:200E:8C6C it is FF02::1:FF0E:8C6C. */
	static const uint8_t ip[16] = {0x40, 0x37, [9] = 1, 8, 0, 0x20, 0x0E, 0x8C, 0x6C};
	static const uint8_t want[16] = {0xFF, 2, [11] = 1, 0xFF, 0x0E, 0x8C, 0x6C};
	static const uint8_t want_mac[6] = {0x33, 0x33, 0xFF, 0x0E, 0x8C, 0x6C};
	uint8_t group[16], mac[6];

	nd_solicited_node(ip, group);
	assert_memory_equal(group, want, 16);
	nd_group_mac(group, mac);
	assert_memory_equal(mac, want_mac, 6);
}

static bool
parse_nd(const uint8_t *buf, size_t len, struct nd *out)
{
	struct frame_view eth;

	return frame_parse(buf, len, &eth) == FRAME_OK && nd_parse(buf, &eth, out);
}

TEST(solicitation_and_advertisement_are_parsed_back)
{
	uint8_t buf[ND_FRAME_BYTES];
	struct nd want = solicitation, nd;
	size_t len;

	len = nd_build(buf, &plain, &want);
	assert_int_equal(len, ND_FRAME_BYTES - 4);
	assert_true(parse_nd(buf, len, &nd));
	assert_memory_equal(&nd, &want, sizeof(nd));
	want.type = ND_ADVERTISEMENT;
	want.flags = ND_SOLICITED | ND_OVERRIDE;
	memcpy(want.dst_ip, want.src_ip, 16);
	len = nd_build(buf, &tagged, &want);
	assert_int_equal(len, ND_FRAME_BYTES);
	assert_true(parse_nd(buf, len, &nd));
	assert_memory_equal(&nd, &want, sizeof(nd));
}

/* Spoil one byte and mend the checksum, so that only the rule itself can catch it. */
static bool
parses_with(const struct nd *nd, size_t at, uint8_t value)
{
	uint8_t buf[ND_FRAME_BYTES];
	size_t len = nd_build(buf, &plain, nd);
	struct nd out;

	buf[at] = value;
	buf[56] = buf[57] = 0;
	be16_store(buf + 56, icmp6_checksum(buf + 14, buf + 54, len - 54));
	return parse_nd(buf, len, &out);
}

TEST(rules_of_rfc_4861_are_kept)
{
	struct nd nd = solicitation;

	assert_true(parses_with(&nd, 54, ND_SOLICITATION));
	assert_false(parses_with(&nd, 54, 133));  /* router solicitation */
	assert_false(parses_with(&nd, 55, 1));    /* code */
	assert_false(parses_with(&nd, 21, 254));  /* hop limit: a router was in between */
	assert_false(parses_with(&nd, 62, 0xFF)); /* target is a group */
	assert_false(parses_with(&nd, 79, 0));    /* option without length */
	assert_false(parses_with(&nd, 79, 2));    /* option beyond the packet */
	assert_false(parses_with(&nd, 80, 3));    /* a group's MAC address */
	assert_true(parses_with(&nd, 78, 14));    /* an option that nobody knows is skipped */
	memset(nd.src_ip, 0, 16);
	assert_false(parses_with(&nd, 54, ND_SOLICITATION)); /* "is it taken?" names no MAC */
	nd.has_mac = false;
	assert_true(parses_with(&nd, 54, ND_SOLICITATION));
	assert_false(parses_with(&nd, 38, 0xFE)); /* nor is it asked of one station */
	nd = solicitation;
	nd.type = ND_ADVERTISEMENT;
	assert_true(parses_with(&nd, 58, ND_OVERRIDE));
	assert_false(parses_with(&nd, 58, ND_SOLICITED)); /* to a group: nobody asked */
}

TEST(every_bit_of_a_solicitation_is_under_its_checksum)
{
	uint8_t buf[ND_FRAME_BYTES];
	size_t len = nd_build(buf, &plain, &solicitation);
	struct nd nd;

	for (size_t bit = 22 * 8; bit < len * 8; bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(parse_nd(buf, len, &nd));
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_true(parse_nd(buf, len, &nd));
}

/* ping -c 1 -s 4 of a Linux host: 10.0.0.2 to 10.0.0.1, id 0x1234, sequence 1. */
static const uint8_t echo[] = {
	2,    0, 0,    0,    0,    1,    2,    0, 0,    0,    0,    2,    0x08, 0x00, /* */
	0x45, 0, 0,    32,   0xAB, 0xCD, 0x40, 0, 64,   1,    0x7A, 0xEF,             /* */
	10,   0, 0,    2,    10,   0,    0,    1,                                     /* */
	8,    0, 0x23, 0x05, 0x12, 0x34, 0,    1, 0x61, 0x62, 0x61, 0x62, 0xEE, 0xEE,
};

/* With both checksums right. */
static void
right_echo(uint8_t buf[sizeof(echo)], struct frame_view *eth)
{
	memcpy(buf, echo, sizeof(echo));
	be16_store(buf + 24, 0);
	be16_store(buf + 24, ipv4_header_checksum(buf + 14, 20));
	/* 0x0800 + 0x1234 + 0x0001 + 0x6162 + 0x6162 = 0xDCF9 */
	be16_store(buf + 36, (uint16_t)~0xDCF9u);
	assert_int_equal(frame_parse(buf, sizeof(echo), eth), FRAME_OK);
}

TEST(echo_request_is_answered_in_place)
{
	uint8_t buf[sizeof(echo)];
	struct frame_view eth;

	right_echo(buf, &eth);
	assert_true(icmp_is_echo_request(buf, &eth));
	icmp_echo_answer(buf, &eth);
	assert_int_equal(frame_parse(buf, sizeof(buf), &eth), FRAME_OK); /* IP checksum holds */
	assert_memory_equal(buf, echo + 6, 6);
	assert_memory_equal(buf + 6, echo, 6);
	assert_memory_equal(buf + 26, echo + 30, 4);
	assert_memory_equal(buf + 30, echo + 26, 4);
	assert_int_equal(buf[34], 0);
	/* Without the 0x0800 of the type. */
	assert_int_equal(be16_load(buf + 36), (uint16_t)~0xD4F9u);
	assert_memory_equal(buf + 38, echo + 38, sizeof(echo) - 38);
	assert_false(icmp_is_echo_request(buf, &eth));
}

TEST(damaged_echo_requests_are_none)
{
	uint8_t buf[sizeof(echo)];
	struct frame_view eth;

	right_echo(buf, &eth);
	for (size_t bit = 34 * 8; bit < 46 * 8; bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(icmp_is_echo_request(buf, &eth));
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_true(icmp_is_echo_request(buf, &eth));
	eth.fragment = true;
	assert_false(icmp_is_echo_request(buf, &eth));
	eth.fragment = false;
	eth.ip_end = eth.l4_off + 7;
	assert_false(icmp_is_echo_request(buf, &eth));
}

TEST_MAIN()
