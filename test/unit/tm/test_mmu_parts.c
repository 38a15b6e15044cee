/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared buffer in parts with owners of their own: what they know of each other, and when. */
#include <stdio.h>

#include "base/numbers/prng.h"
#include "unit/tm/mmu_test.h"
#include "tm/buffer/mmu_part.h"

#define PARTS 3
#define PORTS 6
#define POOL_BYTES 100000u
#define FRAME 1000u
#define LARGE_POOL_BYTES 9600000u

static const uint8_t part_of_port[PORTS] = {0, 1, 2, 0, 1, 2};

/* A pool of POOL_BYTES and nothing else; lossy groups may take all of it. */
static struct mmu *
create_parts(void)
{
	struct mmu_params p = defaults(PORTS);
	struct mmu *mmu;

	p.buffer_bytes = POOL_BYTES;
	memset(p.lossless_pgs, 0, sizeof(p.lossless_pgs));
	memset(p.lossless_queues, 0, sizeof(p.lossless_queues));
	p.lossy = (struct buffer_profile){.static_th_bytes = POOL_BYTES};
	p.egress_lossless.size_bytes = p.egress_lossy.size_bytes = 0;
	mmu = mmu_create_parts(&p, PARTS, part_of_port);
	assert_non_null(mmu);
	return mmu;
}

static unsigned int
admit_until_full(struct mmu *mmu, uint16_t port, unsigned int most)
{
	unsigned int n = 0;

	while (n < most && mmu_ingress_admit(mmu, port, LOSSY, FRAME) == MMU_ADMIT)
		n++;
	return n;
}

TEST(a_part_sees_the_use_of_another_once_that_is_published_and_looked_at)
{
	const struct mmu_frames sixty = {.bytes = 60 * FRAME, .packets = 60};
	struct mmu *mmu = create_parts();

	assert_int_equal(admit_until_full(mmu, 0, 60), 60);
	mmu_part_refresh(mmu, 1);
	assert_true(mmu_ingress_fits(mmu, 1, LOSSY, sixty, sixty));
	mmu_part_publish(mmu, 0);
	assert_true(mmu_ingress_fits(mmu, 1, LOSSY, sixty, sixty));
	mmu_part_refresh(mmu, 1);
	assert_false(mmu_ingress_fits(mmu, 1, LOSSY, sixty, sixty));
	assert_int_equal(admit_until_full(mmu, 1, 100), 40);
	mmu_part_publish(mmu, 1);
	assert_int_equal(mmu_used_bytes(mmu), POOL_BYTES);
	assert_true(mmu_balanced(mmu));
	/* What one gives back the others have once they look. */
	mmu_ingress_release(mmu, 0, LOSSY, 60 * FRAME, 1);
	mmu_part_publish(mmu, 0);
	assert_int_equal(admit_until_full(mmu, 4, 100), 0);
	mmu_part_refresh(mmu, 1);
	assert_int_equal(admit_until_full(mmu, 4, 100), 60);
	mmu_destroy(mmu);
}

struct load {
	struct mmu *mmu;
	struct prng r;
	uint64_t held[PORTS];
};

/* Parts in any order begin a burst, admit and release, and end it: each begun is ended before it
 * begins another, while others may do either in between. */
static void
run_bursts(struct load *l, uint16_t begun, unsigned int burst)
{
	for (uint16_t part = 0; part < PARTS; part++) {
		uint16_t port = (uint16_t)(part + PARTS * prng_below(&l->r, 2));
		uint32_t back = (uint32_t)(FRAME * prng_below(&l->r, l->held[port] / FRAME + 1));

		if (!(begun >> part & 1))
			continue;
		if (prng_below(&l->r, 4) == 0) {
			mmu_ingress_release(l->mmu, port, LOSSY, back, 1);
			l->held[port] -= back;
			continue;
		}
		l->held[port] += (uint64_t)FRAME * admit_until_full(l->mmu, port, burst);
	}
}

TEST(parts_exceed_a_pool_by_no_more_than_all_but_one_admit_at_once)
{
	const unsigned int burst = 5;
	struct load l = {.mmu = create_parts()};
	uint64_t most = 0, held = 0;

	prng_seed(&l.r, 7, 0);
	for (unsigned int i = 0; i < 20000; i++) {
		uint16_t begun = (uint16_t)prng_below(&l.r, 1u << PARTS);

		for (uint16_t part = 0; part < PARTS; part++) {
			if (begun >> part & 1)
				mmu_part_refresh(l.mmu, part);
		}
		run_bursts(&l, begun, burst);
		for (uint16_t part = 0; part < PARTS; part++) {
			if (begun >> part & 1)
				mmu_part_publish(l.mmu, part);
		}
		held = 0;
		for (unsigned int port = 0; port < PORTS; port++)
			held += l.held[port];
		assert_int_equal(mmu_used_bytes(l.mmu), held);
		most = held > most ? held : most;
	}
	assert_true(mmu_balanced(l.mmu));
	/* The bound is kept, and reached. */
	assert_int_equal(most, POOL_BYTES + (PARTS - 1) * burst * FRAME);
	mmu_destroy(l.mmu);
}

