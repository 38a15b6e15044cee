/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit/cases.h"
#include "base/numbers/array.h"
#include "base/numbers/units.h"
#include "tm/buffer/thresholds.h"

static uint64_t
needed(uint64_t gbps, uint32_t frame_bytes, uint32_t metres)
{
	struct pfc_link link = {.link_speed_bps = gbps * GBPS,
				.cable_delay_ns = 5 * metres,
				.own_frame_bytes = frame_bytes,
				.peer_frame_bytes = frame_bytes};

	return pfc_headroom(&link).total_bytes;
}

/* 3 MTU + 40 + 84 + 2 x cable + 64 x quanta, at 5 ns a metre. */
TEST(headroom_is_that_of_the_formula)
{
	static const struct {
		uint64_t gbps;
		uint64_t mtu1518[3], mtu9216[3]; /* 5, 40, 300 m */
	} rows[] = {
		{10, {9029, 9466, 12716}, {32123, 32560, 35810}},
		{25, {9955, 11048, 19173}, {33049, 34142, 42267}},
		{40, {12480, 14230, 27230}, {35574, 37324, 50324}},
		{50, {14399, 16586, 32836}, {37493, 39680, 55930}},
		{100, {30519, 34894, 67394}, {53613, 57988, 90488}},
	};
	static const uint32_t metres[] = {5, 40, 300};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		for (unsigned int m = 0; m < ARRAY_LEN(metres); m++) {
			assert_int_equal(needed(rows[i].gbps, 1518, metres[m]), rows[i].mtu1518[m]);
			assert_int_equal(needed(rows[i].gbps, 9216, metres[m]), rows[i].mtu9216[m]);
		}
	}
}

TEST(response_between_two_speeds_is_that_of_the_higher)
{
	static const struct {
		uint64_t speed_bps;
		uint32_t quanta;
	} rows[] = {
		{10 * MBPS, 1},    {1 * GBPS, 2},       {5 * GBPS, 67},
		{10 * GBPS, 67},   {10 * GBPS + 1, 80}, {100 * GBPS, 394},
		{200 * GBPS, 453}, {400 * GBPS, 905},   {1600 * GBPS, 905},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct pfc_link link = {.link_speed_bps = rows[i].speed_bps};

		assert_int_equal(pfc_headroom(&link).response_bytes, rows[i].quanta * 64);
	}
}

/* 20 us of a peer in software are 100 KB at 40G, whatever 802.3 allows. */
TEST(slow_peer_takes_the_place_of_the_allowance)
{
	struct pfc_link link = {.link_speed_bps = 40 * GBPS,
				.peer_response_ns = 20 * NS_PER_US,
				.own_frame_bytes = 1518,
				.peer_frame_bytes = 1086};
	struct pfc_headroom h = pfc_headroom(&link);

	assert_int_equal(h.response_bytes, 100000);
	assert_int_equal(h.frames_bytes, 1538 + 1086 + 1106);
	assert_int_equal(h.total_bytes, 1538 + 1086 + 1106 + 84 + 100000);
}

/* Over a second, no frames of one length fill more cells than the sum contains. */
TEST(cells_are_those_of_the_worst_mix_of_frames)
{
	struct pfc_link link = {.link_speed_bps = 10 * GBPS,
				.peer_response_ns = NS_PER_SEC,
				.own_frame_bytes = 64,
				.peer_frame_bytes = 2000};

	for (link.cell_bytes = 1; link.cell_bytes <= 4096; link.cell_bytes++) {
		uint64_t cell = link.cell_bytes, worst = 0, wire = NS_PER_SEC * 10 / 8, most;

		for (uint64_t s = MIN_FRAME_BYTES; s <= link.peer_frame_bytes; s++) {
			uint64_t charged = (s + cell - 1) / cell * cell;

			most = wire / (s + GAP_BYTES) * charged;
			worst = most > worst ? most : worst;
		}
		most = pfc_headroom(&link).total_bytes;
		assert_true(most >= worst);
		/* Little more than needed: the sum contains whole frames, too. */
		if (cell >= MIN_FRAME_BYTES + GAP_BYTES)
			assert_true(most <= worst + 30000);
	}
}

/* SIGCOMM 2015 section 4: 12 MB, 32 ports, 8 priorities, t_flight 22.4 KB, beta 8. */
TEST(papers_inputs_give_the_papers_thresholds)
{
	struct thresholds t = thresholds(12000000 - 8 * 32 * 22400, 32, 8, 0);

	assert_int_equal(t.static_pfc_bytes, 24475);
	assert_int_equal(t.static_ecn_bytes, 765); /* the text's 0.85 KB is a slip */
	assert_int_equal(t.dynamic_pfc_bytes, 6265600);
	assert_int_equal(t.dynamic_ecn_bytes, 21756);
}

/* With all n p queues at t_ECN the dynamic limit is n t_ECN: that is what the bound says. */
TEST(dynamic_bound_is_where_limit_and_spread_meet)
{
	for (int th = -8; th <= 7; th++) {
		for (uint8_t p = 1; p <= 8; p++) {
			const uint64_t shared = 1000000000, n = 16;
			struct thresholds t = thresholds(shared, n, p, (int8_t)th);
			double alpha = th >= 0 ? 1 << th : 1.0 / (1 << -th);
			double limit = alpha * (double)(shared - n * p * t.dynamic_ecn_bytes);
			double slack = (double)n * (1 + alpha * p); /* of half a byte */

			assert_true(limit - (double)(n * t.dynamic_ecn_bytes) < slack);
			assert_true(limit - (double)(n * t.dynamic_ecn_bytes) > -slack);
		}
	}
}

TEST_MAIN()
