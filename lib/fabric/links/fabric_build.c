/* SPDX-License-Identifier: BSD-3-Clause */
/* Building a fabric: nodes, cables, and their event queues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"
#include "fabric/links/fabric_parts.h"
#include "fabric/links/fabric_ranks.h"
#include "fabric/links/team.h"

struct fabric *
fabric_create(uint32_t max_nodes, uint32_t max_links, uint32_t threads, uint64_t seed)
{
	struct fabric *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->max_nodes = max_nodes;
	f->max_ends = 2 * max_links;
	f->n_parts = f->wanted_threads = threads;
	f->seed = seed;
	f->nodes = aligned_alloc(RTE_CACHE_LINE_SIZE, max_nodes * sizeof(*f->nodes));
	f->ends = aligned_alloc(RTE_CACHE_LINE_SIZE, f->max_ends * sizeof(*f->ends));
	f->directions = aligned_alloc(RTE_CACHE_LINE_SIZE, f->max_ends * sizeof(*f->directions));
	if (f->nodes == NULL || f->ends == NULL || f->directions == NULL) {
		fabric_destroy(f);
		errno = ENOMEM;
		return NULL;
	}
	return f;
}

void
fabric_share_by(struct fabric *f, uint64_t (*clock_cycles)(void))
{
	f->clock_cycles = clock_cycles;
}

void
fabric_destroy(struct fabric *f)
{
	if (f == NULL)
		return;
	team_destroy(f->team);
	parts_destroy(f);
	abroad_free(f);
	for (uint32_t i = 0; i < f->n_ends; i++) {
		struct direction *d = &f->directions[i];

		while (flights_count(&d->on_cable) > 0)
			rte_pktmbuf_free(flight_mbuf(flights_pop(&d->on_cable)));
		flights_free(&d->on_cable);
		free(d->cable);
	}
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		event_queue_free(&f->nodes[i].rx);
		event_queue_free(&f->nodes[i].tx);
		free(f->nodes[i].ends);
		free(f->nodes[i].inbound);
	}
	free(f->directions);
	free(f->ends);
	free(f->nodes);
	free(f);
}

/* Of the queue of the next node's arrivals (0) or transmissions (1). */
static uint32_t
seed_of_queue(const struct fabric *f, uint32_t which)
{
	return (uint32_t)(mix(mix(f->seed, 1), 2ull * f->n_nodes + which) >> 32);
}

int
fabric_add_node(struct fabric *f, struct node *node)
{
	struct node_slot *slot = &f->nodes[f->n_nodes];

	if (f->n_nodes == f->max_nodes)
		return -ENOSPC;
	memset(slot, 0, sizeof(*slot));
	if (event_queue_init(&slot->rx, 1, seed_of_queue(f, 0)) < 0)
		return -ENOMEM;
	if (event_queue_init(&slot->tx, 1, seed_of_queue(f, 1)) < 0) {
		event_queue_free(&slot->rx);
		return -ENOMEM;
	}
	slot->node = node;
	slot->tick_ns = NEVER_NS;
	for (unsigned int p = 0; p < NODE_MAX_PORTS; p++)
		slot->end_index_of_port[p] = NO_LOCAL;
	return (int)f->n_nodes++;
}

void
fabric_set_node(struct fabric *f, uint32_t number, struct node *node)
{
	f->nodes[number].node = node;
}

/* The two ends of a link are adjacent in fabric.ends. */
static uint32_t
peer_of(uint32_t end)
{
	return end ^ 1;
}

static bool
port_is_free(const struct fabric *f, struct fabric_end e)
{
	return e.node < f->n_nodes && e.port < NODE_MAX_PORTS &&
	       f->nodes[e.node].end_index_of_port[e.port] == NO_LOCAL;
}

/* @return false: out of memory, and nothing has changed. */
static bool
grow_list(uint32_t **list, uint32_t n)
{
	uint32_t *longer = realloc(*list, n * sizeof(*longer));

	if (longer == NULL)
		return false;
	*list = longer;
	return true;
}

