/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs that fit and are charged at once, beside their frames one by one: in two buffers with the
 * same random traffic, changes of params and parts, every verdict, use, watermark and pause is the
 * same.
 */
#include <stdio.h>

#include "unit/chance.h"
#include "unit/tm/mmu_test.h"

#define PORTS 6
#define HELD 400
#define RUN 32
#define STEPS 30000u

/* The group and the queue of a frame. */
struct path {
	uint16_t in_port, out_port;
	uint8_t pg, queue;
};

struct frame {
	struct path path;
	uint32_t bytes;
};

struct twins {
	struct mmu *runs, *exact;
	struct prng r;
	uint16_t parts;
	uint8_t part_of_port[PORTS];
	bool paused[PORTS][TM_CLASSES];
	struct frame held[HELD];
	unsigned int n_held;
	/* frames that entered as a run, those of them that entered headroom, and others */
	unsigned int n_runs, n_headroom, n_others;
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
	const struct path *p = &f->path;
	enum mmu_verdict v = mmu_ingress_admit(mmu, p->in_port, p->pg, f->bytes);

	if (!mmu_admitted(v))
		return v;
	v = mmu_egress_admit(mmu, p->out_port, p->queue, f->bytes);
	if (!mmu_admitted(v))
		mmu_ingress_release(mmu, p->in_port, p->pg, f->bytes, 1);
	return v;
}

static void
same_watermark(const struct twins *t, enum mmu_watermark kind, uint16_t port, uint8_t index)
{
	assert_int_equal(mmu_watermark_bytes(t->runs, kind, port, index),
			 mmu_watermark_bytes(t->exact, kind, port, index));
}

static void
same_state(struct twins *t, const struct path *p)
{
	struct mmu_pg_state a = mmu_pg_state(t->runs, p->in_port, p->pg);
	struct mmu_pg_state b = mmu_pg_state(t->exact, p->in_port, p->pg);
	bool *paused = &t->paused[p->in_port][p->pg];
	bool wanted = mmu_pg_wants_xoff(t->exact, p->in_port, p->pg, *paused);

	assert_memory_equal(&a, &b, offsetof(struct mmu_pg_state, packets) + sizeof(a.packets));
	assert_int_equal(mmu_queue_bytes(t->runs, p->out_port, p->queue),
			 mmu_queue_bytes(t->exact, p->out_port, p->queue));
	for (unsigned int i = 0; i < MMU_POOLS; i++) {
		enum mmu_pool_id pool = (enum mmu_pool_id)i;

		assert_int_equal(mmu_pool_used_bytes(t->runs, pool),
				 mmu_pool_used_bytes(t->exact, pool));
		assert_int_equal(mmu_pool_used_packets(t->runs, pool),
				 mmu_pool_used_packets(t->exact, pool));
		same_watermark(t, MMU_WATERMARK_POOL, 0, (uint8_t)i);
	}
	same_watermark(t, MMU_WATERMARK_PG, p->in_port, p->pg);
	same_watermark(t, MMU_WATERMARK_PG_SHARED, p->in_port, p->pg);
	same_watermark(t, MMU_WATERMARK_PG_HEADROOM, p->in_port, p->pg);
	same_watermark(t, MMU_WATERMARK_QUEUE, p->out_port, p->queue);
	assert_int_equal(mmu_pg_wants_xoff(t->runs, p->in_port, p->pg, *paused), wanted);
	*paused = wanted;
}

static struct path
any_path(struct twins *t, uint16_t in_port)
{
	return (struct path){.in_port = in_port,
			     .out_port = (uint16_t)prng_below(&t->r, PORTS),
			     .pg = chance(&t->r, 50) ? PG : (uint8_t)prng_below(&t->r, 2),
			     .queue = chance(&t->r, 50) ? PG : (uint8_t)prng_below(&t->r, 2)};
}

/* Frames to one queue. @return their sum. */
static struct mmu_frames
any_run(struct twins *t, struct path path, struct frame run[RUN])
{
	unsigned int n = chance(&t->r, 50) ? 1 : (unsigned int)any(&t->r, 2, RUN);
	struct mmu_frames sum = {0};

	n = n < HELD - t->n_held ? n : HELD - t->n_held;
	while (sum.packets < n) {
		uint32_t bytes = mmu_charge_bytes(t->exact, (uint32_t)any(&t->r, 64, 1518));

		run[sum.packets++] = (struct frame){.path = path, .bytes = bytes};
		sum.bytes += bytes;
	}
	return sum;
}

