/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch loses its power for a moment: what it held is gone, what it was told by its
 * configuration comes back. */
#include "switch/sw_router.h"
#include "switch/sw_shard.h"
#include "tm/mmu_part.h"

static void
empty_ports(struct sw *sw, uint64_t now_ns)
{
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		if (!sw_owns(sw, port))
			continue;
		for (uint8_t queue = 0; queue < TM_CLASSES; queue++)
			sw_flush_queue(sw, port, queue, SW_DROP_RESTART, now_ns);
	}
}

/* Give what crosses its place, and what was given back to whom it belongs. */
static void
settle(struct sw *front, uint64_t now_ns)
{
	if (front->shards != NULL)
		sw_shards_settle(front, now_ns);
}

void
sw_restart(struct node *node, uint64_t now_ns)
{
	struct sw *front = sw_of(node);

	settle(front, now_ns);
	for (uint16_t i = 0; i < sw_shard_count(front); i++) {
		struct sw *sw = sw_shard_at(front, i);

		empty_ports(sw, now_ns);
		/* What it holds no longer, also when it owes nothing to another shard. */
		if (front->shards != NULL)
			mmu_part_publish(sw->mmu, sw->index);
	}
	settle(front, now_ns);
	sw_pfcwd_restart(front);
	fdb_forget_learned(sw_shard_at(front, 0)->fdb);
	for (uint16_t i = 0; i < sw_shard_count(front); i++) {
		struct sw *sw = sw_shard_at(front, i);

		if (sw->router != NULL)
			neigh_forget_learned(sw->router->neighs, now_ns);
	}
	/* After the last release: those wake up, and say XON. */
	for (uint16_t port = 0; port < front->n_ports; port++)
		sw_pfc_reset(front, port, now_ns);
}
