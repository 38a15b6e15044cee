/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames are copied into a heap block of just their length before they are parsed, so that a read
 * beyond the end is seen when this runs under ASan.
 */
#include <stdlib.h>
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/frame/frame.h"
#include "wire/frame/frame_plain.h"

#define SEED 791u

struct pkt {
	uint8_t b[256];
	size_t len;
};

/* It is taken by just those frames that it is for, and says of them what the long one does. */
static void
sees_the_same_by_the_short_way(const uint8_t *buf, size_t len, enum frame_verdict verdict,
			       const struct frame_view *v)
{
	bool plain = verdict == FRAME_OK && v->ip_version == 4 && !v->tagged &&
		     v->l4_off == v->l3_off + IPV4_HDR_BYTES;
	struct frame_view view;

	assert_int_equal(frame_parse_plain(buf, (uint16_t)len, &view), plain);
	if (plain)
		assert_memory_equal(&view, v, offsetof(struct frame_view, fragment) + 1);
}

static enum frame_verdict
parse(const struct pkt *p, size_t len, struct frame_view *v)
{
	uint8_t *exact = calloc(1, len);
	enum frame_verdict verdict;

	if (len != 0)
		memcpy(exact, p->b, len);
	verdict = frame_parse(exact, len, v);
	sees_the_same_by_the_short_way(exact, len, verdict, v);
	free(exact);
	return verdict;
}

static void
resum(uint8_t *ip)
{
	size_t n = (ip[0] & 0xFu) * 4;

	be16_store(ip + 10, 0);
	be16_store(ip + 10, ipv4_header_checksum(ip, n));
}

/* Returns where the IP header starts. */
static uint8_t *
start(struct pkt *p, bool tagged, uint16_t ethertype)
{
	memset(p, 0, sizeof(*p));
	p->len = ETH_HDR_BYTES;
	if (tagged) {
		be16_store(p->b + 12, ETHERTYPE_VLAN);
		be16_store(p->b + 14, 5 << 13 | 0x123);
		p->len += VLAN_TAG_BYTES;
	}
	be16_store(p->b + p->len - 2, ethertype);
	return p->b + p->len;
}

static uint8_t *
ipv4(struct pkt *p, bool tagged, unsigned int ihl, uint16_t payload)
{
	uint8_t *ip = start(p, tagged, ETHERTYPE_IPV4);

	ip[0] = (uint8_t)(0x40 | ihl);
	ip[1] = 26 << 2 | ECN_ECT0;
	be16_store(ip + 2, (uint16_t)(4 * ihl + payload));
	be16_store(ip + 6, 0x4000);
	ip[8] = 63;
	ip[9] = IP_PROTO_UDP;
	resum(ip);
	p->len += 4 * ihl + payload;
	return ip;
}

static uint8_t *
ipv6(struct pkt *p, uint8_t next, uint16_t payload)
{
	uint8_t *ip = start(p, false, ETHERTYPE_IPV6);

	be32_store(ip, 6u << 28 | (48u << 2 | ECN_ECT1) << 20 | 0x12345);
	be16_store(ip + 4, payload);
	ip[6] = next;
	ip[7] = 17;
	p->len += IPV6_HDR_BYTES + payload;
	return ip;
}

/* Of all, by both ways. */
TEST(one_checksum_is_right)
{
	struct frame_view v;
	struct pkt p;
	uint8_t *ip = ipv4(&p, false, 5, 8);

	for (unsigned int other = 0; other < 3; other++) {
		unsigned int right = 0;

		/* With what the header lacks in another field, its checksum is a zero, of two. */
		be16_store(ip + 4, 0);
		resum(ip);
		be16_store(ip + 4, (uint16_t)(other * be16_load(ip + 10)));
		for (unsigned int sum = 0; sum <= UINT16_MAX; sum++) {
			be16_store(ip + 10, (uint16_t)sum);
			right += parse(&p, p.len, &v) == FRAME_OK;
		}
		assert_int_equal(right, other == 1 ? 2 : 1);
	}
}

