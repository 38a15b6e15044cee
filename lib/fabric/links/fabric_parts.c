/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/links/fabric_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>

#include "base/numbers/fixed.h"

/* By this percentage the heaviest part may exceed the mean. */
#define UNEVEN_PERCENT 5u
/* The parts are first balanced after this number of windows, then each time after twice as many. */
#define FIRST_BALANCE 64u
/* A group of nodes is divided if it is heavier than a part's share divided by this. */
#define GROUPS_OF_A_PART 4u
#define NO_SIDE UINT32_MAX
/* Entries of a list from which two threads touch different lines. */
#define ENTRIES_APART (LINES_APART / sizeof(uint32_t))

/* Nodes that stay together. */
struct group {
	uint32_t index; /* of its first node, or of its switch */
	uint64_t weight[MAX_SIDES];
};

void
part_lose(struct part *p, struct rte_mbuf *m)
{
	rte_pktmbuf_free(m);
	p->no_memory = true;
}

/* ---- frames between parts ---- */

static bool
box_grow(struct box *box)
{
	uint32_t capacity = box->capacity == 0 ? 64 : 2 * box->capacity;
	struct crossing *items = realloc(box->items, capacity * sizeof(*items));

	if (items == NULL)
		return false;
	box->items = items;
	box->capacity = capacity;
	return true;
}

void
part_send(struct fabric *f, struct part *p, uint32_t direction, const struct flight *frame)
{
	const struct end *e = &f->ends[direction];
	bool leaves = e->to_part >= f->n_parts;
	struct box *box = &p->out[leaves ? 0 : f->windows & 1][e->to_part];
	uint64_t *crossing_ns = leaves ? &p->leaving_ns : &p->crossing_ns[e->to_side];

	if (unlikely(box->n == box->capacity) && !box_grow(box)) {
		part_lose(p, flight_mbuf(frame));
		return;
	}
	box->items[box->n++] = (struct crossing){.frame = *frame, .direction = direction};
	*crossing_ns = min_u64(*crossing_ns, frame->due_ns);
}

void
part_collect(struct fabric *f, struct part *p, uint64_t window)
{
	for (uint32_t i = 0; i < f->n_parts; i++) {
		struct box *box = &f->parts[i].out[window & 1][p->index];

		for (uint32_t k = 0; k < box->n; k++)
			part_put(f, p, &f->directions[box->items[k].direction],
				 &box->items[k].frame);
		box->n = 0;
	}
}

void
parts_collect(struct fabric *f)
{
	for (uint32_t i = 0; i < f->n_parts; i++)
		part_collect(f, &f->parts[i], f->windows);
}

uint64_t
part_next_ns(const struct side *side)
{
	uint64_t next_ns = NEVER_NS;

	for (uint32_t i = 0; i < side->n_nodes; i++)
		next_ns = min_u64(next_ns, side->node_next_ns[i]);
	return next_ns;
}

/* ---- which nodes are on which side ---- */

static uint64_t
weight_of(const struct fabric *f, const struct node_slot *slot)
{
	uint64_t weight = slot->calls;

	for (uint32_t i = 0; !f->started && i < slot->n_ends; i++)
		weight += f->ends[slot->ends[i]].link.rate_bps / 1000000;
	return weight;
}

/* Neighbours of the node that have no side yet come to the other side, and wait in list. @return
 * false: a neighbour is on the same side. */
static bool
choose_neighbours(struct fabric *f, uint32_t node, uint32_t *list, uint32_t *n)
{
	const struct node_slot *slot = &f->nodes[node];

	for (uint32_t i = 0; i < slot->n_ends; i++) {
		uint32_t peer = f->directions[slot->ends[i]].to_node;

		if (f->nodes[peer].side == NO_SIDE) {
			f->nodes[peer].side = 1 - slot->side;
			list[(*n)++] = peer;
		} else if (f->nodes[peer].side == slot->side) {
			return false;
		}
	}
	return true;
}

/* @return false: some cable would join nodes of one side. */
static bool
two_sides(struct fabric *f, uint32_t *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->nodes[i].side = NO_SIDE;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (f->nodes[i].side == NO_SIDE) {
			f->nodes[i].side = 0;
			list[n++] = i;
		}
		while (n > 0) {
			uint32_t node = list[--n];

			if (!choose_neighbours(f, node, list, &n))
				return false;
		}
	}
	return true;
}

