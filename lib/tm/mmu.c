// SPDX-License-Identifier: BSD-3-Clause
#include "tm/mmu.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/fixed.h"

#define ALPHA_BITS 8 /* dynamic_th -8 is 1/256 */
#define UNLIMITED (UINT64_MAX / 2)

/*
 * Reserved is filled first and emptied last, so whenever a PG holds shared or headroom bytes its
 * reserved is full: the total and the headroom are enough to know all three.
 */
struct pg {
	uint64_t used_bytes;
	uint64_t headroom_bytes;
	uint64_t watermark_bytes;
	uint64_t headroom_watermark_bytes;
};

struct queue {
	uint64_t used_bytes;
	uint64_t watermark_bytes;
};

/* A profile as the data path wants it: limit = fixed + free * alpha, one of the terms being 0. */
struct rule {
	uint64_t reserved_bytes;
	uint64_t fixed_bytes;
	uint64_t alpha_q8;
	uint64_t headroom_bytes; /* 0: lossy */
	uint64_t xon_bytes;
	uint64_t xon_offset_bytes; /* at least 1: XON lies below XOFF */
	bool lossless;
	bool unlimited;
};

/* What all PGs (or all queues) share. In one place: lcores would share just this. */
struct pool {
	uint64_t size_bytes;
	uint64_t shared_used_bytes;
	uint64_t used_bytes;
	uint64_t watermark_bytes;
};

struct mmu {
	struct pool ingress;
	struct pool egress;
	uint64_t headroom_used_bytes;
	uint64_t headroom_size_bytes; /* shared headroom pool; UINT64_MAX when dedicated */
	struct rule pg_rule[TM_CLASSES];
	struct rule queue_rule[TM_CLASSES];
	uint16_t n_ports;
	uint16_t cell_bytes;
	struct queue *queues; /* port * TM_CLASSES + queue */
	struct pg pgs[];      /* port * TM_CLASSES + pg */
};

static struct rule
make_rule(const struct buffer_profile *b, bool lossless)
{
	struct rule r = {
		.reserved_bytes = b->size_bytes,
		.headroom_bytes = lossless ? b->xoff_bytes : 0,
		.xon_bytes = b->xon_bytes,
		.xon_offset_bytes = max_u64(b->xon_offset_bytes, 1),
		.lossless = lossless,
		.unlimited = !b->dynamic && b->static_th_bytes == 0,
	};

	if (b->dynamic)
		r.alpha_q8 = 1ull << (b->dynamic_th + ALPHA_BITS);
	else
		r.fixed_bytes = r.unlimited ? UNLIMITED : b->static_th_bytes;
	return r;
}

struct mmu *
mmu_create(const struct mmu_params *params)
{
	struct mmu_budget budget = mmu_params_budget(params);
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
	if (mmu->queues == NULL) {
		free(mmu);
		return NULL;
	}
	mmu->n_ports = params->n_ports;
	mmu->cell_bytes = params->cell_bytes;
	mmu->ingress.size_bytes = budget.shared_bytes;
	mmu->egress.size_bytes = budget.egress_shared_bytes;
	mmu->headroom_size_bytes = params->shared_headroom_pool_bytes > 0
					   ? params->shared_headroom_pool_bytes
					   : UINT64_MAX;
	for (unsigned int i = 0; i < TM_CLASSES; i++) {
		bool lossless_pg = params->lossless_pgs >> i & 1;
		bool lossless_queue = params->lossless_queues >> i & 1;

		mmu->pg_rule[i] =
			make_rule(lossless_pg ? &params->lossless : &params->lossy, lossless_pg);
		mmu->queue_rule[i] = make_rule(
			lossless_queue ? &params->egress_lossless : &params->egress_lossy, false);
	}
	return mmu;
}

void
mmu_destroy(struct mmu *mmu)
{
	if (mmu == NULL)
		return;
	free(mmu->queues);
	free(mmu);
}

uint32_t
mmu_charge_bytes(const struct mmu *mmu, uint32_t frame_bytes)
{
	if (mmu->cell_bytes == 0)
		return frame_bytes;
	return (frame_bytes + mmu->cell_bytes - 1) / mmu->cell_bytes * mmu->cell_bytes;
}

static inline struct pg *
pg_at(struct mmu *mmu, uint16_t port, uint8_t pg)
{
	assert(port < mmu->n_ports && pg < TM_CLASSES);
	return &mmu->pgs[port * TM_CLASSES + pg];
}

static inline struct queue *
queue_at(struct mmu *mmu, uint16_t port, uint8_t queue)
{
	assert(port < mmu->n_ports && queue < TM_CLASSES);
	return &mmu->queues[port * TM_CLASSES + queue];
}

static inline uint64_t
pg_shared(const struct pg *pg, const struct rule *rule)
{
	return sub_sat(pg->used_bytes - pg->headroom_bytes, rule->reserved_bytes);
}

