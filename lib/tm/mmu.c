// SPDX-License-Identifier: BSD-3-Clause
#include "tm/mmu.h"

#include <errno.h>
#include <stdlib.h>

#define UNLIMITED (UINT64_MAX / 2)

/* A profile makes four rules: of a lossy and of a lossless group, and of such queues. */
enum { RULE_PG, RULE_QUEUE, RULE_SIDES };
#define RULES_PER_PROFILE (2 * RULE_SIDES)

static struct mmu_rule
make_rule(const struct buffer_profile *b, struct mmu_pool *pool, bool lossless)
{
	struct mmu_rule r = {
		.pool = pool,
		.reserved_bytes = b->size_bytes,
		.headroom_bytes = lossless ? b->xoff_bytes : 0,
		.xon_bytes = b->xon_bytes,
		.xon_offset_bytes = max_u64(b->xon_offset_bytes, 1),
		.lossless = lossless,
		.unlimited = !b->dynamic && b->static_th_bytes == 0,
	};

	if (b->dynamic)
		r.alpha_q8 = 1u << (b->dynamic_th + MMU_ALPHA_BITS);
	else
		r.fixed_bytes = r.unlimited ? UNLIMITED : b->static_th_bytes;
	return r;
}

static struct mmu_rule *
rule_at(struct mmu *mmu, uint8_t profile, unsigned int side, bool lossless)
{
	return &mmu->rules[profile * RULES_PER_PROFILE + 2 * side + lossless];
}

static void
make_pools(struct mmu *mmu, const struct mmu_params *params)
{
	struct mmu_budget b = mmu_params_budget(params);

	mmu->pools[MMU_INGRESS_LOSSLESS].size_bytes = b.shared_bytes;
	mmu->pools[MMU_INGRESS_LOSSY].size_bytes = b.lossy_bytes;
	mmu->pools[MMU_EGRESS_LOSSLESS].size_bytes = b.egress_shared_bytes;
	mmu->pools[MMU_EGRESS_LOSSY].size_bytes = b.egress_lossy_bytes;
	mmu->headroom_size_bytes = params->shared_headroom_pool_bytes > 0
					   ? params->shared_headroom_pool_bytes
					   : UINT64_MAX;
}

static void
make_rules(struct mmu *mmu, const struct mmu_params *p)
{
	struct mmu_pool *lossless_pool = &mmu->pools[MMU_INGRESS_LOSSLESS];
	struct mmu_pool *lossy_pool =
		&mmu->pools[p->lossy_pool_bytes > 0 ? MMU_INGRESS_LOSSY : MMU_INGRESS_LOSSLESS];
	struct mmu_pool *egress_lossy_pool =
		&mmu->pools[p->egress_lossy_pool_bytes > 0 ? MMU_EGRESS_LOSSY
							   : MMU_EGRESS_LOSSLESS];

	for (unsigned int i = 0; i <= p->n_profiles; i++) {
		const struct buffer_profile *own = i > 0 ? &p->profiles[i - 1] : NULL;
		uint8_t n = (uint8_t)i;

		*rule_at(mmu, n, RULE_PG, false) =
			make_rule(own != NULL ? own : &p->lossy, lossy_pool, false);
		*rule_at(mmu, n, RULE_PG, true) =
			make_rule(own != NULL ? own : &p->lossless, lossless_pool, true);
		*rule_at(mmu, n, RULE_QUEUE, false) =
			make_rule(own != NULL ? own : &p->egress_lossy, egress_lossy_pool, false);
		*rule_at(mmu, n, RULE_QUEUE, true) =
			make_rule(own != NULL ? own : &p->egress_lossless,
				  &mmu->pools[MMU_EGRESS_LOSSLESS], false);
	}
}

static void
bind_rules(struct mmu *mmu, const struct mmu_params *p)
{
	for (unsigned int i = 0; i < p->n_ports * TM_CLASSES; i++) {
		unsigned int port = i / TM_CLASSES, n = i % TM_CLASSES;

		mmu->pgs[i].rule =
			rule_at(mmu, p->pg_profile[port][n], RULE_PG, p->lossless_pgs >> n & 1);
		mmu->queues[i].rule = rule_at(mmu, p->queue_profile[port][n], RULE_QUEUE,
					      p->lossless_queues >> n & 1);
	}
}

struct mmu *
mmu_create(const struct mmu_params *params)
{
	size_t n = (size_t)params->n_ports * TM_CLASSES;
	char why[256];
	struct mmu *mmu;

	if (mmu_params_check(params, why, sizeof(why)) < 0) {
		errno = EINVAL;
		return NULL;
	}
	mmu = calloc(1, sizeof(*mmu) + n * sizeof(mmu->pgs[0]));
	if (mmu == NULL)
		return NULL;
	mmu->queues = calloc(n, sizeof(mmu->queues[0]));
	mmu->rules = calloc((params->n_profiles + 1u) * RULES_PER_PROFILE, sizeof(mmu->rules[0]));
	if (mmu->queues == NULL || mmu->rules == NULL) {
		mmu_destroy(mmu);
		errno = ENOMEM;
		return NULL;
	}
	mmu->n_ports = params->n_ports;
	mmu->cell_bytes = params->cell_bytes;
	make_pools(mmu, params);
	make_rules(mmu, params);
	bind_rules(mmu, params);
	return mmu;
}

