/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/change/restart.h"

#include "switch/monitor/sw_pfcwd.h"
#include "switch/egress/closed.h"
#include "switch/egress/pfc.h"
#include "switch/forward/router.h"
#include "switch/ingress/ingress.h"
#include "tm/buffer/mmu_part.h"

/* What a queue remembers of the frames that it has sent. */
static void
forget_past(struct sw_queue *q)
{
	q->wred.average_q16 = 0;
	if (sw_marking_of(q) != NULL)
		sw_marking_of(q)->scheme.state = (union mark_state){0};
}

static void
empty_ports(struct sw *sw, uint64_t now_ns)
{
	for (uint16_t port = 0; port < sw->n_ports; port++) {
		if (!sw_owns(&sw->shard, port))
			continue;
		for (uint8_t queue = 0; queue < TM_CLASSES; queue++) {
			sw_closed_flush(sw, port, queue, SW_DROP_RESTART, now_ns);
			forget_past(&sw->ports[port].queue[queue]);
		}
	}
}

/* Deliver crossing frames and returned charges. */
static void
settle(struct sw *front, uint64_t now_ns)
{
	if (front->shard.shards != NULL)
		sw_crossed_settle(front, now_ns);
}

void
sw_restart(struct node *node, uint64_t now_ns)
{
	struct sw *front = sw_of(node);

	settle(front, now_ns);
	for (uint16_t i = 0; i < sw_shard_count(front); i++) {
		struct sw *sw = sw_shard_at(front, i);

		empty_ports(sw, now_ns);
		/*
		 * Publish the use of the pools, which is lower now, even if the shard owes no
		 * charges to other shards.
		 */
		if (front->shard.shards != NULL)
			mmu_part_publish(sw->mmu, sw->shard.index);
	}
	settle(front, now_ns);
	sw_pfcwd_restart(front, now_ns);
	fdb_forget_learned(sw_shard_at(front, 0)->forward.fdb);
	for (uint16_t i = 0; i < sw_shard_count(front); i++) {
		struct sw *sw = sw_shard_at(front, i);

		if (sw->forward.router != NULL)
			neigh_forget_learned(sw->forward.router->neighs, now_ns);
	}
	/* Call this after the last release, because releases request XON. */
	for (uint16_t port = 0; port < front->n_ports; port++)
		sw_pfc_reset(front, port, now_ns);
}
