/* SPDX-License-Identifier: BSD-3-Clause */
#include "nic/workload/flow_order.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sets/names.h"

/* Longest name that a fault shows. */
#define SHOWN_CHARS 64

bool
flow_order_is_given(const char *word)
{
	return word[0] != '\0' && strcmp(word, "none") != 0;
}

/* The next name of a list. @return its length; 0: there is none. */
static size_t
next_name(const char **at, const char **name)
{
	size_t n;

	*at += strspn(*at, ", ");
	*name = *at;
	n = strcspn(*at, ",");
	*at += n;
	while (n > 0 && (*name)[n - 1] == ' ')
		n--;
	return n;
}

static uint32_t
find(const struct names *names, const char *name, size_t n)
{
	char text[SHOWN_CHARS + 1];

	if (n > SHOWN_CHARS)
		return NAMES_NONE;
	snprintf(text, sizeof(text), "%.*s", (int)n, name);
	return names_find(names, text);
}

/* Add what flow i waits for. @return 0 or -EINVAL. */
static int
read_after(struct flow_order *o, const struct flow_words *flows, uint32_t i,
	   const struct names *names, struct flow_order_fault *fault)
{
	const char *at = flows[i].after, *name;
	uint32_t n = o->first[i];
	size_t chars;

	fault->flow = i;
	while (flow_order_is_given(flows[i].after) && (chars = next_name(&at, &name)) > 0) {
		uint32_t other = find(names, name, chars);

		if (other == NAMES_NONE) {
			snprintf(fault->expected, sizeof(fault->expected),
				 "names of sections [flow NAME], separated by commas: there is no "
				 "[flow %.*s]",
				 (int)(chars < SHOWN_CHARS ? chars : SHOWN_CHARS), name);
			return -EINVAL;
		}
		if (flows[other].endless != NULL) {
			snprintf(fault->expected, sizeof(fault->expected),
				 "flows that end: [flow %s] %s", flows[other].name,
				 flows[other].endless);
			return -EINVAL;
		}
		o->awaited[n++] = other;
	}
	if (flow_order_is_given(flows[i].after) && n == o->first[i]) {
		snprintf(fault->expected, sizeof(fault->expected),
			 "none, or names of sections [flow NAME]");
		return -EINVAL;
	}
	o->first[i + 1] = n;
	return 0;
}

static int
read_barriers(struct flow_order *o, const struct flow_words *flows)
{
	struct names names = {0};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < o->n; i++) {
		uint32_t number;

		if (!flow_order_is_given(flows[i].barrier))
			continue;
		number = names_find(&names, flows[i].barrier);
		if (number == NAMES_NONE)
			number = names_add(&names, flows[i].barrier);
		if (number == NAMES_NONE)
			rc = -ENOMEM;
		o->barrier[i] = number + 1;
	}
	o->n_barriers = names.n;
	names_free(&names);
	return rc;
}

/* Which flows begin in the end, and how many of each barrier do not. */
struct progress {
	bool *begins;
	uint32_t *left;
};

/* A flow ends if it begins, and with it all flows of its barrier. */
static bool
ends(const struct flow_order *o, const struct progress *p, uint32_t i)
{
	return p->begins[i] && (o->barrier[i] == 0 || p->left[o->barrier[i]] == 0);
}

/* The first flow that this one waits for and that never ends; UINT32_MAX: none. */
static uint32_t
awaited_in_vain(const struct flow_order *o, const struct progress *p, uint32_t i)
{
	for (uint32_t k = o->first[i]; k < o->first[i + 1]; k++)
		if (!ends(o, p, o->awaited[k]))
			return o->awaited[k];
	return UINT32_MAX;
}

/* A flow that keeps this one, which never ends, from it: itself, or one of its barrier. */
static uint32_t
keeper_of(const struct flow_order *o, const struct progress *p, uint32_t i)
{
	uint32_t other = i;

	for (uint32_t k = 0; p->begins[other] && k < o->n; k++)
		if (o->barrier[k] == o->barrier[i] && !p->begins[k])
			other = k;
	return other;
}

static void
refuse_circle(const struct flow_order *o, const struct flow_words *flows, const struct progress *p,
	      uint32_t i, struct flow_order_fault *fault)
{
	uint32_t awaited, keeper;

	/* After as many steps, the flow is part of the circle. */
	for (uint32_t step = 0; step < o->n; step++)
		i = keeper_of(o, p, awaited_in_vain(o, p, i));
	awaited = awaited_in_vain(o, p, i);
	keeper = keeper_of(o, p, awaited);
	fault->flow = i;
	snprintf(fault->expected, sizeof(fault->expected),
		 "flows that do not wait for this one: it waits for [flow %s], %s waits for it%s",
		 flows[awaited].name, keeper == awaited ? "which" : "whose barrier",
		 keeper == i || keeper_of(o, p, awaited_in_vain(o, p, keeper)) == i
			 ? ""
			 : " in the end");
}

/* Lists of small numbers that begin at heads; NONE ends one. */
#define NONE UINT32_MAX

struct chains {
	uint32_t *head, *next;
};

static int
chains_open(struct chains *c, uint32_t n_heads, uint32_t n)
{
	c->head = malloc((n_heads + 1u) * sizeof(*c->head));
	c->next = malloc((n + 1u) * sizeof(*c->next));
	for (uint32_t i = 0; c->head != NULL && i <= n_heads; i++)
		c->head[i] = NONE;
	return c->head == NULL || c->next == NULL ? -ENOMEM : 0;
}

