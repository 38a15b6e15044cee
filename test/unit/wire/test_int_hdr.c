/* SPDX-License-Identifier: BSD-3-Clause */
/* In-band telemetry: what a header adds, hops take away, and lying lengths do not reach. */
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "unit/cases.h"
#include "wire/bytes/be.h"
#include "wire/roce/int_hdr.h"
#include "wire/roce/roce.h"

#define ROOM 512u
#define PAYLOAD 64

static const struct int_hop hops[] = {{1000, 2000, 3000, 100000}, {~0u, ~0u, ~0u, ~0u}};

/* A WRITE Middle at buf + INT_MAX_BYTES. @return its length. */
static size_t
build(uint8_t *at, uint8_t ip_version, bool tagged)
{
	const struct roce_path path = {.src_mac = {2, 0, 0, 0, 0, 1},
				       .dst_mac = {2, 0, 0, 0, 0, 2},
				       .src_ip = {10, 0, 0, 1},
				       .dst_ip = {10, 0, 0, 2},
				       .ip_version = ip_version,
				       .tagged = tagged,
				       .ttl = 64,
				       .ecn = ECN_ECT0,
				       .udp_sport = 49152,
				       .dest_qp = 17,
				       .pkey = PKEY_DEFAULT};
	const struct roce_fields fields = {.opcode = RC_WRITE_MIDDLE, .psn = 5};
	uint8_t payload[PAYLOAD];

	memset(payload, 7, sizeof(payload));
	return roce_build(at, ROOM, &path, &fields, payload, PAYLOAD);
}

TEST(header_comes_out_as_it_went_in_with_what_hops_added)
{
	for (unsigned int i = 0; i < 4; i++) {
		uint8_t room[INT_MAX_BYTES + ROOM], plain[ROOM], out[ROOM];
		uint8_t *at = room + INT_MAX_BYTES;
		uint8_t version = i & 1 ? 6 : 4;
		size_t len = build(at, version, i & 2);
		const uint8_t *hdr;
		struct frame_view f;
		struct roce_view v;

		memcpy(plain, at, len);
		assert_int_equal(int_insert(at, 3, 0, 0, NULL, 0), int_hdr_bytes(3));
		at -= int_hdr_bytes(3);
		len += int_hdr_bytes(3);
		/* A NIC that does not know it sees no RoCEv2, and every switch can forward it. */
		assert_int_equal(frame_parse(at, len, &f), FRAME_OK);
		assert_int_equal(roce_parse(at, len, &f, true, &v), ROCE_NOT_ROCE);
		assert_true(int_is_open(at, len));
		for (unsigned int h = 0; h < ARRAY_LEN(hops); h++)
			assert_int_equal(int_append(at, len, (uint16_t)(1 << h), &hops[h]), INT_OK);
		assert_int_equal(frame_parse(at, len, &f), FRAME_OK);
		assert_int_equal(int_strip(at, len, &f, out, &hdr), INT_OK);
		assert_int_equal(int_hdr_hops(hdr), 2);
		for (unsigned int h = 0; h < ARRAY_LEN(hops); h++) {
			struct int_hop hop = int_read_hop(hdr, h);

			assert_memory_equal(&hop, &hops[h], sizeof(hop));
		}
		len -= int_hdr_bytes(3);
		if (version == 4) {
			assert_memory_equal(out, plain, len);
			continue;
		}
		/* IPv6 loses its UDP checksum, which RoCEv2 does not need. */
		assert_int_equal(frame_parse(out, len, &f), FRAME_OK);
		assert_int_equal(roce_parse(out, len, &f, true, &v), ROCE_OK);
		be16_store(plain + f.l4_off + 6, 0);
		assert_memory_equal(out, plain, len);
	}
}

TEST(hop_without_a_slot_is_flagged_and_changes_no_more)
{
	uint8_t room[INT_MAX_BYTES + ROOM], before[ROOM], *at = room + INT_MAX_BYTES;
	size_t len = build(at, 4, false), front = 14 + 20 + 8;

	at -= int_insert(at, 1, 0, 0, NULL, 0);
	len += int_hdr_bytes(1);
	assert_int_equal(int_append(at, len, (uint16_t)(1 << 0), &hops[0]), INT_OK);
	memcpy(before, at, len);
	assert_int_equal(int_append(at, len, (uint16_t)(1 << 1), &hops[1]), INT_NO_ROOM);
	before[front] |= INT_FULL;
	before[front + 3] |= 2; /* path ID: of all hops */
	assert_memory_equal(at, before, len);
}

