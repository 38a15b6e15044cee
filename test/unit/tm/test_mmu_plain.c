/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mmu_admit_plain() and mmu_release() beside the rules one by one: in two buffers with the same
 * random traffic, changes of params and parts, every verdict, use, watermark and pause is the same.
 */
#include <stdio.h>

#include "unit/chance.h"
#include "unit/tm/mmu_test.h"

#define PORTS 6
#define HELD 400
#define STEPS 60000u

struct frame {
	struct mmu_path path;
	uint32_t bytes;
};

struct twins {
	struct mmu *plain, *exact;
	struct prng r;
	uint16_t parts;
	uint8_t part_of_port[PORTS];
	bool paused[PORTS][TM_CLASSES];
	struct frame held[HELD];
	unsigned int n_held, n_plain, n_admitted;
};

/* Small buffers, so that limits are met; each kind of limit on each side. */
static struct mmu_params
any_params(struct prng *r)
{
	struct mmu_params p = defaults(PORTS);

	p.cell_bytes = 80;
	p.buffer_bytes = any(r, 150, 400) * 1000;
	p.lossless = (struct buffer_profile){.size_bytes = any(r, 0, 2) * 800,
					     .dynamic = chance(r, 60),
					     .dynamic_th = (int8_t)(any(r, 0, 4)) - 3,
					     .static_th_bytes = any(r, 5, 20) * 1000,
					     .xon_bytes = any(r, 0, 3000),
					     .xon_offset_bytes = any(r, 0, 3000),
					     .xoff_bytes = any(r, 2, 10) * 1000};
	p.lossy = (struct buffer_profile){.size_bytes = any(r, 0, 1) * 400,
					  .dynamic = chance(r, 60),
					  .dynamic_th = (int8_t)(any(r, 0, 4)) - 3,
					  .static_th_bytes = any(r, 0, 1) * 30000};
	p.egress_lossless = (struct buffer_profile){.size_bytes = any(r, 0, 1) * 800};
	p.egress_lossy = (struct buffer_profile){.size_bytes = any(r, 0, 1) * 400,
						 .dynamic = chance(r, 60),
						 .dynamic_th = (int8_t)(any(r, 0, 4)) - 3,
						 .static_th_bytes = any(r, 0, 1) * 20000};
	p.shared_headroom_pool_bytes = chance(r, 30) ? 20000 : 0;
	p.lossy_pool_bytes = chance(r, 30) ? 50000 : 0;
	return p;
}

static enum mmu_verdict
admit_by_rules(struct mmu *mmu, const struct frame *f)
{
	const struct mmu_path *p = &f->path;
	enum mmu_verdict v = mmu_packet_admit(mmu, p->in_port, p->pg);

	if (!mmu_admitted(v))
		return v;
	v = mmu_ingress_admit(mmu, p->in_port, p->pg, f->bytes);
	if (!mmu_admitted(v)) {
		mmu_packet_release(mmu, p->in_port, p->pg, 1);
		return v;
	}
	v = mmu_egress_admit(mmu, p->out_port, p->queue, f->bytes);
	if (!mmu_admitted(v)) {
		mmu_ingress_release(mmu, p->in_port, p->pg, f->bytes);
		mmu_packet_release(mmu, p->in_port, p->pg, 1);
	}
	return v;
}

static void
same_watermark(const struct twins *t, enum mmu_watermark kind, uint16_t port, uint8_t index)
{
	assert_int_equal(mmu_watermark_bytes(t->plain, kind, port, index),
			 mmu_watermark_bytes(t->exact, kind, port, index));
}

static void
same_state(struct twins *t, const struct mmu_path *p)
{
	struct mmu_pg_state a = mmu_pg_state(t->plain, p->in_port, p->pg);
	struct mmu_pg_state b = mmu_pg_state(t->exact, p->in_port, p->pg);
	bool *paused = &t->paused[p->in_port][p->pg];
	bool wanted = mmu_pg_wants_xoff(t->exact, p->in_port, p->pg, *paused);

	assert_memory_equal(&a, &b, offsetof(struct mmu_pg_state, packets) + sizeof(a.packets));
	assert_int_equal(mmu_queue_bytes(t->plain, p->out_port, p->queue),
			 mmu_queue_bytes(t->exact, p->out_port, p->queue));
	for (unsigned int i = 0; i < MMU_POOLS; i++) {
		enum mmu_pool_id pool = (enum mmu_pool_id)i;

		assert_int_equal(mmu_pool_used_bytes(t->plain, pool),
				 mmu_pool_used_bytes(t->exact, pool));
		assert_int_equal(mmu_pool_used_packets(t->plain, pool),
				 mmu_pool_used_packets(t->exact, pool));
		same_watermark(t, MMU_WATERMARK_POOL, 0, (uint8_t)i);
	}
	same_watermark(t, MMU_WATERMARK_PG, p->in_port, p->pg);
	same_watermark(t, MMU_WATERMARK_PG_SHARED, p->in_port, p->pg);
	same_watermark(t, MMU_WATERMARK_PG_HEADROOM, p->in_port, p->pg);
	same_watermark(t, MMU_WATERMARK_QUEUE, p->out_port, p->queue);
	assert_int_equal(mmu_pg_wants_xoff(t->plain, p->in_port, p->pg, *paused), wanted);
	*paused = wanted;
}