static inline uint64_t
free_bytes(const struct pool *pool)
{
	return sub_sat(pool->size_bytes, pool->shared_used_bytes);
}

/* At most 2^40 bytes (mmu_params_check) times 2^15. */
static inline uint64_t
limit_bytes(const struct pool *pool, const struct rule *rule)
{
	return rule->fixed_bytes + (free_bytes(pool) * rule->alpha_q8 >> ALPHA_BITS);
}

static inline void
pool_charge(struct pool *pool, uint32_t bytes, uint64_t shared_bytes)
{
	pool->shared_used_bytes += shared_bytes;
	pool->used_bytes += bytes;
	if (pool->used_bytes > pool->watermark_bytes)
		pool->watermark_bytes = pool->used_bytes;
}

static inline void
pool_release(struct pool *pool, uint32_t bytes, uint64_t shared_bytes)
{
	assert(pool->used_bytes >= bytes && pool->shared_used_bytes >= shared_bytes);
	pool->shared_used_bytes -= shared_bytes;
	pool->used_bytes -= bytes;
}

static inline void
pg_charge(struct mmu *mmu, struct pg *pg, uint32_t bytes, uint64_t shared_bytes)
{
	pg->used_bytes += bytes;
	if (pg->used_bytes > pg->watermark_bytes)
		pg->watermark_bytes = pg->used_bytes;
	pool_charge(&mmu->ingress, bytes, shared_bytes);
}

/* Rule 3: what reserved does not hold goes to headroom, the PG's own or of the shared headroom
 * pool. */
static enum mmu_verdict
admit_headroom(struct mmu *mmu, struct pg *pg, const struct rule *rule, uint32_t bytes,
	       uint64_t beyond_bytes)
{
	if (pg->headroom_bytes + beyond_bytes > rule->headroom_bytes ||
	    mmu->headroom_used_bytes + beyond_bytes > mmu->headroom_size_bytes)
		return MMU_DROP_NO_HEADROOM;
	mmu->headroom_used_bytes += beyond_bytes;
	pg->headroom_bytes += beyond_bytes;
	if (pg->headroom_bytes > pg->headroom_watermark_bytes)
		pg->headroom_watermark_bytes = pg->headroom_bytes;
	pg_charge(mmu, pg, bytes, 0);
	return MMU_ADMIT_HEADROOM;
}

enum mmu_verdict
mmu_ingress_admit(struct mmu *mmu, uint16_t port, uint8_t pg_index, uint32_t bytes)
{
	struct pg *pg = pg_at(mmu, port, pg_index);
	const struct rule *rule = &mmu->pg_rule[pg_index];
	/* Rule 1: the part that reserved does not hold; 0 when all fits. */
	uint64_t beyond_bytes =
		min_u64(bytes, sub_sat(pg->used_bytes + bytes, rule->reserved_bytes));
	bool in_limit = pg_shared(pg, rule) + beyond_bytes <= limit_bytes(&mmu->ingress, rule);
	bool in_pool = beyond_bytes <= free_bytes(&mmu->ingress);

	/*
	 * Rule 2. While headroom holds anything the peer is still paused, and taking shared bytes
	 * would let the PG swing between the two.
	 */
	if (beyond_bytes == 0 || (pg->headroom_bytes == 0 && in_limit && in_pool)) {
		pg_charge(mmu, pg, bytes, beyond_bytes);
		return MMU_ADMIT;
	}
	if (rule->lossless)
		return admit_headroom(mmu, pg, rule, bytes, beyond_bytes);
	return in_limit ? MMU_DROP_POOL : MMU_DROP_PG_LIMIT;
}

void
mmu_ingress_release(struct mmu *mmu, uint16_t port, uint8_t pg_index, uint32_t bytes)
{
	struct pg *pg = pg_at(mmu, port, pg_index);
	const struct rule *rule = &mmu->pg_rule[pg_index];
	uint64_t from_headroom = min_u64(bytes, pg->headroom_bytes);
	uint64_t from_shared = min_u64(bytes - from_headroom, pg_shared(pg, rule));

	assert(pg->used_bytes >= bytes);
	pg->headroom_bytes -= from_headroom;
	mmu->headroom_used_bytes -= from_headroom;
	pg->used_bytes -= bytes;
	pool_release(&mmu->ingress, bytes, from_shared);
}

enum mmu_verdict
mmu_egress_admit(struct mmu *mmu, uint16_t port, uint8_t queue_index, uint32_t bytes)
{
	struct queue *q = queue_at(mmu, port, queue_index);
	const struct rule *rule = &mmu->queue_rule[queue_index];
	uint64_t shared_bytes = sub_sat(q->used_bytes, rule->reserved_bytes);
	uint64_t beyond_bytes = sub_sat(q->used_bytes + bytes, rule->reserved_bytes) - shared_bytes;

	/* Copies of a flooded frame may add up to more than the buffer: no limit means no drop. */
	if (beyond_bytes > 0 && !rule->unlimited) {
		if (shared_bytes + beyond_bytes > limit_bytes(&mmu->egress, rule))
			return MMU_DROP_QUEUE_LIMIT;
		if (beyond_bytes > free_bytes(&mmu->egress))
			return MMU_DROP_POOL;
	}
	q->used_bytes += bytes;
	if (q->used_bytes > q->watermark_bytes)
		q->watermark_bytes = q->used_bytes;
	pool_charge(&mmu->egress, bytes, beyond_bytes);
	return MMU_ADMIT;
}

