/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory shared by the shards. */
#include <errno.h>
#include <stdlib.h>
#include <rte_malloc.h>

#include "base/numbers/fixed.h"
#include "base/threads/pages.h"
#include "switch/shard/give_back.h"
#include "switch/shard/news.h"
#include "switch/shard/shard.h"

struct sw_shards *
sw_shards_alloc(const struct sw_params *params)
{
	struct sw_shards *s = rte_zmalloc("sw", sizeof(*s), RTE_CACHE_LINE_SIZE);

	if (s == NULL)
		return NULL;
	s->n = params->shards;
	s->n_ports = params->n_ports;
	s->owed_bytes = (uint32_t)min_u64(
		max_u64(params->mmu.buffer_bytes / SW_OWED_SHARE, SW_MIN_OWED_BYTES),
		SW_MAX_OWED_BYTES);
	sw_shards_deal(params, s->of_port);
	return s;
}

int
sw_shards_connect(struct sw_shards *s)
{
	uint32_t n = s->n;
	size_t lines = (size_t)n * s->n_ports;

	s->rings = calloc((size_t)n * n, sizeof(struct sw_ring *));
	s->given = rte_zmalloc("sw", lines * sizeof(*s->given), LINES_APART);
	s->taken = rte_zmalloc("sw", lines * sizeof(*s->taken), LINES_APART);
	s->news = calloc((size_t)n * n, sizeof(struct rte_ring *));
	s->owed = rte_zmalloc("sw", lines * sizeof(*s->owed), LINES_APART);
	if (s->rings == NULL || s->news == NULL || s->given == NULL || s->taken == NULL ||
	    s->owed == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n * n; i++) {
		if (i / n == i % n)
			continue;
		s->rings[i] = pages_alloc(sizeof(struct sw_ring));
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
			pages_free(s->rings[i], sizeof(struct sw_ring));
		if (s->news != NULL)
			sw_news_ring_free(s->news[i]);
	}
	free(s->rings);
	free(s->news);
	rte_free(s->given);
	rte_free(s->taken);
	rte_free(s->owed);
	rte_free(s);
}
