/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a shard's router has sent to each next hop of its routes. The counts of a next hop outlive
 * the routes: they go on when a later configuration has it again.
 *
 * Invariant (tested): frames routed to an interface = those of its next hops + those to its other
 * neighbours, which are counted at the interface.
 */
#ifndef QUENCH_SWITCH_FORWARD_HOP_COUNTS_H
#define QUENCH_SWITCH_FORWARD_HOP_COUNTS_H

#include <stdbool.h>

#include "fwd/neigh.h"
#include "switch/params/sw_counters.h"
#include "switch/tables/sw_tables.h"

/* With the default neighbor_entries, a chain has 16 counts at most. */
#define SW_HOP_CHAINS 1024u

/* Other threads read them, so they are freed only with the router. */
struct sw_hop_counts {
	struct sw_hop_stats stats; /* written by the owner */
	struct neigh_key key;
	bool in_use; /* by the routes in force */
	/* of all; of those with the same hash; of the same domain */
	struct sw_hop_counts *next, *in_chain, *in_domain;
};

struct sw_hop_table {
	struct sw_hop_counts *first;
	struct sw_hop_counts *chains[SW_HOP_CHAINS]; /* by hash of the key */
	struct sw_hop_counts *domains[SW_DOMAINS];
	uint32_t n;
};

/**
 * Find the counts of a next hop, or make them.
 *
 * @param most    Number of counts from which on no more are made.
 * @param counts  Receives them; NULL: they would be too many.
 * @return        0 or -ENOMEM.
 */
int sw_hop_counts_of(struct sw_hop_table *t, const struct neigh_key *key, uint32_t most,
		     struct sw_hop_counts **counts);
void sw_hop_counts_free(struct sw_hop_table *t);

/** Add those of the next hops in a domain. Any thread. */
void sw_hop_counts_add_domain(const struct sw_hop_table *t, uint16_t domain,
			      struct sw_hop_stats *sum);
/** Add those of one next hop, if it has counts. Any thread. */
void sw_hop_counts_add(const struct sw_hop_table *t, const struct neigh_key *key,
		       struct sw_hop_stats *sum);
/** The counts after this one, or with NULL the first. Any thread. @return NULL: none. */
const struct sw_hop_counts *sw_hop_counts_next(const struct sw_hop_table *t,
					       const struct sw_hop_counts *counts);

#endif
