/* SPDX-License-Identifier: BSD-3-Clause */
/* XOFF and XON limits, headroom edge, watermarks, queue limits: packet by packet. */
#include "acceptance.h"

#define NS_AFTER 1000 /* pause frames wait for the shaper's credit */

/* Frames from port 0 to the held port 1; the number of the one after which port 0 says XOFF. */
static unsigned int
packets_until_xoff(struct bench *b, unsigned int at_most, uint64_t *now_ns)
{
	for (unsigned int n = 1; n <= at_most; n++) {
		int quanta;

		*now_ns += NS_AFTER;
		give(b, 0, make_data(b, 0, 1, n), *now_ns);
		quanta = told(b, 0, 3, *now_ns);
		if (quanta < 0)
			continue;
		assert_int_equal(quanta, 65535);
		return n;
	}
	return 0;
}

/* After how many departures from port 1 port 0 says XON. */
static unsigned int
departures_until_xon(struct bench *b, uint64_t *now_ns)
{
	struct rte_mbuf *m;
	unsigned int n = 0;

	while ((m = take_next(b, 1, now_ns)) != NULL) {
		int quanta;

		sent(m);
		n++;
		quanta = told(b, 0, 3, *now_ns + NS_AFTER);
		if (quanta < 0)
			continue;
		assert_int_equal(quanta, 0);
		return n;
	}
	return 0;
}

TEST(xoff_limit_is_reached_by_packet_n_and_headroom_ends_n_plus_m)
{
	struct bench *b = acceptance_bench(2);
	uint64_t now_ns = 0;

	bench_start_learnt(b);
	hold(b, 1, 3, 0);
	assert_int_equal(packets_until_xoff(b, 100, &now_ns), LIMIT);
	for (unsigned int i = 0; i < HEADROOM; i++) {
		give(b, 0, make_data(b, 0, 1, LIMIT + 1 + i), now_ns);
		assert_int_equal(all_drops(b), 0);
	}
	give(b, 0, make_data(b, 0, 1, 99), now_ns);
	assert_int_equal(drops(b, 0, SW_DROP_NO_HEADROOM), 1);
	assert_int_equal(all_drops(b), 1);
	let_go(b, 1, 3, now_ns);
	assert_int_equal(drain(b, 1, &now_ns), LIMIT + HEADROOM);
	bench_stop(b);
}

/* 15 are held: the eighth departure leaves 7, three below the limit of 10. */
TEST(xon_follows_departure_m)
{
	static const struct {
		unsigned int held, departures;
	} rows[] = {{LIMIT, XON_BELOW}, {LIMIT + HEADROOM, HEADROOM + XON_BELOW}, {LIMIT + 1, 4}};

	for (unsigned int i = 0; i < 3; i++) {
		struct bench *b = acceptance_bench(2);
		uint64_t now_ns = 0;

		bench_start_learnt(b);
		hold(b, 1, 3, 0);
		assert_int_equal(packets_until_xoff(b, 100, &now_ns), LIMIT);
		for (unsigned int n = LIMIT; n < rows[i].held; n++)
			give(b, 0, make_data(b, 0, 1, n), now_ns);
		now_ns += NS_AFTER;
		let_go(b, 1, 3, now_ns);
		assert_int_equal(departures_until_xon(b, &now_ns), rows[i].departures);
		assert_int_equal(drain(b, 1, &now_ns), rows[i].held - rows[i].departures);
		assert_int_equal(all_drops(b), 0);
		bench_stop(b);
	}
}

/* xon_bytes above limit - xon_offset: the higher of the two marks counts. */
TEST(xon_mark_is_the_higher_of_the_two)
{
	struct bench *b = acceptance_bench(2);
	uint64_t now_ns = 0;

	b->params.mmu.lossless.xon_bytes = 9 * DATA_BYTES;
	bench_start_learnt(b);
	hold(b, 1, 3, 0);
	assert_int_equal(packets_until_xoff(b, 100, &now_ns), LIMIT);
	now_ns += NS_AFTER;
	let_go(b, 1, 3, now_ns);
	assert_int_equal(departures_until_xon(b, &now_ns), 1);
	drain(b, 1, &now_ns);
	bench_stop(b);
}