static void
chains_add(struct chains *c, uint32_t head, uint32_t i)
{
	c->next[i] = c->head[head];
	c->head[head] = i;
}

static void
chains_free(struct chains *c)
{
	free(c->head);
	free(c->next);
}

/* Who goes on when a flow ends, or a barrier opens. */
struct waiters {
	struct chains of_flow;    /* places in awaited[] */
	struct chains of_barrier; /* flows */
	uint32_t *flow;           /* that has a place in awaited[] */
	uint32_t *waits;          /* flows that a flow still waits for */
	uint32_t *todo, n_todo;   /* flows that begin */
};

static int
waiters_open(struct waiters *w, const struct flow_order *o)
{
	uint32_t n_awaited = o->first[o->n];

	w->flow = malloc((n_awaited + 1u) * sizeof(*w->flow));
	w->waits = malloc((o->n + 1u) * sizeof(*w->waits));
	w->todo = malloc((o->n + 1u) * sizeof(*w->todo));
	if (chains_open(&w->of_flow, o->n, n_awaited) < 0 ||
	    chains_open(&w->of_barrier, o->n_barriers, o->n) < 0 || w->flow == NULL ||
	    w->waits == NULL || w->todo == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < o->n; i++) {
		chains_add(&w->of_barrier, o->barrier[i], i);
		w->waits[i] = o->first[i + 1] - o->first[i];
		if (w->waits[i] == 0)
			w->todo[w->n_todo++] = i;
		for (uint32_t k = o->first[i]; k < o->first[i + 1]; k++) {
			w->flow[k] = i;
			chains_add(&w->of_flow, o->awaited[k], k);
		}
	}
	return 0;
}

static void
waiters_free(struct waiters *w)
{
	chains_free(&w->of_flow);
	chains_free(&w->of_barrier);
	free(w->flow);
	free(w->waits);
	free(w->todo);
}

static void
end_flow(struct waiters *w, uint32_t i)
{
	for (uint32_t k = w->of_flow.head[i]; k != NONE; k = w->of_flow.next[k])
		if (--w->waits[w->flow[k]] == 0)
			w->todo[w->n_todo++] = w->flow[k];
}

/* Begin every flow that can. Each flow begins and ends once, so this takes a step for each name. */
static void
let_begin(const struct flow_order *o, struct progress *p, struct waiters *w)
{
	while (w->n_todo > 0) {
		uint32_t i = w->todo[--w->n_todo], barrier = o->barrier[i];

		p->begins[i] = true;
		p->left[barrier]--;
		if (barrier == 0)
			end_flow(w, i);
		else if (p->left[barrier] == 0)
			for (i = w->of_barrier.head[barrier]; i != NONE; i = w->of_barrier.next[i])
				end_flow(w, i);
	}
}

/* Flows that are left when no further one can begin wait in a circle, or for one. */
static int
check_circles(const struct flow_order *o, const struct flow_words *flows,
	      struct flow_order_fault *fault)
{
	struct progress p = {calloc(o->n + 1u, sizeof(*p.begins)),
			     calloc(o->n_barriers + 1u, sizeof(*p.left))};
	struct waiters w = {0};
	int rc = p.begins == NULL || p.left == NULL ? -ENOMEM : waiters_open(&w, o);

	for (uint32_t i = 0; rc == 0 && i < o->n; i++)
		p.left[o->barrier[i]]++;
	if (rc == 0)
		let_begin(o, &p, &w);
	for (uint32_t i = 0; rc == 0 && i < o->n; i++) {
		if (p.begins[i])
			continue;
		refuse_circle(o, flows, &p, i, fault);
		rc = -EINVAL;
	}
	waiters_free(&w);
	free(p.begins);
	free(p.left);
	return rc;
}

/* A name ends before each comma. */
static uint32_t
most_names(const struct flow_words *flows, uint32_t n)
{
	uint32_t names = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!flow_order_is_given(flows[i].after))
			continue;
		names++;
		for (const char *at = flows[i].after; *at != '\0'; at++)
			names += *at == ',';
	}
	return names;
}

static int
read_all(struct flow_order *o, const struct flow_words *flows, struct flow_order_fault *fault)
{
	struct names names = {0};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < o->n; i++)
		if (names_add(&names, flows[i].name) == NAMES_NONE)
			rc = -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < o->n; i++)
		rc = read_after(o, flows, i, &names, fault);
	names_free(&names);
	if (rc == 0)
		rc = read_barriers(o, flows);
	return rc == 0 ? check_circles(o, flows, fault) : rc;
}

int
flow_order_read(struct flow_order *order, const struct flow_words *flows, uint32_t n,
		struct flow_order_fault *fault)
{
	bool some = false;
	int rc = -ENOMEM;

	*order = (struct flow_order){0};
	for (uint32_t i = 0; i < n; i++)
		some = some || flow_order_is_given(flows[i].after) ||
		       flow_order_is_given(flows[i].barrier);
	if (!some)
		return 0;
	order->n = n;
	order->first = calloc(n + 1u, sizeof(*order->first));
	order->awaited = calloc(most_names(flows, n) + 1u, sizeof(*order->awaited));
	order->barrier = calloc(n, sizeof(*order->barrier));
	if (order->first != NULL && order->awaited != NULL && order->barrier != NULL)
		rc = read_all(order, flows, fault);
	if (rc != 0)
		flow_order_free(order);
	return rc;
}

void
flow_order_free(struct flow_order *order)
{
	free(order->first);
	free(order->awaited);
	free(order->barrier);
	*order = (struct flow_order){0};
}
