/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/numbers/fixed.h"
#include "base/numbers/prng.h"
#include "unit/tm/mmu_test.h"

/* The rules of the header as they are written, three counters for each PG. */
struct model_pg {
	uint64_t rsv, shr, hdr;
};

struct model {
	const struct mmu_params *p;
	uint64_t pool, shared, headroom;
	struct model_pg pgs[8][TM_CLASSES];
};

static uint64_t
model_limit(const struct model *m, const struct buffer_profile *b)
{
	uint64_t avail = m->pool - m->shared;

	if (!b->dynamic)
		return b->static_th_bytes == 0 ? UINT64_MAX / 2 : b->static_th_bytes;
	return b->dynamic_th < 0 ? avail >> -b->dynamic_th : avail << b->dynamic_th;
}

static enum mmu_verdict
model_admit(struct model *m, uint16_t port, uint8_t pg, uint64_t s)
{
	bool lossless = m->p->lossless_pgs[port] >> pg & 1;
	const struct buffer_profile *b = lossless ? &m->p->lossless : &m->p->lossy;
	struct model_pg *g = &m->pgs[port][pg];
	uint64_t first = min_u64(s, b->size_bytes - g->rsv);
	bool in_limit;

	s -= first;
	in_limit = g->shr + s <= model_limit(m, b);
	if (s == 0 || (g->hdr == 0 && in_limit && m->shared + s <= m->pool)) {
		g->rsv += first;
		g->shr += s;
		m->shared += s;
		return MMU_ADMIT;
	}
	if (!lossless)
		return in_limit ? MMU_DROP_POOL : MMU_DROP_PG_LIMIT;
	if (g->hdr + s > b->xoff_bytes || (m->p->shared_headroom_pool_bytes > 0 &&
					   m->headroom + s > m->p->shared_headroom_pool_bytes))
		return MMU_DROP_NO_HEADROOM;
	g->rsv += first;
	g->hdr += s;
	m->headroom += s;
	return MMU_ADMIT_HEADROOM;
}

static void
model_release(struct model *m, uint16_t port, uint8_t pg, uint64_t s)
{
	struct model_pg *g = &m->pgs[port][pg];
	uint64_t hdr = min_u64(s, g->hdr), shr = min_u64(s - hdr, g->shr);

	g->hdr -= hdr;
	m->headroom -= hdr;
	g->shr -= shr;
	m->shared -= shr;
	g->rsv -= s - hdr - shr;
}

#define HELD 512

/* A switch in miniature: random frames come and go; every verdict and counter equals the
 * model's. */
static void
run_against_model(const struct mmu_params *p, uint64_t seed)
{
	struct model m = {.p = p, .pool = mmu_params_budget(p).shared_bytes};
	struct {
		uint16_t port;
		uint8_t pg;
		uint32_t bytes;
	} held[HELD];
	uint64_t admitted = 0, released = 0;
	unsigned int n = 0, verdicts[MMU_DROP_QUEUE_LIMIT + 1] = {0};
	struct mmu *mmu = create(p);
	struct prng r;

	prng_seed(&r, seed, 0);
	for (int step = 0; step < 60000; step++) {
		bool growing = step / 1000 % 2 == 0;

		if (n < HELD && prng_below(&r, 8) < (growing ? 5 : 3)) {
			uint16_t port = (uint16_t)prng_below(&r, p->n_ports);
			uint8_t pg = prng_below(&r, 2) ? PG : (uint8_t)prng_below(&r, TM_CLASSES);
			uint32_t bytes = mmu_charge_bytes(mmu, 64 + (uint32_t)prng_below(&r, 1455));
			enum mmu_verdict v = mmu_ingress_admit(mmu, port, pg, bytes);

			if (v != model_admit(&m, port, pg, bytes))
				fail_msg("seed %lu step %d: verdict %d", (unsigned long)seed, step,
					 v);
			verdicts[v]++;
			if (mmu_admitted(v)) {
				held[n].port = port;
				held[n].pg = pg;
				held[n++].bytes = bytes;
				admitted += bytes;
			}
		} else if (n > 0) {
			unsigned int i = (unsigned int)prng_below(&r, n);

			mmu_ingress_release(mmu, held[i].port, held[i].pg, held[i].bytes, 1);
			model_release(&m, held[i].port, held[i].pg, held[i].bytes);
			released += held[i].bytes;
			held[i] = held[--n];
		}
		assert_int_equal(mmu_used_bytes(mmu), admitted - released);
		if (step % 97 != 0)
			continue;
		assert_true(mmu_balanced(mmu));
		for (uint16_t port = 0; port < p->n_ports; port++) {
			struct mmu_pg_state s = mmu_pg_state(mmu, port, PG);

			assert_int_equal(s.reserved_bytes, m.pgs[port][PG].rsv);
			assert_int_equal(s.shared_bytes, m.pgs[port][PG].shr);
			assert_int_equal(s.headroom_bytes, m.pgs[port][PG].hdr);
			assert_int_equal(mmu_pg_limit_bytes(mmu, port, PG),
					 model_limit(&m, &p->lossless));
		}
	}
	/* The run has seen every outcome that it is about. */
	assert_true(verdicts[MMU_ADMIT] > 1000 && verdicts[MMU_ADMIT_HEADROOM] > 100);
	assert_true(verdicts[MMU_DROP_PG_LIMIT] + verdicts[MMU_DROP_POOL] > 100);
	while (n-- > 0)
		mmu_ingress_release(mmu, held[n].port, held[n].pg, held[n].bytes, 1);
	assert_int_equal(mmu_used_bytes(mmu), 0);
	assert_int_equal(mmu_headroom_used_bytes(mmu), 0);
	assert_true(mmu_balanced(mmu));
	mmu_destroy(mmu);
}

