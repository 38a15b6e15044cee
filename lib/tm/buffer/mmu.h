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

/**
 * Decide on a frame and, if it is admitted, charge it. In all functions below, bytes are those of
 * mmu_charge_bytes().
 */
static inline enum mmu_verdict mmu_ingress_admit(struct mmu *mmu, uint16_t port, uint8_t pg,
						 uint32_t bytes);
static inline enum mmu_verdict mmu_egress_admit(struct mmu *mmu, uint16_t port, uint8_t queue,
						uint32_t bytes);
/**
 * Decide on a frame's packet buffer and, if it is admitted, charge it. Call this before
 * mmu_ingress_admit(). If that refuses the frame, call mmu_packet_release(). Without params.packets
 * every frame is admitted.
 */
static inline enum mmu_verdict mmu_packet_admit(struct mmu *mmu, uint16_t port, uint8_t pg);
/** As mmu_ingress_room() and mmu_ingress_charge(), in packets. */
static inline uint64_t mmu_packet_room(const struct mmu *mmu, uint16_t port, uint8_t pg,
				       uint32_t total_packets);
static inline void mmu_packet_charge(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t packets);
/** Release the packet buffers of a number of frames. Their bytes are released separately. */
static inline void mmu_packet_release(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t packets);
/**
 * Bytes of frames that a group certainly admits, one by one and in any order, without a drop and
 * all of them in the same way, while all groups together are charged at most total_bytes (these
 * frames included): without headroom, or, while headroom is in use, into headroom. To charge their
 * sum with mmu_ingress_charge() then has the same result as to admit each of them.
 */
static inline uint64_t mmu_ingress_room(const struct mmu *mmu, uint16_t port, uint8_t pg,
					uint32_t total_bytes);
static inline void mmu_ingress_charge(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t bytes);
/**
 * Admit frames with a sum of `bytes` together, if certainly none of them would be dropped if they
 * were admitted one by one.
 *
 * @return false: nothing was charged; mmu_egress_admit() may still admit the frames.
 */
static inline bool mmu_egress_admit_fitting(struct mmu *mmu, uint16_t port, uint8_t queue,
					    uint32_t bytes);
/* The group and the queue of a frame. */
struct mmu_path {
	uint16_t in_port, out_port;
	uint8_t pg, queue;
};

/**
 * Admit a frame at its ingress and its egress, with its packet buffer, if it is certain that all
 * rules admit it without headroom, and that mmu_pg_wants_xoff() is false afterwards if its group is
 * not paused now.
 *
 * @return false: nothing was charged; the functions above may still admit the frame.
 */
static inline bool mmu_admit_plain(struct mmu *mmu, struct mmu_path path, uint32_t bytes);
/** mmu_packet_release(), mmu_ingress_release() and mmu_egress_release() of one frame. */
static inline void mmu_release(struct mmu *mmu, struct mmu_path path, uint32_t bytes);
/** mmu_ingress_release() and mmu_packet_release() of several frames of a group. */
static inline void mmu_group_release(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t bytes,
				     uint32_t packets);
/** Release the charge of one or several frames. */
static inline void mmu_ingress_release(struct mmu *mmu, uint16_t port, uint8_t pg, uint32_t bytes);
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
/** The XON mark: a lossless PG with empty headroom sends XON once its shared bytes fall to it. */
uint64_t mmu_pg_xon_mark_bytes(const struct mmu *mmu, uint16_t port, uint8_t pg);
/**
 * Recompute all sums from their terms, all of which must be published. For tests.
 * @return true if they agree, and no PG exceeds its headroom, and no ingress pool of a single part
 *         its size.
 */
bool mmu_balanced(const struct mmu *mmu);

/* Kinds of watermarks, with their indices. */
enum mmu_watermark {
	MMU_WATERMARK_PG,          /* port, pg: all bytes held */
	MMU_WATERMARK_PG_SHARED,   /* port, pg: its shared bytes */
	MMU_WATERMARK_PG_HEADROOM, /* port, pg */
	MMU_WATERMARK_QUEUE,       /* port, queue */
	MMU_WATERMARK_POOL,        /* index is enum mmu_pool_id: mmu_pool_used_bytes() */
	MMU_WATERMARK_HEADROOM_POOL,
	MMU_WATERMARKS
};

