/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <errno.h>

#include "base/numbers/array.h"
#include "unit/tm/mmu_test.h"

/* Admit frames until one does not get the verdict; how many bytes did. */
static uint64_t
fill(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t bytes, enum mmu_verdict while_verdict)
{
	uint64_t sum = 0;

	for (;;) {
		enum mmu_verdict v = mmu_ingress_admit(mmu, port, pg, bytes);

		if (v != while_verdict) {
			if (mmu_admitted(v))
				mmu_ingress_release(mmu, port, pg, bytes, 1);
			return sum;
		}
		sum += bytes;
	}
}

static void
drain(struct mmu *mmu, uint16_t n_ports)
{
	for (uint16_t port = 0; port < n_ports; port++) {
		for (uint8_t i = 0; i < TM_CLASSES; i++) {
			struct mmu_pg_state s = mmu_pg_state(mmu, port, i);

			mmu_ingress_release(mmu, port, i,
					    s.reserved_bytes + s.shared_bytes + s.headroom_bytes,
					    1);
			mmu_egress_release(mmu, port, i, (uint32_t)mmu_queue_bytes(mmu, port, i));
		}
	}
	assert_int_equal(mmu_used_bytes(mmu), 0);
	assert_int_equal(mmu_headroom_used_bytes(mmu), 0);
	assert_true(mmu_balanced(mmu));
}

/* SIGCOMM15 section 4: (B - 8 n t_flight) / (8 n) = 24.475 KB for 12 MB, 32 ports, 22.4 KB. */
TEST(paper_thresholds_use_the_buffer_to_the_last_byte)
{
	struct mmu_params p = defaults(32);
	struct mmu *mmu;

	memset(p.lossless_pgs, 0xff, sizeof(p.lossless_pgs));
	p.lossless.dynamic = false;
	p.lossless.static_th_bytes = 24475;
	assert_int_equal(mmu_params_budget(&p).headroom_bytes, 5734400);
	assert_int_equal(mmu_params_budget(&p).shared_bytes, 8 * 32 * 24475);
	mmu = create(&p);
	for (uint16_t port = 0; port < 32; port++) {
		for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
			assert_int_equal(fill(mmu, port, pg, 25, MMU_ADMIT), 24475);
			assert_true(mmu_pg_wants_xoff(mmu, port, pg, false));
		}
	}
	for (uint16_t port = 0; port < 32; port++) {
		for (uint8_t pg = 0; pg < TM_CLASSES; pg++) {
			assert_int_equal(fill(mmu, port, pg, 100, MMU_ADMIT_HEADROOM), 22400);
			assert_int_equal(mmu_ingress_admit(mmu, port, pg, 1), MMU_DROP_NO_HEADROOM);
		}
	}
	assert_int_equal(mmu_used_bytes(mmu), 12000000);
	assert_true(mmu_balanced(mmu));
	drain(mmu, 32);
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_POOL, 0, MMU_INGRESS_LOSSLESS),
			 12000000);
	mmu_destroy(mmu);
}

/*
 * Same section, dynamic, beta = 8 (dynamic_th 0): with t_ECN < beta (B - 8 n t_flight) / (8 n (beta
 * + 1)) = 21755.6 bytes in each of the n queues of all 8 priorities, all from one port, PFC has not
 * begun.
 */
TEST(marking_begins_before_pause_up_to_the_paper_bound)
{
	struct mmu_params p = defaults(32);
	struct mmu *mmu;

	memset(p.lossless_pgs, 0xff, sizeof(p.lossless_pgs));
	mmu = create(&p);
	assert_int_equal(mmu_pg_limit_bytes(mmu, 0, 0), 6265600);
	for (uint8_t pg = 0; pg < TM_CLASSES; pg++)
		assert_int_equal(mmu_ingress_admit(mmu, 0, pg, 32 * 21755), MMU_ADMIT);
	for (uint8_t pg = 0; pg < TM_CLASSES; pg++)
		assert_false(mmu_pg_wants_xoff(mmu, 0, pg, false));
	for (uint8_t pg = 0; pg < TM_CLASSES; pg++)
		assert_true(mmu_admitted(mmu_ingress_admit(mmu, 0, pg, 32)));
	assert_true(mmu_pg_wants_xoff(mmu, 0, 7, false));
	mmu_destroy(mmu);
}

