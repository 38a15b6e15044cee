/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/egress/closed.h"

#include <rte_mbuf.h>

#include "switch/egress/sw_lost.h"
#include "switch/egress/sw_release.h"

/* Mask of the priorities that pause this queue and are in a storm whose action is drop. */
static uint8_t
storms_of(const struct sw *sw, uint16_t port, uint8_t queue)
{
	return sw->ports[port].now.storm_drop & sw_classes_of(sw, port)->prios_of_queue[queue];
}

/* The port that received a queued frame. */
static uint16_t
from_port(const struct sw_entry *e)
{
	return sw_entry_flags(e) & PKT_GENERATED ? NODE_NO_PORT : sw_entry_group(e) / TM_CLASSES;
}

uint64_t
sw_closed_flush(struct sw *sw, uint16_t port, uint8_t queue, enum sw_drop reason, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	struct sw_queue *q = &p->queue[queue];
	uint64_t n = 0;

	while (!sw_queue_is_empty(q)) {
		const struct sw_entry *e = sw_fifo_pop(&q->fifo, &sw->shard.chunks);

		counter_add(&q->bytes, -(uint64_t)sw_entry_charged_bytes(e));
		mmu_egress_release(sw->mmu, port, queue, sw_entry_charged_bytes(e));
		sw_leave_ingress(sw, e, now_ns);
		counter_inc(&p->stats.drops[reason]);
		counter_inc(&p->stats.queue[queue].drop_packets);
		counter_add(&p->stats.queue[queue].drop_bytes, sw_entry_frame_bytes(e));
		counter_add(&sw->ledger.dropped, sw_entry_charged_bytes(e));
		sw_name_lost(sw, port, from_port(e), sw_entry_mbuf(e), reason, now_ns);
		rte_pktmbuf_free(sw_entry_mbuf(e));
		n++;
	}
	p->backlogged &= (uint8_t) ~(1u << queue);
	q->wred.idle_since_ns = now_ns;
	sched_charge(&p->sched, queue, 0, false);
	return n;
}

void
sw_closed_flush_storm(struct sw *sw, uint16_t port, uint8_t queue, uint64_t now_ns)
{
	struct sw_port *p = &sw->ports[port];
	uint8_t prio = (uint8_t)__builtin_ctz(storms_of(sw, port, queue));

	counter_add(&p->storm_counts[prio].tx_dropped,
		    sw_closed_flush(sw, port, queue, SW_DROP_PFC_WATCHDOG, now_ns));
}

enum sw_drop
sw_closed_refuse(struct sw *sw, uint16_t port, uint8_t queue)
{
	struct sw_port *p = &sw->ports[port];

	if (p->now.link_down)
		return sw_closed_reason(p);
	counter_inc(&p->storm_counts[__builtin_ctz(storms_of(sw, port, queue))].tx_dropped);
	return SW_DROP_PFC_WATCHDOG;
}

enum sw_drop
sw_closed_ingress(struct sw *sw, uint16_t port, uint8_t pg)
{
	struct sw_port *p = &sw->ports[port];

	if (p->now.storm_drop >> pg & 1) {
		counter_inc(&p->storm_counts[pg].rx_dropped);
		return SW_DROP_PFC_WATCHDOG;
	}
	counter_inc(&p->storm_counts[pg].rx_packets);
	return SW_PASS;
}