enum mmu_pool_id {
	MMU_INGRESS_LOSSLESS, /* for all PGs, unless lossy_pool_bytes is set */
	MMU_INGRESS_LOSSY,
	MMU_EGRESS_LOSSLESS, /* for all queues, unless egress_lossy_pool_bytes is set */
	MMU_EGRESS_LOSSY,
	MMU_POOLS
};

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
 * Bounds below which frames certainly keep the limits of a rule: while the
 * shared use of the pool is at most pool_*, a PG or a queue may hold bytes and packets. Zeros are
 * valid bounds, and they stay valid while the pool is less used.
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

/** mmu_egress_admit_fitting() beyond the bounds of the queue's rule: find bounds, and decide. */
bool mmu_egress_fits(struct mmu_queue *q, uint32_t bytes);
/** mmu_admit_plain() of a frame beyond the bounds of its rules: find bounds for the present use. */
bool mmu_admit_near_limit(struct mmu *mmu, struct mmu_path path, uint32_t bytes);
/** mmu_ingress_room() of a PG that uses headroom. */
uint64_t mmu_headroom_room(const struct mmu_pg *pg, uint32_t total_bytes);
/** mmu_group_release() of a PG that uses headroom. */
void mmu_release_headroom(struct mmu_pg *pg, uint32_t bytes, uint32_t packets);
/** Headroom step of mmu_ingress_admit(), kept out of line. */
enum mmu_verdict mmu_admit_headroom(struct mmu_pg *pg, uint32_t bytes, uint64_t beyond_bytes);

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
mmu_pool_release(struct mmu_pool *pool, uint32_t bytes, uint64_t shared_bytes)
{
	pool->shared_used_bytes -= shared_bytes;
	pool->used_bytes -= bytes;
	/* Neither is below 0. */
	assert((int64_t)(pool->shared_used_bytes | pool->used_bytes) >= 0);
}

static inline enum mmu_verdict
mmu_ingress_admit(struct mmu *mmu, uint16_t port, uint8_t pg_index, uint32_t bytes)
{
	struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];
	const struct mmu_rule *rule = pg->rule;
	uint64_t shared_bytes = mmu_pg_shared(pg);
	/* Rule 1: bytes that do not fit into the reserved ones. */
	uint64_t beyond_bytes =
		min_u64(bytes, sub_sat(pg->used_bytes + bytes, rule->reserved_bytes));
	bool in_limit = shared_bytes + beyond_bytes <= mmu_limit(rule);
	bool in_pool = beyond_bytes <= mmu_pool_free(rule->pool);

	assert(port < mmu->n_ports && pg_index < TM_CLASSES);
	/*
	 * Rule 2. While headroom is in use, the peer is still paused. A PG that took shared bytes
	 * then would alternate between shared bytes and headroom.
	 */
	if (beyond_bytes == 0 || (pg->headroom_bytes == 0 && in_limit && in_pool)) {
		pg->used_bytes += bytes;
		mmu_peak_raise(&pg->peak, pg->used_bytes);
		mmu_peak_raise(&pg->shared_peak, shared_bytes + beyond_bytes);
		mmu_pool_charge(rule->pool, bytes, beyond_bytes);
		return MMU_ADMIT;
	}
	if (rule->lossless)
		return mmu_admit_headroom(pg, bytes, beyond_bytes);
	return in_limit ? MMU_DROP_POOL : MMU_DROP_PG_LIMIT;
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