TEST(greedy_groups_settle_where_dynamic_th_says)
{
	const uint32_t frame = 64;

	for (int n = -8; n <= 7; n++) {
		for (uint16_t k = 1; k <= 8; k++) {
			struct mmu_params p = defaults(k);
			double a = n < 0 ? 1.0 / (1 << -n) : 1 << n;
			bool moved = true;
			double want;
			struct mmu *mmu;

			p.buffer_bytes = 1000000;
			p.lossless.xoff_bytes = 0;
			p.lossy.dynamic_th = (int8_t)n;
			mmu = create(&p);
			while (moved) {
				moved = false;
				for (uint16_t port = 0; port < k; port++)
					moved |= mmu_ingress_admit(mmu, port, LOSSY, frame) ==
						 MMU_ADMIT;
			}
			/* a / (1 + k a) of the shared pool */
			want = 1e6 * a / (1 + k * a);
			for (uint16_t port = 0; port < k; port++) {
				double got = (double)mmu_pg_state(mmu, port, LOSSY).shared_bytes;

				if (got < want - 2 * frame || got > want + frame)
					fail_msg("n %d k %d: %f, not %f", n, k, got, want);
			}
			assert_true(mmu_balanced(mmu));
			mmu_destroy(mmu);
		}
	}
}

/* One PG, limit 10000, xon 1248, xon_offset 2496: XOFF at the limit, XON at 7504. */
TEST(xon_waits_for_hysteresis)
{
	static const struct {
		int bytes; /* negative: released */
		bool xoff;
		uint64_t shared, headroom;
	} rows[] = {
		{9999, false, 9999, 0},   {1, true, 10000, 0},   {-1, true, 9999, 0},
		{-2494, true, 7505, 0},   {-1, false, 7504, 0},  {2495, false, 9999, 0},
		{1500, true, 9999, 1500}, /* straddling is for reserved only */
		{1, true, 9999, 1501},    /* shared has room, but the peer is paused */
		{-1000, true, 9999, 501}, {-502, true, 9998, 0}, {-2494, false, 7504, 0},
		{-7504, false, 0, 0},
	};
	struct mmu_params p = defaults(1);
	struct mmu *mmu;
	bool xoff = false;

	p.lossless.dynamic = false;
	p.lossless.static_th_bytes = 10000;
	mmu = create(&p);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct mmu_pg_state s;

		if (rows[i].bytes > 0)
			assert_true(mmu_admitted(
				mmu_ingress_admit(mmu, 0, PG, (uint32_t)rows[i].bytes)));
		else
			mmu_ingress_release(mmu, 0, PG, (uint32_t)-rows[i].bytes, 1);
		xoff = mmu_pg_wants_xoff(mmu, 0, PG, xoff);
		s = mmu_pg_state(mmu, 0, PG);
		assert_int_equal(xoff, rows[i].xoff);
		assert_int_equal(s.shared_bytes, rows[i].shared);
		assert_int_equal(s.headroom_bytes, rows[i].headroom);
	}
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_PG_HEADROOM, 0, PG), 1501);
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_PG, 0, PG), 11500);
	mmu_destroy(mmu);
}

TEST(without_an_offset_xoff_begins_at_the_limit_and_ends_below)
{
	struct mmu_params p = defaults(1);
	struct mmu *mmu;

	p.lossless.dynamic = false;
	p.lossless.static_th_bytes = 10000;
	p.lossless.xon_bytes = p.lossless.xon_offset_bytes = 0;
	mmu = create(&p);
	assert_int_equal(mmu_ingress_admit(mmu, 0, PG, 10000), MMU_ADMIT);
	assert_true(mmu_pg_wants_xoff(mmu, 0, PG, false));
	assert_true(mmu_pg_wants_xoff(mmu, 0, PG, true));
	mmu_ingress_release(mmu, 0, PG, 1, 1);
	assert_false(mmu_pg_wants_xoff(mmu, 0, PG, true));
	mmu_destroy(mmu);
}

