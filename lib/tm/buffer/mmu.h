/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared buffer of one switch: how many bytes each group and queue may hold, and when a priority
 * group (PG) must pause its peer.
 *
 * The rules are those of SAI and Broadcom: reserved, then shared with a static or dynamic
 * threshold, then headroom. A frame is charged to its ingress (port, PG) once, and to each egress
 * (port, queue) that holds a copy. Only the ingress side decides on PFC.
 *
 *   pool:    shared by PGs = buffer - reserved of all PGs - headroom (dedicated: sum over lossless
 *            PGs; or one shared headroom pool) - lossy pool, if lossy PGs have one of their own.
 *            Egress has a separate budget: the buffer less the queues' reserved bytes. Lossy queues
 *            may have a smaller one. Queues without a limit are not checked against it.
 *   ingress: reserved first (a frame may straddle); else shared while headroom is empty and
 *            shr + s <= limit and the pool has room; else headroom if lossless and it fits;
 *            else drop.
 *   limit:   static_th, or 2^dynamic_th * (free shared bytes of the pool).
 *   release: headroom first, then shared, then reserved.
 *   XON:     headroom empty and shr <= max(xon, limit - xon_offset), the XON mark.
 *   XOFF:    headroom in use, or shr >= limit and above the XON mark.
 *
 * Packet buffers are a second resource of the ingress side, under the same rules: each frame takes
 * one, however short it is. The shared part has packets in proportion to its bytes, and so do the
 * limits and XON marks of profiles. Reserved bytes and headroom have one packet for each shortest
 * frame that fits into them. Packet buffers limit nothing while frames are at least as long as the
 * length that mmu_params_packets() got.
 *
 * With f = 2^dynamic_th, one greedy PG settles at f / (1 + f) of the shared pool, and each of k
 * greedy PGs at f / (1 + k f).
 *
 * Invariants (tested): sum over PGs = pool use; admitted = occupied + released; no counter goes
 * negative.
 */
#ifndef QUENCH_TM_BUFFER_MMU_H
#define QUENCH_TM_BUFFER_MMU_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers/fixed.h"
#include "base/threads/lines.h"
#include "tm/buffer/mmu_params.h"

enum mmu_verdict {
	MMU_ADMIT,
	MMU_ADMIT_HEADROOM,
	MMU_DROP_PG_LIMIT, /* lossy PG at its limit */
	/* lossless PG with its headroom exhausted: a fault of configuration or peer */
	MMU_DROP_NO_HEADROOM,
	MMU_DROP_POOL,        /* no free shared bytes */
	MMU_DROP_PACKETS,     /* lossy PG at its packet limit, or no free shared packets */
	MMU_DROP_QUEUE_LIMIT, /* egress queue at its limit */
};

static inline bool
mmu_admitted(enum mmu_verdict v)
{
	return v <= MMU_ADMIT_HEADROOM;
}

struct mmu;

void mmu_destroy(struct mmu *mmu);

/** Bytes charged for a frame (with FCS): rounded up to cells. */
static inline uint32_t mmu_charge_bytes(const struct mmu *mmu, uint32_t frame_bytes);

/* Frames of one burst. In all functions below, bytes are those of mmu_charge_bytes(). */
struct mmu_frames {
	uint32_t bytes;   /* sum */
	uint32_t packets; /* number */
};

struct mmu_room {
	uint64_t bytes, packets;
};

/**
 * The rules for one frame: decide on it, with its packet buffer at ingress, and charge it if it is
 * admitted.
 */
enum mmu_verdict mmu_ingress_admit(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t bytes);
enum mmu_verdict mmu_egress_admit(struct mmu *mmu, uint16_t port, uint8_t queue, uint32_t bytes);

/**
 * Do the rules certainly admit all of these frames, one by one and in any order? To charge frames
 * that fit then has the same result as to admit each of them: all enter headroom if it is in use,
 * else none does. Nothing is charged; if the answer is false, the rules may still admit some.
 *
 * @param frames  Of the group.
 * @param burst   Of all groups, these frames included: what may be charged before the last of them.
 */
