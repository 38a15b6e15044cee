/* SPDX-License-Identifier: BSD-3-Clause */
#include "switch/forward/hop_counts.h"

#include <errno.h>
#include <string.h>
#include <rte_malloc.h>

#include "base/numbers/array.h"
#include "base/threads/counter.h"

static bool
is_of(const struct sw_hop_counts *c, const struct neigh_key *key)
{
	return c->key.vlan_id == key->vlan_id && c->key.ip.version == key->ip.version &&
	       memcmp(c->key.ip.addr, key->ip.addr, sizeof(key->ip.addr)) == 0;
}

/* Next hops are configured, so nobody can choose them for one chain. */
static uint32_t
chain_of(const struct neigh_key *key)
{
	uint32_t words[sizeof(key->ip.addr) / sizeof(uint32_t)], hash = key->vlan_id;

	memcpy(words, key->ip.addr, sizeof(words));
	for (unsigned int i = 0; i < ARRAY_LEN(words); i++)
		hash = (hash ^ words[i]) * 2654435769u;
	return (hash >> 16) % SW_HOP_CHAINS;
}

static struct sw_hop_counts *
find(const struct sw_hop_table *t, const struct neigh_key *key)
{
	struct sw_hop_counts *c = __atomic_load_n(&t->chains[chain_of(key)], __ATOMIC_ACQUIRE);

	while (c != NULL && !is_of(c, key))
		c = c->in_chain;
	return c;
}

int
sw_hop_counts_of(struct sw_hop_table *t, const struct neigh_key *key, uint32_t most,
		 struct sw_hop_counts **counts)
{
	struct sw_hop_counts **chain = &t->chains[chain_of(key)], *c = find(t, key);
	struct sw_hop_counts **domain = &t->domains[key->vlan_id];

	*counts = c;
	if (c != NULL || t->n >= most)
		return 0;
	/* A line of its own: each shard has counts of the same next hops. */
	c = rte_zmalloc("sw", sizeof(*c), RTE_CACHE_LINE_SIZE);
	if (c == NULL)
		return -ENOMEM;
	c->key = *key;
	c->next = t->first;
	c->in_chain = *chain;
	c->in_domain = *domain;
	t->n++;
	__atomic_store_n(chain, c, __ATOMIC_RELEASE);
	__atomic_store_n(domain, c, __ATOMIC_RELEASE);
	__atomic_store_n(&t->first, c, __ATOMIC_RELEASE);
	*counts = c;
	return 0;
}

void
sw_hop_counts_free(struct sw_hop_table *t)
{
	struct sw_hop_counts *next;

	for (struct sw_hop_counts *c = t->first; c != NULL; c = next) {
		next = c->next;
		rte_free(c);
	}
}

const struct sw_hop_counts *
sw_hop_counts_next(const struct sw_hop_table *t, const struct sw_hop_counts *counts)
{
	return counts != NULL ? counts->next : __atomic_load_n(&t->first, __ATOMIC_ACQUIRE);
}

void
sw_hop_counts_add_domain(const struct sw_hop_table *t, uint16_t domain, struct sw_hop_stats *sum)
{
	const struct sw_hop_counts *c = __atomic_load_n(&t->domains[domain], __ATOMIC_ACQUIRE);

	for (; c != NULL; c = c->in_domain)
		counters_add(&c->stats, sum, sizeof(*sum));
}

void
sw_hop_counts_add(const struct sw_hop_table *t, const struct neigh_key *key,
		  struct sw_hop_stats *sum)
{
	const struct sw_hop_counts *c = find(t, key);

	if (c != NULL)
		counters_add(&c->stats, sum, sizeof(*sum));
}