TEST(ipv4_fields_are_read)
{
	struct frame_view v;
	struct pkt p;

	for (int tagged = 0; tagged < 2; tagged++) {
		for (unsigned int ihl = 5; ihl <= 15; ihl++) {
			size_t l3 = tagged ? 18 : 14;

			ipv4(&p, tagged, ihl, 8);
			assert_int_equal(parse(&p, p.len, &v), FRAME_OK);
			assert_int_equal(v.tagged, tagged);
			assert_int_equal(v.vlan_tci, tagged ? 0xA123 : 0);
			assert_int_equal(v.ethertype, ETHERTYPE_IPV4);
			assert_int_equal(v.l3_off, l3);
			assert_int_equal(v.l4_off, l3 + 4 * ihl);
			assert_int_equal(v.ip_end, l3 + 4 * ihl + 8);
			assert_int_equal(v.ip_version, 4);
			assert_int_equal(v.ip_proto, IP_PROTO_UDP);
			assert_int_equal(v.dscp, 26);
			assert_int_equal(v.ecn, ECN_ECT0);
			assert_int_equal(v.ttl, 63);
			assert_false(v.fragment);
		}
	}
}

TEST(ipv6_fields_are_read)
{
	struct frame_view v;
	struct pkt p;

	ipv6(&p, IP_PROTO_UDP, 8);
	assert_int_equal(parse(&p, p.len, &v), FRAME_OK);
	assert_int_equal(v.l4_off, 54);
	assert_int_equal(v.ip_end, 62);
	assert_int_equal(v.ip_version, 6);
	assert_int_equal(v.dscp, 48);
	assert_int_equal(v.ecn, ECN_ECT1);
	assert_int_equal(v.ttl, 17);
	assert_int_equal(v.ip_proto, IP_PROTO_UDP);
}

TEST(padding_behind_the_ip_packet_is_left_out)
{
	struct frame_view v;
	struct pkt p;

	ipv4(&p, false, 5, 8);
	assert_int_equal(parse(&p, 60, &v), FRAME_OK);
	assert_int_equal(v.ip_end, 42);
	ipv6(&p, IP_PROTO_UDP, 0);
	assert_int_equal(parse(&p, 60, &v), FRAME_OK);
	assert_int_equal(v.ip_end, 54);
}

TEST(every_truncation_has_its_verdict)
{
	struct frame_view v;
	struct pkt p;

	ipv4(&p, true, 6, 10);
	for (size_t len = 0; len <= p.len; len++) {
		enum frame_verdict want = len < 14   ? FRAME_TRUNCATED_ETH
					  : len < 18 ? FRAME_TRUNCATED_VLAN
					  : len < 42 ? FRAME_TRUNCATED_IP
					  : len < 52 ? FRAME_BAD_IP_LENGTH
						     : FRAME_OK;

		assert_int_equal(parse(&p, len, &v), want);
	}
	ipv6(&p, IP_PROTO_UDP, 8);
	for (size_t len = 0; len <= p.len; len++) {
		enum frame_verdict want = len < 14   ? FRAME_TRUNCATED_ETH
					  : len < 54 ? FRAME_TRUNCATED_IP
					  : len < 62 ? FRAME_BAD_IP_LENGTH
						     : FRAME_OK;

		assert_int_equal(parse(&p, len, &v), want);
	}
}

/* One byte of a good header changed, and summed anew unless the sum is the point. */
TEST(each_wrong_field_has_its_verdict)
{
	static const struct {
		unsigned int version, offset;
		uint8_t value;
		bool sum;
		enum frame_verdict want;
	} table[] = {
		{4, 0, 0x65, false, FRAME_BAD_IP_VERSION},
		{4, 0, 0x44, false, FRAME_BAD_IP_HEADER_LENGTH},
		{4, 0, 0x40, false, FRAME_BAD_IP_HEADER_LENGTH},
		{4, 0, 0x4F, false, FRAME_TRUNCATED_IP}, /* 60 bytes of header in 28 */
		{4, 3, 19, true, FRAME_BAD_IP_LENGTH},
		{4, 3, 20, true, FRAME_OK},
		{4, 3, 28, true, FRAME_OK},
		{4, 3, 29, true, FRAME_BAD_IP_LENGTH},
		{4, 2, 0xFF, true, FRAME_BAD_IP_LENGTH},
		{4, 8, 62, false, FRAME_BAD_IP_CHECKSUM},
		{4, 10, 0x00, false, FRAME_BAD_IP_CHECKSUM},
		{6, 0, 0x45, false, FRAME_BAD_IP_VERSION},
		{6, 5, 9, false, FRAME_BAD_IP_LENGTH},
		{6, 4, 0xFF, false, FRAME_BAD_IP_LENGTH},
	};
	struct frame_view v;
	struct pkt p;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		uint8_t *ip =
			table[i].version == 4 ? ipv4(&p, false, 5, 8) : ipv6(&p, IP_PROTO_UDP, 8);
		enum frame_verdict got;

		ip[table[i].offset] = table[i].value;
		if (table[i].sum)
			resum(ip);
		got = parse(&p, p.len, &v);
		if (got != table[i].want)
			fail_msg("row %zu: %s", i, frame_verdict_name(got));
	}
}

