/* SPDX-License-Identifier: BSD-3-Clause */
/* What is left of an mbuf's data room when a driver has rounded it down. */
#include "base/numbers/array.h"
#include "unit/cases.h"
#include "runtime/port/data_room.h"

/*
 * A driver gives its device the data room without headroom, rounded down to a step and at most so
 * many bytes, and receives in one segment what fits into that beside FCS and tags.
 */
struct driver {
	const char *name;
	uint32_t step_bytes, most_bytes, tags;
};

static const struct driver drivers[] = {
	/* RTE_ALIGN_FLOOR(len, 1 << I40E_RXQ_CTX_DBUFF_SHIFT); I40E_RX_MAX_DATA_BUF_SIZE */
	{"i40e", 128, 16384 - 128, 2},
	/* RTE_ALIGN_FLOOR(len, 1 << IAVF_RXQ_CTX_DBUFF_SHIFT); IAVF_RX_MAX_DATA_BUF_SIZE */
	{"iavf", 128, 16384 - 128, 2},
	/* ICE_RLAN_CTX_DBUF_S; ICE_RX_MAX_DATA_BUF_SIZE */
	{"ice", 128, 16384 - 128, 2},
	/* buf_size >> IXGBE_SRRCTL_BSIZEPKT_SHIFT: 1 KB to 16 KB */
	{"ixgbe", 1024, 16384, 2},
	/* buf_size >> E1000_SRRCTL_BSIZEPKT_SHIFT */
	{"igb", 1024, 16384, 2},
	/* em_rctl_bsize(): BSIZE and BSEX of RCTL. Step 0: a power of two. */
	{"net_e1000_em", 0, 16384, 2},
	/* Takes the room as it is; of a descriptor's 16-bit length. */
	{"virtio", 1, 65535, 0},
};

static uint32_t
device_bytes(const struct driver *d, uint32_t room_bytes)
{
	uint32_t bytes;

	if (d->step_bytes == 0)
		bytes = 1u << (31 - __builtin_clz(room_bytes));
	else
		bytes = room_bytes / d->step_bytes * d->step_bytes;
	return bytes < d->most_bytes ? bytes : d->most_bytes;
}

TEST(each_driver_receives_any_frame_in_one_segment)
{
	/* Up to the largest max_frame_bytes. */
	for (uint32_t frame_bytes = 64; frame_bytes <= 16000; frame_bytes++) {
		for (unsigned int i = 0; i < ARRAY_LEN(drivers); i++) {
			bool doubles = data_room_doubles(drivers[i].name);
			uint32_t has =
				device_bytes(&drivers[i], data_room_bytes(frame_bytes, doubles));

			if (has < frame_bytes + drivers[i].tags * VLAN_TAG_BYTES)
				fail_msg("%s: %u bytes for frames of %u", drivers[i].name, has,
					 frame_bytes);
		}
	}
}

/* 9238 bytes, an MTU of 9216 with its header, tag and FCS, are no multiple of any step. */
TEST(room_of_the_frame_alone_would_not_do)
{
	assert_true(device_bytes(&drivers[0], 9238) < 9238);
	assert_true(device_bytes(&drivers[3], 9238) < 9238);
	assert_int_equal(data_room_bytes(9238, false), 10240);
	assert_int_equal(data_room_bytes(9238, true), 16384);
	assert_int_equal(data_room_bytes(1518, true), 2048);
}

TEST_MAIN()