/* Can each side be divided into parts of equal work? The answer is the same at all ranks. */
static bool
sides_divide(const struct fabric *f)
{
	uint32_t n_parts = f->abroad == NULL ? f->n_parts : ranks_of(f) * f->wanted_threads;
	uint64_t heaviest[MAX_SIDES] = {0}, sum[MAX_SIDES] = {0};

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct node_slot *slot = &f->nodes[i];
		uint64_t weight = weight_of(f, slot);

		heaviest[slot->side] = max_u64(heaviest[slot->side], weight);
		sum[slot->side] += weight;
	}
	return n_parts == 1 || (heaviest[0] * n_parts <= sum[0] && heaviest[1] * n_parts <= sum[1]);
}

/* @return false: no memory. */
static bool
choose_sides(struct fabric *f)
{
	uint32_t *list = malloc((f->n_nodes + 1) * sizeof(*list));

	if (list == NULL)
		return false;
	f->n_sides = two_sides(f, list) && (f->is_near || sides_divide(f)) ? 2 : 1;
	free(list);
	for (uint32_t i = 0; f->n_sides == 1 && i < f->n_nodes; i++)
		f->nodes[i].side = 0;
	return true;
}

/* ---- which nodes are in which part ---- */

/* The switch of a host, which has one cable; else the node itself. */
static uint32_t
group_of(const struct fabric *f, uint32_t node)
{
	const struct node_slot *slot = &f->nodes[node];
	uint32_t peer;

	if (slot->n_ends != 1)
		return node;
	peer = f->directions[slot->ends[0]].to_node;
	return f->nodes[peer].n_ends > 1 ? peer : node;
}

static uint64_t
weight_of_group(const struct group *g)
{
	return g->weight[0] + g->weight[1];
}

/* Heaviest first. */
static int
by_weight(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (weight_of_group(x) != weight_of_group(y))
		return weight_of_group(x) > weight_of_group(y) ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/*
 * Set the weights of all groups, whose index is that of their first node or switch, of the nodes
 * that are now in parts [0, among).
 * @return the weight of the heaviest group.
 */
static uint64_t
weigh(const struct fabric *f, struct group *groups, uint32_t among, bool whole)
{
	uint64_t heaviest = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		groups[i] = (struct group){.index = i};
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		struct group *g = &groups[whole ? group_of(f, i) : i];

		if (f->nodes[i].part >= among)
			continue;
		g->weight[f->nodes[i].side] += weight_of(f, &f->nodes[i]);
		heaviest = max_u64(heaviest, weight_of_group(g));
	}
	return heaviest;
}

static uint64_t
total_weight(const struct group *groups, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += weight_of_group(&groups[i]);
	return sum;
}

/* The part that is lightest on the sides where the group is heavy; of equal ones, the lightest. */
static uint32_t
lightest_for(uint32_t n_parts, const struct group *g, uint64_t loads[FABRIC_MAX_THREADS][MAX_SIDES])
{
	unsigned __int128 least = 0;
	uint32_t best = 0;

	for (uint32_t k = 0; k < n_parts; k++) {
		const uint64_t *load = loads[k];
		unsigned __int128 there = (unsigned __int128)load[0] * g->weight[0] +
					  (unsigned __int128)load[1] * g->weight[1];
		bool is_lighter = load[0] + load[1] < loads[best][0] + loads[best][1];

		if (k == 0 || there < least || (there == least && is_lighter)) {
			least = there;
			best = k;
		}
	}
	return best;
}

/*
 * Divide the nodes that are now in parts [0, among) into n parts: the heaviest group that is left
 * goes to the lightest part. Groups stay whole if none is heavier than a part's share divided by
 * groups_of_a_part. @return false: no memory.
 */
static bool
choose_parts(struct fabric *f, uint32_t among, uint32_t n, uint32_t groups_of_a_part)
{
	struct group *groups = malloc(f->n_nodes * sizeof(*groups));
	uint32_t *part = malloc(f->n_nodes * sizeof(*part));
	uint64_t loads[FABRIC_MAX_THREADS][MAX_SIDES] = {0};
	bool whole = true;

	if (groups == NULL || part == NULL) {
		free(groups);
		free(part);
		return false;
	}
	if (weigh(f, groups, among, true) * groups_of_a_part * n >
	    total_weight(groups, f->n_nodes)) {
		whole = false;
		weigh(f, groups, among, false);
	}
	qsort(groups, f->n_nodes, sizeof(*groups), by_weight);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t lightest = lightest_for(n, &groups[i], loads);

		for (uint32_t s = 0; s < MAX_SIDES; s++)
			loads[lightest][s] += groups[i].weight[s];
		part[groups[i].index] = lightest;
	}
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (f->nodes[i].part < among)
			f->nodes[i].part = part[whole ? group_of(f, i) : i];
	free(groups);
	free(part);
	return true;
}

