/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which event source is next? A 4-ary heap with one entry for each source, moved when the source's
 * next time changes. Equal times come out in the order of source numbers, so runs repeat on every
 * machine.
 */
#ifndef QUENCH_FABRIC_EVENT_HEAP_H
#define QUENCH_FABRIC_EVENT_HEAP_H

#include <stdint.h>

#include "base/units.h"

/*
 * One word holds an entry: time above, source below, so that order is one comparison and four
 * children lie in half a cache line. Times end at 2^42 - 2 ns (73 minutes); what is later counts as
 * never.
 */
#define EVENT_SOURCE_BITS 22
#define EVENT_MAX_SOURCES (1u << EVENT_SOURCE_BITS)
#define EVENT_NEVER ((UINT64_C(1) << (64 - EVENT_SOURCE_BITS)) - 1)

struct event_heap {
	uint64_t *entry; /* heap order; entry[0] is next; padded by four that never come */
	uint32_t *place; /* of each source */
	uint32_t n;
};

struct event {
	uint64_t at_ns;
	uint32_t source;
};

/** All sources [0, n), 0 < n <= EVENT_MAX_SOURCES, start at NEVER_NS. @return 0, -EINVAL, -ENOMEM.
 */
int event_heap_init(struct event_heap *h, uint32_t n);
void event_heap_free(struct event_heap *h);

/** Move one source to a new time, earlier or later. */
void event_heap_set(struct event_heap *h, uint32_t source, uint64_t at_ns);

static inline struct event
event_heap_unpack(uint64_t entry)
{
	uint64_t at = entry >> EVENT_SOURCE_BITS;

	return (struct event){.at_ns = at == EVENT_NEVER ? NEVER_NS : at,
			      .source = (uint32_t)(entry & (EVENT_MAX_SOURCES - 1))};
}

static inline struct event
event_heap_min(const struct event_heap *h)
{
	return event_heap_unpack(h->entry[0]);
}

static inline uint64_t
event_heap_at(const struct event_heap *h, uint32_t source)
{
	return event_heap_unpack(h->entry[h->place[source]]).at_ns;
}

#endif
