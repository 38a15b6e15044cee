/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/ingress/cross.h"

#include <rte_mbuf.h>

#include "switch/shard/crossing.h"

/*
 * Write the values for which an entry has no room to the frame's metadata: the ports of a flooded
 * frame, or a change of form.
 */
static void
label(const struct arrival *a, uint64_t form_ports)
{
	struct pkt_meta *meta = pkt_meta(a->m);

	meta->out_port = a->out_port;
	meta->domain = a->domain;
	meta->tci_bits = a->tci_bits;
	meta->form_ports = form_ports;
}

void
sw_cross(struct sw *sw, struct arrival *a)
{
	if (unlikely(sw_changes_form(sw->forward.vlans, a, a->out_port))) {
		label(a, 1ull << a->out_port);
		a->flags |= PKT_LABELLED;
	}
	counter_add(&sw->shard.crossed_out_bytes, a->charged_bytes);
	sw_crossing_put(&sw->shard, sw_entry_of(a), sw->shard.shards->of_port[a->out_port]);
}

/* Take all references before publishing any: DPDK changes a reference count that is 1 without an
 * atomic operation. */
void
sw_cross_flood(struct sw *sw, const struct arrival *a, uint64_t ports, uint64_t form_ports)
{
	const struct sw_shards *s = sw->shard.shards;
	uint64_t shards = 0, others = ports & ~sw->shard.own_ports;
	/* Each port chooses its own queue, by the traffic class. */
	struct arrival by_class = *a;
	struct sw_entry e;

	by_class.class.queue = a->class.tc;
	by_class.out_port = 0;
	by_class.flags |= PKT_LABELLED;
	e = sw_entry_of(&by_class);

	for (uint64_t p = others; p != 0; p &= p - 1)
		shards |= 1ull << s->of_port[__builtin_ctzll(p)];
	label(a, form_ports);
	pkt_meta(a->m)->flood_ports = ports;
	pkt_meta(a->m)->copies += (uint32_t)__builtin_popcountll(shards);
	rte_mbuf_refcnt_update(a->m, (int16_t)__builtin_popcountll(shards));
	counter_add(&sw->shard.crossed_out_bytes,
		    (uint64_t)__builtin_popcountll(others) * a->charged_bytes);
	for (; shards != 0; shards &= shards - 1)
		sw_crossing_put(&sw->shard, e, (uint16_t)__builtin_ctzll(shards));
}