/* Least time of a frame on the cable from an end. */
static uint64_t
least_ns(const struct fabric *f, uint32_t end)
{
	const struct fabric_cable *link = &f->ends[end].link;

	return link->delay_ns + serialization_ns(wire_bytes(0), link->rate_bps);
}

/* The node that an end is of. The two ends of a cable are adjacent. */
static uint32_t
node_of(const struct fabric *f, uint32_t end)
{
	return f->directions[end ^ 1].to_node;
}

/* Are there cables between groups, and are all slower than the fastest one in a group? */
static bool
groups_are_near(const struct fabric *f)
{
	uint64_t inside_ns = NEVER_NS, between_ns = NEVER_NS;

	for (uint32_t i = 0; i < f->n_ends; i++) {
		bool inside = group_of(f, node_of(f, i)) == group_of(f, f->directions[i].to_node);
		uint64_t *least = inside ? &inside_ns : &between_ns;

		*least = min_u64(*least, least_ns(f, i));
	}
	return inside_ns < between_ns && between_ns < NEVER_NS;
}

/*
 * Let each group of this rank be a part, if its cables are near and the threads can share the
 * groups equally. @return false: no memory.
 */
static bool
choose_near(struct fabric *f)
{
	struct group *groups = malloc(f->n_nodes * sizeof(*groups));
	uint32_t n = 0;

	if (groups == NULL)
		return false;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->nodes[i].part = owns_node(f, i) ? 0 : 1;
	f->is_near = f->is_large && groups_are_near(f) &&
		     weigh(f, groups, 1, true) * f->n_threads <= total_weight(groups, f->n_nodes);
	for (uint32_t i = 0; f->is_near && i < f->n_nodes; i++)
		n += weight_of_group(&groups[i]) > 0;
	if (n > f->n_parts)
		f->n_parts = (uint32_t)min_u64(n, FABRIC_MAX_THREADS) / f->n_threads * f->n_threads;
	free(groups);
	return true;
}

void
parts_find_lookahead(struct fabric *f)
{
	uint64_t abroad_ns = NEVER_NS;

	f->inside_ns = f->between_ns = NEVER_NS;
	for (uint32_t i = 0; i < f->n_ends; i++) {
		uint32_t from = node_of(f, i), to = f->directions[i].to_node;
		uint64_t *least = &f->between_ns;

		if (rank_of_node(f, from) != rank_of_node(f, to))
			least = &abroad_ns;
		else if (!owns_node(f, from))
			continue;
		else if (f->nodes[from].part == f->nodes[to].part)
			least = &f->inside_ns;
		*least = min_u64(*least, least_ns(f, i));
	}
	if (f->abroad != NULL)
		f->abroad->lookahead_ns = abroad_ns;
}

int
parts_of_ranks(struct fabric *f, uint8_t *rank_of)
{
	/* How often ranks must meet depends on the fastest cable between them. */
	uint32_t groups_of_a_rank = groups_are_near(f) ? 1 : GROUPS_OF_A_PART;

	if (!choose_sides(f))
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->nodes[i].part = 0;
	if (!choose_parts(f, 1, ranks_of(f), groups_of_a_rank))
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		rank_of[i] = (uint8_t)f->nodes[i].part;
	return 0;
}

/* Divide the nodes of this rank into parts. @return false: no memory. */
static bool
choose_own_parts(struct fabric *f)
{
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->nodes[i].part = owns_node(f, i) ? 0 : f->n_parts + rank_of_node(f, i);
	return choose_parts(f, f->n_parts, f->n_parts, f->is_near ? 0 : GROUPS_OF_A_PART);
}

/* ---- building the parts ---- */

static int
open_part(const struct fabric *f, struct part *p, uint32_t index)
{
	p->index = index;
	p->out[0] = calloc(f->n_parts + ranks_of(f), sizeof(*p->out[0]));
	p->out[1] = calloc(f->n_parts + ranks_of(f), sizeof(*p->out[1]));
	p->crossing_ns[0] = p->crossing_ns[1] = p->leaving_ns = NEVER_NS;
	return p->out[0] != NULL && p->out[1] != NULL ? 0 : -ENOMEM;
}

/* The lists of all sides. */
static int
open_sides(struct fabric *f)
{
	size_t n = f->n_nodes + (size_t)f->n_parts * MAX_SIDES * ENTRIES_APART;

	f->side_nodes = calloc(n, sizeof(*f->side_nodes));
	f->side_due = calloc(n, sizeof(*f->side_due));
	f->side_next_ns = calloc(n, sizeof(*f->side_next_ns));
	return f->side_nodes != NULL && f->side_due != NULL && f->side_next_ns != NULL ? 0
										       : -ENOMEM;
}

