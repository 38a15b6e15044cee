// SPDX-License-Identifier: BSD-3-Clause
#include "tm/buffer/mmu.h"

#include "base/threads/counter.h"
#include "base/threads/words.h"

/*
 * Charge the bytes beyond the reserved ones to headroom. They must fit into the PG's headroom, and
 * into the shared headroom pool if there is one.
 */
enum mmu_verdict
mmu_admit_headroom(struct mmu_pg *pg, uint32_t bytes, uint64_t beyond_bytes)
{
	struct mmu_part *part = pg->rule->part;

	if (pg->headroom_bytes + beyond_bytes > pg->headroom_size_bytes ||
	    part->headroom_used_bytes + beyond_bytes > part->headroom_size_bytes)
		return MMU_DROP_NO_HEADROOM;
	part->headroom_used_bytes += beyond_bytes;
	mmu_peak_raise(&part->headroom_peak, part->headroom_used_bytes);
	pg->headroom_bytes += beyond_bytes;
	mmu_peak_raise(&pg->headroom_peak, pg->headroom_bytes);
	pg->used_bytes += bytes;
	mmu_peak_raise(&pg->peak, pg->used_bytes);
	mmu_pool_charge(pg->rule->pool, bytes, 0);
	return MMU_ADMIT_HEADROOM;
}

void
mmu_release_headroom(struct mmu_pg *pg, uint32_t bytes, uint32_t packets)
{
	mmu_pg_release(pg, bytes);
	mmu_pg_release_packets(pg, packets);
}

/* Its reserved bytes are full, so each frame goes into headroom as a whole. */
uint64_t
mmu_headroom_room(const struct mmu_pg *pg, uint32_t total_bytes)
{
	const struct mmu_part *part = pg->rule->part;

	if (total_bytes > sub_sat(part->headroom_size_bytes, part->headroom_used_bytes))
		return 0;
	return pg->headroom_size_bytes - pg->headroom_bytes;
}

/*
 * Bounds of a rule that hold until its pool has taken an eighth of what it has free now. A static
 * limit does not depend on the pool, which only has to have room.
 */
static void
find_sure(struct mmu_rule *rule)
{
	const struct mmu_pool *pool = rule->pool;
	uint64_t free_bytes = mmu_pool_free(pool), free_packets = mmu_free_packets(pool);

	/* What the pool will still have free. */
	free_bytes = rule->free_factor_q8 > 0 ? free_bytes - free_bytes / 8 : 0;
	free_packets = rule->free_factor_q8 > 0 ? free_packets - free_packets / 8 : 0;
	rule->sure = (struct mmu_sure){
		.bytes = rule->reserved_bytes + mmu_limit_at(rule, free_bytes),
		.pool_bytes = pool->size_bytes - free_bytes,
		.packets = rule->reserved_packets + mmu_packet_limit_at(rule, free_packets),
		.pool_packets = pool->size_packets - free_packets,
	};
}

bool
mmu_admit_near_limit(struct mmu *mmu, struct mmu_path path, uint32_t bytes)
{
	find_sure(mmu->pgs[path.in_port * TM_CLASSES + path.pg].rule);
	find_sure(mmu->queues[path.out_port * TM_CLASSES + path.queue].rule);
	return mmu_admit_sure(mmu, path, bytes);
}

/* As frames enter, the limit falls and the use rises, so if the last frame fits, all fit. */
bool
mmu_egress_fits(struct mmu_queue *q, uint32_t bytes)
{
	struct mmu_rule *rule = q->rule;
	uint64_t shared_bytes = sub_sat(q->used_bytes + bytes, rule->reserved_bytes);
	uint64_t free_bytes = mmu_pool_free(rule->pool);

	find_sure(rule);
	return rule->unlimited ||
	       (bytes <= free_bytes && shared_bytes <= mmu_limit_at(rule, free_bytes - bytes));
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
	uint64_t headroom_bytes, shared_bytes;
	struct mmu_rule rule;
	struct mmu_pg pg;

	words_read(&pg, pg_at(mmu, port, pg_index), sizeof(pg));
	words_read(&rule, pg.rule, sizeof(rule));
	/* The owner may change a member between our reads of the two. */
	headroom_bytes = min_u64(pg.headroom_bytes, pg.used_bytes);
	shared_bytes = sub_sat(pg.used_bytes - headroom_bytes, rule.reserved_bytes);
	return (struct mmu_pg_state){
		.reserved_bytes = pg.used_bytes - headroom_bytes - shared_bytes,
		.shared_bytes = shared_bytes,
		.headroom_bytes = headroom_bytes,
		.packets = pg.packets,
	};
}

uint64_t
mmu_queue_bytes(const struct mmu *mmu, uint16_t port, uint8_t queue)
{
	return queue_at(mmu, port, queue)->used_bytes;
}

/* Read the present limit, concurrently with the owner. */
static uint64_t
read_limit(const struct mmu *mmu, uint16_t port, uint8_t pg_index, struct mmu_rule *rule)
{
	struct mmu_pool pool;
	struct mmu_pg pg;

	words_read(&pg, pg_at(mmu, port, pg_index), sizeof(pg));
	words_read(rule, pg.rule, sizeof(*rule));
	words_read(&pool, rule->pool, sizeof(pool));
	return mmu_limit_at(rule, mmu_pool_free(&pool));
}

uint64_t
mmu_pg_limit_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg)
{
	struct mmu_rule rule;

	return read_limit(mmu, port, pg, &rule);
}

uint64_t
mmu_pg_xon_mark_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg)
{
	struct mmu_rule rule;
	uint64_t limit_bytes = read_limit(mmu, port, pg, &rule);

	return mmu_xon_mark(&rule, limit_bytes);
}
