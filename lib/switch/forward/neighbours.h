/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The router as a host: answers requests for its addresses and echo requests, and requests the
 * addresses of its neighbours.
 *
 * A frame whose next hop is unresolved is dropped, and triggers a request. The frame does not
 * wait for the answer: a waiting lossless frame would occupy buffer and finally pause its sender,
 * and the neighbour may not even exist.
 *
 * Invariant: every neighbour learned is in the subnet of its interface, and is not the router.
 */
#ifndef QUENCH_SWITCH_FORWARD_NEIGHBOURS_H
#define QUENCH_SWITCH_FORWARD_NEIGHBOURS_H

#include "switch/forward/router.h"
#include "wire/neighbour/nd.h"

/* The longest request. */
#define SW_SOLICIT_BYTES ND_FRAME_BYTES

/**
 * Learn from a frame to a group in the VLAN of an interface, because neighbours announce their
 * moves there.
 * @return true: it is a request to the router, and need not be flooded.
 */
bool sw_neigh_hear(struct sw_router *r, const struct arrival *a);

/**
 * Handle a frame to the router itself: ARP, neighbour discovery, echo. An answer is built in place.
 *
 * @param to_own_ip  Is its destination an IP address of the router?
 * @return           SW_PASS: the frame of a is now the answer to send; SW_CONSUMED; or why it is
 *                   dropped.
 */
enum sw_drop sw_neigh_rx(struct sw_router *r, struct arrival *a, bool to_own_ip);

/** Enter the addresses that other shards have learned. */
void sw_neigh_take_news(struct sw_router *r, uint64_t now_ns);

/** Build an ARP request or a solicitation for a neighbour. @return its length, at most
 * SW_SOLICIT_BYTES. */
size_t sw_neigh_request(const struct sw_router *r, const struct neigh *e, uint8_t *frame);

#endif
