/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reset of the buffer's watermarks.
 *
 * Invariant: only the owner of a shard writes its watermarks.
 */
#ifndef QUENCH_SWITCH_MONITOR_WATERMARKS_H
#define QUENCH_SWITCH_MONITOR_WATERMARKS_H

#include <stdint.h>

struct node;
struct sw;

/**
 * Reset the watermarks of these kinds (a mask of 1 << enum mmu_watermark). May be called from any
 * thread: the owner does it in its next rx() or tx().
 */
void sw_clear_watermarks(struct node *node, uint32_t kinds);
/** Reset the requested kinds; by the owner. */
void sw_do_clear_watermarks(struct sw *sw);

/** Reset all kinds once per interval; takes the front. @return when to call again. */
uint64_t sw_watermarks_control(struct sw *sw, uint64_t now_ns);

#endif
