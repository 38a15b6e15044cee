/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/control/sw_counts.h"

#include "base/numbers/array.h"
#include "switch/control/control_state.h"
#include "switch/forward/router.h"

static void
add_router(struct sw_router *r, struct node_pieces *to)
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
		add_router(shard->forward.router, to);
	}
	for (uint16_t port = 0; port < sw->n_ports; port++)
		node_piece(to, &sw->ports[port].stats, sizeof(sw->ports[port].stats));
}