static void
come(struct twins *t)
{
	struct frame f = {.path = {.in_port = (uint16_t)prng_below(&t->r, PORTS),
				   .out_port = (uint16_t)prng_below(&t->r, PORTS),
				   .pg = chance(&t->r, 50) ? PG : (uint8_t)prng_below(&t->r, 2),
				   .queue = chance(&t->r, 50) ? PG : (uint8_t)prng_below(&t->r, 2)},
			  .bytes = mmu_charge_bytes(t->exact, (uint32_t)any(&t->r, 64, 1518))};
	bool paused = t->paused[f.path.in_port][f.path.pg];
	bool plain = mmu_admit_plain(t->plain, f.path, f.bytes);
	enum mmu_verdict exact = admit_by_rules(t->exact, &f), v = MMU_ADMIT;

	if (!plain)
		v = admit_by_rules(t->plain, &f);
	t->n_plain += plain;
	assert_int_equal(v, exact);
	if (plain && !paused)
		assert_false(mmu_pg_wants_xoff(t->exact, f.path.in_port, f.path.pg, false));
	if (mmu_admitted(v)) {
		t->held[t->n_held++] = f;
		t->n_admitted++;
	}
	same_state(t, &f.path);
}

static void
leave(struct twins *t)
{
	unsigned int i = (unsigned int)prng_below(&t->r, t->n_held);
	struct frame f = t->held[i];

	t->held[i] = t->held[--t->n_held];
	mmu_release(t->plain, f.path, f.bytes);
	mmu_egress_release(t->exact, f.path.out_port, f.path.queue, f.bytes);
	mmu_ingress_release(t->exact, f.path.in_port, f.path.pg, f.bytes);
	mmu_packet_release(t->exact, f.path.in_port, f.path.pg, 1);
	same_state(t, &f.path);
}

/* Parts look at each other, and change params, at the same times in both buffers. */
static void
change(struct twins *t, const struct mmu_params *p)
{
	for (uint16_t part = 0; part < t->parts; part++) {
		mmu_part_set_params(t->plain, part, p);
		mmu_part_set_params(t->exact, part, p);
	}
}

static void
meet(struct twins *t)
{
	uint16_t part = (uint16_t)prng_below(&t->r, t->parts);

	mmu_part_publish(t->plain, part);
	mmu_part_publish(t->exact, part);
	part = (uint16_t)prng_below(&t->r, t->parts);
	mmu_part_refresh(t->plain, part);
	mmu_part_refresh(t->exact, part);
}

static struct mmu_params
valid_params(struct prng *r)
{
	struct mmu_params p;
	char why[256];

	do
		p = any_params(r);
	while (mmu_params_check(&p, why, sizeof(why)) != 0);
	return p;
}

static void
live(uint16_t parts, bool packets, uint64_t seed)
{
	struct twins t = {.parts = parts};
	struct mmu_params p;
	unsigned int full = HELD / 2;

	prng_seed(&t.r, seed, 0);
	for (unsigned int i = 0; i < PORTS; i++)
		t.part_of_port[i] = (uint8_t)(i % parts);
	p = valid_params(&t.r);
	/* Few, so that packets are a limit, too. */
	p.packets = packets ? (uint32_t)mmu_params_packets(&p, 1200) : 0;
	t.plain = mmu_create_parts(&p, parts, t.part_of_port);
	t.exact = mmu_create_parts(&p, parts, t.part_of_port);
	assert_non_null(t.plain);
	assert_non_null(t.exact);
	for (unsigned int i = 0; i < STEPS; i++) {
		if (i % 100 == 0)
			full = (unsigned int)any(&t.r, 1, HELD - 1);
		if (chance(&t.r, 20))
			meet(&t);
		if (prng_below(&t.r, 2000) == 0) {
			p = valid_params(&t.r);
			change(&t, &p);
		}
		if (t.n_held > 0 && (t.n_held >= full || chance(&t.r, 40)))
			leave(&t);
		else
			come(&t);
	}
	while (t.n_held > 0)
		leave(&t);
	/* Both ways were taken often. */
	assert_in_range(t.n_plain, t.n_admitted / 4, t.n_admitted - t.n_admitted / 100);
	mmu_destroy(t.plain);
	mmu_destroy(t.exact);
}

TEST(plain_admission_equals_the_rules_one_by_one)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		printf("seed %u\n", (unsigned int)seed);
		live(1, false, seed);
		live(1, true, seed);
	}
}

TEST(plain_admission_equals_the_rules_in_each_part)
{
	for (uint64_t seed = 1; seed <= 8; seed++) {
		printf("seed %u\n", (unsigned int)seed);
		live(3, false, seed);
		live(3, true, seed);
	}
}

TEST_MAIN()