static inline bool mmu_ingress_fits(struct mmu *mmu, uint16_t port, uint8_t pg,
				    struct mmu_frames frames, struct mmu_frames burst);
/**
 * The same by two comparisons, which see only frames that fit easily: afterwards their group does
 * not want XOFF, unless its peer is paused already.
 */
static inline bool mmu_ingress_in_bounds(const struct mmu *mmu, uint16_t port, uint8_t pg,
					 struct mmu_frames frames, struct mmu_frames burst);
/** The largest sums of frames that fit. */
struct mmu_room mmu_ingress_room(struct mmu *mmu, uint16_t port, uint8_t pg,
				 struct mmu_frames burst);
static inline bool mmu_egress_fits(struct mmu *mmu, uint16_t port, uint8_t queue, uint32_t bytes);
/** Charge frames that fit. */
static inline void mmu_ingress_charge(struct mmu *mmu, uint16_t port, uint8_t pg,
				      struct mmu_frames frames);
static inline void mmu_egress_charge(struct mmu *mmu, uint16_t port, uint8_t queue, uint32_t bytes);

/** Release one or several frames. */
static inline void mmu_ingress_release(struct mmu *mmu, uint16_t port, uint8_t pg, uint64_t bytes,
				       uint32_t packets);
static inline void mmu_egress_release(struct mmu *mmu, uint16_t port, uint8_t queue,
				      uint32_t bytes);

/**
 * Should this PG's peer be paused? xoff_now: is the peer paused now? (For the hysteresis between
 * XOFF and XON.) Always false for a lossy PG. Call this after every admission and release of the
 * PG: under a dynamic threshold, the use of other PGs moves its limit too.
 */
static inline bool mmu_pg_wants_xoff(const struct mmu *mmu, uint16_t port, uint8_t pg,
				     bool xoff_now);

struct mmu_pg_state {
	uint64_t reserved_bytes, shared_bytes, headroom_bytes;
	uint32_t packets; /* packet buffers in use; 0 without params.packets */
};

struct mmu_pg_state mmu_pg_state(const struct mmu *mmu, uint16_t port, uint8_t pg);
uint64_t mmu_queue_bytes(const struct mmu *mmu, uint16_t port, uint8_t queue);
/** Bytes charged on the ingress side, all PGs. Here and below, several parts: as published. */
uint64_t mmu_used_bytes(const struct mmu *mmu);
/** Bytes of headroom in use, all PGs. */
uint64_t mmu_headroom_used_bytes(const struct mmu *mmu);
/** Present limit on a PG's shared bytes; at least UINT64_MAX / 2 when there is none. */
uint64_t mmu_pg_limit_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg);
/** Is it a lossless PG, which sends XOFF? */
bool mmu_pg_is_lossless(const struct mmu *mmu, uint16_t port, uint8_t pg);
/** The XON mark: a lossless PG with empty headroom sends XON once its shared bytes fall to it. */
uint64_t mmu_pg_xon_mark_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg);
/**
 * Recompute all sums from their terms, all of which must be published. For tests.
 * @return true if they agree, and no PG exceeds its headroom, and no ingress pool of a single part
 *         its size.
 */
bool mmu_balanced(const struct mmu *mmu);

/** Name of a kind in configuration and reports, such as "pg_shared". */
const char *mmu_watermark_name(enum mmu_watermark kind);
/** SONiC's name of a pool, such as "ingress_lossless_pool". */
const char *mmu_pool_name(enum mmu_pool_id pool);
/** Shared packets of an ingress pool in use; 0 without params.packets. */
uint64_t mmu_pool_used_packets(const struct mmu *mmu, enum mmu_pool_id pool);
/** All bytes in use by groups or queues of a pool: reserved, shared and headroom. */
uint64_t mmu_pool_used_bytes(const struct mmu *mmu, enum mmu_pool_id pool);
/** Size of a pool's shared bytes. */
uint64_t mmu_pool_size_bytes(const struct mmu *mmu, enum mmu_pool_id pool);

