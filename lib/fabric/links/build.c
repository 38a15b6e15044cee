/* SPDX-License-Identifier: BSD-3-Clause */
/* Building a fabric: nodes, cables, and their event queues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/fixed.h"
#include "fabric/links/state.h"

struct fabric *
fabric_create(uint32_t max_nodes, uint32_t max_links)
{
	struct fabric *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->max_nodes = max_nodes;
	f->max_ends = 2 * max_links;
	f->lookahead_ns = NEVER_NS;
	f->nodes = aligned_alloc(RTE_CACHE_LINE_SIZE, max_nodes * sizeof(*f->nodes));
	f->node_next_ns = calloc(max_nodes, sizeof(*f->node_next_ns));
	f->due = calloc(max_nodes, sizeof(*f->due));
	f->ends = aligned_alloc(RTE_CACHE_LINE_SIZE, f->max_ends * sizeof(*f->ends));
	if (f->nodes == NULL || f->node_next_ns == NULL || f->due == NULL || f->ends == NULL ||
	    event_queue_init(&f->arrivals, f->max_ends) < 0) {
		fabric_destroy(f);
		errno = ENOMEM;
		return NULL;
	}
	return f;
}

void
fabric_destroy(struct fabric *f)
{
	if (f == NULL)
		return;
	for (uint32_t i = 0; i < f->n_ends; i++) {
		struct end *e = &f->ends[i];

		while (flights_count(&e->on_cable) > 0)
			rte_pktmbuf_free(flights_pop(&e->on_cable)->m);
		flights_free(&e->on_cable);
		free(e->cable);
	}
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		event_queue_free(&f->nodes[i].tx);
		flights_free(&f->nodes[i].inbox);
		free(f->nodes[i].ends);
	}
	event_queue_free(&f->arrivals);
	free(f->ends);
	free(f->due);
	free(f->node_next_ns);
	free(f->nodes);
	free(f);
}

int
fabric_add_node(struct fabric *f, struct node *node)
{
	struct node_slot *slot = &f->nodes[f->n_nodes];

	if (f->n_nodes == f->max_nodes)
		return -ENOSPC;
	memset(slot, 0, sizeof(*slot));
	if (event_queue_init(&slot->tx, 1) < 0)
		return -ENOMEM;
	slot->node = node;
	flights_init(&slot->inbox);
	for (unsigned int p = 0; p < NODE_MAX_PORTS; p++)
		slot->end_index_of_port[p] = NO_END;
	return (int)f->n_nodes++;
}

static bool
port_is_free(const struct fabric *f, struct fabric_end e)
{
	return e.node < f->n_nodes && e.port < NODE_MAX_PORTS &&
	       f->nodes[e.node].end_index_of_port[e.port] == NO_END;
}

/* Make room for one more end in a node's queue and list of ends. */
static int
reserve_end(struct node_slot *slot)
{
	uint32_t *ends = realloc(slot->ends, (slot->n_ends + 1) * sizeof(*ends));
	struct event_queue tx;
	int rc = event_queue_init(&tx, slot->n_ends + 1);

	if (ends != NULL)
		slot->ends = ends;
	if (rc < 0 || ends == NULL) {
		event_queue_free(&tx);
		return -ENOMEM;
	}
	event_queue_free(&slot->tx);
	slot->tx = tx;
	return 0;
}

static void
add_end(struct fabric *f, struct fabric_end e, struct fabric_end peer,
	const struct fabric_link *link)
{
	struct node_slot *slot = &f->nodes[e.node];

	f->ends[f->n_ends] = (struct end){
		.port = e.port,
		.peer_port = peer.port,
		.peer_node = peer.node,
		.link = *link,
	};
	flights_init(&f->ends[f->n_ends].on_cable);
	slot->ends[slot->n_ends] = f->n_ends++;
	slot->end_index_of_port[e.port] = slot->n_ends++;
	if (e.port / 64u >= slot->wake_words)
		slot->wake_words = e.port / 64u + 1;
}

/* Allocate the state (faults, taps, counts) of the direction that leaves this end, if missing. */
static int
ensure_cable(struct fabric *f, uint32_t end)
{
	struct end *e = &f->ends[end];

	if (e->cable != NULL)
		return 0;
	e->cable = malloc(sizeof(*e->cable));
	if (e->cable == NULL)
		return -ENOMEM;
	cable_init(e->cable, &e->link.errors, end);
	if (flights_count(&e->on_cable) > 0)
		e->cable->last_due_ns = e->on_cable.tail[-1].due_ns;
	return 0;
}

static void
lower_lookahead(struct fabric *f, const struct fabric_link *link)
{
	uint64_t least_ns = link->delay_ns + serialization_ns(wire_bytes(0), link->rate_bps);

	f->lookahead_ns = min_u64(f->lookahead_ns, least_ns);
}