/* One by one, in both buffers. */
static void
enter_by_rules(struct twins *t, const struct frame *f)
{
	enum mmu_verdict v = admit_by_rules(t->exact, f);

	assert_int_equal(admit_by_rules(t->runs, f), v);
	if (mmu_admitted(v)) {
		t->held[t->n_held++] = *f;
		t->n_others++;
	}
	same_state(t, &f->path);
}

static void
enter_as_run(struct twins *t, const struct frame run[], struct mmu_frames sum)
{
	struct path p = run[0].path;

	mmu_ingress_charge(t->runs, p.in_port, p.pg, sum);
	mmu_egress_charge(t->runs, p.out_port, p.queue, sum.bytes);
	for (unsigned int i = 0; i < sum.packets; i++) {
		assert_true(mmu_admitted(admit_by_rules(t->exact, &run[i])));
		t->held[t->n_held++] = run[i];
	}
	t->n_runs += sum.packets;
	if (mmu_pg_state(t->exact, p.in_port, p.pg).headroom_bytes > 0)
		t->n_headroom += sum.packets;
}

/*
 * A run of a burst. If it fits, frames of another group that are in the burst, too, may come before
 * it and take what they get.
 */
static void
come(struct twins *t)
{
	uint16_t port = (uint16_t)prng_below(&t->r, PORTS);
	struct path p = any_path(t, port);
	struct frame run[RUN], other = {.path = any_path(t, port), .bytes = 800};
	struct mmu_frames sum = any_run(t, p, run), burst = sum;
	bool others = chance(&t->r, 30) && t->n_held + RUN < HELD && other.path.pg != p.pg &&
		      other.path.queue != p.queue && t->parts == 1;
	bool paused = t->paused[port][p.pg], in_bounds;

	burst.bytes += others * other.bytes;
	burst.packets += others;
	in_bounds = mmu_ingress_in_bounds(t->runs, port, p.pg, sum, burst);
	if (!mmu_ingress_fits(t->runs, port, p.pg, sum, burst) ||
	    !mmu_egress_fits(t->runs, p.out_port, p.queue, burst.bytes)) {
		for (unsigned int i = 0; i < sum.packets; i++)
			enter_by_rules(t, &run[i]);
		return;
	}
	if (others)
		enter_by_rules(t, &other);
	enter_as_run(t, run, sum);
	if (in_bounds && !paused)
		assert_false(mmu_pg_wants_xoff(t->exact, port, p.pg, false));
	same_state(t, &p);
}

static void
release(struct twins *t, const struct frame *f)
{
	struct mmu *both[] = {t->runs, t->exact};

	for (unsigned int i = 0; i < 2; i++) {
		mmu_egress_release(both[i], f->path.out_port, f->path.queue, f->bytes);
		mmu_ingress_release(both[i], f->path.in_port, f->path.pg, f->bytes, 1);
	}
}

static void
leave(struct twins *t)
{
	unsigned int i = (unsigned int)prng_below(&t->r, t->n_held);
	struct frame f = t->held[i];

	t->held[i] = t->held[--t->n_held];
	release(t, &f);
	same_state(t, &f.path);
}

/* Parts look at each other, and change params, at the same times in both buffers. */
static void
change(struct twins *t, const struct mmu_params *p)
{
	for (uint16_t part = 0; part < t->parts; part++) {
		mmu_part_set_params(t->runs, part, p);
		mmu_part_set_params(t->exact, part, p);
	}
}

static void
meet(struct twins *t)
{
	uint16_t part = (uint16_t)prng_below(&t->r, t->parts);

	mmu_part_publish(t->runs, part);
	mmu_part_publish(t->exact, part);
	part = (uint16_t)prng_below(&t->r, t->parts);
	mmu_part_refresh(t->runs, part);
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

/* @return the frames that entered headroom in runs. */
static unsigned int
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
	t.runs = mmu_create_parts(&p, parts, t.part_of_port);
	t.exact = mmu_create_parts(&p, parts, t.part_of_port);
	assert_non_null(t.runs);
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
	assert_in_range(t.n_others, t.n_runs / 10, t.n_runs * 10);
	mmu_destroy(t.runs);
	mmu_destroy(t.exact);
	return t.n_headroom;
}

static void
live_often(uint16_t parts)
{
	unsigned int headroom = 0;

	for (uint64_t seed = 1; seed <= 8; seed++) {
		printf("seed %u\n", (unsigned int)seed);
		headroom += live(parts, false, seed);
		headroom += live(parts, true, seed);
	}
	assert_true(headroom > 100);
}

TEST(a_run_that_fits_takes_what_its_frames_would)
{
	live_often(1);
}

TEST(so_it_does_in_each_part)
{
	live_often(3);
}

TEST_MAIN()
