/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/forward/hop_counts.h"

#include <errno.h>
#include <string.h>
#include <rte_malloc.h>

#include "base/threads/counter.h"

static bool
is_of(const struct sw_hop_counts *c, const struct neigh_key *key)
{
	return c->key.vlan_id == key->vlan_id && c->key.ip.version == key->ip.version &&
	       memcmp(c->key.ip.addr, key->ip.addr, sizeof(key->ip.addr)) == 0;
}

int
sw_hop_counts_of(struct sw_hop_counts **list, const struct neigh_key *key, uint32_t most,
		 struct sw_hop_counts **counts)
{
	struct sw_hop_counts *c = *list;
	uint32_t n = 0;

	for (; c != NULL && !is_of(c, key); c = c->next)
		n++;
	*counts = c;
	if (c != NULL || n >= most)
		return 0;
	/* A line of its own: each shard has counts of the same next hops. */
	c = rte_zmalloc("sw", sizeof(*c), RTE_CACHE_LINE_SIZE);
	if (c == NULL)
		return -ENOMEM;
	c->key = *key;
	c->next = *list;
	__atomic_store_n(list, c, __ATOMIC_RELEASE);
	*counts = c;
	return 0;
}

void
sw_hop_counts_free(struct sw_hop_counts *list)
{
	while (list != NULL) {
		struct sw_hop_counts *next = list->next;

		rte_free(list);
		list = next;
	}
}

const struct sw_hop_counts *
sw_hop_counts_next(struct sw_hop_counts *const *list, const struct sw_hop_counts *counts)
{
	return counts != NULL ? counts->next : __atomic_load_n(list, __ATOMIC_ACQUIRE);
}

void
sw_hop_counts_add_domain(struct sw_hop_counts *const *list, uint16_t domain,
			 struct sw_hop_stats *sum)
{
	const struct sw_hop_counts *c = NULL;

	while ((c = sw_hop_counts_next(list, c)) != NULL)
		if (c->key.vlan_id == domain)
			counters_add(&c->stats, sum, sizeof(*sum));
}

void
sw_hop_counts_add(struct sw_hop_counts *const *list, const struct neigh_key *key,
		  struct sw_hop_stats *sum)
{
	const struct sw_hop_counts *c = NULL;

	while ((c = sw_hop_counts_next(list, c)) != NULL)
		if (is_of(c, key))
			counters_add(&c->stats, sum, sizeof(*sum));
}