/** Peak since creation or the last clear of its kind. The kind defines port and index. */
uint64_t mmu_watermark_bytes(const struct mmu *mmu, enum mmu_watermark kind, uint16_t port,
			     uint8_t index);
/** Peak since creation, regardless of clears (SONiC's persistent watermark). */
uint64_t mmu_persistent_watermark_bytes(const struct mmu *mmu, enum mmu_watermark kind,
					uint16_t port, uint8_t index);
/**
 * Read a watermark and restart it from the current use in one step, so that no peak is lost. The
 * owner of the part that has the port calls this. For a pool, the owner of each part calls it,
 * because each part has its own peak.
 */
uint64_t mmu_part_take_watermark_bytes(struct mmu *mmu, uint16_t part, enum mmu_watermark kind,
				       uint16_t port, uint8_t index);

/* Inline definitions */

#define MMU_FREE_FACTOR_BITS 8 /* dynamic_th -8 is 1/256 */

struct mmu_peak {
	uint64_t bytes;      /* since the last clear */
	uint64_t past_bytes; /* before the last clear */
};

/*
 * State of a pool that PGs or queues share, from the view of one part. The words that a frame
 * writes are not neighbours: compilers would join them in a vector, at a higher cost.
 */
struct mmu_pool {
	uint64_t size_bytes;
	uint64_t shared_used_bytes;
	struct mmu_peak peak;
	uint64_t used_bytes;
	/* ingress pools only */
	uint64_t size_packets;
	uint64_t shared_packets; /* in use */
};

/*
 * Bounds of a rule: while the shared use of its pool is at most pool_*, a PG or a queue that holds
 * no more than bytes and packets is within its limits. Zeros are valid bounds, and bounds stay
 * valid when the pool is less used.
 */
struct mmu_sure {
	uint64_t bytes, pool_bytes;
	uint64_t packets, pool_packets;
};

/* A profile prepared for the data path: limit = fixed + free factor * free, where one term is
 * 0. Vendors call the free factor, 2^dynamic_th, alpha. */
struct mmu_rule {
	struct mmu_pool *pool;
	struct mmu_part *part;
	uint64_t reserved_bytes;
	uint64_t fixed_bytes;
	uint64_t xon_bytes;
	uint64_t xon_offset_bytes; /* at least 1, so that XON lies below XOFF */
	/* the same in packets; unused without params.packets */
	uint64_t reserved_packets;
	uint64_t fixed_packets;
	uint64_t xon_offset_packets;
	uint32_t free_factor_q8;
	bool lossless;
	bool unlimited;
	struct mmu_sure sure;
};

/*
 * Reserved bytes are filled first and emptied last: a PG with shared or headroom bytes has its
 * reserved bytes full. So used_bytes and headroom_bytes determine all three:
 *   shared = max(used - headroom - reserved size, 0).
 */
struct mmu_pg {
	uint64_t used_bytes;
	uint64_t headroom_bytes;
	uint32_t packets;          /* in all */
	uint32_t headroom_packets; /* of these, in headroom */
	struct mmu_rule *rule;
	struct mmu_peak peak, shared_peak, headroom_peak;
	/* the size of its headroom, which follows from its link; 0: lossy */
	uint64_t headroom_size_bytes;
	uint64_t headroom_size_packets;
};

struct mmu_queue {
	uint64_t used_bytes;
	struct mmu_rule *rule;
	struct mmu_peak peak;
};

#define MMU_INGRESS_POOLS 2

/* The words that limits depend on are in one cache line. */
struct mmu_use {
	uint64_t version; /* of the published use: changes with each publication */
	uint64_t shared_used_bytes[MMU_POOLS];
	uint64_t headroom_used_bytes;
	uint64_t shared_packets[MMU_INGRESS_POOLS];
	uint64_t used_bytes[MMU_POOLS];
};
static_assert(offsetof(struct mmu_use, used_bytes) == 64, "one line");

