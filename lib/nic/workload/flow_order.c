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

/* Flows that are left when no further one can begin wait in a circle, or for one. */
static int
check_circles(const struct flow_order *o, const struct flow_words *flows,
	      struct flow_order_fault *fault)
{
	struct progress p = {calloc(o->n + 1u, sizeof(*p.begins)),
			     calloc(o->n_barriers + 1u, sizeof(*p.left))};
	int rc = p.begins == NULL || p.left == NULL ? -ENOMEM : 0;
	bool some = rc == 0;

	for (uint32_t i = 0; rc == 0 && i < o->n; i++)
		p.left[o->barrier[i]]++;
	while (some) {
		some = false;
		for (uint32_t i = 0; i < o->n; i++) {
			if (p.begins[i] || awaited_in_vain(o, &p, i) != UINT32_MAX)
				continue;
			p.begins[i] = some = true;
			p.left[o->barrier[i]]--;
		}
	}
	for (uint32_t i = 0; rc == 0 && i < o->n; i++) {
		if (p.begins[i])
			continue;
		refuse_circle(o, flows, &p, i, fault);
		rc = -EINVAL;
	}
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
