/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which event source is next? A 4-ary heap with one entry for each source, moved when the source's next time
 * changes. Equal times come out in the order of source numbers, so runs repeat on every machine.
 */
#ifndef QUENCH_FABRIC_EVENT_HEAP_H
#define QUENCH_FABRIC_EVENT_HEAP_H

#include <stdint.h>

struct event_heap_entry {
	uint64_t at_ns;
	uint32_t source;
};

struct event_heap {
	struct event_heap_entry *entry; /* heap order; entry[0] is next */
	uint32_t *place;                /* of each source */
	uint32_t n;
};

/** All sources [0, n), n > 0, start at NEVER_NS. @return 0 or -ENOMEM. */
int event_heap_init(struct event_heap *h, uint32_t n);
void event_heap_free(struct event_heap *h);

/** Move one source to a new time, earlier or later. */
void event_heap_set(struct event_heap *h, uint32_t source, uint64_t at_ns);

static inline struct event_heap_entry
event_heap_min(const struct event_heap *h)
{
	return h->entry[0];
}

static inline uint64_t
event_heap_at(const struct event_heap *h, uint32_t source)
{
	return h->entry[h->place[source]].at_ns;
}

#endif
