/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared buffer of a switch in several parts, each with an lcore of its own: a part's owner
 * alone charges and releases the groups and queues of its ports, and it alone asks about them. What
 * parts have in common is the use of the pools. Each sees its own use, and that of the others as of
 * its last mmu_part_refresh(); the others see its own as of its last mmu_part_publish(). No word
 * has two writers.
 *
 * Bound (tested): together they exceed a pool, or the shared headroom pool, by no more than what
 * all parts but one admit between these two calls, and what mmu_part_publish_lazily() keeps back.
 */
#ifndef QUENCH_TM_MMU_PART_H
#define QUENCH_TM_MMU_PART_H

#include "tm/mmu.h"

#define MMU_MAX_PARTS MMU_MAX_PORTS
/* A profile makes four rules: of a lossy and of a lossless group, and of such queues. */
#define MMU_PROFILE_RULES 4
/* Those of the classes come first, then those of each named profile that there can be. */
#define MMU_PART_RULES ((MMU_MAX_PROFILES + 1) * MMU_PROFILE_RULES)

/** mmu_create() in parts: port i belongs to part_of_port[i] < n_parts <= MMU_MAX_PARTS. */
struct mmu *mmu_create_parts(const struct mmu_params *params, uint16_t n_parts,
			     const uint8_t part_of_port[]);
/**
 * Put other params in force for one part: sizes of pools, profiles, what is lossless. n_ports and
 * cell_bytes must be as they were; packets stay what they were. By the part's owner, between two
 * frames; params have passed mmu_params_check() and are not kept. When all parts have done so the
 * change is whole.
 *
 * Nothing is dropped. What groups and queues hold is divided again into reserved, shared and
 * headroom; headroom in use beyond the new size becomes shared use. A pool may then be used beyond
 * its size: it takes no more shared bytes until it is not. Ask mmu_pg_wants_xoff() for every group
 * of the part afterwards: what lossless groups hold beyond a limit that shrank pauses their
 * senders.
 */
void mmu_part_set_params(struct mmu *mmu, uint16_t part, const struct mmu_params *params);
/** See what the other parts use now: before a burst is admitted. By the part's owner. */
void mmu_part_refresh(struct mmu *mmu, uint16_t part);
/** Let the other parts see what this one uses: after a burst. By the part's owner. */
void mmu_part_publish(struct mmu *mmu, uint16_t part);
/** The same, unless what they know is so near: a line that others read is dear to write. */
void mmu_part_publish_lazily(struct mmu *mmu, uint16_t part, uint32_t near_bytes);

/** The same of one part's groups, queues and sight of the pools. By the part's owner. */
void mmu_part_clear_watermarks(struct mmu *mmu, uint16_t part, enum mmu_watermark kind);

/* Inline definitions */

static inline unsigned int
mmu_pool_of(const struct mmu_rule *rule)
{
	return (unsigned int)(rule->pool - rule->part->pools);
}

#endif
