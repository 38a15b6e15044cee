/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All shortest paths of a graph, in the form that its routers need: for the hosts of each switch,
 * the ports of every other switch that are on a shortest path to them. Length is the number of
 * cables, as with eBGP between switches; parallel cables are separate paths.
 *
 * Each switch with hosts has a subnet. Subnets are numbered from 0 in the order of the switches,
 * and routes to adjacent numbers with the same ports are merged, as an operator would summarise
 * them.
 *
 * Invariant without static routes: ports(sw, n) = ports whose peer is one hop nearer to subnet n.
 * Static routes override this, and may create loops.
 */
#ifndef QUENCH_FABRIC_TOPOLOGY_TOPOLOGY_ROUTES_H
#define QUENCH_FABRIC_TOPOLOGY_TOPOLOGY_ROUTES_H

#include "fabric/topology/topology.h"
#include "node/port_set.h"

#define ROUTES_NO_SUBNET UINT32_MAX

struct routes;

/**
 * @param down  By link, nonzero: not usable. NULL: all links are up.
 * @return      Owned by the caller, or NULL: out of memory. t must outlive it.
 */
struct routes *routes_create(const struct topology *t, const uint8_t *down);
void routes_destroy(struct routes *r);

/** The subnet of a switch's hosts, or ROUTES_NO_SUBNET if it has no hosts. */
uint32_t routes_subnet(const struct routes *r, uint32_t sw);
uint32_t routes_n_subnets(const struct routes *r);

/** Ports of sw on shortest paths to a subnet; empty for its own, or if there is no path. */
struct port_set routes_ports(const struct routes *r, uint32_t sw, uint32_t subnet);

/** Override the ports of sw to a subnet: a static route. The ports are not checked. */
void routes_set_ports(struct routes *r, uint32_t sw, uint32_t subnet, const struct port_set *ports);

/* Subnets first to first + 2^bits - 1, where first is a multiple of 2^bits. */
struct routes_block {
	uint32_t first;
	uint8_t bits;
	struct port_set ports;
};

/** Merged routes of a switch, at most n. @return their number, or -ENOSPC. */
int32_t routes_merged(const struct routes *r, uint32_t sw, struct routes_block *out, uint32_t n);

#endif
