/* SPDX-License-Identifier: BSD-3-Clause */
/* Pools of their own, profiles of single groups and queues, watermarks. */
#include <string.h>

#include "base/numbers/array.h"
#include "unit/tm/mmu_test.h"

static void
admit(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t bytes, enum mmu_verdict expected)
{
	assert_int_equal(mmu_ingress_admit(mmu, port, pg, bytes), expected);
}

/* 100 KB: 10 headroom, 30 lossy, 60 lossless. */
static struct mmu_params
two_pools(void)
{
	struct mmu_params p = defaults(1);

	p.buffer_bytes = 100000;
	p.lossy_pool_bytes = 30000;
	p.lossless = (struct buffer_profile){.xoff_bytes = 10000};
	p.lossy = (struct buffer_profile){0};
	p.egress_lossy = (struct buffer_profile){0};
	return p;
}

TEST(lossy_pool_leaves_the_lossless_one_alone)
{
	struct mmu_params p = two_pools();
	struct mmu *mmu = create(&p);

	assert_int_equal(mmu_pool_size_bytes(mmu, MMU_INGRESS_LOSSLESS), 60000);
	assert_int_equal(mmu_pool_size_bytes(mmu, MMU_INGRESS_LOSSY), 30000);
	admit(mmu, 0, LOSSY, 30000, MMU_ADMIT);
	admit(mmu, 0, LOSSY, 1, MMU_DROP_POOL);
	admit(mmu, 0, PG, 60000, MMU_ADMIT);
	admit(mmu, 0, PG, 10000, MMU_ADMIT_HEADROOM);
	admit(mmu, 0, PG, 1, MMU_DROP_NO_HEADROOM);
	assert_int_equal(mmu_used_bytes(mmu), 100000);
	assert_int_equal(mmu_pool_used_bytes(mmu, MMU_INGRESS_LOSSY), 30000);
	assert_true(mmu_balanced(mmu));
	mmu_ingress_release(mmu, 0, LOSSY, 30000, 1);
	mmu_ingress_release(mmu, 0, PG, 70000, 1);
	assert_int_equal(mmu_used_bytes(mmu), 0);
	assert_true(mmu_balanced(mmu));
	mmu_destroy(mmu);
}

/* dynamic_th = 0 of 30 KB, not of the 90 KB of both: one greedy group gets half of that. */
TEST(dynamic_limit_follows_its_own_pool)
{
	struct mmu_params p = two_pools();
	struct mmu *mmu;

	p.lossy.dynamic = true;
	mmu = create(&p);
	for (unsigned int i = 0; i < 15; i++)
		admit(mmu, 0, LOSSY, 1000, MMU_ADMIT);
	admit(mmu, 0, LOSSY, 1000, MMU_DROP_PG_LIMIT);
	admit(mmu, 0, PG, 60000, MMU_ADMIT);
	assert_int_equal(mmu_pg_limit_bytes(mmu, 0, LOSSY), 15000);
	mmu_destroy(mmu);
}

TEST(lossy_queues_share_a_smaller_egress_pool)
{
	struct mmu_params p = two_pools();
	struct mmu *mmu;

	p.egress_lossy_pool_bytes = 20000;
	p.egress_lossy = (struct buffer_profile){.size_bytes = 1000, .static_th_bytes = 15000};
	mmu = create(&p);
	assert_int_equal(mmu_egress_admit(mmu, 0, 0, 16000), MMU_ADMIT);
	assert_int_equal(mmu_egress_admit(mmu, 0, 0, 1), MMU_DROP_QUEUE_LIMIT);
	assert_int_equal(mmu_egress_admit(mmu, 0, 1, 6000), MMU_ADMIT);
	assert_int_equal(mmu_egress_admit(mmu, 0, 1, 1), MMU_DROP_POOL);
	/* What is reserved to a queue does not ask the pool; lossless queues have their own. */
	assert_int_equal(mmu_egress_admit(mmu, 0, 2, 1000), MMU_ADMIT);
	assert_int_equal(mmu_egress_admit(mmu, 0, PG, 90000), MMU_ADMIT);
	assert_true(mmu_balanced(mmu));
	mmu_destroy(mmu);
}