struct mmu_part {
	/* use of the part itself, plus its last view of the others */
	struct mmu_pool pools[MMU_POOLS];
	uint64_t headroom_used_bytes;
	/* shared headroom pool; UINT64_MAX when headroom is dedicated */
	uint64_t headroom_size_bytes;
	struct mmu_peak headroom_peak;
	struct mmu_use others; /* the others' share of the use above */
	/* own use at the last change of sizes; it may exceed the new sizes until frames leave */
	struct mmu_use at_change;
	uint64_t seen_versions; /* sum of the others' versions at the last refresh */
	/* published use may differ from own use by these: mmu_part_publish_lazily() */
	uint64_t lag_bytes[MMU_POOLS];
	uint64_t lag_packets[MMU_INGRESS_POOLS];
	/* the part's own use, for other parts to read; unused by a single part */
	_Alignas(LINES_APART) struct mmu_use own;
};

/* A port's groups, and its queues, fill whole cache lines, so that parts do not share lines. */
struct mmu {
	struct mmu_part *parts;
	struct mmu_rule *rules;   /* of one part after another */
	struct mmu_queue *queues; /* port * TM_CLASSES + queue */
	uint16_t n_parts;
	uint16_t n_ports;
	uint16_t cell_bytes;
	uint32_t packets; /* as in params */
	uint8_t part_of_port[MMU_MAX_PORTS];
	_Alignas(LINES_APART) struct mmu_pg pgs[]; /* port * TM_CLASSES + pg */
};
static_assert(TM_CLASSES * sizeof(struct mmu_pg) % LINES_APART == 0, "whole lines for a port");
static_assert(TM_CLASSES * sizeof(struct mmu_queue) % LINES_APART == 0, "whole lines");

/** mmu_egress_fits() beyond the bounds of a rule: renew these, and decide. */
bool mmu_egress_fits_closely(const struct mmu_queue *q, uint32_t bytes);
/** mmu_ingress_charge() and mmu_ingress_release() of a PG that uses headroom. */
void mmu_charge_headroom(const struct mmu *mmu, struct mmu_pg *pg, struct mmu_frames frames);
void mmu_release_headroom(struct mmu_pg *pg, uint64_t bytes, uint32_t packets);

static inline uint32_t
mmu_charge_bytes(const struct mmu *mmu, uint32_t frame_bytes)
{
	if (mmu->cell_bytes == 0)
		return frame_bytes;
	return (frame_bytes + mmu->cell_bytes - 1) / mmu->cell_bytes * mmu->cell_bytes;
}

static inline void
mmu_peak_raise(struct mmu_peak *peak, uint64_t bytes)
{
	if (bytes > peak->bytes)
		__atomic_store_n(&peak->bytes, bytes, __ATOMIC_RELAXED);
}

static inline uint64_t
mmu_pool_free(const struct mmu_pool *pool)
{
	return sub_sat(pool->size_bytes, pool->shared_used_bytes);
}

/* No overflow: at most 2^40 bytes (mmu_params_check) times 2^15. */
static inline uint64_t
mmu_limit_at(const struct mmu_rule *rule, uint64_t free_bytes)
{
	return rule->fixed_bytes + (free_bytes * rule->free_factor_q8 >> MMU_FREE_FACTOR_BITS);
}

static inline uint64_t
mmu_limit(const struct mmu_rule *rule)
{
	return mmu_limit_at(rule, mmu_pool_free(rule->pool));
}

/* sub_sat() without a branch. */
static inline uint64_t
mmu_beyond(uint64_t used, uint64_t reserved)
{
	return (used - reserved) & -(uint64_t)(used > reserved);
}

static inline uint64_t
mmu_pg_shared(const struct mmu_pg *pg)
{
	return mmu_beyond(pg->used_bytes - pg->headroom_bytes, pg->rule->reserved_bytes);
}

static inline void
mmu_pool_charge(struct mmu_pool *pool, uint32_t bytes, uint64_t shared_bytes)
{
	pool->shared_used_bytes += shared_bytes;
	pool->used_bytes += bytes;
	mmu_peak_raise(&pool->peak, pool->used_bytes);
}

