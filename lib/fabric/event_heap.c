/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/event_heap.h"

#include <errno.h>
#include <stdlib.h>

#define ARITY 4u

static uint64_t
pack(uint64_t at_ns, uint32_t source)
{
	return (at_ns < EVENT_NEVER ? at_ns : EVENT_NEVER) << EVENT_SOURCE_BITS | source;
}

int
event_heap_init(struct event_heap *h, uint32_t n)
{
	*h = (struct event_heap){.n = n};
	if (n == 0 || n > EVENT_MAX_SOURCES)
		return -EINVAL;
	h->entry = malloc((n + ARITY) * sizeof(*h->entry));
	h->place = malloc(n * sizeof(*h->place));
	if (h->entry == NULL || h->place == NULL) {
		event_heap_free(h);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		h->entry[i] = pack(NEVER_NS, i);
		h->place[i] = i;
	}
	for (uint32_t i = n; i < n + ARITY; i++)
		h->entry[i] = UINT64_MAX;
	return 0;
}

void
event_heap_free(struct event_heap *h)
{
	free(h->entry);
	free(h->place);
	*h = (struct event_heap){0};
}

static inline void
put(struct event_heap *h, uint32_t place, uint64_t entry)
{
	h->entry[place] = entry;
	h->place[entry & (EVENT_MAX_SOURCES - 1)] = place;
}

static void
sift_up(struct event_heap *h, uint32_t i, uint64_t entry)
{
	while (i > 0) {
		uint32_t parent = (i - 1) / ARITY;

		if (h->entry[parent] < entry)
			break;
		put(h, i, h->entry[parent]);
		i = parent;
	}
	put(h, i, entry);
}

/* The padding stands in for children that are not there, so all four are always compared, without a
 * branch. */
static inline uint32_t
least_child(const uint64_t *entry, uint32_t first)
{
	const uint64_t *c = entry + first;
	uint32_t low = c[1] < c[0], high = 2 + (c[3] < c[2]);

	return first + (c[high] < c[low] ? high : low);
}

static void
sift_down(struct event_heap *h, uint32_t i, uint64_t entry)
{
	for (;;) {
		uint32_t first = i * ARITY + 1, least;

		if (first >= h->n)
			break;
		least = least_child(h->entry, first);
		if (entry < h->entry[least])
			break;
		put(h, i, h->entry[least]);
		i = least;
	}
	put(h, i, entry);
}

void
event_heap_set(struct event_heap *h, uint32_t source, uint64_t at_ns)
{
	uint32_t i = h->place[source];
	uint64_t entry = pack(at_ns, source);

	if (entry < h->entry[i])
		sift_up(h, i, entry);
	else if (entry > h->entry[i])
		sift_down(h, i, entry);
}
