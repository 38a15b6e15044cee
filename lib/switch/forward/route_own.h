/* SPDX-License-Identifier: BSD-3-Clause */
/* The next hop of a packet that the router itself sends. */
#ifndef QUENCH_SWITCH_FORWARD_ROUTE_OWN_H
#define QUENCH_SWITCH_FORWARD_ROUTE_OWN_H

#include "switch/forward/forward.h"

struct sw_own_way {
	const uint8_t *ip; /* of the router, on the interface where the packet leaves */
	uint8_t mac[6];    /* of the next hop */
	uint16_t domain, port;
};

/**
 * Find the next hop to an address, without asking for a MAC address.
 *
 * @param ip  4 or 16 bytes.
 * @return    false: no next hop with a known MAC address, or its interface has no address of
 *            this version.
 */
bool sw_route_own(struct sw_forward *f, const uint8_t *ip, uint8_t ip_version, uint64_t now_ns,
		  struct sw_own_way *way);

#endif