/* Before the first run all queues are empty. */
static bool
grow_queue(struct event_queue *q, uint32_t n)
{
	struct event_queue larger;

	if (event_queue_init(&larger, n, q->seed) < 0)
		return false;
	event_queue_free(q);
	*q = larger;
	return true;
}

/* Make room for one more end in a node's queues and lists. */
static int
reserve_end(struct node_slot *slot)
{
	uint32_t n = slot->n_ends + 1;

	return grow_list(&slot->ends, n) && grow_list(&slot->inbound, n) &&
			       grow_queue(&slot->rx, n) && grow_queue(&slot->tx, n)
		       ? 0
		       : -ENOMEM;
}

static void
add_end(struct fabric *f, struct fabric_end e, struct fabric_end peer,
	const struct fabric_cable *link)
{
	struct node_slot *slot = &f->nodes[e.node];
	struct direction *d = &f->directions[f->n_ends];

	f->ends[f->n_ends] = (struct end){.port = e.port, .peer_port = peer.port, .link = *link};
	*d = (struct direction){.to_node = peer.node};
	flights_init(&d->on_cable);
	slot->ends[slot->n_ends] = f->n_ends++;
	slot->end_index_of_port[e.port] = (uint16_t)slot->n_ends++;
	if (e.port >= slot->ports_end)
		slot->ports_end = e.port + 1;
	slot->wake_words = (uint16_t)(RTE_MIN(slot->ports_end + 63, NODE_WAKE_PORTS) / 64);
}

/* A node has as many directions towards it as ends; before this call one less. */
static void
add_inbound(struct fabric *f, uint32_t direction)
{
	struct direction *d = &f->directions[direction];
	struct node_slot *slot = &f->nodes[d->to_node];

	d->source = slot->n_inbound++;
	slot->inbound[d->source] = direction;
}

/* Allocate the state (faults, taps, counts) of the direction that leaves this end, if missing. */
static int
ensure_cable(struct fabric *f, uint32_t end)
{
	struct direction *d = &f->directions[end];

	fabric_collect(f);
	if (d->cable != NULL)
		return 0;
	d->cable = malloc(sizeof(*d->cable));
	if (d->cable == NULL)
		return -ENOMEM;
	cable_init(d->cable, &f->ends[end].link.errors, end);
	d->cable->last_due_ns = d->last_due_ns;
	f->ends[end].cable = d->cable;
	return 0;
}

int
fabric_connect(struct fabric *f, struct fabric_end a, struct fabric_end b,
	       const struct fabric_cable *link)
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
	add_inbound(f, f->n_ends - 2);
	add_inbound(f, f->n_ends - 1);
	if (cable_params_is_faulty(&link->errors) &&
	    (ensure_cable(f, f->n_ends - 2) < 0 || ensure_cable(f, f->n_ends - 1) < 0))
		return -ENOMEM;
	return 0;
}

/* Index of an end, or NO_END. */
static uint32_t
end_of(const struct fabric *f, struct fabric_end e)
{
	const struct node_slot *slot = &f->nodes[e.node];

	if (e.node >= f->n_nodes || e.port >= NODE_MAX_PORTS ||
	    slot->end_index_of_port[e.port] == NO_LOCAL)
		return NO_END;
	return slot->ends[slot->end_index_of_port[e.port]];
}

static void
lose_all(struct fabric *f, uint32_t end)
{
	struct direction *d = &f->directions[end];

	cable_cut(d->cable, flights_count(&d->on_cable));
	while (flights_count(&d->on_cable) > 0)
		rte_pktmbuf_free(flight_mbuf(flights_pop(&d->on_cable)));
	event_queue_set(&f->nodes[d->to_node].rx, d->source, NEVER_NS);
}

