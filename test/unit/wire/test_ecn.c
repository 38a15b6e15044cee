/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "wire/bytes/be.h"
#include "wire/bytes/checksum.h"
#include "wire/frame/ecn.h"

#define SEED 3168u

static void
ipv4_header(uint8_t ip[20], struct prng *r)
{
	for (int i = 0; i < 20; i++)
		ip[i] = (uint8_t)prng_u32(r);
	ip[0] = 0x45;
	be16_store(ip + 10, 0);
	be16_store(ip + 10, ipv4_header_checksum(ip, 20));
}

TEST(only_ect_becomes_ce)
{
	static const struct {
		uint8_t before, after;
		bool changed;
	} table[] = {
		{ECN_NOT_ECT, ECN_NOT_ECT, false},
		{ECN_ECT1, ECN_CE, true},
		{ECN_ECT0, ECN_CE, true},
		{ECN_CE, ECN_CE, false},
	};

	for (size_t i = 0; i < 4; i++) {
		for (uint8_t dscp = 0; dscp < 64; dscp++) {
			uint8_t v4[20] = {0x45, (uint8_t)(dscp << 2 | table[i].before)};
			uint8_t v6[40] = {0};
			uint32_t word = 6u << 28 | (uint32_t)dscp << 22 | 0xABCDE;

			assert_int_equal(ecn_set_ce(v4, 4), table[i].changed);
			assert_int_equal(v4[1], dscp << 2 | table[i].after);
			be32_store(v6, word | (uint32_t)table[i].before << 20);
			assert_int_equal(ecn_set_ce(v6, 6), table[i].changed);
			assert_int_equal(be32_load(v6), word | (uint32_t)table[i].after << 20);
		}
	}
}

TEST(unmarkable_packet_is_not_written)
{
	uint8_t ip[20], copy[20];
	struct prng r;

	prng_seed(&r, SEED, 0);
	ipv4_header(ip, &r);
	ip[1] &= 0xFC;
	ip[10] ^= 0x5A; /* a wrong checksum is not mended either */
	memcpy(copy, ip, 20);
	assert_false(ecn_set_ce(ip, 4));
	assert_memory_equal(ip, copy, 20);
}

/* Every value of the checksum: each choice of the id gives another one. */
TEST(incremental_checksum_equals_a_full_one_for_every_checksum)
{
	for (uint8_t ecn = ECN_ECT1; ecn <= ECN_ECT0; ecn++) {
		for (uint32_t id = 0; id <= 0xFFFF; id++) {
			uint8_t ip[20] = {0x45, (uint8_t)(26 << 2 | ecn),
					  0x04, 0x3c,
					  0,    0,
					  0x40, 0,
					  64,   17,
					  0,    0,
					  10,   0,
					  0,    1,
					  10,   0,
					  0,    2};
			uint16_t got;

			be16_store(ip + 4, (uint16_t)id);
			be16_store(ip + 10, ipv4_header_checksum(ip, 20));
			assert_true(ecn_set_ce(ip, 4));
			got = be16_load(ip + 10);
			be16_store(ip + 10, 0);
			if (got != ipv4_header_checksum(ip, 20))
				fail_msg("ecn %u, id %04x: checksum %04x", ecn, id, got);
		}
	}
}

TEST(marked_random_headers_keep_a_right_checksum)
{
	struct prng r;

	prng_seed(&r, SEED, 1);
	for (int i = 0; i < 20000; i++) {
		uint8_t ip[20];

		ipv4_header(ip, &r);
		ecn_set_ce(ip, 4);
		if (ipv4_header_checksum(ip, 20) != 0)
			fail_msg("header %d of seed %u", i, SEED);
	}
}

TEST_MAIN()
