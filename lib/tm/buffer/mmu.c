// SPDX-License-Identifier: BSD-3-Clause
#include "tm/buffer/mmu.h"

#include "base/threads/counter.h"
#include "base/threads/words.h"

/*
 * Charge bytes to a PG, of which into_headroom bytes enter headroom, and the others its reserved
 * bytes.
 */
static void
charge_headroom_bytes(struct mmu_pg *pg, uint32_t bytes, uint64_t into_headroom)
{
	struct mmu_part *part = pg->rule->part;

	part->headroom_used_bytes += into_headroom;
	mmu_peak_raise(&part->headroom_peak, part->headroom_used_bytes);
	pg->headroom_bytes += into_headroom;
	mmu_peak_raise(&pg->headroom_peak, pg->headroom_bytes);
	pg->used_bytes += bytes;
	mmu_peak_raise(&pg->peak, pg->used_bytes);
	mmu_pool_charge(pg->rule->pool, bytes, 0);
}

static void
charge_headroom_packets(struct mmu_pg *pg, uint32_t packets)
{
	pg->packets += packets;
	pg->headroom_packets += packets;
	assert(pg->headroom_packets <= pg->headroom_size_packets);
}

/* While headroom is in use, reserved bytes and packets are full: whole frames enter headroom. */
void
mmu_charge_headroom(const struct mmu *mmu, struct mmu_pg *pg, struct mmu_frames frames)
{
	if (pg->headroom_bytes > 0)
		charge_headroom_bytes(pg, frames.bytes, frames.bytes);
	else
		mmu_pg_charge(pg, frames.bytes);
	if (mmu->packets == 0)
		return;
	if (pg->headroom_packets > 0)
		charge_headroom_packets(pg, frames.packets);
	else
		mmu_pg_charge_packets(pg, frames.packets);
}

/* Headroom is released first. */
void
mmu_release_headroom(struct mmu_pg *pg, uint64_t bytes, uint32_t packets)
{
	uint64_t headroom_bytes = min_u64(bytes, pg->headroom_bytes);
	uint32_t headroom_packets = (uint32_t)min_u64(packets, pg->headroom_packets);
	struct mmu_pool *pool = pg->rule->pool;

	mmu_pool_release(pool, bytes, min_u64(bytes - headroom_bytes, mmu_pg_shared(pg)));
	pool->shared_packets -= min_u64(packets - headroom_packets, mmu_pg_shared_packets(pg));
	pg->used_bytes -= bytes;
	pg->packets -= packets;
	pg->headroom_bytes -= headroom_bytes;
	pg->headroom_packets -= headroom_packets;
	pg->rule->part->headroom_used_bytes -= headroom_bytes;
}

/* The rules for a frame's packet buffer: reserved, else shared, else headroom. */
static enum mmu_verdict
decide_packet(const struct mmu_pg *pg)
{
	const struct mmu_rule *rule = pg->rule;
	uint64_t free_packets = mmu_free_packets(rule->pool);

	if (pg->packets < rule->reserved_packets)
		return MMU_ADMIT;
	if (pg->headroom_packets == 0 && free_packets > 0 &&
	    mmu_pg_shared_packets(pg) < mmu_packet_limit_at(rule, free_packets))
		return MMU_ADMIT;
	if (!rule->lossless)
		return MMU_DROP_PACKETS;
	return pg->headroom_packets < pg->headroom_size_packets ? MMU_ADMIT_HEADROOM
								: MMU_DROP_NO_HEADROOM;
}

/* The rules for a frame's bytes, of which beyond_bytes do not fit into the reserved ones. */
static enum mmu_verdict
decide_bytes(const struct mmu_pg *pg, uint64_t beyond_bytes)
{
	const struct mmu_rule *rule = pg->rule;
	const struct mmu_part *part = rule->part;
	bool in_limit = mmu_pg_shared(pg) + beyond_bytes <= mmu_limit(rule);
	bool in_pool = beyond_bytes <= mmu_pool_free(rule->pool);

	/*
	 * While headroom is in use, the peer is still paused. A PG that took shared bytes then
	 * would alternate between shared bytes and headroom.
	 */
	if (beyond_bytes == 0 || (pg->headroom_bytes == 0 && in_limit && in_pool))
		return MMU_ADMIT;
	if (!rule->lossless)
		return in_limit ? MMU_DROP_POOL : MMU_DROP_PG_LIMIT;
	/* A frame must fit into the PG's headroom, and into the shared headroom pool, if any. */
	return pg->headroom_bytes + beyond_bytes <= pg->headroom_size_bytes &&
			       part->headroom_used_bytes + beyond_bytes <= part->headroom_size_bytes
		       ? MMU_ADMIT_HEADROOM
		       : MMU_DROP_NO_HEADROOM;
}

