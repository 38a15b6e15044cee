/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All shortest paths of a graph, as its routers need them: towards the hosts of each switch, the
 * ports of every other switch that lie on a shortest path. Length is the number of cables, as with
 * eBGP between switches; cables side by side are paths of their own.
 *
 * Each switch with hosts has a subnet. Subnets are numbered from 0 in the order of the switches,
 * and routes to neighbouring numbers that share their ports are merged, as an operator summarises.
 * Static routes go over all that, and may make loops.
 */
#ifndef QUENCH_FABRIC_TOPOLOGY_ROUTES_H
#define QUENCH_FABRIC_TOPOLOGY_ROUTES_H

#include "fabric/topology/topology.h"

#define ROUTES_NO_SUBNET UINT32_MAX

struct routes;

/**
 * @param down  By link, not 0: there is no way over it. NULL: all links are up.
 * @return      Owned by the caller, or NULL: no memory. t outlives it.
 */
struct routes *routes_create(const struct topology *t, const uint8_t *down);
void routes_destroy(struct routes *r);

/** The subnet of a switch's hosts, or ROUTES_NO_SUBNET: it has none. */
uint32_t routes_subnet(const struct routes *r, uint32_t sw);
uint32_t routes_n_subnets(const struct routes *r);

/** Ports of sw on shortest paths to a subnet: a mask, 0 for its own, and if there is no way. */
uint64_t routes_ports(const struct routes *r, uint32_t sw, uint32_t subnet);

/** Use these ports of sw instead, whatever lies behind them: a static route. */
void routes_set_ports(struct routes *r, uint32_t sw, uint32_t subnet, uint64_t ports);

/* Subnets first to first + 2^bits - 1, first a multiple of 2^bits. */
struct routes_block {
	uint32_t first;
	uint8_t bits;
	uint64_t ports;
};

/** Merged routes of a switch, at most n. @return how many, or -ENOSPC. */
int32_t routes_merged(const struct routes *r, uint32_t sw, struct routes_block *out, uint32_t n);

#endif
