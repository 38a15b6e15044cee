/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node that another process runs: that process lists what readers of counters and state read,
 * piece by piece, and a copy of the node that does not run lists the same pieces, into which it
 * takes their contents. Both were built by the same program from the same configuration, so their
 * pieces are equal in number and size.
 *
 * A piece has no pointers. The sender only reads its pieces.
 */
#ifndef QUENCH_NODE_NODE_PIECES_H
#define QUENCH_NODE_NODE_PIECES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/sets/hist.h"

struct node_pieces {
	void (*piece)(struct node_pieces *, void *at, size_t n);
	bool all; /* also those that are read at the end of a run alone */
};

static inline void
node_piece(struct node_pieces *to, void *at, size_t n)
{
	if (at != NULL && n > 0)
		to->piece(to, at, n);
}

/* The pages of a histogram without values are not touched at either side. */
static inline void
node_piece_hist(struct node_pieces *to, struct hist *h)
{
	bool had_values = h->count > 0;

	node_piece(to, h, offsetof(struct hist, weight));
	if (h->count > 0)
		node_piece(to, h->weight, sizeof(h->weight));
	else if (had_values)
		memset(h->weight, 0, sizeof(h->weight));
}

/* From one member of a struct to the one before another. */
#define NODE_PIECE_FROM(to, p, first, end)                                                         \
	do {                                                                                       \
		static_assert(offsetof(__typeof__(*(p)), first) < offsetof(__typeof__(*(p)), end), \
			      #first " is before " #end);                                          \
		node_piece(to, (char *)(p) + offsetof(__typeof__(*(p)), first),                    \
			   offsetof(__typeof__(*(p)), end) - offsetof(__typeof__(*(p)), first));   \
	} while (0)
/* From a member to the end of a struct. */
#define NODE_PIECE_REST(to, p, first)                                                              \
	node_piece(to, (char *)(p) + offsetof(__typeof__(*(p)), first),                            \
		   sizeof(*(p)) - offsetof(__typeof__(*(p)), first))

#endif
