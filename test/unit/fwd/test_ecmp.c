/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "unit/cases.h"
#include "base/numbers/array.h"
#include "fwd/ecmp.h"

#define FLOWS 4096u

static struct ecmp_flow
flow4(uint8_t addrs[8], uint16_t host, uint16_t sport)
{
	const uint8_t a[8] = {10, 0, (uint8_t)(host >> 8), (uint8_t)host, 10, 1, 0, 1};

	memcpy(addrs, a, sizeof(a));
	/* Destination port 4791 all the time, as of RoCEv2. */
	return (struct ecmp_flow){addrs, 4, 17, (uint32_t)sport << 16 | 4791};
}

/* Facts 10: up to 25 % of imbalance is accepted; with so many flows it is far less. */
static void
spreads(const uint32_t counts[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_in_range(counts[i], FLOWS / n * 85 / 100, FLOWS / n * 115 / 100);
}

TEST(source_port_alone_spreads_the_qps_of_two_hosts)
{
	static const uint32_t ways[] = {2, 3, 4, 8, 16};
	uint8_t addrs[8];

	for (unsigned int w = 0; w < 5; w++) {
		uint32_t counts[16] = {0};

		for (uint32_t i = 0; i < FLOWS; i++) {
			struct ecmp_flow f = flow4(addrs, 1, (uint16_t)(0xC000 + i));

			counts[ecmp_pick(ecmp_hash(&f, 0), ways[w])]++;
		}
		spreads(counts, ways[w]);
	}
}

/*
 * Numbers of next hops that are no powers of 2, too. The chi-square of n counts has the mean n - 1
 * and the variance 2 (n - 1).
 */
TEST(flows_are_spread_evenly_over_any_number_of_hops)
{
	static const uint32_t ways[] = {3, 5, 7, 17, 63, 64, 100, 120, 129, 200, 255, 256};

	for (unsigned int w = 0; w < ARRAY_LEN(ways); w++) {
		uint32_t n = ways[w], counts[256] = {0};
		double square = 0, each = 16.0 * FLOWS / n;
		uint8_t addrs[8];

		for (uint32_t i = 0; i < 16 * FLOWS; i++) {
			struct ecmp_flow f = flow4(addrs, (uint16_t)(i % 16), (uint16_t)(i / 16));

			counts[ecmp_pick(ecmp_hash(&f, 0), n)]++;
		}
		for (uint32_t i = 0; i < n; i++)
			square += (counts[i] - each) * (counts[i] - each) / each;
		if (square > n - 1 + 4 * sqrt(2.0 * (n - 1)))
			fail_msg("%u hops: chi-square %.1f", n, square);
	}
}

TEST(neighbouring_addresses_spread)
{
	uint32_t counts[4] = {0};
	uint8_t addrs[8];

	for (uint32_t i = 0; i < FLOWS; i++) {
		struct ecmp_flow f = flow4(addrs, (uint16_t)i, 50000);

		counts[ecmp_pick(ecmp_hash(&f, 10), 4)]++;
	}
	spreads(counts, 4);
}

/* A second stage with another seed spreads what one port of the first was given; with the same seed
 * it would all go one way. */
TEST(another_seed_keeps_a_second_stage_from_choosing_alike)
{
	uint32_t counts[2] = {0}, alike[2] = {0}, n = 0;
	uint8_t addrs[8];

	for (uint32_t i = 0; i < 2 * FLOWS; i++) {
		struct ecmp_flow f = flow4(addrs, (uint16_t)i, (uint16_t)(i * 3));

		if (ecmp_pick(ecmp_hash(&f, 0), 2) != 0)
			continue;
		n++;
		counts[ecmp_pick(ecmp_hash(&f, 10), 2)]++;
		alike[ecmp_pick(ecmp_hash(&f, 0), 2)]++;
	}
	assert_in_range(counts[0], n * 45 / 100, n * 55 / 100);
	assert_int_equal(alike[1], 0);
}

TEST(every_part_of_an_ipv6_flow_counts)
{
	uint8_t addrs[32] = {0xFD, [15] = 1, [16] = 0xFD, [31] = 2};
	struct ecmp_flow f = {addrs, 6, 17, 7};
	uint32_t first = ecmp_hash(&f, 0);

	for (unsigned int i = 0; i < 32; i++) {
		addrs[i] ^= 0x40;
		assert_int_not_equal(ecmp_hash(&f, 0), first);
		addrs[i] ^= 0x40;
	}
	assert_int_equal(ecmp_hash(&f, 0), first);
	f.proto = 6;
	assert_int_not_equal(ecmp_hash(&f, 0), first);
	f.proto = 17;
	f.ports = 8;
	assert_int_not_equal(ecmp_hash(&f, 0), first);
}

TEST_MAIN()