TEST(a_falling_limit_pauses_without_an_arrival)
{
	struct mmu_params p = defaults(2);
	struct mmu *mmu;

	p.buffer_bytes = 2 * 22400 + 100000;
	mmu = create(&p);
	assert_int_equal(mmu_ingress_admit(mmu, 0, PG, 40000), MMU_ADMIT);
	assert_false(mmu_pg_wants_xoff(mmu, 0, PG, false));
	assert_int_equal(mmu_ingress_admit(mmu, 1, LOSSY, 30000), MMU_ADMIT);
	assert_int_equal(mmu_pg_limit_bytes(mmu, 0, PG), 30000);
	assert_true(mmu_pg_wants_xoff(mmu, 0, PG, false));
	/* The limit rises by what others give back: XON at limit - 2496. */
	mmu_ingress_release(mmu, 1, LOSSY, 12495, 1);
	assert_true(mmu_pg_wants_xoff(mmu, 0, PG, true));
	mmu_ingress_release(mmu, 1, LOSSY, 1, 1);
	assert_int_equal(mmu_pg_limit_bytes(mmu, 0, PG), 42496);
	assert_false(mmu_pg_wants_xoff(mmu, 0, PG, true));
	mmu_destroy(mmu);
}

/* A full pool makes the limit 0, which a PG with nothing in it is not to blame for. */
TEST(a_limit_below_xon_makes_no_group_flap)
{
	struct mmu_params p = defaults(2);
	struct mmu *mmu;

	p.buffer_bytes = 2 * 22400 + 100000;
	p.lossy.dynamic = false;
	mmu = create(&p);
	assert_int_equal(mmu_ingress_admit(mmu, 0, PG, 1000), MMU_ADMIT);
	assert_int_equal(fill(mmu, 1, LOSSY, 1, MMU_ADMIT), 99000);
	assert_int_equal(mmu_ingress_admit(mmu, 1, LOSSY, 1), MMU_DROP_POOL);
	assert_int_equal(mmu_pg_limit_bytes(mmu, 0, PG), 0);
	for (int i = 0; i < 2; i++) {
		assert_false(mmu_pg_wants_xoff(mmu, 0, PG, i));
		assert_false(mmu_pg_wants_xoff(mmu, 1, PG, i));
	}
	/* What arrives now goes to headroom and pauses; the lossy group is never paused. */
	assert_int_equal(mmu_ingress_admit(mmu, 0, PG, 500), MMU_ADMIT_HEADROOM);
	assert_true(mmu_pg_wants_xoff(mmu, 0, PG, false));
	assert_false(mmu_pg_wants_xoff(mmu, 1, LOSSY, true));
	mmu_destroy(mmu);
}

TEST(xoff_and_xon_never_both_hold_at_one_state)
{
	static const uint64_t marks[][2] = {
		{0, 0}, {0, 2496}, {1248, 2496}, {18432, 0}, {50000, 99999}};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		struct mmu_params p = defaults(2);
		struct mmu *mmu;

		p.buffer_bytes = 2 * 22400 + 50000;
		p.lossless.xon_bytes = marks[i][0];
		p.lossless.xon_offset_bytes = marks[i][1];
		mmu = create(&p);
		for (int step = 0; step < 600; step++) {
			mmu_ingress_admit(mmu, step % 2, step % 2 ? LOSSY : PG, 97);
			if (mmu_pg_wants_xoff(mmu, 0, PG, false))
				assert_true(mmu_pg_wants_xoff(mmu, 0, PG, true));
		}
		mmu_destroy(mmu);
	}
}

TEST(reserved_is_used_first_and_released_last)
{
	struct mmu_params p = defaults(2);
	struct mmu_pg_state s;
	struct mmu *mmu;

	p.buffer_bytes = 200000;
	p.lossless.size_bytes = 4000;
	p.lossless.dynamic = false;
	p.lossless.static_th_bytes = 5000;
	mmu = create(&p);
	assert_int_equal(mmu_ingress_admit(mmu, 0, PG, 3000), MMU_ADMIT);
	s = mmu_pg_state(mmu, 0, PG);
	assert_int_equal(s.reserved_bytes, 3000);
	assert_int_equal(mmu_ingress_admit(mmu, 0, PG, 3000), MMU_ADMIT); /* straddles */
	s = mmu_pg_state(mmu, 0, PG);
	assert_int_equal(s.reserved_bytes, 4000);
	assert_int_equal(s.shared_bytes, 2000);
	assert_int_equal(mmu_ingress_admit(mmu, 0, PG, 3000), MMU_ADMIT);
	assert_int_equal(mmu_ingress_admit(mmu, 0, PG, 3000), MMU_ADMIT_HEADROOM);
	mmu_ingress_release(mmu, 0, PG, 4000, 1); /* 3000 of headroom, 1000 of shared */
	s = mmu_pg_state(mmu, 0, PG);
	assert_int_equal(s.headroom_bytes, 0);
	assert_int_equal(s.shared_bytes, 4000);
	assert_int_equal(s.reserved_bytes, 4000);
	mmu_ingress_release(mmu, 0, PG, 4500, 1);
	s = mmu_pg_state(mmu, 0, PG);
	assert_int_equal(s.shared_bytes, 0);
	assert_int_equal(s.reserved_bytes, 3500);
	mmu_destroy(mmu);
}