enum mmu_verdict
mmu_ingress_admit(struct mmu *mmu, uint16_t port, uint8_t pg_index, uint32_t bytes)
{
	struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];
	uint64_t beyond_bytes =
		min_u64(bytes, sub_sat(pg->used_bytes + bytes, pg->rule->reserved_bytes));
	enum mmu_verdict packet = mmu->packets > 0 ? decide_packet(pg) : MMU_ADMIT, v;

	assert(port < mmu->n_ports && pg_index < TM_CLASSES);
	if (!mmu_admitted(packet))
		return packet;
	v = decide_bytes(pg, beyond_bytes);
	if (!mmu_admitted(v))
		return v;
	if (v == MMU_ADMIT_HEADROOM)
		charge_headroom_bytes(pg, bytes, beyond_bytes);
	else
		mmu_pg_charge(pg, bytes);
	if (packet == MMU_ADMIT_HEADROOM)
		charge_headroom_packets(pg, 1);
	else if (mmu->packets > 0)
		mmu_pg_charge_packets(pg, 1);
	return v;
}

enum mmu_verdict
mmu_egress_admit(struct mmu *mmu, uint16_t port, uint8_t queue_index, uint32_t bytes)
{
	const struct mmu_queue *q = &mmu->queues[port * TM_CLASSES + queue_index];
	const struct mmu_rule *rule = q->rule;
	uint64_t shared_bytes = sub_sat(q->used_bytes + bytes, rule->reserved_bytes);
	uint64_t beyond_bytes = min_u64(bytes, shared_bytes);

	assert(port < mmu->n_ports && queue_index < TM_CLASSES);
	/*
	 * A queue without a limit never drops, even if copies of flooded frames exceed the buffer.
	 */
	if (beyond_bytes > 0 && !rule->unlimited) {
		if (shared_bytes > mmu_limit(rule))
			return MMU_DROP_QUEUE_LIMIT;
		if (beyond_bytes > mmu_pool_free(rule->pool))
			return MMU_DROP_POOL;
	}
	mmu_egress_charge(mmu, port, queue_index, bytes);
	return MMU_ADMIT;
}

/*
 * Bounds of a rule that hold until its pool has taken an eighth of the bytes that are free now. A
 * static limit does not depend on the pool, which only has to have room.
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

/*
 * As frames enter, the limit falls and the use rises, so if the last frame fits, all fit. While
 * headroom is in use, each frame enters it as a whole, because the reserved bytes are full.
 */
static uint64_t
room_bytes(const struct mmu_pg *pg, uint32_t burst_bytes)
{
	const struct mmu_rule *rule = pg->rule;
	const struct mmu_part *part = rule->part;
	uint64_t free_bytes = mmu_pool_free(rule->pool);

	if (pg->headroom_bytes > 0)
		return part->headroom_used_bytes + burst_bytes <= part->headroom_size_bytes
			       ? pg->headroom_size_bytes - pg->headroom_bytes
			       : 0;
	if (burst_bytes > free_bytes)
		return 0;
	return sub_sat(rule->reserved_bytes + mmu_limit_at(rule, free_bytes - burst_bytes),
		       pg->used_bytes);
}

static uint64_t
room_packets(const struct mmu_pg *pg, uint32_t burst_packets)
{
	const struct mmu_rule *rule = pg->rule;
	uint64_t free_packets = mmu_free_packets(rule->pool);

	if (pg->headroom_packets > 0)
		return pg->headroom_size_packets - pg->headroom_packets;
	if (burst_packets > free_packets)
		return 0;
	return sub_sat(rule->reserved_packets +
			       mmu_packet_limit_at(rule, free_packets - burst_packets),
		       pg->packets);
}

/* Asked for frames beyond the bounds of the group's rule, which are then renewed. */
struct mmu_room
mmu_ingress_room(struct mmu *mmu, uint16_t port, uint8_t pg_index, struct mmu_frames burst)
{
	const struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];

	assert(port < mmu->n_ports && pg_index < TM_CLASSES);
	if ((pg->headroom_bytes | pg->headroom_packets) == 0)
		find_sure(pg->rule);
	return (struct mmu_room){
		.bytes = room_bytes(pg, burst.bytes),
		.packets = mmu->packets > 0 ? room_packets(pg, burst.packets) : UINT64_MAX,
	};
}

bool
mmu_egress_fits_closely(const struct mmu_queue *q, uint32_t bytes)
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

bool
mmu_pg_is_lossless(const struct mmu *mmu, uint16_t port, uint8_t pg)
{
	struct mmu_rule rule;

	read_limit(mmu, port, pg, &rule);
	return rule.lossless;
}

uint64_t
mmu_pg_xon_mark_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg)
{
	struct mmu_rule rule;
	uint64_t limit_bytes = read_limit(mmu, port, pg, &rule);

	return mmu_xon_mark(&rule, limit_bytes);
}