TEST(random_runs_follow_the_rules_and_pool_empties_after_drain)
{
	struct mmu_params p = defaults(4);

	p.buffer_bytes = 200000;
	run_against_model(&p, 1);
	p.lossless.size_bytes = 2000;
	p.lossy.size_bytes = 1000;
	p.lossy.dynamic_th = -1;
	run_against_model(&p, 2);
	p.shared_headroom_pool_bytes = 15000;
	p.buffer_bytes = 120000;
	p.cell_bytes = 208;
	run_against_model(&p, 3);
	p.lossless.dynamic = p.lossy.dynamic = false;
	p.lossless.static_th_bytes = 9000;
	run_against_model(&p, 4);
}

/* switch-mmu of HPCC's simulator with one PG: alpha 1/8, resume_offset 3072, no reserve. */
struct hpcc {
	uint64_t pool, used, shared, hdr, headroom;
	bool paused;
};

static uint64_t
hpcc_limit(const struct hpcc *h)
{
	return (h->pool - h->shared) >> 3;
}

static bool
hpcc_admit(struct hpcc *h, uint64_t s)
{
	if (s + h->hdr > h->headroom && s + h->used > hpcc_limit(h))
		return false;
	if (h->used + s > hpcc_limit(h)) {
		h->hdr += s;
	} else {
		h->used += s;
		h->shared += s;
	}
	if (h->hdr > 0 || h->used >= hpcc_limit(h))
		h->paused = true;
	return true;
}

static void
hpcc_release(struct hpcc *h, uint64_t s)
{
	uint64_t from_hdr = min_u64(h->hdr, s);

	h->hdr -= from_hdr;
	h->used -= s - from_hdr;
	h->shared -= s - from_hdr;
	if (h->paused && h->hdr == 0 && (h->used == 0 || h->used + 3072 <= hpcc_limit(h)))
		h->paused = false;
}

/* With frames of one size nothing fits into shared while headroom is in use, and the two rules
 * agree. */
TEST(one_group_behaves_as_in_hpcc)
{
	struct mmu_params p = defaults(1);
	struct hpcc h = {.pool = 1000000, .headroom = 22400};
	unsigned int frames = 0, pauses = 0, drops = 0;
	bool xoff = false;
	struct mmu *mmu;
	struct prng r;

	prng_seed(&r, 5, 0);
	p.buffer_bytes = h.pool + h.headroom;
	p.lossless.dynamic_th = -3;
	p.lossless.xon_bytes = 0;
	p.lossless.xon_offset_bytes = 3072;
	mmu = create(&p);
	for (int step = 0; step < 100000; step++) {
		bool was = xoff;

		if (prng_below(&r, 9) < (step / 2000 % 2 ? 4 : 5)) {
			enum mmu_verdict v = mmu_ingress_admit(mmu, 0, PG, 1082);

			assert_int_equal(mmu_admitted(v), hpcc_admit(&h, 1082));
			frames += mmu_admitted(v);
			drops += !mmu_admitted(v);
		} else if (frames > 0) {
			mmu_ingress_release(mmu, 0, PG, 1082, 1);
			hpcc_release(&h, 1082);
			frames--;
		}
		xoff = mmu_pg_wants_xoff(mmu, 0, PG, xoff);
		pauses += xoff && !was;
		assert_int_equal(xoff, h.paused);
		assert_int_equal(mmu_pg_state(mmu, 0, PG).headroom_bytes, h.hdr);
		assert_int_equal(mmu_pg_state(mmu, 0, PG).shared_bytes, h.used);
	}
	assert_true(pauses > 10 && drops > 100);
	mmu_destroy(mmu);
}

TEST_MAIN()
