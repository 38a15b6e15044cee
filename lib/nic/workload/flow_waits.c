/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/workload/flow_waits.h"

#include <errno.h>
#include <stdlib.h>

int
flow_waits_for(const struct flow_order *o, const struct flow_reached *reached, uint32_t *awaited)
{
	/* By barrier: the flow that has ended the fewest rounds. */
	uint32_t *last = malloc((o->n_barriers + 1u) * sizeof(*last));

	if (last == NULL)
		return -ENOMEM;
	for (uint32_t b = 0; b <= o->n_barriers; b++)
		last[b] = UINT32_MAX;
	for (uint32_t i = 0; i < o->n; i++) {
		uint32_t *of_barrier = &last[o->barrier[i]];

		if (*of_barrier == UINT32_MAX || reached[i].rounds < reached[*of_barrier].rounds)
			*of_barrier = i;
	}
	for (uint32_t i = 0; i < o->n; i++) {
		uint32_t k = o->first[i];

		while (k < o->first[i + 1] && reached[o->awaited[k]].ended)
			k++;
		awaited[i] = i;
		if (k < o->first[i + 1])
			awaited[i] = o->awaited[k];
		else if (o->barrier[i] != 0 && !reached[i].ended &&
			 reached[last[o->barrier[i]]].rounds < reached[i].rounds)
			awaited[i] = last[o->barrier[i]];
	}
	free(last);
	return 0;
}

/* Numbers in lists: those of list k are items[first[k]] to items[first[k + 1] - 1]. */
struct lists {
	uint32_t *first, *items;
};

static bool
lists_alloc(struct lists *l, uint32_t n_lists, uint32_t n_items)
{
	l->first = calloc(n_lists + 2u, sizeof(*l->first));
	l->items = calloc(n_items + 1u, sizeof(*l->items));
	return l->first != NULL && l->items != NULL;
}

/* Call for each item, then lists_begin(), then lists_add() for each item. */
static void
lists_count(struct lists *l, uint32_t list)
{
	l->first[list + 2]++;
}

static void
lists_begin(struct lists *l, uint32_t n_lists)
{
	for (uint32_t k = 2; k <= n_lists + 1; k++)
		l->first[k] += l->first[k - 1];
}

static void
lists_add(struct lists *l, uint32_t list, uint32_t item)
{
	l->items[l->first[list + 1]++] = item;
}

static void
lists_free(struct lists *l)
{
	free(l->first);
	free(l->items);
}

/* The flows that wait for each flow. */
static void
fill_waiting(const struct flow_order *o, struct lists *waiting)
{
	for (uint32_t k = 0; k < o->first[o->n]; k++)
		lists_count(waiting, o->awaited[k]);
	lists_begin(waiting, o->n);
	for (uint32_t i = 0; i < o->n; i++)
		for (uint32_t k = o->first[i]; k < o->first[i + 1]; k++)
			lists_add(waiting, o->awaited[k], i);
}

/* The flows of each barrier; list 0: those without one. */
static void
fill_members(const struct flow_order *o, struct lists *members)
{
	for (uint32_t i = 0; i < o->n; i++)
		lists_count(members, o->barrier[i]);
	lists_begin(members, o->n_barriers + 1);
	for (uint32_t i = 0; i < o->n; i++)
		lists_add(members, o->barrier[i], i);
}

/* Flows that wait in vain, in the order in which this was found: each is there once. */
struct found {
	uint32_t *flows, n;
	bool *in_vain;
};

static void
find(struct found *f, const struct lists *l, uint32_t list)
{
	for (uint32_t k = l->first[list]; k < l->first[list + 1]; k++) {
		uint32_t flow = l->items[k];

		if (f->in_vain[flow])
			continue;
		f->in_vain[flow] = true;
		f->flows[f->n++] = flow;
	}
}

int
flow_waits_in_vain(const struct flow_order *o, const struct flow_reached *reached, bool *in_vain)
{
	struct found f = {malloc((o->n + 1u) * sizeof(*f.flows)), 0, in_vain};
	bool *barrier_found = calloc(o->n_barriers + 1u, sizeof(*barrier_found));
	struct lists waiting, members;
	bool waiting_there = lists_alloc(&waiting, o->n, o->first == NULL ? 0 : o->first[o->n]);
	bool members_there = lists_alloc(&members, o->n_barriers + 1, o->n);
	int rc = -ENOMEM;

	if (f.flows != NULL && barrier_found != NULL && waiting_there && members_there) {
		fill_waiting(o, &waiting);
		fill_members(o, &members);
		for (uint32_t i = 0; i < o->n; i++)
			in_vain[i] = false;
		for (uint32_t i = 0; i < o->n; i++)
			if (reached[i].failed && !reached[i].ended)
				find(&f, &waiting, i);
		for (uint32_t next = 0; next < f.n; next++) {
			uint32_t flow = f.flows[next], barrier = o->barrier[flow];

			if (!reached[flow].ended)
				find(&f, &waiting, flow);
			if (barrier == 0 || barrier_found[barrier])
				continue;
			barrier_found[barrier] = true;
			find(&f, &members, barrier);
		}
		rc = 0;
	}
	free(f.flows);
	free(barrier_found);
	lists_free(&waiting);
	lists_free(&members);
	return rc;
}
