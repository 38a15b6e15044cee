/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bridge: VLANs, learning, forwarding, storm control.
 *
 * Invariant: a frame leaves only by ports in its VLAN.
 */
#ifndef QUENCH_SWITCH_FORWARD_BRIDGE_H
#define QUENCH_SWITCH_FORWARD_BRIDGE_H

#include <stdbool.h>

#include "switch/forward/forward.h"

#define VLAN_ID_MASK 0x0FFFu

/**
 * Set the domain of a frame received on a port that filters VLANs.
 *
 * @param vid  VLAN identifier of its tag; 0: none.
 * @return     SW_PASS or why it is not forwarded.
 */
enum sw_drop sw_bridge_filter(const struct sw_forward *f, struct arrival *a, uint16_t vid);

/**
 * Learn the source addresses of a burst, and look up the destinations.
 *
 * @param memo     Of the caller's table: a frame alone is looked up by it.
 * @param reasons  Result per frame: SW_PASS, SW_TO_ROUTER, or why it is not forwarded.
 * @return         Is any frame for the router?
 */
bool sw_bridge_forward(struct sw_forward *f, struct fdb_memo *memo, struct arrival *a,
		       unsigned int n, enum sw_drop reasons[]);

/* Inline definitions */

/** Set the domain of a frame, by its port and its tag. @return as sw_bridge_filter(). */
static inline enum sw_drop
sw_bridge_classify(const struct sw_forward *f, struct arrival *a)
{
	uint16_t vid = 0;

	a->pcp = -1;
	a->tci_bits = 0;
	if (unlikely(a->view.tagged)) {
		vid = a->view.vlan_tci & VLAN_ID_MASK;
		a->pcp = (int8_t)(a->view.vlan_tci >> 13);
		a->tci_bits = a->view.vlan_tci & (uint16_t)~VLAN_ID_MASK;
	}
	a->not_to = a->in_port;
	a->domain = vid;
	return f->vlans->access_domain[a->in_port] != SW_TRANSPARENT ? sw_bridge_filter(f, a, vid)
								     : SW_PASS;
}

#endif