void
mmu_egress_release(struct mmu *mmu, uint16_t port, uint8_t queue_index, uint32_t bytes)
{
	struct queue *q = queue_at(mmu, port, queue_index);
	const struct rule *rule = &mmu->queue_rule[queue_index];
	uint64_t from_shared = min_u64(bytes, sub_sat(q->used_bytes, rule->reserved_bytes));

	assert(q->used_bytes >= bytes);
	q->used_bytes -= bytes;
	pool_release(&mmu->egress, bytes, from_shared);
}

bool
mmu_pg_wants_xoff(const struct mmu *mmu, uint16_t port, uint8_t pg_index, bool xoff_now)
{
	const struct pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];
	const struct rule *rule = &mmu->pg_rule[pg_index];
	uint64_t shared_bytes, limit;
	bool above_xon;

	assert(port < mmu->n_ports && pg_index < TM_CLASSES);
	if (!rule->lossless)
		return false;
	if (pg->headroom_bytes > 0)
		return true;
	shared_bytes = pg_shared(pg, rule);
	limit = limit_bytes(&mmu->ingress, rule);
	/* Tested on the way up too: a limit below xon must not make a PG flap, nor stop an empty
	 * one. */
	above_xon = shared_bytes > rule->xon_bytes &&
		    shared_bytes > sub_sat(limit, rule->xon_offset_bytes);
	return above_xon && (xoff_now || shared_bytes >= limit);
}

struct mmu_pg_state
mmu_pg_state(const struct mmu *mmu, uint16_t port, uint8_t pg_index)
{
	const struct pg *pg = pg_at((struct mmu *)mmu, port, pg_index);
	uint64_t shared_bytes = pg_shared(pg, &mmu->pg_rule[pg_index]);

	return (struct mmu_pg_state){
		.reserved_bytes = pg->used_bytes - pg->headroom_bytes - shared_bytes,
		.shared_bytes = shared_bytes,
		.headroom_bytes = pg->headroom_bytes,
		.watermark_bytes = pg->watermark_bytes,
		.headroom_watermark_bytes = pg->headroom_watermark_bytes,
	};
}

uint64_t
mmu_queue_bytes(const struct mmu *mmu, uint16_t port, uint8_t queue)
{
	return queue_at((struct mmu *)mmu, port, queue)->used_bytes;
}

uint64_t
mmu_queue_watermark_bytes(const struct mmu *mmu, uint16_t port, uint8_t queue)
{
	return queue_at((struct mmu *)mmu, port, queue)->watermark_bytes;
}

uint64_t
mmu_used_bytes(const struct mmu *mmu)
{
	return mmu->ingress.used_bytes;
}

uint64_t
mmu_used_watermark_bytes(const struct mmu *mmu)
{
	return mmu->ingress.watermark_bytes;
}

uint64_t
mmu_headroom_used_bytes(const struct mmu *mmu)
{
	return mmu->headroom_used_bytes;
}

uint64_t
mmu_pg_limit_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg)
{
	assert(port < mmu->n_ports && pg < TM_CLASSES);
	return limit_bytes(&mmu->ingress, &mmu->pg_rule[pg]);
}

bool
mmu_balanced(const struct mmu *mmu)
{
	uint64_t used = 0, shared = 0, headroom = 0, queued = 0, queued_shared = 0;

	for (unsigned int i = 0; i < mmu->n_ports * TM_CLASSES; i++) {
		const struct rule *pg_rule = &mmu->pg_rule[i % TM_CLASSES];
		const struct rule *queue_rule = &mmu->queue_rule[i % TM_CLASSES];

		if (mmu->pgs[i].headroom_bytes > pg_rule->headroom_bytes)
			return false;
		used += mmu->pgs[i].used_bytes;
		headroom += mmu->pgs[i].headroom_bytes;
		shared += pg_shared(&mmu->pgs[i], pg_rule);
		queued += mmu->queues[i].used_bytes;
		queued_shared += sub_sat(mmu->queues[i].used_bytes, queue_rule->reserved_bytes);
	}
	return used == mmu->ingress.used_bytes && shared == mmu->ingress.shared_used_bytes &&
	       shared <= mmu->ingress.size_bytes && headroom == mmu->headroom_used_bytes &&
	       headroom <= mmu->headroom_size_bytes && queued == mmu->egress.used_bytes &&
	       queued_shared == mmu->egress.shared_used_bytes;
}
