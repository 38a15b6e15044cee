/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a flow's frames through the switches of a scenario, as its bridges and routers decide:
 * the shortest one, and of equal ones the one that the hash of the 5-tuple picks at each router.
 */
#ifndef QUENCH_FABRIC_FLUID_PATH_H
#define QUENCH_FABRIC_FLUID_PATH_H

#include "fabric/scenario/scenario.h"

/* A switch, and the port that the frames leave it by. */
struct path_hop {
	uint32_t sw;
	uint16_t port;
};

/* The TTL of a host's packets; bridges of more in a row are not looked at either. */
#define PATH_MAX_HOPS 64

/**
 * @param routes     Shortest ways of the topology: s->routes, or where that is NULL one's own.
 * @param udp_sport  Of the frames, RoCEv2 over IPv4.
 * @return           How many hops, at least 1, or -ELOOP: more than PATH_MAX_HOPS, as
 *                   static routes may have it.
 */
int path_find(const struct scenario *s, const struct routes *routes, uint16_t from, uint16_t to,
	      uint16_t udp_sport, struct path_hop hops[PATH_MAX_HOPS]);

#endif