TEST(fragments_are_named)
{
	static const struct {
		uint16_t flags_offset;
		bool fragment;
	} table[] = {
		{0x0000, false}, {0x4000, false}, /* DF */
		{0x2000, true},                   /* first of several */
		{0x0001, true},  {0x2001, true},  {0x1FFF, true},
	};
	struct frame_view v;
	struct pkt p;
	uint8_t *ip;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		ip = ipv4(&p, false, 5, 8);
		be16_store(ip + 6, table[i].flags_offset);
		resum(ip);
		assert_int_equal(parse(&p, p.len, &v), FRAME_OK);
		assert_int_equal(v.fragment, table[i].fragment);
	}
	ip = ipv6(&p, 44, 16);
	ip[40] = IP_PROTO_UDP;
	assert_int_equal(parse(&p, p.len, &v), FRAME_OK);
	assert_true(v.fragment);
	assert_int_equal(v.ip_proto, IP_PROTO_UDP);
}

TEST(ipv6_extension_headers_are_looked_through)
{
	struct frame_view v;
	struct pkt p;
	uint8_t *ip = ipv6(&p, 0, 8 + 24 + 8 + 8);

	ip[40] = 43; /* hop-by-hop of 8 bytes, then routing of 24 */
	ip[48] = 60, ip[49] = 2;
	ip[72] = IP_PROTO_UDP; /* destination options of 8 */
	assert_int_equal(parse(&p, p.len, &v), FRAME_OK);
	assert_int_equal(v.ip_proto, IP_PROTO_UDP);
	assert_int_equal(v.l4_off, 14 + 40 + 40);
	/* One that claims more than the packet has. */
	ip[73] = 2;
	assert_int_equal(parse(&p, p.len, &v), FRAME_BAD_IP_HEADER_LENGTH);
	/* None at all behind the last one. */
	ip = ipv6(&p, 0, 0);
	assert_int_equal(parse(&p, p.len, &v), FRAME_BAD_IP_HEADER_LENGTH);
	/* An endless chain ends the search, not the program. */
	ip = ipv6(&p, 60, 80);
	for (int i = 40; i < 120; i += 8)
		ip[i] = 60;
	assert_int_equal(parse(&p, p.len, &v), FRAME_OK);
	assert_int_equal(v.ip_proto, 60);
	/* TCP, ICMP and the rest are what they are. */
	ipv6(&p, 6, 20);
	assert_int_equal(parse(&p, p.len, &v), FRAME_OK);
	assert_int_equal(v.ip_proto, 6);
}

TEST(other_ethertypes_are_opaque)
{
	static const uint16_t types[] = {ETHERTYPE_ARP, ETHERTYPE_LLDP, ETHERTYPE_MAC_CONTROL,
					 0x88A8,        ETHERTYPE_VLAN, 0x0026,
					 0xFFFF};
	struct frame_view v;
	struct pkt p;

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		start(&p, true, types[i]); /* 0x8100 here is the second tag */
		assert_int_equal(parse(&p, p.len, &v), FRAME_OK);
		assert_int_equal(v.ip_version, 0);
		assert_int_equal(v.ethertype, types[i]);
	}
}

TEST(ethernet_fields_are_there_when_ip_is_bad)
{
	struct frame_view v;
	struct pkt p;

	ipv4(&p, true, 5, 8)[8]++;
	assert_int_equal(parse(&p, p.len, &v), FRAME_BAD_IP_CHECKSUM);
	assert_int_equal(v.ethertype, ETHERTYPE_IPV4);
	assert_int_equal(v.vlan_tci, 0xA123);
	assert_int_equal(v.ip_version, 0);
}