/* Port 1 is far away: its group 3 has more headroom, and a limit and a reserve of its own. */
TEST(named_profile_is_of_its_group_alone)
{
	struct mmu_params p = two_pools();
	struct mmu_budget b;
	struct mmu *mmu;

	p.n_ports = 2;
	p.lossy_pool_bytes = 0;
	p.lossless.static_th_bytes = 5000;
	p.n_profiles = 1;
	p.profiles[0] = (struct buffer_profile){
		.size_bytes = 2000, .static_th_bytes = 8000, .xoff_bytes = 20000};
	strcpy(p.profile_names[0], "pg_lossless_100000_300m_profile");
	p.pg_profile[1][PG] = 1;
	b = mmu_params_budget(&p);
	assert_int_equal(b.headroom_bytes, 30000);
	assert_int_equal(b.reserved_bytes, 2000);
	assert_int_equal(b.shared_bytes, 68000);
	mmu = create(&p);
	admit(mmu, 0, PG, 5000, MMU_ADMIT);
	admit(mmu, 0, PG, 10000, MMU_ADMIT_HEADROOM);
	admit(mmu, 0, PG, 1, MMU_DROP_NO_HEADROOM);
	admit(mmu, 1, PG, 10000, MMU_ADMIT);
	admit(mmu, 1, PG, 20000, MMU_ADMIT_HEADROOM);
	admit(mmu, 1, PG, 1, MMU_DROP_NO_HEADROOM);
	assert_true(mmu_balanced(mmu));
	mmu_destroy(mmu);
}

TEST(named_profile_is_refused_where_it_makes_no_sense)
{
	struct mmu_params p = two_pools();
	char why[256];

	p.n_profiles = 1;
	p.profiles[0] = (struct buffer_profile){.xoff_bytes = 5000};
	strcpy(p.profile_names[0], "far");
	p.pg_profile[0][LOSSY] = 1;
	assert_true(mmu_params_check(&p, why, sizeof(why)) < 0);
	assert_string_equal(why, "far: xoff_bytes 5000 is headroom, which pg 0 of port 0 does not "
				 "have: it is not lossless");
	p.pg_profile[0][LOSSY] = 2;
	assert_true(mmu_params_check(&p, why, sizeof(why)) < 0);
	assert_string_equal(why, "port 0: the profile of pg 0 does not exist");
	p.pg_profile[0][LOSSY] = 0;
	p.lossy_pool_bytes = 95000;
	assert_true(mmu_params_check(&p, why, sizeof(why)) < 0);
	assert_string_equal(why, "headroom 10000 + size_bytes of all groups 0 + lossy_pool_bytes "
				 "95000 exceeds buffer_bytes 100000");
}

TEST(watermarks_are_peaks_until_their_kind_is_cleared)
{
	struct mmu_params p = two_pools();
	struct mmu *mmu = create(&p);
	static const struct {
		enum mmu_watermark kind;
		uint8_t index;
		uint64_t peak, now;
	} rows[] = {
		{MMU_WATERMARK_PG, PG, 68000, 1000},
		{MMU_WATERMARK_PG_SHARED, PG, 60000, 1000},
		{MMU_WATERMARK_PG_HEADROOM, PG, 8000, 0},
		{MMU_WATERMARK_QUEUE, PG, 50000, 500},
		{MMU_WATERMARK_POOL, MMU_INGRESS_LOSSLESS, 68000, 1000},
		{MMU_WATERMARK_HEADROOM_POOL, 0, 8000, 0},
	};

	admit(mmu, 0, PG, 60000, MMU_ADMIT);
	admit(mmu, 0, PG, 8000, MMU_ADMIT_HEADROOM);
	assert_int_equal(mmu_egress_admit(mmu, 0, PG, 50000), MMU_ADMIT);
	mmu_ingress_release(mmu, 0, PG, 67000, 1);
	mmu_egress_release(mmu, 0, PG, 49500);
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		enum mmu_watermark kind = rows[i].kind;

		/* Clearing the kinds before this one has not touched it. */
		assert_int_equal(mmu_watermark_bytes(mmu, kind, 0, rows[i].index), rows[i].peak);
		mmu_part_clear_watermarks(mmu, 0, kind);
		assert_int_equal(mmu_watermark_bytes(mmu, kind, 0, rows[i].index), rows[i].now);
		assert_int_equal(mmu_persistent_watermark_bytes(mmu, kind, 0, rows[i].index),
				 rows[i].peak);
	}
	admit(mmu, 0, PG, 4000, MMU_ADMIT);
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_PG_SHARED, 0, PG), 5000);
	mmu_part_clear_watermarks(mmu, 0, MMU_WATERMARK_PG_SHARED);
	assert_int_equal(mmu_persistent_watermark_bytes(mmu, MMU_WATERMARK_PG_SHARED, 0, PG),
			 60000);
	mmu_destroy(mmu);
}

TEST_MAIN()
