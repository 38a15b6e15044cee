/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path of a flow's frames through the switches of a scenario, as its bridges and routers
 * decide: the shortest one, and among equal ones the one that the hash of the 5-tuple selects at
 * each router.
 */
#ifndef QUENCH_FABRIC_SCENARIO_SCENARIO_PATH_H
#define QUENCH_FABRIC_SCENARIO_SCENARIO_PATH_H

#include "fabric/scenario/scenario.h"

/* A switch, and the port by which the frames leave it. */
struct path_hop {
	uint32_t sw;
	uint16_t port;
};

/* TTL of a host's packets; also used as the limit for paths through bridges. */
#define PATH_MAX_HOPS 64

/**
 * @param routes     Shortest paths of the topology: s->routes, or the caller's own if that is NULL.
 * @param udp_sport  Of the frames, which are RoCEv2.
 * @return           Number of hops, at least 1, or -ELOOP: more than PATH_MAX_HOPS, which static
 *                   routes can cause.
 */
int path_find(const struct scenario *s, const struct routes *routes, uint32_t from, uint32_t to,
	      uint16_t udp_sport, struct path_hop hops[PATH_MAX_HOPS]);

/**
 * Number of switches on the longest path between two hosts, with all links up; at most
 * PATH_MAX_HOPS. 0: out of memory.
 */
unsigned int path_longest(const struct scenario *s);

#endif