static inline void
mmu_pool_release(struct mmu_pool *pool, uint64_t bytes, uint64_t shared_bytes)
{
	pool->shared_used_bytes -= shared_bytes;
	pool->used_bytes -= bytes;
	/* Neither is below 0. */
	assert((int64_t)(pool->shared_used_bytes | pool->used_bytes) >= 0);
}

static inline uint64_t
mmu_free_packets(const struct mmu_pool *pool)
{
	return sub_sat(pool->size_packets, pool->shared_packets);
}

/* No overflow: at most 2^24 packets (mmu_params_check) times 2^15. */
static inline uint64_t
mmu_packet_limit_at(const struct mmu_rule *rule, uint64_t free_packets)
{
	return rule->fixed_packets + (free_packets * rule->free_factor_q8 >> MMU_FREE_FACTOR_BITS);
}

static inline uint64_t
mmu_pg_shared_packets(const struct mmu_pg *pg)
{
	return mmu_beyond(pg->packets - pg->headroom_packets, pg->rule->reserved_packets);
}

static inline bool
mmu_ingress_in_bounds(const struct mmu *mmu, uint16_t port, uint8_t pg_index,
		      struct mmu_frames frames, struct mmu_frames burst)
{
	const struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];
	const struct mmu_rule *rule = pg->rule;
	const struct mmu_pool *pool = rule->pool;

	assert(port < mmu->n_ports && pg_index < TM_CLASSES);
	if (pg->used_bytes + frames.bytes >= rule->sure.bytes ||
	    pool->shared_used_bytes + burst.bytes > rule->sure.pool_bytes ||
	    (pg->headroom_bytes | pg->headroom_packets) != 0)
		return false;
	return mmu->packets == 0 ||
	       (pg->packets + frames.packets < rule->sure.packets &&
		pool->shared_packets + burst.packets <= rule->sure.pool_packets);
}

static inline bool
mmu_ingress_fits(struct mmu *mmu, uint16_t port, uint8_t pg_index, struct mmu_frames frames,
		 struct mmu_frames burst)
{
	struct mmu_room room;

	if (mmu_ingress_in_bounds(mmu, port, pg_index, frames, burst))
		return true;
	room = mmu_ingress_room(mmu, port, pg_index, burst);
	return frames.bytes <= room.bytes && frames.packets <= room.packets;
}

/* Charge bytes that enter no headroom. */
static inline void
mmu_pg_charge(struct mmu_pg *pg, uint32_t bytes)
{
	const struct mmu_rule *rule = pg->rule;
	uint64_t used_bytes = pg->used_bytes + bytes;
	uint64_t shared_bytes = mmu_beyond(used_bytes, rule->reserved_bytes);

	pg->used_bytes = used_bytes;
	mmu_peak_raise(&pg->peak, used_bytes);
	mmu_peak_raise(&pg->shared_peak, shared_bytes);
	mmu_pool_charge(rule->pool, bytes, min_u64(bytes, shared_bytes));
}

static inline void
mmu_pg_charge_packets(struct mmu_pg *pg, uint32_t packets)
{
	const struct mmu_rule *rule = pg->rule;

	pg->packets += packets;
	rule->pool->shared_packets +=
		min_u64(packets, mmu_beyond(pg->packets, rule->reserved_packets));
}

static inline void
mmu_ingress_charge(struct mmu *mmu, uint16_t port, uint8_t pg_index, struct mmu_frames frames)
{
	struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];

	if ((pg->headroom_bytes | pg->headroom_packets) != 0) {
		mmu_charge_headroom(mmu, pg, frames);
		return;
	}
	mmu_pg_charge(pg, frames.bytes);
	if (mmu->packets > 0)
		mmu_pg_charge_packets(pg, frames.packets);
}