/* Reserved, else shared, else headroom: the same rules as mmu_ingress_admit(). */
static inline enum mmu_verdict
mmu_packet_admit(struct mmu *mmu, uint16_t port, uint8_t pg_index)
{
	struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];
	const struct mmu_rule *rule = pg->rule;
	uint64_t free_packets;

	if (mmu->packets == 0)
		return MMU_ADMIT;
	if (pg->packets < rule->reserved_packets) {
		pg->packets++;
		return MMU_ADMIT;
	}
	free_packets = mmu_free_packets(rule->pool);
	if (pg->headroom_packets == 0 && free_packets > 0 &&
	    mmu_pg_shared_packets(pg) < mmu_packet_limit_at(rule, free_packets)) {
		pg->packets++;
		rule->pool->shared_packets++;
		return MMU_ADMIT;
	}
	if (!rule->lossless)
		return MMU_DROP_PACKETS;
	if (pg->headroom_packets >= pg->headroom_size_packets)
		return MMU_DROP_NO_HEADROOM;
	pg->packets++;
	pg->headroom_packets++;
	return MMU_ADMIT_HEADROOM;
}

static inline uint64_t
mmu_packet_room(const struct mmu *mmu, uint16_t port, uint8_t pg_index, uint32_t total_packets)
{
	const struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];
	const struct mmu_rule *rule = pg->rule;
	uint64_t free_packets = mmu_free_packets(rule->pool);

	if (mmu->packets == 0)
		return UINT64_MAX;
	/* While headroom is in use, every packet goes into headroom: the reserved ones are full. */
	if (pg->headroom_packets > 0)
		return pg->headroom_size_packets - pg->headroom_packets;
	if (total_packets > free_packets)
		return 0;
	return sub_sat(rule->reserved_packets +
			       mmu_packet_limit_at(rule, free_packets - total_packets),
		       pg->packets);
}

static inline void
mmu_packet_charge(struct mmu *mmu, uint16_t port, uint8_t pg_index, uint32_t packets)
{
	struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];

	if (mmu->packets == 0)
		return;
	pg->packets += packets;
	if (pg->headroom_packets > 0)
		pg->headroom_packets += packets;
	else
		pg->rule->pool->shared_packets +=
			min_u64(packets, sub_sat(pg->packets, pg->rule->reserved_packets));
	assert(pg->headroom_packets <= pg->headroom_size_packets);
}

static inline void
mmu_pg_release_packets(struct mmu_pg *pg, uint32_t packets)
{
	uint32_t from_headroom = (uint32_t)min_u64(packets, pg->headroom_packets);

	assert(pg->packets >= packets);
	pg->rule->pool->shared_packets -=
		min_u64(packets - from_headroom, mmu_pg_shared_packets(pg));
	pg->packets -= packets;
	if (from_headroom > 0)
		pg->headroom_packets -= from_headroom;
}

static inline void
mmu_packet_release(struct mmu *mmu, uint16_t port, uint8_t pg_index, uint32_t packets)
{
	if (mmu->packets > 0)
		mmu_pg_release_packets(&mmu->pgs[port * TM_CLASSES + pg_index], packets);
}

static inline uint64_t
mmu_ingress_room(const struct mmu *mmu, uint16_t port, uint8_t pg_index, uint32_t total_bytes)
{
	const struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];
	const struct mmu_rule *rule = pg->rule;
	uint64_t free_bytes = mmu_pool_free(rule->pool);

	if (pg->headroom_bytes > 0)
		return mmu_headroom_room(pg, total_bytes);
	if (total_bytes > free_bytes)
		return 0;
	return sub_sat(rule->reserved_bytes + mmu_limit_at(rule, free_bytes - total_bytes),
		       pg->used_bytes);
}

static inline void
mmu_ingress_charge(struct mmu *mmu, uint16_t port, uint8_t pg_index, uint32_t bytes)
{
	struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];
	uint64_t shared_bytes;

	assert(port < mmu->n_ports && pg_index < TM_CLASSES);
	if (pg->headroom_bytes > 0) {
		mmu_admit_headroom(pg, bytes, bytes);
		return;
	}
	pg->used_bytes += bytes;
	shared_bytes = sub_sat(pg->used_bytes, pg->rule->reserved_bytes);
	mmu_peak_raise(&pg->peak, pg->used_bytes);
	mmu_peak_raise(&pg->shared_peak, shared_bytes);
	mmu_pool_charge(pg->rule->pool, bytes, min_u64(bytes, shared_bytes));
}

