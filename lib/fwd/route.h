/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes: longest prefix of an IPv4 or IPv6 address -> a target number, whose meaning the owner
 * defines.
 *
 * The largest tables use rte_fib (DIR24-8) and rte_fib6 (a trie over 24 bits). A lookup reads
 * memory once for most IPv4 addresses and a few times for IPv6. The table of an IP version takes 32
 * MB once it has a route. rte_lpm and rte_lpm6 would take 64 MB each, because their entries have 4
 * bytes instead of 2. Smaller tables take memory by their routes. For IPv4: up to ROUTE_FEW a list
 * of all (route_list.h), up to ROUTE_SOME a trie (route_trie.h). For IPv6: up to ROUTE_SOME6 the
 * tree of prefixes from which rte_fib6 builds its trie.
 *
 * Invariant: a lookup returns the target of the longest prefix that contains the address, or
 * ROUTE_NONE.
 *
 * One owner: calls must not overlap.
 */
#ifndef QUENCH_FWD_ROUTE_H
#define QUENCH_FWD_ROUTE_H

#include <stdint.h>

#include "base/field/field.h"

/* Tables for at most this many routes: a list, a trie, a tree. */
#define ROUTE_FEW 64u
#define ROUTE_SOME 4096u
#define ROUTE_SOME6 1024u
#define ROUTE_MAX_TARGET 0x7FFFu
/* Target of an address without a route. */
#define ROUTE_NONE 0u

struct route_prefix {
	struct field_ip ip; /* bits beyond length are ignored */
	uint8_t length;     /* 0..32, or 0..128 */
};

struct route_params {
	uint32_t routes; /* most routes, for both IP versions together */
	int socket;      /* NUMA node, or SOCKET_ID_ANY */
};

struct route_table;

/** @return a table, owned by the caller, or NULL with rte_errno set. */
struct route_table *route_table_create(const struct route_params *params);
void route_table_destroy(struct route_table *t);

/**
 * Add a route, or change the target of an existing one.
 *
 * @param target  1..ROUTE_MAX_TARGET.
 * @return        0, -EINVAL, or -ENOMEM or -ENOSPC: no space for more routes, or for more routes
 *                with long prefixes.
 */
int route_add(struct route_table *t, const struct route_prefix *prefix, uint16_t target);

/** Targets of n addresses in host order, ROUTE_NONE without a route. n is at most 64. */
void route_lookup4(const struct route_table *t, const uint32_t ips[], uint64_t targets[],
		   unsigned int n);
/** As route_lookup4(), of addresses in network order. */
void route_lookup6(const struct route_table *t, uint8_t ips[][16], uint64_t targets[],
		   unsigned int n);

/** Parse "10.0.0.0/8" or "fd00::/8". @return 0, or -EINVAL with *out unchanged. */
int route_prefix_parse(const char *text, struct route_prefix *out);

/** Is the address in the prefix? */
bool route_prefix_has(const struct route_prefix *prefix, const struct field_ip *ip);

/** Are these the same addresses, however they are written? */
bool route_prefix_equal(const struct route_prefix *a, const struct route_prefix *b);

#endif
