/* SPDX-License-Identifier: BSD-3-Clause */
/* Where RSS puts frames, against the published vectors, and buckets dealt out to lcores. */
#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/prng.h"
#include "nic/port/rss.h"
#include "nic/port/share.h"

/* Microsoft, "Verifying the RSS Hash Calculation": TCP and UDP are hashed alike. */
TEST(hashes_are_the_published_ones)
{
	static const struct {
		struct field_ip dst, src;
		uint16_t dport, sport;
		uint32_t hash;
	} rows[] = {
		{{4, {161, 142, 100, 80}}, {4, {66, 9, 149, 187}}, 1766, 2794, 0x51ccc178},
		{{4, {65, 69, 140, 83}}, {4, {199, 92, 111, 2}}, 4739, 14230, 0xc626b0ea},
		{{4, {12, 22, 207, 184}}, {4, {24, 19, 198, 95}}, 38024, 12898, 0x5c2b394a},
		{{4, {209, 142, 163, 6}}, {4, {38, 27, 205, 30}}, 2217, 48228, 0xafc7327f},
		{{4, {202, 188, 127, 2}}, {4, {153, 39, 163, 191}}, 1303, 44251, 0x10e828a2},
		{{6, {0x3f, 0xfe, 0x25, 1, 2, 0, 0, 3, [15] = 1}},
		 {6, {0x3f, 0xfe, 0x25, 1, 2, 0, 0x1f, 0xff, [15] = 7}},
		 1766,
		 2794,
		 0x40207d3d},
		{{6, {0xff, 2, [15] = 1}},
		 {6, {0x3f, 0xfe, 5, 1, 0, 8, 0, 0, 2, 0x60, 0x97, 0xff, 0xfe, 0x40, 0xef, 0xab}},
		 4739,
		 14230,
		 0xdde51bbf},
		{{6, {0xfe, 0x80, [8] = 2, 0, 0xf8, 0xff, 0xfe, 0x21, 0x67, 0xcf}},
		 {6,
		  {0x3f, 0xfe, 0x19, 0, 0x45, 0x45, 0, 3, 2, 0, 0xf8, 0xff, 0xfe, 0x21, 0x67,
		   0xcf}},
		 38024,
		 44251,
		 0x02d1feef},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(nic_rss_hash(nic_rss_key, &rows[i].src, &rows[i].dst,
					      rows[i].sport, rows[i].dport),
				 rows[i].hash);
}

TEST(qps_in_buckets_of_their_own_are_spread_evenly)
{
	uint32_t qps[128] = {[3] = 1, [4] = 1, [77] = 1, [127] = 1, [9] = 1};
	uint16_t node[128];
	uint32_t load[4] = {0};

	nic_rss_balance(qps, 128, 4, node);
	for (unsigned int i = 0; i < 128; i++)
		load[node[i]] += qps[i];
	for (unsigned int n = 0; n < 4; n++)
		assert_in_range(load[n], 1, 2);
}

TEST(many_qps_are_spread_evenly)
{
	for (uint32_t n_nodes = 1; n_nodes <= NIC_SHARE_MAX_NODES; n_nodes *= 2) {
		uint32_t qps[512] = {0}, load[NIC_SHARE_MAX_NODES] = {0};
		uint32_t empty[NIC_SHARE_MAX_NODES] = {0};
		uint16_t node[512];
		struct prng r;

		prng_seed(&r, 9, n_nodes);
		for (uint32_t i = 0; i < 100000; i++)
			qps[prng_below(&r, 400)]++;
		nic_rss_balance(qps, 512, n_nodes, node);
		for (uint32_t i = 0; i < 512; i++) {
			assert_true(node[i] < n_nodes);
			load[node[i]] += qps[i];
			empty[node[i]] += qps[i] == 0;
		}
		/* Within a bucket of the mean, 250 or so of them; frames of nobody are spread
		 * too. */
		for (uint32_t n = 0; n < n_nodes; n++) {
			assert_in_range(load[n], 100000 / n_nodes - 300, 100000 / n_nodes + 300);
			assert_in_range(empty[n], 112 / n_nodes, 112 / n_nodes + 1);
		}
	}
}

TEST_MAIN()