TEST(reserved_is_there_however_full_the_pool_is)
{
	struct mmu_params p = defaults(2);
	struct mmu *mmu;

	p.buffer_bytes = 100000;
	p.lossy.size_bytes = 1518;
	p.lossy.dynamic_th = 7;
	p.egress_lossy.dynamic_th = 7;
	mmu = create(&p);
	while (mmu_ingress_admit(mmu, 0, LOSSY, 64) == MMU_ADMIT)
		;
	while (mmu_egress_admit(mmu, 0, LOSSY, 64) == MMU_ADMIT)
		;
	assert_int_equal(mmu_ingress_admit(mmu, 1, 7, 1518), MMU_ADMIT);
	assert_int_equal(mmu_egress_admit(mmu, 1, 7, 1518), MMU_ADMIT);
	assert_int_equal(mmu_pg_state(mmu, 1, 7).reserved_bytes, 1518);
	assert_true(mmu_balanced(mmu));
	mmu_destroy(mmu);
}

TEST(headroom_pool_is_shared_by_all_groups)
{
	struct mmu_params p = defaults(4);
	struct mmu *mmu;

	p.buffer_bytes = 1000000;
	p.shared_headroom_pool_bytes = 40000;
	assert_int_equal(mmu_params_budget(&p).shared_bytes, 960000);
	mmu = create(&p);
	while (mmu_ingress_admit(mmu, 3, LOSSY, 100) == MMU_ADMIT)
		;
	/* Each PG has at most xoff_bytes, all together the pool. */
	fill(mmu, 0, PG, 100, MMU_ADMIT);
	assert_int_equal(fill(mmu, 0, PG, 100, MMU_ADMIT_HEADROOM), 22400);
	fill(mmu, 1, PG, 100, MMU_ADMIT);
	assert_int_equal(fill(mmu, 1, PG, 100, MMU_ADMIT_HEADROOM), 17600);
	fill(mmu, 2, PG, 100, MMU_ADMIT);
	assert_int_equal(mmu_ingress_admit(mmu, 2, PG, 100), MMU_DROP_NO_HEADROOM);
	assert_int_equal(mmu_headroom_used_bytes(mmu), 40000);
	mmu_ingress_release(mmu, 0, PG, 100, 1);
	assert_int_equal(mmu_ingress_admit(mmu, 2, PG, 100), MMU_ADMIT_HEADROOM);
	assert_true(mmu_balanced(mmu));
	drain(mmu, 4);
	mmu_destroy(mmu);
}

TEST(lossy_drops_say_which_limit)
{
	struct mmu_params p = defaults(1);
	struct mmu *mmu;

	p.buffer_bytes = 22400 + 100000;
	p.lossy.dynamic = false;
	p.lossy.static_th_bytes = 3000;
	p.egress_lossy.dynamic = false;
	p.egress_lossy.size_bytes = 0;
	p.egress_lossy.static_th_bytes = 2000;
	mmu = create(&p);
	assert_int_equal(mmu_ingress_admit(mmu, 0, LOSSY, 3000), MMU_ADMIT);
	assert_int_equal(mmu_ingress_admit(mmu, 0, LOSSY, 1), MMU_DROP_PG_LIMIT);
	assert_int_equal(mmu_egress_admit(mmu, 0, LOSSY, 2000), MMU_ADMIT);
	assert_int_equal(mmu_egress_admit(mmu, 0, LOSSY, 1), MMU_DROP_QUEUE_LIMIT);
	mmu_egress_release(mmu, 0, LOSSY, 1);
	assert_int_equal(mmu_egress_admit(mmu, 0, LOSSY, 1), MMU_ADMIT);
	mmu_destroy(mmu);

	p = defaults(1);
	p.buffer_bytes = 100000;
	p.egress_lossy.dynamic_th = 7; /* the limit is far above what is free */
	p.egress_lossy.size_bytes = 0;
	mmu = create(&p);
	assert_int_equal(mmu_egress_admit(mmu, 0, LOSSY, 100001), MMU_DROP_POOL);
	mmu_destroy(mmu);
}