int
fabric_set_link_up(struct fabric *f, struct fabric_end at, bool up)
{
	uint32_t end = end_of(f, at);

	if (end == NO_END)
		return -EINVAL;
	if (ensure_cable(f, end) < 0 || ensure_cable(f, peer_of(end)) < 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < 2; i++, end = peer_of(end)) {
		f->directions[end].cable->down = !up;
		if (!up)
			lose_all(f, end);
	}
	return 0;
}

int
fabric_set_cable(struct fabric *f, struct fabric_end from, const struct fabric_cable *link)
{
	uint32_t end = end_of(f, from);

	if (end == NO_END || link->rate_bps != f->ends[end].link.rate_bps)
		return -EINVAL;
	if (ensure_cable(f, end) < 0)
		return -ENOMEM;
	f->ends[end].link = *link;
	cable_set(f->directions[end].cable, &link->errors);
	if (f->started)
		parts_find_lookahead(f);
	return 0;
}

const struct fabric_cable *
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
	f->directions[end].cable->tx = sent;
	f->directions[peer_of(end)].cable->rx = received;
	return 0;
}

/* What other ranks have counted of the direction to this end; NULL: nothing. */
static const struct cable_counts *
far_counts(const struct fabric *f, uint32_t end)
{
	return end == NO_END || f->abroad == NULL || f->abroad->cables == NULL
		       ? NULL
		       : &f->abroad->cables[peer_of(end)];
}

uint64_t
fabric_cable_drops(const struct fabric *f, struct fabric_end at, enum cable_drop why)
{
	uint32_t end = end_of(f, at);
	const struct cable *cable = end == NO_END ? NULL : f->directions[peer_of(end)].cable;
	const struct cable_counts *far = far_counts(f, end);

	return (cable == NULL ? 0 : cable->drops[why]) + (far == NULL ? 0 : far->drops[why]);
}

struct cable_stats
fabric_cable_stats(const struct fabric *f, struct fabric_end at)
{
	uint32_t end = end_of(f, at);
	const struct cable *cable = end == NO_END ? NULL : f->directions[peer_of(end)].cable;
	const struct cable_counts *far = far_counts(f, end);
	struct cable_stats sum = cable == NULL ? (struct cable_stats){0} : cable->stats;

	if (far != NULL)
		cable_stats_add(&sum, &far->stats);
	return sum;
}

int
fabric_inject(struct fabric *f, struct fabric_end at, struct rte_mbuf *m, uint64_t now_ns)
{
	uint32_t end = end_of(f, at);
	struct end *e;

	assert(f->started);
	if (end == NO_END)
		return -EINVAL;
	if (!owns_node(f, at.node)) {
		rte_pktmbuf_free(m);
		return 0;
	}
	e = &f->ends[end];
	e->injected_ns = max_u64(now_ns, e->injected_ns) +
			 serialization_ns(wire_bytes(m->pkt_len), e->link.rate_bps);
	fabric_put(f, end, m, e->injected_ns);
	return 0;
}

void
fabric_watch_node(struct fabric *f, uint32_t node, const struct fabric_watch *watch)
{
	f->nodes[node].watch = *watch;
	f->nodes[node].tick_ns = watch->every_ns;
}

struct fabric_stats
fabric_stats(const struct fabric *f)
{
	struct fabric_stats sum = {.windows = f->abroad == NULL ? f->windows : f->abroad->exchanges,
				   .calls = f->calls,
				   .critical_calls = f->critical_calls};

	for (uint32_t i = 0; f->started && i < f->n_parts; i++) {
		sum.packet_hops += f->parts[i].packet_hops;
		sum.hop_bytes += f->parts[i].hop_bytes;
	}
	if (f->abroad != NULL) {
		sum.packet_hops += f->abroad->packet_hops;
		sum.hop_bytes += f->abroad->hop_bytes;
	}
	for (uint32_t i = 0; i < f->n_ends; i++)
		sum.digest = mix(sum.digest, f->directions[i].digest);
	return sum;
}