void
mmu_destroy(struct mmu *mmu)
{
	if (mmu == NULL)
		return;
	free(mmu->queues);
	free(mmu->rules);
	free(mmu);
}

/* What reserved does not hold goes to headroom, the PG's own or of the shared headroom pool. */
enum mmu_verdict
mmu_admit_headroom(struct mmu *mmu, struct mmu_pg *pg, uint32_t bytes, uint64_t beyond_bytes)
{
	if (pg->headroom_bytes + beyond_bytes > pg->rule->headroom_bytes ||
	    mmu->headroom_used_bytes + beyond_bytes > mmu->headroom_size_bytes)
		return MMU_DROP_NO_HEADROOM;
	mmu->headroom_used_bytes += beyond_bytes;
	mmu_peak_raise(&mmu->headroom_peak, mmu->headroom_used_bytes);
	pg->headroom_bytes += beyond_bytes;
	mmu_peak_raise(&pg->headroom_peak, pg->headroom_bytes);
	pg->used_bytes += bytes;
	mmu_peak_raise(&pg->peak, pg->used_bytes);
	mmu_pool_charge(pg->rule->pool, bytes, 0);
	return MMU_ADMIT_HEADROOM;
}

static const struct mmu_pg *
pg_at(const struct mmu *mmu, uint16_t port, uint8_t pg)
{
	assert(port < mmu->n_ports && pg < TM_CLASSES);
	return &mmu->pgs[port * TM_CLASSES + pg];
}

static const struct mmu_queue *
queue_at(const struct mmu *mmu, uint16_t port, uint8_t queue)
{
	assert(port < mmu->n_ports && queue < TM_CLASSES);
	return &mmu->queues[port * TM_CLASSES + queue];
}

struct mmu_pg_state
mmu_pg_state(const struct mmu *mmu, uint16_t port, uint8_t pg_index)
{
	const struct mmu_pg *pg = pg_at(mmu, port, pg_index);
	uint64_t shared_bytes = mmu_pg_shared(pg);

	return (struct mmu_pg_state){
		.reserved_bytes = pg->used_bytes - pg->headroom_bytes - shared_bytes,
		.shared_bytes = shared_bytes,
		.headroom_bytes = pg->headroom_bytes,
	};
}

uint64_t
mmu_queue_bytes(const struct mmu *mmu, uint16_t port, uint8_t queue)
{
	return queue_at(mmu, port, queue)->used_bytes;
}

uint64_t
mmu_used_bytes(const struct mmu *mmu)
{
	return mmu->pools[MMU_INGRESS_LOSSLESS].used_bytes +
	       mmu->pools[MMU_INGRESS_LOSSY].used_bytes;
}

uint64_t
mmu_headroom_used_bytes(const struct mmu *mmu)
{
	return mmu->headroom_used_bytes;
}

uint64_t
mmu_pg_limit_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg)
{
	return mmu_limit(pg_at(mmu, port, pg)->rule);
}

uint64_t
mmu_pool_used_bytes(const struct mmu *mmu, enum mmu_pool_id pool)
{
	return mmu->pools[pool].used_bytes;
}

uint64_t
mmu_pool_size_bytes(const struct mmu *mmu, enum mmu_pool_id pool)
{
	return mmu->pools[pool].size_bytes;
}

/* What the parts of one pool add up to. */
struct sum {
	uint64_t used, shared;
};

static bool
agrees(const struct mmu_pool *pool, const struct sum *sum, bool within)
{
	return sum->used == pool->used_bytes && sum->shared == pool->shared_used_bytes &&
	       (!within || sum->shared <= pool->size_bytes);
}

bool
mmu_balanced(const struct mmu *mmu)
{
	struct sum sums[MMU_POOLS] = {0};
	uint64_t headroom = 0;

	for (unsigned int i = 0; i < mmu->n_ports * TM_CLASSES; i++) {
		const struct mmu_pg *pg = &mmu->pgs[i];
		const struct mmu_queue *q = &mmu->queues[i];
		struct sum *in = &sums[pg->rule->pool - mmu->pools];
		struct sum *out = &sums[q->rule->pool - mmu->pools];

		if (pg->headroom_bytes > pg->rule->headroom_bytes)
			return false;
		headroom += pg->headroom_bytes;
		in->used += pg->used_bytes;
		in->shared += mmu_pg_shared(pg);
		out->used += q->used_bytes;
		out->shared += sub_sat(q->used_bytes, q->rule->reserved_bytes);
	}
	/* Queues without a limit may hold more than the buffer: copies of flooded frames. */
	for (unsigned int i = 0; i < MMU_POOLS; i++) {
		if (!agrees(&mmu->pools[i], &sums[i], i <= MMU_INGRESS_LOSSY))
			return false;
	}
	return headroom == mmu->headroom_used_bytes && headroom <= mmu->headroom_size_bytes;
}
