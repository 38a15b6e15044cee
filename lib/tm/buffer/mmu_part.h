/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared buffer of a switch divided into parts, one per lcore. Only the owner of a part
 * charges, releases and queries the groups and queues of its ports. Parts share only the pools.
 * Each part knows its own use exactly. Of the others' use, it knows the values that they had
 * published (mmu_part_publish()) when it last read them (mmu_part_refresh()). No word has two
 * writers.
 *
 * Bound (tested): total use exceeds a pool, or the shared headroom pool, by at most the bytes that
 * all parts but one admit, each from its mmu_part_refresh() to its next mmu_part_publish() or
 * mmu_part_publish_lazily(), plus those that the latter holds back (mmu_part_lag()).
 */
#ifndef QUENCH_TM_BUFFER_MMU_PART_H
#define QUENCH_TM_BUFFER_MMU_PART_H

#include "tm/buffer/mmu.h"

#define MMU_MAX_PARTS 64
/* Rules per profile: lossy group, lossless group, lossy queue, lossless queue. */
#define MMU_PROFILE_RULES 4
/* Rules of a part: those of the class profiles first, then those of each possible named profile. */
#define MMU_PART_RULES ((MMU_MAX_PROFILES + 1) * MMU_PROFILE_RULES)

/**
 * Create the MMU; port i belongs to part_of_port[i] < n_parts <= MMU_MAX_PARTS.
 *
 * @return the MMU, owned by the caller, or NULL with errno set. params are copied.
 */
struct mmu *mmu_create_parts(const struct mmu_params *params, uint16_t n_parts,
			     const uint8_t part_of_port[]);
/**
 * Activate new params for one part: pool sizes, profiles, set of lossless classes. n_ports and
 * cell_bytes must not change; packets is ignored. The part's owner calls it between two frames;
 * params must have passed mmu_params_check() and are not kept. The change is complete when every
 * part has called it.
 *
 * Nothing is dropped. The bytes held by groups and queues are divided again into reserved, shared
 * and headroom; headroom in use beyond the new size becomes shared use. The use of a pool may then
 * exceed its size; the pool admits no shared bytes until it no longer does. Call
 * mmu_pg_wants_xoff() for every group of the part afterwards: lossless groups above a reduced limit
 * must pause their senders.
 */
void mmu_part_set_params(struct mmu *mmu, uint16_t part, const struct mmu_params *params);
/**
 * Read the other parts' use, if they have published any since the last call, before a burst is
 * admitted. Called by the part's owner.
 */
static inline void mmu_part_refresh(struct mmu *mmu, uint16_t part);
/** Publish this part's use to the others, after a burst. Called by the part's owner. */
void mmu_part_publish(struct mmu *mmu, uint16_t part);
/**
 * As mmu_part_publish(), but only if the published shared use of a pool is off by more than
 * mmu_part_lag(), in bytes or in packets, or if the headroom in use has changed. Each publication
 * moves cache lines to the core of each other part and back.
 */
void mmu_part_publish_lazily(struct mmu *mmu, uint16_t part);
/** Do the others see this part's use as it is? Called by the part's owner. */
bool mmu_part_is_published(const struct mmu *mmu, uint16_t part);

/*
 * All parts together hold back at most this share of a pool, but each part may hold back as many
 * bytes as a short burst has.
 */
#define MMU_LAG_SHARE 64u
#define MMU_MIN_LAG_BYTES 4096u
#define MMU_MIN_LAG_PACKETS (MMU_MIN_LAG_BYTES / MMU_SHORTEST_FRAME_BYTES)

/** Use of a pool that a part may hold back. size and least: bytes, or packets. */
static inline uint64_t
mmu_part_lag(uint64_t size, uint16_t n_parts, uint64_t least)
{
	return max_u64(size / (MMU_LAG_SHARE * n_parts), least);
}

/** Restart the watermarks of one kind in this part from the current use. By the part's owner. */
void mmu_part_clear_watermarks(struct mmu *mmu, uint16_t part, enum mmu_watermark kind);

/* Inline definitions */

/** Slow path of mmu_part_refresh(). versions: the sum of the other parts' versions. */
void mmu_part_read_others(struct mmu *mmu, uint16_t part, uint64_t versions);

/* Versions only grow, so their sum is the same only if each of them is. */
static inline void
mmu_part_refresh(struct mmu *mmu, uint16_t part)
{
	uint64_t versions = 0;

	for (uint16_t i = 0; i < mmu->n_parts; i++) {
		if (i != part)
			versions += __atomic_load_n(&mmu->parts[i].own.version, __ATOMIC_ACQUIRE);
	}
	if (versions != mmu->parts[part].seen_versions)
		mmu_part_read_others(mmu, part, versions);
}

static inline unsigned int
mmu_pool_of(const struct mmu_rule *rule)
{
	return (unsigned int)(rule->pool - rule->part->pools);
}

#endif