int
fabric_connect(struct fabric *f, struct fabric_end a, struct fabric_end b,
	       const struct fabric_link *link)
{
	if (f->n_ends + 2 > f->max_ends)
		return -ENOSPC;
	if (!port_is_free(f, a) || !port_is_free(f, b) || (a.node == b.node && a.port == b.port) ||
	    link->rate_bps == 0)
		return -EINVAL;
	if (reserve_end(&f->nodes[a.node]) < 0 || reserve_end(&f->nodes[b.node]) < 0)
		return -ENOMEM;
	add_end(f, a, b, link);
	add_end(f, b, a, link);
	if (cable_params_is_faulty(&link->errors) &&
	    (ensure_cable(f, f->n_ends - 2) < 0 || ensure_cable(f, f->n_ends - 1) < 0))
		return -ENOMEM;
	lower_lookahead(f, link);
	return 0;
}

/* Index of an end, or NO_END. */
static uint32_t
end_of(const struct fabric *f, struct fabric_end e)
{
	const struct node_slot *slot = &f->nodes[e.node];

	if (e.node >= f->n_nodes || e.port >= NODE_MAX_PORTS ||
	    slot->end_index_of_port[e.port] == NO_END)
		return NO_END;
	return slot->ends[slot->end_index_of_port[e.port]];
}

/* The two ends of a link are adjacent in fabric.ends. */
static uint32_t
peer_of(uint32_t end)
{
	return end ^ 1;
}

static void
lose_all(struct fabric *f, uint32_t end)
{
	struct end *e = &f->ends[end];

	cable_cut(e->cable, flights_count(&e->on_cable));
	while (flights_count(&e->on_cable) > 0)
		rte_pktmbuf_free(flights_pop(&e->on_cable)->m);
	event_queue_set(&f->arrivals, end, NEVER_NS);
}

int
fabric_set_link(struct fabric *f, struct fabric_end at, bool up)
{
	uint32_t end = end_of(f, at);

	if (end == NO_END)
		return -EINVAL;
	if (ensure_cable(f, end) < 0 || ensure_cable(f, peer_of(end)) < 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < 2; i++, end = peer_of(end)) {
		f->ends[end].cable->down = !up;
		if (!up)
			lose_all(f, end);
	}
	return 0;
}

int
fabric_set_cable(struct fabric *f, struct fabric_end from, const struct fabric_link *link)
{
	uint32_t end = end_of(f, from);

	if (end == NO_END || link->rate_bps != f->ends[end].link.rate_bps)
		return -EINVAL;
	if (ensure_cable(f, end) < 0)
		return -ENOMEM;
	f->ends[end].link = *link;
	cable_set(f->ends[end].cable, &link->errors);
	lower_lookahead(f, link);
	return 0;
}

const struct fabric_link *
fabric_cable(const struct fabric *f, struct fabric_end from)
{
	return &f->ends[end_of(f, from)].link;
}

int
fabric_tap(struct fabric *f, struct fabric_end at, struct cable_tap sent, struct cable_tap received)
{
	uint32_t end = end_of(f, at);

	if (end == NO_END)
		return -EINVAL;
	if (ensure_cable(f, end) < 0 || ensure_cable(f, peer_of(end)) < 0)
		return -ENOMEM;
	f->ends[end].cable->tx = sent;
	f->ends[peer_of(end)].cable->rx = received;
	return 0;
}

uint64_t
fabric_cable_drops(const struct fabric *f, struct fabric_end at, enum cable_drop why)
{
	uint32_t end = end_of(f, at);
	const struct cable *cable = end == NO_END ? NULL : f->ends[peer_of(end)].cable;

	return cable == NULL ? 0 : cable->drops[why];
}

struct cable_stats
fabric_cable_stats(const struct fabric *f, struct fabric_end at)
{
	uint32_t end = end_of(f, at);
	const struct cable *cable = end == NO_END ? NULL : f->ends[peer_of(end)].cable;

	return cable == NULL ? (struct cable_stats){0} : cable->stats;
}

int
fabric_inject(struct fabric *f, struct fabric_end at, struct rte_mbuf *m, uint64_t now_ns)
{
	uint32_t end = end_of(f, at);
	struct end *e;

	if (end == NO_END)
		return -EINVAL;
	e = &f->ends[end];
	e->injected_ns = max_u64(now_ns, e->injected_ns) +
			 serialization_ns(wire_bytes(m->pkt_len), e->link.rate_bps);
	fabric_put(f, end, m, e->injected_ns);
	return 0;
}

const struct fabric_stats *
fabric_stats(const struct fabric *f)
{
	return &f->stats;
}
