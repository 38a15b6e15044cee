/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/links/parts.h"

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

/* Nodes that stay together. */
struct group {
	uint32_t index; /* of its first node, or of its switch */
	uint64_t weight;
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
	struct box *box = &p->out[f->windows & 1][f->ends[direction].to_part];

	if (unlikely(box->n == box->capacity) && !box_grow(box)) {
		part_lose(p, frame->m);
		return;
	}
	box->items[box->n++] = (struct crossing){.frame = *frame, .direction = direction};
	p->crossing_ns = min_u64(p->crossing_ns, frame->due_ns);
}

void
part_collect(struct fabric *f, struct part *p, uint64_t window)
{
	for (uint32_t i = 0; i < f->n_parts; i++) {
		struct box *box = &f->parts[i].out[window & 1][p->index];

		for (uint32_t k = 0; k < box->n; k++)
			part_put(p, &f->directions[box->items[k].direction], &box->items[k].frame);
		box->n = 0;
	}
}

void
parts_collect(struct fabric *f)
{
	for (uint32_t i = 0; f->started && i < f->n_parts; i++)
		part_collect(f, &f->parts[i], f->windows);
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
weight_of(const struct fabric *f, const struct node_slot *slot)
{
	uint64_t weight = slot->calls;

	for (uint32_t i = 0; !f->started && i < slot->n_ends; i++)
		weight += f->ends[slot->ends[i]].link.rate_bps / 1000000;
	return weight;
}

/* Heaviest first. */
static int
by_weight(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/*
 * Set the weights of all groups, whose index is that of their first node or switch.
 * @return the weight of the heaviest group.
 */
static uint64_t
weigh(const struct fabric *f, struct group *groups, bool whole)
{
	uint64_t heaviest = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		groups[i] = (struct group){.index = i};
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		struct group *g = &groups[whole ? group_of(f, i) : i];

		g->weight += weight_of(f, &f->nodes[i]);
		heaviest = max_u64(heaviest, g->weight);
	}
	return heaviest;
}

static uint64_t
total_weight(const struct fabric *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		sum += weight_of(f, &f->nodes[i]);
	return sum;
}

/* The heaviest group that is left goes to the lightest part. @return false: no memory. */
static bool
choose_parts(struct fabric *f)
{
	struct group *groups = malloc(f->n_nodes * sizeof(*groups));
	uint32_t *part = malloc(f->n_nodes * sizeof(*part));
	uint64_t weight[FABRIC_MAX_THREADS] = {0};
	bool whole = true;

	if (groups == NULL || part == NULL) {
		free(groups);
		free(part);
		return false;
	}
	if (weigh(f, groups, true) * GROUPS_OF_A_PART * f->n_parts > total_weight(f)) {
		whole = false;
		weigh(f, groups, false);
	}
	qsort(groups, f->n_nodes, sizeof(*groups), by_weight);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t lightest = 0;

		for (uint32_t k = 1; k < f->n_parts; k++)
			if (weight[k] < weight[lightest])
				lightest = k;
		weight[lightest] += groups[i].weight;
		part[groups[i].index] = lightest;
	}
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->nodes[i].part = part[whole ? group_of(f, i) : i];
	free(groups);
	free(part);
	return true;
}

/* ---- building the parts ---- */

static int
open_part(const struct fabric *f, struct part *p, uint32_t index)
{
	p->index = index;
	p->inbound = calloc(f->n_ends + 1, sizeof(*p->inbound));
	p->nodes = calloc(f->n_nodes + 1, sizeof(*p->nodes));
	p->node_next_ns = calloc(f->n_nodes + 1, sizeof(*p->node_next_ns));
	p->due = calloc(f->n_nodes + 1, sizeof(*p->due));
	p->out[0] = calloc(f->n_parts, sizeof(*p->out[0]));
	p->out[1] = calloc(f->n_parts, sizeof(*p->out[1]));
	p->crossing_ns = NEVER_NS;
	if (event_queue_init(&p->arrivals, f->n_ends + 1) < 0 || p->inbound == NULL ||
	    p->nodes == NULL || p->node_next_ns == NULL || p->due == NULL || p->out[0] == NULL ||
	    p->out[1] == NULL)
		return -ENOMEM;
	return 0;
}

static void
free_boxes(struct box *boxes, uint32_t n)
{
	for (uint32_t i = 0; boxes != NULL && i < n; i++) {
		for (uint32_t k = 0; k < boxes[i].n; k++)
			rte_pktmbuf_free(boxes[i].items[k].frame.m);
		free(boxes[i].items);
	}
	free(boxes);
}

static void
empty_part(struct part *p)
{
	for (uint32_t i = 0; i < p->n_inbound; i++)
		event_queue_set(&p->arrivals, i, NEVER_NS);
	p->n_inbound = p->n_nodes = 0;
}

static void
fill_parts(struct fabric *f)
{
	for (uint32_t i = 0; i < f->n_parts; i++)
		empty_part(&f->parts[i]);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		struct node_slot *slot = &f->nodes[i];
		struct part *p = &f->parts[slot->part];

		slot->calls = 0;
		slot->place = p->n_nodes++;
		p->nodes[slot->place] = i;
		p->node_next_ns[slot->place] =
			min_u64(event_queue_min(&slot->tx).at_ns, slot->control_ns);
	}
	for (uint32_t i = 0; i < f->n_ends; i++) {
		struct direction *d = &f->directions[i];
		struct part *p = &f->parts[f->nodes[d->to_node].part];

		f->ends[i].to_part = p->index;
		d->source = p->n_inbound++;
		p->inbound[d->source] = i;
		event_queue_set(&p->arrivals, d->source, flights_next_ns(&d->on_cable));
	}
}

int
parts_create(struct fabric *f)
{
	f->parts = aligned_alloc(LINES_APART, f->n_parts * sizeof(*f->parts));
	if (f->parts == NULL)
		return -ENOMEM;
	memset(f->parts, 0, f->n_parts * sizeof(*f->parts));
	for (uint32_t i = 0; i < f->n_parts; i++)
		if (open_part(f, &f->parts[i], i) < 0)
			return -ENOMEM;
	f->balance_at = FIRST_BALANCE;
	if (!choose_parts(f))
		return -ENOMEM;
	fill_parts(f);
	return 0;
}

void
parts_destroy(struct fabric *f)
{
	for (uint32_t i = 0; f->parts != NULL && i < f->n_parts; i++) {
		struct part *p = &f->parts[i];

		event_queue_free(&p->arrivals);
		free(p->inbound);
		free(p->nodes);
		free(p->node_next_ns);
		free(p->due);
		free_boxes(p->out[0], f->n_parts);
		free_boxes(p->out[1], f->n_parts);
	}
	free(f->parts);
	f->parts = NULL;
}

static bool
is_uneven(const struct fabric *f)
{
	uint64_t calls[FABRIC_MAX_THREADS] = {0}, most = 0, sum = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint64_t *of_part = &calls[f->nodes[i].part];

		*of_part += f->nodes[i].calls;
		sum += f->nodes[i].calls;
		most = max_u64(most, *of_part);
	}
	return most * f->n_parts * 100 > sum * (100 + UNEVEN_PERCENT);
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
	if (choose_parts(f))
		fill_parts(f);
}
