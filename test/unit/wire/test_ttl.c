/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "base/numbers/prng.h"
#include "wire/bytes/checksum.h"
#include "wire/frame/frame.h"
#include "wire/frame/ttl.h"

/* Whatever the header, the checksum is what a full computation gives, 0 and not 0xFFFF. */
TEST(ipv4_checksum_follows_the_ttl)
{
	struct prng r;

	prng_seed(&r, 7, 0);
	for (unsigned int step = 0; step < 200000; step++) {
		uint8_t ip[IPV4_HDR_BYTES];
		uint16_t updated;

		for (unsigned int i = 0; i < sizeof(ip); i++)
			ip[i] = (uint8_t)prng_below(&r, 256);
		ip[0] = 0x45;
		ip[8] = (uint8_t)(1 + prng_below(&r, 255));
		/* Every so often a sum that the last step turns over. */
		if (step % 4 == 0)
			ip[9] = ip[8] = 1 + step % 200;
		be16_store(ip + 10, 0);
		be16_store(ip + 10, ipv4_header_checksum(ip, sizeof(ip)));
		ip_decrement_ttl(ip, 4);
		updated = be16_load(ip + 10);
		be16_store(ip + 10, 0);
		assert_int_equal(updated, ipv4_header_checksum(ip, sizeof(ip)));
	}
}

TEST(checksum_that_becomes_zero_is_stored_as_zero)
{
	/* All other words sum up to 0xFFFF once the TTL is 0. */
	uint8_t ip[IPV4_HDR_BYTES] = {0x45, 0, 0, 0, 0, 0, 0, 0, 1, 0};
	uint16_t updated;

	be16_store(ip + 12, 0xFFFF - 0x4500);
	be16_store(ip + 10, ipv4_header_checksum(ip, sizeof(ip)));
	assert_int_equal(be16_load(ip + 10), 0xFEFF);
	ip_decrement_ttl(ip, 4);
	updated = be16_load(ip + 10);
	assert_int_equal(updated, 0);
	be16_store(ip + 10, 0);
	assert_int_equal(ipv4_header_checksum(ip, sizeof(ip)), 0);
}

TEST(ipv6_loses_a_hop_and_nothing_else)
{
	uint8_t ip[IPV6_HDR_BYTES], was[IPV6_HDR_BYTES];

	for (unsigned int i = 0; i < sizeof(ip); i++)
		ip[i] = was[i] = (uint8_t)(i * 7 + 1);
	ip_decrement_ttl(ip, 6);
	was[7]--;
	assert_memory_equal(ip, was, sizeof(ip));
}

TEST_MAIN()