/* Room for the nodes of each side. */
static void
divide_lists(struct fabric *f)
{
	size_t at = 0;

	for (uint32_t i = 0; i < f->n_parts; i++)
		for (uint32_t s = 0; s < MAX_SIDES; s++)
			f->parts[i].sides[s].n_nodes = 0;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (is_own(f, &f->nodes[i]))
			f->parts[f->nodes[i].part].sides[f->nodes[i].side].n_nodes++;
	for (uint32_t i = 0; i < f->n_parts; i++)
		for (uint32_t s = 0; s < MAX_SIDES; s++) {
			struct side *side = &f->parts[i].sides[s];

			side->nodes = f->side_nodes + at;
			side->due = f->side_due + at;
			side->node_next_ns = f->side_next_ns + at;
			at += side->n_nodes + ENTRIES_APART;
			side->n_nodes = 0;
		}
}

static void
free_boxes(struct box *boxes, uint32_t n)
{
	for (uint32_t i = 0; boxes != NULL && i < n; i++) {
		for (uint32_t k = 0; k < boxes[i].n; k++)
			rte_pktmbuf_free(flight_mbuf(&boxes[i].items[k].frame));
		free(boxes[i].items);
	}
	free(boxes);
}

static void
fill_parts(struct fabric *f)
{
	divide_lists(f);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		struct node_slot *slot = &f->nodes[i];
		struct side *side;
		uint64_t sends_ns = min_u64(event_queue_min(&slot->tx).at_ns, slot->control_ns);

		slot->calls = 0;
		if (!is_own(f, slot))
			continue;
		side = &f->parts[slot->part].sides[slot->side];
		slot->place = side->n_nodes++;
		side->nodes[slot->place] = i;
		side->node_next_ns[slot->place] =
			min_u64(event_queue_min(&slot->rx).at_ns, sends_ns);
	}
	for (uint32_t i = 0; i < f->n_parts; i++)
		for (uint32_t s = 0; s < f->n_sides; s++)
			f->parts[i].sides[s].next_ns = part_next_ns(&f->parts[i].sides[s]);
	for (uint32_t i = 0; i < f->n_ends; i++) {
		const struct node_slot *peer = &f->nodes[f->directions[i].to_node];

		f->ends[i].to_part = (uint16_t)peer->part;
		f->ends[i].to_side = (uint16_t)peer->side;
	}
	parts_find_lookahead(f);
}

int
parts_create(struct fabric *f)
{
	if (!choose_near(f))
		return -ENOMEM;
	f->parts = aligned_alloc(LINES_APART, f->n_parts * sizeof(*f->parts));
	if (f->parts == NULL)
		return -ENOMEM;
	memset(f->parts, 0, f->n_parts * sizeof(*f->parts));
	if ((f->abroad == NULL || f->is_near) && !choose_sides(f))
		return -ENOMEM;
	if (open_sides(f) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n_parts; i++)
		if (open_part(f, &f->parts[i], i) < 0)
			return -ENOMEM;
	f->balance_at = FIRST_BALANCE;
	if (!choose_own_parts(f))
		return -ENOMEM;
	fill_parts(f);
	return 0;
}

void
parts_destroy(struct fabric *f)
{
	for (uint32_t i = 0; f->parts != NULL && i < f->n_parts; i++) {
		struct part *p = &f->parts[i];

		free_boxes(p->out[0], f->n_parts + ranks_of(f));
		free_boxes(p->out[1], f->n_parts + ranks_of(f));
	}
	free(f->side_nodes);
	free(f->side_due);
	free(f->side_next_ns);
	free(f->parts);
	f->parts = NULL;
}

static bool
is_uneven(const struct fabric *f)
{
	uint64_t calls[FABRIC_MAX_THREADS][MAX_SIDES] = {0}, most[MAX_SIDES] = {0}, sum = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct node_slot *slot = &f->nodes[i];
		uint64_t *of_part;

		if (!is_own(f, slot))
			continue;
		of_part = &calls[slot->part][slot->side];
		*of_part += slot->calls;
		sum += slot->calls;
		most[slot->side] = max_u64(most[slot->side], *of_part);
	}
	return (most[0] + most[1]) * f->n_parts * 100 > sum * (100 + UNEVEN_PERCENT);
}

void
parts_balance(struct fabric *f)
{
	if (f->n_parts == 1 || f->windows < f->balance_at)
		return;
	f->balance_at = 2 * f->windows;
	if (!is_uneven(f))
		return;
	parts_collect(f);
	if (choose_parts(f, f->n_parts, f->n_parts, f->is_near ? 0 : GROUPS_OF_A_PART))
		fill_parts(f);
}
