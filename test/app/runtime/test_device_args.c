/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of a --vdev option. */
#include "base/numbers/array.h"
#include "runtime/device/device_args.h"
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
	assert_int_equal(device_most_framesz(2048), 2080);
}

TEST_MAIN()