TEST(mutated_frames_never_give_offsets_outside)
{
	struct prng r;

	prng_seed(&r, SEED, 0);
	for (int i = 0; i < 30000; i++) {
		struct frame_view v;
		struct pkt p;
		size_t len;

		if (prng_below(&r, 2)) {
			bool tagged = prng_below(&r, 2);

			ipv4(&p, tagged, 5 + (unsigned int)prng_below(&r, 11), 40);
		} else {
			ipv6(&p, (uint8_t[]){0, 17, 43, 44, 60}[prng_below(&r, 5)], 60);
		}
		for (uint64_t k = prng_below(&r, 4); k > 0; k--) {
			uint64_t at = 12 + prng_below(&r, 80);

			p.b[at] = (uint8_t)prng_u32(&r);
		}
		len = prng_below(&r, p.len + 1);
		if (parse(&p, len, &v) != FRAME_OK || v.ip_version == 0)
			continue;
		if (v.l3_off > v.l4_off || v.l4_off > v.ip_end || v.ip_end > len)
			fail_msg("frame %d of seed %u", i, SEED);
	}
}

TEST(checksums_match_published_examples)
{
	/* RFC 1071 section 3: the words sum to ddf2. */
	static const uint8_t rfc1071[8] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
	/* Header, UDP and CNP of golden frame 02, whose checksum is 30dc. */
	uint8_t ip[80] = {0x6c, 0x20,        0x02,        0x42, 0x00,        0x28, 0x11, 0x40,
			  0x20, 0x01,        0x0d,        0xb8, [23] = 0x02, 0x20, 0x01, 0x0d,
			  0xb8, [39] = 0x01, 0xc2,        0x42, 0x12,        0xb7, 0x00, 0x28,
			  0x30, 0xdc,        0x81,        0x00, 0xff,        0xff, 0x40, 0x00,
			  0x00, 0x11,        [76] = 0x6f, 0xa3, 0x6d,        0x9e};

	assert_int_equal(ipv4_header_checksum(rfc1071, 8), (uint16_t)~0xddf2);
	assert_int_equal(udp_checksum(ip, 6, ip + 40, 40), 0x30dc);
	/* A sum of all ones is sent as ones: zero would say that there is none (RFC 768). */
	be16_store(ip + 72, 0x30dc);
	assert_int_equal(udp_checksum(ip, 6, ip + 40, 40), 0xFFFF);
}

/* The definition: 16-bit words one by one, an odd byte padded with zero. */
static uint16_t
slow_udp_checksum(const uint8_t *ip, unsigned int version, const uint8_t *udp, size_t n)
{
	size_t from = version == 4 ? 12 : 8, to = version == 4 ? 20 : 40;
	uint64_t sum = IP_PROTO_UDP + n;

	for (size_t i = from; i < to; i += 2)
		sum += be16_load(ip + i);
	for (size_t i = 0; i < n; i++) {
		if (i != 6 && i != 7)
			sum += (uint64_t)udp[i] << (i % 2 ? 0 : 8);
	}
	while (sum >> 16)
		sum = (sum & 0xFFFF) + (sum >> 16);
	return sum == 0xFFFF ? 0xFFFF : (uint16_t)~sum;
}

TEST(udp_checksum_equals_the_definition)
{
	uint8_t ip[40 + 8 + 600];
	struct prng r;

	prng_seed(&r, SEED, 1);
	for (size_t n = 8; n <= 608; n++) {
		for (size_t i = 0; i < sizeof(ip); i++)
			ip[i] = (uint8_t)prng_u32(&r);
		assert_int_equal(udp_checksum(ip, 4, ip + 20, n),
				 slow_udp_checksum(ip, 4, ip + 20, n));
		assert_int_equal(udp_checksum(ip, 6, ip + 40, n),
				 slow_udp_checksum(ip, 6, ip + 40, n));
	}
}

TEST(every_verdict_has_a_name)
{
	for (int a = 0; a < FRAME_VERDICTS; a++) {
		assert_non_null(frame_verdict_name((enum frame_verdict)a));
		for (int b = 0; b < a; b++)
			assert_string_not_equal(frame_verdict_name((enum frame_verdict)a),
						frame_verdict_name((enum frame_verdict)b));
	}
}

TEST_MAIN()