/* As create_parts(), with a pool so large that the lag is a share of it. */
static struct mmu *
create_large_parts(void)
{
	struct mmu_params p = defaults(PORTS);
	struct mmu *mmu;

	p.buffer_bytes = LARGE_POOL_BYTES;
	memset(p.lossless_pgs, 0, sizeof(p.lossless_pgs));
	memset(p.lossless_queues, 0, sizeof(p.lossless_queues));
	p.lossy = (struct buffer_profile){.static_th_bytes = LARGE_POOL_BYTES};
	p.egress_lossless.size_bytes = p.egress_lossy.size_bytes = 0;
	mmu = mmu_create_parts(&p, PARTS, part_of_port);
	assert_non_null(mmu);
	return mmu;
}

TEST(a_part_holds_back_a_share_of_the_pool_and_no_more)
{
	struct mmu *mmu = create_large_parts();
	unsigned int lag = (unsigned int)mmu_part_lag(LARGE_POOL_BYTES, PARTS, MMU_MIN_LAG_BYTES);

	assert_int_equal(lag, LARGE_POOL_BYTES / MMU_LAG_SHARE / PARTS);
	assert_int_equal(mmu_part_lag(POOL_BYTES, PARTS, MMU_MIN_LAG_BYTES), MMU_MIN_LAG_BYTES);
	admit_until_full(mmu, 0, lag / FRAME);
	mmu_part_publish_lazily(mmu, 0);
	assert_int_equal(mmu_used_bytes(mmu), 0);
	assert_false(mmu_part_is_published(mmu, 0));
	admit_until_full(mmu, 0, 1);
	mmu_part_publish_lazily(mmu, 0);
	assert_int_equal(mmu_used_bytes(mmu), (lag / FRAME + 1) * FRAME);
	assert_true(mmu_part_is_published(mmu, 0));
	/* The same for what it releases. */
	mmu_ingress_release(mmu, 0, LOSSY, lag / FRAME * FRAME, 1);
	mmu_part_publish_lazily(mmu, 0);
	assert_int_equal(mmu_used_bytes(mmu), (lag / FRAME + 1) * FRAME);
	mmu_ingress_release(mmu, 0, LOSSY, FRAME, 1);
	mmu_part_publish_lazily(mmu, 0);
	assert_int_equal(mmu_used_bytes(mmu), 0);
	mmu_destroy(mmu);
}

TEST(headroom_is_never_held_back)
{
	struct mmu_params p = defaults(PORTS);
	struct mmu *mmu;

	p.buffer_bytes = LARGE_POOL_BYTES;
	p.lossless = (struct buffer_profile){.static_th_bytes = 1, .xoff_bytes = 10 * FRAME};
	mmu = mmu_create_parts(&p, PARTS, part_of_port);
	assert_non_null(mmu);
	assert_int_equal(mmu_ingress_admit(mmu, 0, PG, FRAME), MMU_ADMIT_HEADROOM);
	mmu_part_publish_lazily(mmu, 0);
	assert_int_equal(mmu_headroom_used_bytes(mmu), FRAME);
	mmu_ingress_release(mmu, 0, PG, FRAME, 1);
	mmu_part_publish_lazily(mmu, 0);
	assert_int_equal(mmu_headroom_used_bytes(mmu), 0);
	mmu_destroy(mmu);
}

/* Each part but the last fills its lag and then a burst, unseen by the last. */
TEST(parts_exceed_a_pool_by_a_burst_and_what_they_hold_back)
{
	struct mmu *mmu = create_large_parts();
	uint64_t lag = mmu_part_lag(LARGE_POOL_BYTES, PARTS, MMU_MIN_LAG_BYTES), sum = 0;

	for (uint16_t part = 0; part < PARTS; part++) {
		mmu_part_refresh(mmu, part);
		if (part < PARTS - 1) {
			sum += FRAME * admit_until_full(mmu, part, (unsigned int)lag / FRAME);
			mmu_part_publish_lazily(mmu, part);
			mmu_part_refresh(mmu, part);
			sum += FRAME * admit_until_full(mmu, part, 5);
		} else
			sum += FRAME * admit_until_full(mmu, part, LARGE_POOL_BYTES);
	}
	assert_int_equal(sum, LARGE_POOL_BYTES + (PARTS - 1) * (lag / FRAME + 5) * FRAME);
	mmu_destroy(mmu);
}

TEST(a_pool_s_watermark_is_the_highest_that_a_part_has_seen)
{
	struct mmu *mmu = create_parts();

	admit_until_full(mmu, 0, 30);
	mmu_part_publish(mmu, 0);
	mmu_part_refresh(mmu, 2);
	admit_until_full(mmu, 2, 20);
	mmu_part_publish(mmu, 2);
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_POOL, 0, MMU_INGRESS_LOSSLESS),
			 50 * FRAME);
	/* A part clears its own groups and its own sight. */
	mmu_ingress_release(mmu, 0, LOSSY, 30 * FRAME, 1);
	mmu_ingress_release(mmu, 2, LOSSY, 20 * FRAME, 1);
	mmu_part_clear_watermarks(mmu, 2, MMU_WATERMARK_PG);
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_PG, 0, LOSSY), 30 * FRAME);
	assert_int_equal(mmu_watermark_bytes(mmu, MMU_WATERMARK_PG, 2, LOSSY), 0);
	mmu_destroy(mmu);
}

TEST_MAIN()
