/* SPDX-License-Identifier: BSD-3-Clause */
/* Frees and counts frames that are not forwarded. */
#ifndef QUENCH_SWITCH_INGRESS_DROP_H
#define QUENCH_SWITCH_INGRESS_DROP_H

#include <rte_mbuf.h>
#include "switch/core/switch.h"
#include "switch/frame/arrival.h"

void sw_tell_drop(struct node_drops *drops, uint16_t in_port, const struct rte_mbuf *m,
		  enum sw_drop reason);

/** Name a received frame that is dropped before it enters a queue, if somebody wants to know. */
static inline void
sw_name_drop(const struct sw *sw, uint16_t in_port, const struct rte_mbuf *m, enum sw_drop reason)
{
	if (unlikely(sw->drops != NULL))
		sw_tell_drop(sw->drops, in_port, m, reason);
}

/** Count a frame that ends here, without freeing it. */
static inline void
sw_count_drop(struct sw *sw, uint16_t port, enum sw_drop reason, uint32_t charged_bytes)
{
	counter_inc(&sw->ports[port].stats.drops[reason]);
	counter_add(&sw->ledger.dropped, charged_bytes);
}

static inline void
sw_count_egress_drop(struct sw *sw, const struct arrival *a, enum sw_drop reason)
{
	struct sw_queue_stats *stats = &sw->ports[a->out_port].stats.queue[a->class.queue];

	sw_count_drop(sw, a->out_port, reason, a->charged_bytes);
	counter_inc(&stats->drop_packets);
	counter_add(&stats->drop_bytes, a->frame_bytes);
	if (reason == SW_DROP_WRED) {
		counter_inc(&stats->wred_drop_packets);
		counter_add(&stats->wred_drop_bytes, a->frame_bytes);
	}
}

/** Free and count a frame that is dropped or consumed. */
static inline void
sw_end(struct sw *sw, const struct arrival *a, enum sw_drop reason)
{
	if (reason == SW_CONSUMED) {
		counter_add(&sw->ledger.consumed, a->charged_bytes);
	} else {
		sw_name_drop(sw, a->in_port, a->m, reason);
		sw_count_drop(sw, a->in_port, reason, a->charged_bytes);
	}
	rte_pktmbuf_free(a->m);
}

#endif
