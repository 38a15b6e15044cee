/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FIFO of entries, in chunks that its shard owns. It does not limit its own length.
 *
 * Invariant: the entries are those from head to tail, along the links of their chunks; head == tail
 * if and only if the FIFO is empty. Between operations head and tail may point past the last entry
 * of a chunk, at its link.
 */
#ifndef QUENCH_SWITCH_FRAME_FIFO_H
#define QUENCH_SWITCH_FRAME_FIFO_H

#include <rte_branch_prediction.h>

#include "switch/frame/chunks.h"

struct sw_fifo {
	struct sw_entry *head, *tail;
};

static inline struct sw_chunk *
sw_fifo_chunk(const struct sw_entry *e)
{
	return (struct sw_chunk *)((uintptr_t)e & ~(uintptr_t)(SW_CHUNK_BYTES - 1));
}

static inline bool
sw_fifo_at_link(const struct sw_entry *e)
{
	return ((uintptr_t)e & (SW_CHUNK_BYTES - 1)) == offsetof(struct sw_chunk, next);
}

/** Give an empty FIFO its first chunk. */
static inline void
sw_fifo_init(struct sw_fifo *f, struct sw_chunks *c)
{
	f->head = f->tail = sw_chunk_get(c)->entry;
}

static inline bool
sw_fifo_is_empty(const struct sw_fifo *f)
{
	return f->head == f->tail;
}

/** Does it hold one entry? May be false for one that is the first of its chunk. */
static inline bool
sw_fifo_has_one(const struct sw_fifo *f)
{
	return f->head + 1 == f->tail;
}

static inline void
sw_fifo_push(struct sw_fifo *f, struct sw_chunks *c, struct sw_entry e)
{
	if (unlikely(sw_fifo_at_link(f->tail))) {
		struct sw_chunk *next = sw_chunk_get(c);

		sw_fifo_chunk(f->tail)->next = next;
		f->tail = next->entry;
	}
	*f->tail++ = e;
}

/** The entry after e, or the oldest one for NULL; NULL: there is none. */
static inline const struct sw_entry *
sw_fifo_next(const struct sw_fifo *f, const struct sw_entry *e)
{
	e = e == NULL ? f->head : e + 1;
	if (e != f->tail && sw_fifo_at_link(e))
		e = sw_fifo_chunk(e)->next->entry;
	return e != f->tail ? e : NULL;
}

/** Remove the oldest entry of a FIFO that is not empty. @return valid until the next operation. */
static inline const struct sw_entry *
sw_fifo_pop(struct sw_fifo *f, struct sw_chunks *c)
{
	if (unlikely(sw_fifo_at_link(f->head))) {
		struct sw_chunk *chunk = sw_fifo_chunk(f->head);

		f->head = chunk->next->entry;
		sw_chunk_put(c, chunk);
	}
	return f->head++;
}

/** Let an empty FIFO continue at the first line of its chunk, which is still cached. */
static inline void
sw_fifo_rewind(struct sw_fifo *f)
{
	f->head = f->tail = sw_fifo_chunk(f->tail)->entry;
}

#endif
