/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/event_heap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/units.h"

#define ARITY 4u

int
event_heap_init(struct event_heap *h, uint32_t n)
{
	h->n = n;
	h->entry = calloc(n, sizeof(*h->entry));
	h->place = calloc(n, sizeof(*h->place));
	if (h->entry == NULL || h->place == NULL) {
		event_heap_free(h);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		h->entry[i] = (struct event_heap_entry){ .at_ns = NEVER_NS, .source = i };
		h->place[i] = i;
	}
	return 0;
}

void
event_heap_free(struct event_heap *h)
{
	free(h->entry);
	free(h->place);
	*h = (struct event_heap){ 0 };
}

static inline bool
before(const struct event_heap_entry *a, const struct event_heap_entry *b)
{
	return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->source < b->source);
}

static inline void
put(struct event_heap *h, uint32_t place, struct event_heap_entry e)
{
	h->entry[place] = e;
	h->place[e.source] = place;
}

static void
sift_up(struct event_heap *h, uint32_t i, struct event_heap_entry e)
{
	while (i > 0) {
		uint32_t parent = (i - 1) / ARITY;

		if (!before(&e, &h->entry[parent]))
			break;
		put(h, i, h->entry[parent]);
		i = parent;
	}
	put(h, i, e);
}

static void
sift_down(struct event_heap *h, uint32_t i, struct event_heap_entry e)
{
	for (;;) {
		uint32_t first = i * ARITY + 1, best = first;
		uint32_t end = first + ARITY < h->n ? first + ARITY : h->n;

		if (first >= h->n)
			break;
		for (uint32_t child = first + 1; child < end; child++)
			if (before(&h->entry[child], &h->entry[best]))
				best = child;
		if (!before(&h->entry[best], &e))
			break;
		put(h, i, h->entry[best]);
		i = best;
	}
	put(h, i, e);
}

void
event_heap_set(struct event_heap *h, uint32_t source, uint64_t at_ns)
{
	uint32_t i = h->place[source];
	uint64_t old_ns = h->entry[i].at_ns;
	struct event_heap_entry e = { .at_ns = at_ns, .source = source };

	if (at_ns < old_ns)
		sift_up(h, i, e);
	else if (at_ns > old_ns)
		sift_down(h, i, e);
}
