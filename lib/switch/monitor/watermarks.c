/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/monitor/watermarks.h"

#include "switch/control/control_state.h"
#include "tm/buffer/mmu_part.h"

void
sw_clear_watermarks(struct node *node, uint32_t kinds)
{
	for (uint16_t i = 0; i < sw_shard_count(sw_of(node)); i++) {
		struct sw *sw = sw_shard_at(sw_of(node), i);

		__atomic_fetch_or(&sw->request.clear_watermarks, kinds, __ATOMIC_RELAXED);
		sw_post_request(&sw->request, SW_REQUEST_CLEAR);
	}
}

void
sw_do_clear_watermarks(struct sw *sw)
{
	uint32_t kinds = __atomic_exchange_n(&sw->request.clear_watermarks, 0, __ATOMIC_RELAXED);

	for (unsigned int i = 0; i < MMU_WATERMARKS; i++) {
		if (kinds >> i & 1)
			mmu_part_clear_watermarks(sw->mmu, sw->shard.index, (enum mmu_watermark)i);
	}
}

/* Clear the watermarks at each multiple of the interval. After a late call, the next time is the
 * next multiple. */
uint64_t
sw_watermarks_control(struct sw *sw, uint64_t now_ns)
{
	if (sw->control->watermark_interval_ns == NEVER_NS)
		return NEVER_NS;
	if (now_ns >= sw->control->next_clear_ns) {
		if (sw->control->next_clear_ns > 0)
			sw_clear_watermarks(&sw->node, (1u << MMU_WATERMARKS) - 1);
		sw->control->next_clear_ns = (now_ns / sw->control->watermark_interval_ns + 1) *
					     sw->control->watermark_interval_ns;
	}
	return sw->control->next_clear_ns;
}