static inline void
mmu_pg_release(struct mmu_pg *pg, uint32_t bytes)
{
	uint64_t from_headroom = min_u64(bytes, pg->headroom_bytes);
	uint64_t from_shared = min_u64(bytes - from_headroom, mmu_pg_shared(pg));

	assert(pg->used_bytes >= bytes);
	pg->used_bytes -= bytes;
	mmu_pool_release(pg->rule->pool, bytes, from_shared);
	if (from_headroom == 0)
		return;
	pg->headroom_bytes -= from_headroom;
	pg->rule->part->headroom_used_bytes -= from_headroom;
}

static inline void
mmu_ingress_release(struct mmu *mmu, uint16_t port, uint8_t pg_index, uint32_t bytes)
{
	assert(port < mmu->n_ports && pg_index < TM_CLASSES);
	mmu_pg_release(&mmu->pgs[port * TM_CLASSES + pg_index], bytes);
}

static inline void
mmu_group_release(struct mmu *mmu, uint16_t port, uint8_t pg_index, uint32_t bytes,
		  uint32_t packets)
{
	struct mmu_pg *pg = &mmu->pgs[port * TM_CLASSES + pg_index];
	const struct mmu_rule *rule = pg->rule;
	struct mmu_pool *pool = rule->pool;

	assert(port < mmu->n_ports && pg_index < TM_CLASSES);
	if (mmu->packets == 0)
		packets = 0;
	if ((pg->headroom_bytes | pg->headroom_packets) != 0) {
		mmu_release_headroom(pg, bytes, packets);
		return;
	}
	mmu_pool_release(pool, bytes,
			 min_u64(bytes, mmu_beyond(pg->used_bytes, rule->reserved_bytes)));
	pool->shared_packets -= min_u64(packets, mmu_beyond(pg->packets, rule->reserved_packets));
	assert(pg->used_bytes >= bytes && pg->packets >= packets);
	pg->used_bytes -= bytes;
	pg->packets -= packets;
}

static inline enum mmu_verdict
mmu_egress_admit(struct mmu *mmu, uint16_t port, uint8_t queue_index, uint32_t bytes)
{
	struct mmu_queue *q = &mmu->queues[port * TM_CLASSES + queue_index];
	const struct mmu_rule *rule = q->rule;
	uint64_t shared_bytes = sub_sat(q->used_bytes, rule->reserved_bytes);
	uint64_t beyond_bytes = sub_sat(q->used_bytes + bytes, rule->reserved_bytes) - shared_bytes;

	assert(port < mmu->n_ports && queue_index < TM_CLASSES);
	/*
	 * A queue without a limit never drops, even if copies of flooded frames exceed the buffer.
	 */
	if (beyond_bytes > 0 && !rule->unlimited) {
		if (shared_bytes + beyond_bytes > mmu_limit(rule))
			return MMU_DROP_QUEUE_LIMIT;
		if (beyond_bytes > mmu_pool_free(rule->pool))
			return MMU_DROP_POOL;
	}
	q->used_bytes += bytes;
	mmu_peak_raise(&q->peak, q->used_bytes);
	mmu_pool_charge(rule->pool, bytes, beyond_bytes);
	return MMU_ADMIT;
}

static inline bool
mmu_egress_admit_fitting(struct mmu *mmu, uint16_t port, uint8_t queue_index, uint32_t bytes)
{
	struct mmu_queue *q = &mmu->queues[port * TM_CLASSES + queue_index];
	const struct mmu_rule *rule = q->rule;
	struct mmu_pool *pool = rule->pool;
	uint64_t used_bytes = q->used_bytes + bytes;

	assert(port < mmu->n_ports && queue_index < TM_CLASSES);
	if (used_bytes > rule->sure.bytes ||
	    pool->shared_used_bytes + bytes > rule->sure.pool_bytes) {
		if (!mmu_egress_fits(q, bytes))
			return false;
	}
	q->used_bytes = used_bytes;
	mmu_peak_raise(&q->peak, used_bytes);
	mmu_pool_charge(pool, bytes, min_u64(bytes, mmu_beyond(used_bytes, rule->reserved_bytes)));
	return true;
}