/* alpha (S - n) <= n: 100 frames to share; alpha 1: 50, 1/2: 34 (33 are below 33.5), 4: 80. */
TEST(dynamic_limit_is_reached_where_alpha_says)
{
	static const struct {
		int8_t dynamic_th;
		unsigned int n;
	} rows[] = {{0, 50}, {-1, 34}, {2, 80}, {-3, 12}};

	for (unsigned int i = 0; i < 4; i++) {
		struct bench *b = acceptance_bench(2);
		uint64_t now_ns = 0;

		b->params.mmu.buffer_bytes = (100 + 2 * HEADROOM) * DATA_BYTES;
		b->params.mmu.lossless.static_th_bytes = 0;
		b->params.mmu.lossless.dynamic = true;
		b->params.mmu.lossless.dynamic_th = rows[i].dynamic_th;
		bench_start_learnt(b);
		hold(b, 1, 3, 0);
		assert_int_equal(packets_until_xoff(b, 200, &now_ns), rows[i].n);
		now_ns += NS_AFTER;
		let_go(b, 1, 3, now_ns);
		assert_int_equal(drain(b, 1, &now_ns), rows[i].n);
		assert_int_equal(told(b, 0, 3, now_ns), 0);
		bench_stop(b);
	}
}

/* 1086 bytes are six cells of 208, 1248 bytes: ten frames of budget hold eight of them, and a
 * bit. */
TEST(cells_bring_the_xoff_limit_forward)
{
	struct bench *b = acceptance_bench(2);
	uint64_t now_ns = 0;

	b->params.mmu.cell_bytes = 208;
	bench_start_learnt(b);
	hold(b, 1, 3, 0);
	/* 9 x 1248 is above the limit of 10860: the ninth goes to headroom, which says XOFF. */
	assert_int_equal(packets_until_xoff(b, 100, &now_ns), 9);
	assert_int_equal(peak(b, MMU_WATERMARK_PG_SHARED, 0, 3), 8 * 1248);
	assert_int_equal(peak(b, MMU_WATERMARK_PG_HEADROOM, 0, 3), 1248);
	now_ns += NS_AFTER;
	let_go(b, 1, 3, now_ns);
	drain(b, 1, &now_ns);
	bench_stop(b);
}

/* One byte less, one frame less. */
TEST(headroom_edge_is_exact_to_the_byte)
{
	for (unsigned int short_by = 0; short_by < 2; short_by++) {
		struct bench *b = acceptance_bench(2);
		unsigned int fits = HEADROOM - short_by;
		uint64_t now_ns = 0;

		b->params.mmu.lossless.xoff_bytes -= short_by;
		bench_start_learnt(b);
		hold(b, 1, 3, 0);
		for (unsigned int i = 0; i < LIMIT + HEADROOM; i++)
			give(b, 0, make_data(b, 0, 1, i), 0);
		assert_int_equal(drops(b, 0, SW_DROP_NO_HEADROOM), short_by);
		assert_int_equal(peak(b, MMU_WATERMARK_PG_HEADROOM, 0, 3), fits * DATA_BYTES);
		let_go(b, 1, 3, 0);
		assert_int_equal(drain(b, 1, &now_ns), LIMIT + fits);
		bench_stop(b);
	}
}

/* Two ports share 7 frames of headroom: the first takes its 5, the second what is left. */
TEST(shared_headroom_pool_is_first_come_first_served)
{
	struct bench *b = acceptance_bench(3);
	uint64_t now_ns = 0;

	b->params.mmu.shared_headroom_pool_bytes = 7 * DATA_BYTES;
	bench_start_learnt(b);
	hold(b, 2, 3, 0);
	for (uint8_t port = 0; port < 2; port++) {
		for (unsigned int i = 0; i < LIMIT + HEADROOM; i++)
			give(b, port, make_data(b, port, 2, i), 0);
	}
	assert_int_equal(drops(b, 0, SW_DROP_NO_HEADROOM), 0);
	assert_int_equal(drops(b, 1, SW_DROP_NO_HEADROOM), 3);
	assert_int_equal(peak(b, MMU_WATERMARK_HEADROOM_POOL, 0, 0), 7 * DATA_BYTES);
	let_go(b, 2, 3, 0);
	assert_int_equal(drain(b, 2, &now_ns), 2 * LIMIT + 7);
	bench_stop(b);
}

