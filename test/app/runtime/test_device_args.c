/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of a --vdev option. */
#include <stdlib.h>
#include <string.h>

#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "runtime/device/device_args.h"
#include "runtime/device/kernel_interface.h"
#include "runtime/port/data_room.h"
#include "unit/cases.h"

TEST(a_number_is_found_between_the_commas)
{
	static const struct {
		const char *args;
		uint32_t number;
	} rows[] = {
		{NULL, 7},
		{"", 7},
		{"iface=eth0", 7},
		{"framesz=2048", 2048},
		{"iface=eth0,framesz=4096,framecnt=512", 4096},
		{"iface=framesz,xframesz=1,framesz=9", 9},
		{"framesz=,framecnt=512", 7},
		{"framesz=9k", 7},
		{"framesz=-1", 7},
		{"framesz=99999999999", 7},
		{"framesz", 7},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		if (device_args_number(rows[i].args, "framesz", 7) != rows[i].number)
			fail_msg("%s", rows[i].args);
}

/* A slot of the ring has 32 bytes that the driver does not copy. */
TEST(a_slot_of_the_ring_may_have_its_header_beyond_the_data_room)
{
	assert_int_equal(device_slot_room(2080), 2048);
	assert_int_equal(device_slot_room(31), 0);
}

/* At 2048 the kernel copies 1982 bytes, and a frame of 1982 may have been longer. */
TEST(a_frame_that_fills_its_slot_may_be_cut)
{
	assert_int_equal(device_whole_frame(2048), 1981);
	assert_int_equal(device_whole_frame(66), 0);
	assert_int_equal(device_slots(NULL).framesz, 2048);
	assert_int_equal(device_slots("blocksz=8192,framesz=4096").blocksz, 8192);
}

/* The slots that a message recommends are accepted: by the driver, the kernel and the programs. */
TEST(recommended_slots_hold_the_frame_and_fit_into_blocks_and_mbufs)
{
	for (uint32_t frame_bytes = 60; frame_bytes <= 15996; frame_bytes++) {
		struct device_slots s = device_slots_for(frame_bytes);
		if (device_whole_frame(s.framesz) < frame_bytes || s.blocksz % s.framesz != 0 ||
		    s.blocksz % 4096 != 0 ||
		    device_slot_room(s.framesz) > DATA_ROOM_MOST_BYTES - 2 * VLAN_TAG_BYTES)
			fail_msg("%u: framesz=%u,blocksz=%u", frame_bytes, s.framesz, s.blocksz);
	}
	assert_int_equal(device_slots_for(9014).framesz, 9216);
	assert_int_equal(device_slots_for(9014).blocksz, 36864);
}

/* It may be renamed, or come later: every frame of the configuration must fit. */
TEST(slots_fit_the_largest_frame_if_the_mtu_is_not_known)
{
	char *device = kernel_interface_fit("net_af_packet0,iface=no_such_iface", 9000);

	assert_non_null(device);
	assert_non_null(strstr(device, ",framesz="));
	assert_true(device_whole_frame(device_args_number(strchr(device, ',') + 1, "framesz", 0)) >=
		    9000);
	free(device);
	assert_null(kernel_interface_fit("net_af_packet0,iface=no_such_iface", 1514));
}

TEST_MAIN()
