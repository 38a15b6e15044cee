/* SPDX-License-Identifier: BSD-3-Clause */
/* Watermarks of the buffer, begun anew. */
#ifndef QUENCH_SWITCH_CONTROL_WATERMARKS_H
#define QUENCH_SWITCH_CONTROL_WATERMARKS_H

#include <stdint.h>

struct node;
struct sw;

/**
 * Begin the watermarks of these kinds (a mask of 1 << enum mmu_watermark) anew. May be called from
 * any thread: the owner does it in its next rx() or tx().
 */
void sw_clear_watermarks(struct node *node, uint32_t kinds);
/** By the owner: those that were asked for. */
void sw_do_clear_watermarks(struct sw *sw);

/** At each interval, of the front. @return when it wants to be called again. */
uint64_t sw_watermarks_control(struct sw *sw, uint64_t now_ns);

#endif
