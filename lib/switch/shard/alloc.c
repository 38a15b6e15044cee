/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory shared by the shards. */
#include <errno.h>
#include <stdlib.h>
#include <rte_malloc.h>

#include "base/pages.h"
#include "switch/shard/news.h"
#include "switch/shard/shard.h"

/* Pages of a ring are allocated when they are first touched: most never are. */
static struct sw_ring *
create_ring(uint32_t count, size_t bytes)
{
	struct sw_ring *r = pages_alloc(bytes);

	if (r != NULL)
		r->mask = r->put_mask = count - 1;
	return r;
}

struct sw_shards *
sw_shards_alloc(const struct sw_params *params)
{
	struct sw_shards *s = rte_zmalloc("sw", sizeof(*s), RTE_CACHE_LINE_SIZE);

	if (s == NULL)
		return NULL;
	s->n = params->shards;
	s->n_ports = params->n_ports;
	sw_shards_deal(params, s->of_port);
	return s;
}

int
sw_shards_connect(struct sw_shards *s, uint32_t mbufs)
{
	uint32_t count = rte_align32pow2(mbufs), n = s->n;
	size_t lines = (size_t)n * s->n_ports;

	s->ring_bytes = sizeof(struct sw_ring) + count * sizeof(void *);
	s->crossings =
		rte_zmalloc("sw", (size_t)n * n * sizeof(*s->crossings), RTE_CACHE_LINE_SIZE);
	s->rings = calloc((size_t)n * n, sizeof(struct sw_ring *));
	s->given = rte_zmalloc("sw", lines * sizeof(*s->given), RTE_CACHE_LINE_SIZE);
	s->taken = rte_zmalloc("sw", lines * sizeof(*s->taken), RTE_CACHE_LINE_SIZE);
	s->news = calloc((size_t)n * n, sizeof(struct rte_ring *));
	s->owed = rte_zmalloc("sw", lines * sizeof(*s->owed), RTE_CACHE_LINE_SIZE);
	if (s->crossings == NULL || s->rings == NULL || s->news == NULL || s->given == NULL ||
	    s->taken == NULL || s->owed == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n * n; i++) {
		if (i / n == i % n)
			continue;
		s->rings[i] = create_ring(count, s->ring_bytes);
		s->news[i] = sw_news_ring_create();
		if (s->rings[i] == NULL || s->news[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
sw_shards_free(struct sw_shards *s)
{
	if (s == NULL)
		return;
	for (unsigned int i = 0; i < (unsigned int)s->n * s->n; i++) {
		if (s->rings != NULL)
			pages_free(s->rings[i], s->ring_bytes);
		if (s->news != NULL)
			sw_news_ring_free(s->news[i]);
	}
	rte_free(s->crossings);
	free(s->rings);
	free(s->news);
	rte_free(s->given);
	rte_free(s->taken);
	rte_free(s->owed);
	rte_free(s);
}
