/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/links/flights.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64u
#define LEAST_ROOM 8u
/* Room after the limit: the sentinel, and up to the end of its cache line. */
#define END_ROOM (LINE_BYTES / sizeof(struct flight))

/* Shared by empty queues without an array. Only due_ns is read; nothing is written. */
static const struct flight nothing = {.due_ns = NEVER_NS};

void
flights_init(struct flights *f)
{
	f->items = f->head = f->tail = f->limit = (struct flight *)(uintptr_t)&nothing;
}

void
flights_free(struct flights *f)
{
	if (f->items != &nothing)
		free(f->items);
	*f = (struct flights){0};
}

/* If the array is at least half full, double it: otherwise it would soon be full again. */
bool
flights_make_room(struct flights *f)
{
	size_t n = flights_count(f), capacity = (size_t)(f->limit - f->items);
	struct flight *items = f->items;

	if (2 * n >= capacity) {
		capacity = capacity == 0 ? LEAST_ROOM : 2 * capacity;
		items = aligned_alloc(LINE_BYTES, (capacity + END_ROOM) * sizeof(*items));
		if (items == NULL)
			return false;
	}
	memmove(items, f->head, n * sizeof(*items));
	if (items != f->items && f->items != &nothing)
		free(f->items);
	*f = (struct flights){
		.items = items, .head = items, .tail = items + n, .limit = items + capacity};
	return true;
}