TEST(pg_watermarks_follow_each_packet_up_and_stay)
{
	struct bench *b = acceptance_bench(2);
	uint64_t now_ns = 0;

	b->params.mmu.lossless.size_bytes = 2 * DATA_BYTES;
	bench_start_learnt(b);
	hold(b, 1, 3, 0);
	for (uint64_t n = 1; n <= 2 + LIMIT + HEADROOM; n++) {
		uint64_t beyond = n > 2 ? n - 2 : 0;

		give(b, 0, make_data(b, 0, 1, (uint32_t)n), 0);
		assert_int_equal(peak(b, MMU_WATERMARK_PG, 0, 3), n * DATA_BYTES);
		assert_int_equal(peak(b, MMU_WATERMARK_PG_SHARED, 0, 3),
				 (beyond < LIMIT ? beyond : LIMIT) * DATA_BYTES);
		assert_int_equal(peak(b, MMU_WATERMARK_PG_HEADROOM, 0, 3),
				 (beyond < LIMIT ? 0 : beyond - LIMIT) * DATA_BYTES);
	}
	let_go(b, 1, 3, 0);
	drain(b, 1, &now_ns);
	assert_int_equal(peak(b, MMU_WATERMARK_PG_SHARED, 0, 3), LIMIT * DATA_BYTES);
	assert_int_equal(peak(b, MMU_WATERMARK_PG_HEADROOM, 0, 3), HEADROOM * DATA_BYTES);
	/* Groups and ports without traffic have none. */
	assert_int_equal(peak(b, MMU_WATERMARK_PG, 0, 0), 0);
	assert_int_equal(peak(b, MMU_WATERMARK_PG, 1, 3), 0);
	bench_stop(b);
}

TEST(queue_and_pool_watermarks_are_read_and_cleared_by_kind)
{
	struct bench *b = acceptance_bench(2);
	uint64_t now_ns = 0;

	bench_start_learnt(b);
	hold(b, 1, 3, 0);
	for (unsigned int i = 0; i < 6; i++)
		give(b, 0, make_data(b, 0, 1, i), 0);
	let_go(b, 1, 3, 0);
	for (unsigned int i = 0; i < 4; i++)
		sent(take_next(b, 1, &now_ns));
	assert_int_equal(peak(b, MMU_WATERMARK_QUEUE, 1, 3), 6 * DATA_BYTES);
	sw_clear_watermarks(b->sw, 1u << MMU_WATERMARK_QUEUE);
	sent(take_next(b, 1, &now_ns));
	/* Cleared before that frame left: two were waiting. */
	assert_int_equal(peak(b, MMU_WATERMARK_QUEUE, 1, 3), 2 * DATA_BYTES);
	assert_int_equal(peak(b, MMU_WATERMARK_POOL, 0, MMU_INGRESS_LOSSLESS), 6 * DATA_BYTES);
	assert_int_equal(mmu_persistent_watermark_bytes(sw_mmu(b->sw), MMU_WATERMARK_QUEUE, 1, 3),
			 6 * DATA_BYTES);
	drain(b, 1, &now_ns);
	bench_stop(b);
}

/* Frames of 1086 bytes into a held lossy queue; how many are taken, and that the next is not. */
static void
check_lossy_limit(struct bench *b, unsigned int fits)
{
	struct frame_spec s = {
		.src = 0, .dst = 1, .dscp = 0, .ecn = ECN_ECT0, .payload_bytes = DATA_PAYLOAD};
	uint64_t now_ns = 0;

	/* Nobody asks the port for frames until the queue is full. */
	bench_start_learnt(b);
	for (unsigned int i = 0; i < fits + 3; i++)
		give(b, 0, make_frame(b, &s), 0);
	assert_int_equal(drops(b, 1, SW_DROP_QUEUE_LIMIT), 3);
	assert_int_equal(sw_port_stats(b->sw, 1)->queue[0].drop_packets, 3);
	assert_int_equal(all_drops(b), 3);
	assert_int_equal(peak(b, MMU_WATERMARK_QUEUE, 1, 0), (uint64_t)fits * DATA_BYTES);
	assert_int_equal(told(b, 0, 3, 0), -1);
	assert_int_equal(drain(b, 1, &now_ns), fits);
	/* It takes packets again. */
	give(b, 0, make_frame(b, &s), now_ns);
	assert_int_equal(drain(b, 1, &now_ns), 1);
	bench_stop(b);
}

TEST(lossy_queue_takes_up_to_its_static_limit)
{
	struct bench *b = acceptance_bench(2);

	b->params.mmu.egress_lossy.static_th_bytes = 20 * DATA_BYTES;
	check_lossy_limit(b, 20);
}

/* Two frames of its own, then twice what is free of the pool. */
TEST(lossy_queue_takes_its_reserve_and_its_share_of_the_pool)
{
	struct bench *b = acceptance_bench(2);

	b->params.mmu.buffer_bytes = 128 * DATA_BYTES;
	b->params.mmu.egress_lossy = (struct buffer_profile){
		.size_bytes = 2 * DATA_BYTES, .dynamic = true, .dynamic_th = 1};
	/* 14 lossy queues reserve 28 frames; 100 are left: n <= 2 (100 - n + 1) gives 67. */
	check_lossy_limit(b, 2 + 67);
}

TEST_MAIN(.begin = bench_open, .end = bench_close)
