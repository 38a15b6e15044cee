/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the router sends a flow: read by an owner when another thread asks (control/snapshot.h).
 * Unlike a frame, the question asks no neighbour, and moves no flow.
 */
#ifndef QUENCH_SWITCH_CONTROL_ROUTE_LOOK_H
#define QUENCH_SWITCH_CONTROL_ROUTE_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "fwd/neigh.h"
#include "switch/tables/sw_tables.h"

struct sw;

enum sw_route_kind {
	SW_ROUTE_NONE, /* no route, or no router */
	SW_ROUTE_LOCAL,
	SW_ROUTE_CONNECTED,
	SW_ROUTE_STATIC,
	SW_ROUTE_BLACKHOLE,
	SW_ROUTE_MULTICAST,    /* a group: not routed, flooded in its VLAN */
	SW_ROUTE_NON_ROUTABLE, /* of its host or its link only: no router forwards to it */
	SW_ROUTE_KINDS
};

extern const char *const sw_route_kind_words[SW_ROUTE_KINDS + 1];

struct sw_route_hop {
	struct neigh neigh; /* key.ip.version 0: nothing has asked for it yet */
	uint16_t port;      /* where it leaves; SW_NO_DOMAIN: not known, a frame is flooded */
	bool dead;          /* ECMP avoids it: no link, or no answer */
};

struct sw_route_look {
	/* asked */
	struct field_ip source, destination; /* source.version 0: any flow */
	uint16_t source_port, destination_port;
	uint8_t protocol;
	/* answered */
	enum sw_route_kind kind;
	struct sw_route_hop hops[SW_MAX_NEXTHOPS]; /* of a connected route: the station */
	uint32_t n_hops;
	/* With several hops and a flow: its hash, the hop that this selects, and the one in use. */
	bool hashed;
	uint32_t hash, own, chosen;
};

/** By an owner. */
void sw_route_look_at(struct sw *sw, struct sw_route_look *look, uint64_t now_ns);

#endif
