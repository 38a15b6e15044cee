/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes: longest prefix of an IPv4 or IPv6 address -> a target, which is a number of the owner's.
 *
 * Over rte_fib and rte_fib6: DIR24-8 and a trie over 24 bits, which read memory once for most IPv4
 * addresses and a few times for IPv6, and take 32 MB for each IP version that has a route. For a
 * table of few routes, a list of all IPv4 routes (route_list.h), and of IPv6 the tree that rte_fib6
 * is made from, which is walked.
 * rte_lpm takes 64 MB for IPv4 and rte_lpm6 as much: entries of 4 bytes where ours have 2.
 *
 * One owner: no call may run beside another.
 */
#ifndef QUENCH_FWD_ROUTE_H
#define QUENCH_FWD_ROUTE_H

#include <stdint.h>

#include "base/field.h"

/* Up to this many routes are few. */
#define ROUTE_FEW 64u
#define ROUTE_MAX_TARGET 0x7FFFu
/* Target of an address without a route. */
#define ROUTE_NONE 0u

struct route_prefix {
	struct field_ip ip; /* bits beyond length are ignored */
	uint8_t length;     /* 0..32, or 0..128 */
};

struct route_params {
	uint32_t routes; /* of both IP versions, at most */
	int socket;      /* NUMA node, or SOCKET_ID_ANY */
};

struct route_table;

/** @return a table, owned by the caller, or NULL with rte_errno set. */
struct route_table *route_table_create(const struct route_params *params);
void route_table_destroy(struct route_table *t);

/**
 * Add a route, or change its target.
 *
 * @param target  1..ROUTE_MAX_TARGET.
 * @return        0, -EINVAL, or -ENOMEM or -ENOSPC: more routes, or more long ones, than there is
 *                room for.
 */
int route_add(struct route_table *t, const struct route_prefix *prefix, uint16_t target);

/** Targets of n addresses in host order, ROUTE_NONE without a route. n is at most 64. */
void route_lookup4(const struct route_table *t, const uint32_t ips[], uint64_t targets[],
		   unsigned int n);
/** As route_lookup4(). */
void route_lookup6(const struct route_table *t, uint8_t ips[][16], uint64_t targets[],
		   unsigned int n);

/** "10.0.0.0/8" or "fd00::/8". @return 0, or -EINVAL, and then *out is as it was. */
int route_prefix_parse(const char *text, struct route_prefix *out);

/** Is the address in the prefix? */
bool route_prefix_has(const struct route_prefix *prefix, const struct field_ip *ip);

#endif