TEST(echo_and_plain_frames_pass_a_switch_unchanged)
{
	uint8_t room[INT_MAX_BYTES + ROOM], *at = room + INT_MAX_BYTES;
	size_t len = build(at, 4, false);

	assert_false(int_is_open(at, len));
	assert_int_equal(int_append(at, len, (uint16_t)(1 << 0), &hops[0]), INT_NONE);
	at -= int_insert(at, 1, INT_ECHO, 0, NULL, 0);
	assert_false(int_is_open(at, len + int_hdr_bytes(1)));
}

/* Every length that the header may lie about, from a block of just the frame's length: ASan. */
TEST(lying_lengths_are_malformed_and_nothing_is_written)
{
	static const struct {
		unsigned int at; /* from the UDP header */
		uint8_t value;
	} rows[] = {
		{5, 0},    {5, 11},
		{4, 255},             /* UDP length */
		{8, 0x10}, {8, 0x00}, /* version */
		{9, 0x01}, {9, 0x61},
		{9, 0xf1}, /* slots: fewer than hops, more than fit, too many */
		{9, 0x23}, /* hops: more than slots */
	};
	const unsigned int udp = 14 + 20;

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t room[INT_MAX_BYTES + ROOM], *at = room + INT_MAX_BYTES, *exact, *copy;
		size_t len = build(at, 4, false) + int_hdr_bytes(2);
		uint8_t out[ROOM];
		const uint8_t *hdr;
		struct frame_view f;

		at -= int_insert(at, 2, 0, 0, NULL, 0);
		assert_int_equal(int_append(at, len, (uint16_t)(1 << 0), &hops[0]), INT_OK);
		/* A payload of 64 bytes could hold four more slots: shorten the packet. */
		len -= 40;
		be16_store(at + 16, (uint16_t)(len - 14));
		be16_store(at + udp + 4, (uint16_t)(len - udp));
		at[udp + rows[i].at] = rows[i].value;
		exact = malloc(len);
		copy = malloc(len);
		memcpy(exact, at, len);
		memcpy(copy, at, len);
		assert_int_equal(int_append(exact, len, (uint16_t)(1 << 1), &hops[1]),
				 INT_MALFORMED);
		assert_memory_equal(exact, copy, len);
		f = (struct frame_view){.l3_off = 14,
					.l4_off = 34,
					.ip_end = (uint16_t)len,
					.ip_version = 4,
					.ip_proto = 17};
		assert_int_equal(int_strip(exact, len, &f, out, &hdr), INT_MALFORMED);
		free(exact);
		free(copy);
	}
}

TEST(random_bytes_stay_in_their_frame)
{
	struct prng rnd;

	prng_seed(&rnd, 4792, 0);
	for (unsigned int i = 0; i < 200000; i++) {
		size_t len = 18 + prng_below(&rnd, 150), tag = prng_below(&rnd, 2) * 4;
		bool v4 = prng_below(&rnd, 2);
		size_t udp = 14 + tag + (v4 ? 20 : 40);
		uint8_t *frame = malloc(len);
		struct frame_view f;

		for (size_t b = 0; b < len; b++)
			frame[b] = (uint8_t)prng_below(&rnd, 8);
		if (tag)
			be16_store(frame + 12, ETHERTYPE_VLAN);
		be16_store(frame + 12 + tag, v4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
		if (len >= udp + 8) {
			frame[14 + tag] = v4 ? 0x45 : 0x60;
			frame[14 + tag + (v4 ? 9 : 6)] = 17;
			be16_store(frame + 14 + tag + 6, 0);
			if (!v4)
				frame[14 + tag + 6] = 17;
			be16_store(frame + udp + 2, INT_UDP_PORT);
			be16_store(frame + udp + 4, (uint16_t)(len - udp));
		}
		if (len > udp + 8 && prng_below(&rnd, 4) > 0)
			frame[udp + 8] = 0x10;
		if (int_is_open(frame, len))
			int_append(frame, len, (uint16_t)(1 << 0), &hops[0]);
		if (frame_parse(frame, len, &f) == FRAME_OK) {
			uint8_t *out = malloc(len);
			const uint8_t *hdr;

			if (int_strip(frame, len, &f, out, &hdr) == INT_OK)
				assert_true(hdr + int_hdr_bytes(int_hdr_slots(hdr)) < frame + len);
			free(out);
		}
		free(frame);
	}
}

/* 64 switches of 64 ports, with consecutive addresses: about 128 of 8.4 million pairs are equal. */
TEST(ids_of_ports_are_as_different_as_random_numbers)
{
	static uint16_t used[1 << 16];
	unsigned int equal = 0;

	for (unsigned int sw = 0; sw < 64; sw++)
		for (uint16_t port = 0; port < 64; port++) {
			uint8_t mac[6] = {2, 0, 1, 0, (uint8_t)sw, (uint8_t)port};

			equal += used[int_port_id(mac, port)]++;
		}
	assert_in_range(equal, 60, 200);
}

TEST_MAIN()