static inline void
mmu_queue_release(struct mmu_queue *q, uint32_t bytes)
{
	uint64_t from_shared = min_u64(bytes, mmu_beyond(q->used_bytes, q->rule->reserved_bytes));

	assert(q->used_bytes >= bytes);
	q->used_bytes -= bytes;
	mmu_pool_release(q->rule->pool, bytes, from_shared);
}

static inline void
mmu_egress_release(struct mmu *mmu, uint16_t port, uint8_t queue_index, uint32_t bytes)
{
	assert(port < mmu->n_ports && queue_index < TM_CLASSES);
	mmu_queue_release(&mmu->queues[port * TM_CLASSES + queue_index], bytes);
}

static inline void
mmu_release(struct mmu *mmu, struct mmu_path path, uint32_t bytes)
{
	struct mmu_pg *pg = &mmu->pgs[path.in_port * TM_CLASSES + path.pg];

	assert(path.in_port < mmu->n_ports && path.out_port < mmu->n_ports);
	assert((path.pg | path.queue) < TM_CLASSES);
	mmu_queue_release(&mmu->queues[path.out_port * TM_CLASSES + path.queue], bytes);
	mmu_pg_release(pg, bytes);
	if (mmu->packets > 0)
		mmu_pg_release_packets(pg, 1);
}

/*
 * Does a frame keep the limits of its group and its queue, even if all of it is shared? If so,
 * charge it. A group below its limits does not want XOFF.
 */
static inline bool
mmu_admit_sure(struct mmu *mmu, struct mmu_path path, uint32_t bytes)
{
	struct mmu_pg *pg = &mmu->pgs[path.in_port * TM_CLASSES + path.pg];
	struct mmu_queue *q = &mmu->queues[path.out_port * TM_CLASSES + path.queue];
	const struct mmu_rule *in = pg->rule, *out = q->rule;
	struct mmu_pool *in_pool = in->pool, *out_pool = out->pool;
	uint64_t pg_bytes = pg->used_bytes + bytes, queue_bytes = q->used_bytes + bytes, shared;

	assert(path.in_port < mmu->n_ports && path.out_port < mmu->n_ports);
	assert((path.pg | path.queue) < TM_CLASSES);
	if (pg_bytes >= in->sure.bytes || queue_bytes > out->sure.bytes ||
	    in_pool->shared_used_bytes + bytes > in->sure.pool_bytes ||
	    out_pool->shared_used_bytes + bytes > out->sure.pool_bytes ||
	    (pg->headroom_bytes | pg->headroom_packets) != 0)
		return false;
	if (mmu->packets > 0) {
		uint32_t packets = pg->packets + 1;

		if (packets >= in->sure.packets || in_pool->shared_packets >= in->sure.pool_packets)
			return false;
		pg->packets = packets;
		in_pool->shared_packets += packets > in->reserved_packets;
	}
	shared = mmu_beyond(pg_bytes, in->reserved_bytes);
	pg->used_bytes = pg_bytes;
	mmu_peak_raise(&pg->peak, pg_bytes);
	mmu_peak_raise(&pg->shared_peak, shared);
	mmu_pool_charge(in_pool, bytes, min_u64(bytes, shared));
	shared = mmu_beyond(queue_bytes, out->reserved_bytes);
	q->used_bytes = queue_bytes;
	mmu_peak_raise(&q->peak, queue_bytes);
	mmu_pool_charge(out_pool, bytes, min_u64(bytes, shared));
	return true;
}

static inline bool
mmu_admit_plain(struct mmu *mmu, struct mmu_path path, uint32_t bytes)
{
	return mmu_admit_sure(mmu, path, bytes) || mmu_admit_near_limit(mmu, path, bytes);
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
