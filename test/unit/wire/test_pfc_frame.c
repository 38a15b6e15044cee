/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "unit/cases.h"
#include "wire/bytes/be.h"
#include "wire/link/pfc_frame.h"

static const uint8_t mac[6] = {0x02, 0, 0, 0, 0, 0x09};

TEST(pfc_frame_is_laid_out_as_in_annex_31d)
{
	static const uint16_t quanta[8] = {1, 2, 3, 0xFFFF, 0, 6, 7, 8};
	static const uint8_t want[PFC_FRAME_BYTES] = {
		0x01,        0x80,        0xC2, 0x00, 0x00, 0x01, 0x02, 0,    0, 0,
		0,           0x09,        0x88, 0x08, 0x01, 0x01, 0x00, 0x18, /* priorities 3 and 4
									       */
		[24] = 0xFF, [25] = 0xFF, /* time[3]; time[4] is 0: XON */
	};
	uint8_t buf[PFC_FRAME_BYTES];

	memset(buf, 0xEE, sizeof(buf));
	pfc_frame_build(buf, mac, 0x18, quanta);
	assert_memory_equal(buf, want, sizeof(want));
}

TEST(pause_frame_is_laid_out_as_in_annex_31b)
{
	static const uint8_t want[PFC_FRAME_BYTES] = {0x01, 0x80, 0xC2, 0x00, 0x00, 0x01,
						      0x02, 0,    0,    0,    0,    0x09,
						      0x88, 0x08, 0x00, 0x01, 0x12, 0x34};
	uint8_t buf[PFC_FRAME_BYTES];

	memset(buf, 0xEE, sizeof(buf));
	pause_frame_build(buf, mac, 0x1234);
	assert_memory_equal(buf, want, sizeof(want));
}

TEST(what_is_built_is_parsed_back)
{
	static const uint16_t quanta[8] = {10, 11, 12, 13, 14, 15, 16, 17};
	uint8_t buf[PFC_FRAME_BYTES];
	struct mac_control m;

	for (unsigned int enable = 0; enable < 256; enable++) {
		pfc_frame_build(buf, mac, (uint8_t)enable, quanta);
		assert_int_equal(mac_control_parse(buf, sizeof(buf), &m), MAC_CONTROL_PFC);
		assert_int_equal(m.enable, enable);
		for (unsigned int prio = 0; prio < 8; prio++)
			assert_int_equal(m.quanta[prio], enable >> prio & 1 ? quanta[prio] : 0);
	}
	pause_frame_build(buf, mac, 77);
	assert_int_equal(mac_control_parse(buf, sizeof(buf), &m), MAC_CONTROL_PAUSE);
	assert_int_equal(m.quanta[0], 77);
	assert_int_equal(m.enable, 0);
}

TEST(each_length_has_its_kind)
{
	static const uint16_t quanta[8] = {0};
	uint8_t buf[PFC_FRAME_BYTES];
	struct mac_control m;

	pfc_frame_build(buf, mac, 0xFF, quanta);
	for (size_t len = 0; len <= sizeof(buf); len++)
		assert_int_equal(mac_control_parse(buf, len, &m),
				 len < PFC_MIN_BYTES ? MAC_CONTROL_MALFORMED : MAC_CONTROL_PFC);
	pause_frame_build(buf, mac, 1);
	for (size_t len = 0; len <= sizeof(buf); len++)
		assert_int_equal(mac_control_parse(buf, len, &m),
				 len < PAUSE_MIN_BYTES ? MAC_CONTROL_MALFORMED : MAC_CONTROL_PAUSE);
}

TEST(other_opcodes_are_unknown_and_other_frames_malformed)
{
	uint8_t buf[PFC_FRAME_BYTES];
	struct mac_control m;

	for (uint32_t opcode = 0; opcode <= 0xFFFF; opcode++) {
		if (opcode == 0x0001 || opcode == 0x0101)
			continue;
		pause_frame_build(buf, mac, 1);
		be16_store(buf + 14, (uint16_t)opcode);
		assert_int_equal(mac_control_parse(buf, sizeof(buf), &m), MAC_CONTROL_UNKNOWN);
	}
	/* MAC Control frames carry no tag: behind one, this is none. */
	pause_frame_build(buf, mac, 1);
	be16_store(buf + 12, ETHERTYPE_VLAN);
	assert_int_equal(mac_control_parse(buf, sizeof(buf), &m), MAC_CONTROL_MALFORMED);
}

TEST(source_address_and_high_vector_byte_do_not_matter)
{
	static const uint8_t zero[6];
	static const uint16_t quanta[8] = {0, 0, 0, 5};
	uint8_t buf[PFC_FRAME_BYTES];
	struct mac_control m;

	pfc_frame_build(buf, zero, 1 << 3, quanta);
	buf[16] = 0xFF;
	assert_int_equal(mac_control_parse(buf, sizeof(buf), &m), MAC_CONTROL_PFC);
	assert_int_equal(m.enable, 1 << 3);
	assert_int_equal(m.quanta[3], 5);
}

TEST(a_time_without_its_bit_is_not_read)
{
	uint8_t buf[PFC_FRAME_BYTES];
	struct mac_control m;

	pfc_frame_build(buf, mac, 0, (const uint16_t[8]){0});
	memset(buf + 18, 0xFF, 16);
	buf[17] = 1 << 6;
	assert_int_equal(mac_control_parse(buf, sizeof(buf), &m), MAC_CONTROL_PFC);
	for (unsigned int prio = 0; prio < 8; prio++)
		assert_int_equal(m.quanta[prio], prio == 6 ? 0xFFFF : 0);
}

TEST_MAIN()
