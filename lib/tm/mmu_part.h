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

/** mmu_create() in parts: port i belongs to part_of_port[i] < n_parts <= MMU_MAX_PARTS. */
struct mmu *mmu_create_parts(const struct mmu_params *params, uint16_t n_parts,
			     const uint8_t part_of_port[]);
/** See what the other parts use now: before a burst is admitted. By the part's owner. */
void mmu_part_refresh(struct mmu *mmu, uint16_t part);
/** Let the other parts see what this one uses: after a burst. By the part's owner. */
void mmu_part_publish(struct mmu *mmu, uint16_t part);
/** The same, unless what they know is so near: a line that others read is dear to write. */
void mmu_part_publish_lazily(struct mmu *mmu, uint16_t part, uint32_t near_bytes);

/** The same of one part's groups, queues and sight of the pools. By the part's owner. */
void mmu_part_clear_watermarks(struct mmu *mmu, uint16_t part, enum mmu_watermark kind);

#endif
