/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/control/sw_pieces.h"

#include "base/numbers/array.h"
#include "switch/control/control_state.h"
#include "switch/control/sw_counts.h"
#include "switch/forward/router.h"

static void
add_marking(struct sw_marking *m, struct node_pieces *to)
{
	if (m == NULL)
		return;
	node_piece(to, &m->count_until_ns, sizeof(m->count_until_ns));
	node_piece(to, &m->scheme.state, sizeof(m->scheme.state));
	node_piece(to, &m->scheme.counts, sizeof(m->scheme.counts));
	node_piece(to, m->accuracy, m->accuracy == NULL ? 0 : sizeof(*m->accuracy));
}

static void
add_port(struct sw_port *p, struct node_pieces *to)
{
	node_piece(to, &p->stats, sizeof(p->stats));
	NODE_PIECE_FROM(to, &p->pfc_tx, xoff, watch);
	node_piece(to, &p->pfc_rx, sizeof(p->pfc_rx));
	node_piece(to, p->storm_counts, sizeof(p->storm_counts));
	for (unsigned int q = 0; q < TM_CLASSES; q++) {
		struct sw_queue *queue = &p->queue[q];

		node_piece(to, &queue->bytes, sizeof(queue->bytes));
		node_piece(to, &queue->wred.mark, sizeof(queue->wred.mark));
		add_marking(sw_marking_of(queue), to);
	}
}

static void
add_buffer(struct mmu *mmu, struct node_pieces *to)
{
	uint32_t n = (uint32_t)mmu->n_ports * TM_CLASSES;

	node_piece(to, mmu->parts, mmu->n_parts * sizeof(*mmu->parts));
	for (uint32_t i = 0; i < n; i++) {
		NODE_PIECE_FROM(to, &mmu->pgs[i], used_bytes, rule);
		NODE_PIECE_REST(to, &mmu->pgs[i], peak);
		NODE_PIECE_FROM(to, mmu->pgs[i].rule, reserved_bytes, sure);
		NODE_PIECE_FROM(to, &mmu->queues[i], used_bytes, rule);
		NODE_PIECE_REST(to, &mmu->queues[i], peak);
		NODE_PIECE_FROM(to, mmu->queues[i].rule, reserved_bytes, sure);
	}
}

static void
add_control(struct sw_control *c, uint16_t n_ports, struct node_pieces *to)
{
	node_piece(to, &c->events, sizeof(c->events));
	node_piece(to, c->watchdog.queue, n_ports * sizeof(c->watchdog.queue[0]));
	node_piece(to, c->watchdog.watched_prios, n_ports);
	for (unsigned int i = 0; i < ARRAY_LEN(c->forwarding.fdbs); i++) {
		struct fdb *fdb = c->forwarding.fdbs[i];

		if (fdb == NULL)
			continue;
		node_piece(to, &fdb->used, sizeof(fdb->used));
		node_piece(to, &fdb->stats, sizeof(fdb->stats));
		node_piece(to, fdb->ports, n_ports * sizeof(fdb->ports[0]));
	}
}

void
sw_pieces(struct node *node, struct node_pieces *to)
{
	struct sw *sw = sw_of(node);

	for (uint16_t i = 0; i < sw_shard_count(sw); i++) {
		struct sw *shard = sw_shard_at(sw, i);

		node_piece(to, &shard->ledger, sizeof(shard->ledger));
		node_piece(to, shard->not_ect_packets,
			   sw->n_ports * sizeof(shard->not_ect_packets[0]));
		if (to->all)
			sw_router_counts(shard->forward.router, to);
	}
	for (uint16_t port = 0; port < sw->n_ports; port++)
		add_port(&sw->ports[port], to);
	add_buffer(sw->mmu, to);
	if (!to->all)
		return;
	add_control(sw->control, sw->n_ports, to);
}
