/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/links/event_queue.h"

#include <errno.h>
#include <stdlib.h>

#include "base/numbers/fixed.h"

/* A mispredicted branch costs as much as this many levels. */
#define MAX_FIXED_LEVELS 6u

int
event_queue_init(struct event_queue *q, uint32_t n, uint32_t seed)
{
	*q = (struct event_queue){.n_leaves = 1, .seed = seed};
	if (n == 0 || n > EVENT_MAX_SOURCES)
		return -EINVAL;
	for (; q->n_leaves < n; q->n_leaves *= 2)
		if (q->fixed_levels < MAX_FIXED_LEVELS)
			q->fixed_levels++;
	q->best = malloc(2 * (size_t)q->n_leaves * sizeof(*q->best));
	if (q->best == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < q->n_leaves; i++)
		q->best[q->n_leaves + i] = event_queue_pack(q, NEVER_NS, i);
	for (uint32_t i = q->n_leaves - 1; i > 0; i--)
		q->best[i] = min_u64(q->best[2 * i], q->best[2 * i + 1]);
	return 0;
}

void
event_queue_free(struct event_queue *q)
{
	free(q->best);
	*q = (struct event_queue){0};
}
