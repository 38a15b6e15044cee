/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/shard/crossing.h"

#include <rte_prefetch.h>

#include "switch/shard/give_back.h"
#include "switch/shard/news.h"

void
sw_crossing_flush(struct sw_shard *shard)
{
	for (uint64_t left = shard->crossing_to; left != 0; left &= left - 1) {
		uint16_t to = (uint16_t)__builtin_ctzll(left);

		if (sw_ring_publish(sw_crossing_ring(shard->shards, shard->index, to),
				    &shard->chunks))
			shard->crossing_to &= ~(1ull << to);
	}
}

bool
sw_crossing_waits(const struct sw_shard *shard, uint16_t port)
{
	const struct sw_shards *s = shard->shards;

	if (shard->crossing_to != 0 || shard->owing != 0)
		return true;
	for (uint16_t from = 0; from < s->n; from++) {
		if (from != shard->index &&
		    (sw_is_given(s, from, port) ||
		     sw_ring_waiting(sw_crossing_ring(s, from, shard->index)) > 0 ||
		     sw_news_waits(shard, from)))
			return true;
	}
	return false;
}

void
sw_crossing_prefetch_indices(const struct sw_shard *shard)
{
	const struct sw_shards *s = shard->shards;

	for (uint16_t from = 0; from < s->n; from++) {
		if (from != shard->index)
			rte_prefetch0(&sw_crossing_ring(s, from, shard->index)->tail);
	}
}

void
sw_crossing_prefetch_entries(const struct sw_shard *shard)
{
	const struct sw_shards *s = shard->shards;

	for (uint16_t from = 0; from < s->n; from++) {
		const struct sw_ring *r = sw_crossing_ring(s, from, shard->index);

		if (from != shard->index)
			sw_ring_prefetch(r, RTE_MIN(sw_ring_waiting(r), SW_RING_EARLY));
	}
}

void
sw_crossing_prefetch_given(const struct sw_shard *shard, uint16_t port)
{
	const struct sw_shards *s = shard->shards;
	uint32_t returns;

	for (uint16_t from = 0; from < s->n; from++) {
		if (from != shard->index &&
		    sw_returns_changed(s, from, shard->index, port, &returns))
			rte_prefetch0(sw_given_by(s, from, port));
	}
}