static inline void
mmu_ingress_release(struct mmu *mmu, uint16_t port, uint8_t pg_index, uint64_t bytes,
		    uint32_t packets)
{
	struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];
	const struct mmu_rule *rule = pg->rule;
	struct mmu_pool *pool = rule->pool;

	if (mmu->packets == 0)
		packets = 0;
	assert(port < mmu->n_ports && pg_index < TM_CLASSES);
	assert(pg->used_bytes >= bytes && pg->packets >= packets);
	if ((pg->headroom_bytes | pg->headroom_packets) != 0) {
		mmu_release_headroom(pg, bytes, packets);
		return;
	}
	mmu_pool_release(pool, bytes,
			 min_u64(bytes, mmu_beyond(pg->used_bytes, rule->reserved_bytes)));
	pool->shared_packets -= min_u64(packets, mmu_beyond(pg->packets, rule->reserved_packets));
	pg->used_bytes -= bytes;
	pg->packets -= packets;
}

static inline bool
mmu_egress_fits(struct mmu *mmu, uint16_t port, uint8_t queue_index, uint32_t bytes)
{
	const struct mmu_queue *q = &mmu->queues[port * TM_CLASSES + queue_index];
	const struct mmu_rule *rule = q->rule;

	assert(port < mmu->n_ports && queue_index < TM_CLASSES);
	return (q->used_bytes + bytes <= rule->sure.bytes &&
		rule->pool->shared_used_bytes + bytes <= rule->sure.pool_bytes) ||
	       mmu_egress_fits_closely(q, bytes);
}

static inline void
mmu_egress_charge(struct mmu *mmu, uint16_t port, uint8_t queue_index, uint32_t bytes)
{
	struct mmu_queue *q = &mmu->queues[port * TM_CLASSES + queue_index];
	const struct mmu_rule *rule = q->rule;
	uint64_t used_bytes = q->used_bytes + bytes;

	q->used_bytes = used_bytes;
	mmu_peak_raise(&q->peak, used_bytes);
	mmu_pool_charge(rule->pool, bytes,
			min_u64(bytes, mmu_beyond(used_bytes, rule->reserved_bytes)));
}

static inline void
mmu_egress_release(struct mmu *mmu, uint16_t port, uint8_t queue_index, uint32_t bytes)
{
	struct mmu_queue *q = &mmu->queues[port * TM_CLASSES + queue_index];
	uint64_t from_shared = min_u64(bytes, mmu_beyond(q->used_bytes, q->rule->reserved_bytes));

	assert(port < mmu->n_ports && queue_index < TM_CLASSES);
	assert(q->used_bytes >= bytes);
	q->used_bytes -= bytes;
	mmu_pool_release(q->rule->pool, bytes, from_shared);
}

static inline uint64_t
mmu_xon_mark(const struct mmu_rule *rule, uint64_t limit)
{
	return max_u64(rule->xon_bytes, sub_sat(limit, rule->xon_offset_bytes));
}

/* XOFF by packets alone, under the same rule as for bytes (below). */
static inline bool
mmu_packets_want_xoff(const struct mmu *mmu, const struct mmu_pg *pg, bool xoff_now)
{
	uint64_t packets, limit;

	if (mmu->packets == 0)
		return false;
	if (pg->headroom_packets > 0)
		return true;
	packets = mmu_pg_shared_packets(pg);
	limit = mmu_packet_limit_at(pg->rule, mmu_free_packets(pg->rule->pool));
	return packets > sub_sat(limit, pg->rule->xon_offset_packets) &&
	       (xoff_now || packets >= limit);
}

static inline bool
mmu_pg_wants_xoff(const struct mmu *mmu, uint16_t port, uint8_t pg_index, bool xoff_now)
{
	const struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];
	const struct mmu_rule *rule = pg->rule;
	uint64_t shared_bytes, limit;

	assert(port < mmu->n_ports && pg_index < TM_CLASSES);
	/* An empty group is at its XON mark. */
	if (!rule->lossless || pg->used_bytes == 0)
		return false;
	if (pg->headroom_bytes > 0 || mmu_packets_want_xoff(mmu, pg, xoff_now))
		return true;
	shared_bytes = mmu_pg_shared(pg);
	limit = mmu_limit(rule);
	/*
	 * The XON mark also applies before XOFF: if the limit is below the XON mark, a PG must not
	 * flap, and an empty PG must not send XOFF.
	 */
	return shared_bytes > mmu_xon_mark(rule, limit) && (xoff_now || shared_bytes >= limit);
}

#endif