TEST(lossless_queue_never_drops)
{
	struct mmu_params p = defaults(1);
	struct mmu *mmu;

	p.buffer_bytes = 100000;
	mmu = create(&p);
	for (int i = 0; i < 100; i++) /* copies of flooded frames count more than once */
		assert_int_equal(mmu_egress_admit(mmu, 0, PG, 3000), MMU_ADMIT);
	assert_int_equal(mmu_queue_bytes(mmu, 0, PG), 300000);
	assert_int_equal(mmu_egress_admit(mmu, 0, LOSSY, 1519), MMU_DROP_QUEUE_LIMIT);
	drain(mmu, 1);
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_QUEUE, 0, PG), 300000);
	mmu_destroy(mmu);
}

TEST(frames_are_charged_in_whole_cells)
{
	struct mmu_params p = defaults(1);
	struct mmu *mmu = create(&p);

	assert_int_equal(mmu_charge_bytes(mmu, 65), 65);
	mmu_destroy(mmu);
	p.cell_bytes = 208;
	mmu = create(&p);
	assert_int_equal(mmu_charge_bytes(mmu, 64), 208);
	assert_int_equal(mmu_charge_bytes(mmu, 208), 208);
	assert_int_equal(mmu_charge_bytes(mmu, 209), 416);
	assert_int_equal(mmu_charge_bytes(mmu, 1518), 1664);
	mmu_destroy(mmu);
}

TEST(refusals_name_the_key)
{
	struct mmu_params p = defaults(32);
	char why[256];

#define REFUSED(word)                                                                              \
	do {                                                                                       \
		assert_int_equal(mmu_params_check(&p, why, sizeof(why)), -EINVAL);                 \
		if (strstr(why, word) == NULL)                                                     \
			fail_msg("%s", why);                                                       \
		errno = 0;                                                                         \
		assert_null(mmu_create_parts(&p, 1, all_in_one));                                  \
		assert_int_equal(errno, EINVAL);                                                   \
		p = defaults(32);                                                                  \
	} while (0)
	assert_int_equal(mmu_params_check(&p, why, sizeof(why)), 0);
	p.lossless.xoff_bytes = 375000; /* x 32 is the buffer */
	assert_int_equal(mmu_params_check(&p, why, sizeof(why)), 0);
	p.lossless.xoff_bytes++;
	REFUSED("xoff_bytes 375001 x 32 ports x 1 lossless PG + size_bytes (0 x 1 lossless PG + "
		"0 x 7 lossy PG) x 32 ports = 12000032 exceeds buffer_bytes 12000000");
	p.lossy.size_bytes = 60000;
	REFUSED("60000 x 7 lossy PG");
	p.shared_headroom_pool_bytes = 12000001;
	REFUSED("shared_headroom_pool_bytes 12000001 + size_bytes");
	p.shared_headroom_pool_bytes = 1000;
	p.lossless.xoff_bytes = 0;
	REFUSED("shared_headroom_pool_bytes 1000 cannot be used: xoff_bytes");
	p.egress_lossy.size_bytes = 60000;
	REFUSED("egress");
	p.lossless.static_th_bytes = 24475;
	REFUSED("lossless: static_th_bytes 24475 has no effect while dynamic is on");
	p.egress_lossy.dynamic_th = 8;
	REFUSED("egress_lossy: dynamic_th must be a whole number from -8 to 7");
	p.lossy.xoff_bytes = 1;
	REFUSED("lossy: xoff_bytes 1");
	p.n_ports = 0;
	REFUSED("n_ports");
	p.buffer_bytes = 0;
	REFUSED("buffer_bytes");
}

TEST_MAIN()
