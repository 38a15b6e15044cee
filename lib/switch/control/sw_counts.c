/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/control/sw_counts.h"

#include "base/numbers/array.h"
#include "base/numbers/fixed.h"
#include "switch/control/control_state.h"
#include "switch/forward/router.h"

void
sw_router_counts(struct sw_router *r, struct node_pieces *to)
{
	if (r == NULL)
		return;
	node_piece(to, &r->stats, sizeof(r->stats));
	for (unsigned int i = 0; i < ARRAY_LEN(r->stats_of); i++)
		if (r->stats_of[i] != NULL)
			node_piece(to, r->stats_of[i], sizeof(*r->stats_of[i]));
	for (struct sw_hop_counts *hop = r->hop_counts.first; hop != NULL; hop = hop->next)
		node_piece(to, &hop->stats, sizeof(hop->stats));
}

void
sw_counts(struct node *node, struct node_pieces *to)
{
	struct sw *sw = sw_of(node);

	for (uint16_t i = 0; i < sw_shard_count(sw); i++) {
		struct sw *shard = sw_shard_at(sw, i);

		node_piece(to, &shard->ledger, sizeof(shard->ledger));
		sw_router_counts(shard->forward.router, to);
	}
	for (uint16_t port = 0; port < sw->n_ports; port++)
		node_piece(to, &sw->ports[port].stats, sizeof(sw->ports[port].stats));
}

uint64_t
sw_port_wire_bytes(const struct node *node, uint16_t port)
{
	const struct sw_port_stats *stats = &sw_of_const(node)->ports[port].stats;

	return stats->tx_bytes + stats->tx_packets * GAP_BYTES;
}

uint64_t
sw_port_rate_bps(const struct node *node, uint16_t port)
{
	return sw_of_const(node)->ports[port].shaper.account.rate_bps;
}

static bool
may_mark(const struct sw_queue *q)
{
	const struct sw_marking *m = sw_marking_of(q);
	uint64_t bytes = q->bytes;

	if (m != NULL && m->scheme.ops != NULL)
		return m->scheme.ops->may_hit(&m->scheme.params, bytes);
	if (q->wred.weight > 0)
		bytes = max_u64(bytes, q->wred.average_q16 >> WRED_AVERAGE_BITS);
	return bytes > min_u64(q->wred.mark.min_bytes, q->wred.drop.min_bytes);
}

bool
sw_may_mark(const struct node *node)
{
	const struct sw *sw = sw_of_const(node);

	for (uint16_t port = 0; port < sw->n_ports; port++) {
		const struct sw_port *p = &sw->ports[port];

		if (p->max_queues != 0)
			return true;
		for (uint8_t queue = 0; queue < TM_CLASSES; queue++)
			if (p->wred_queues >> queue & 1 && may_mark(&p->queue[queue]))
				return true;
	}
	return false;
}
