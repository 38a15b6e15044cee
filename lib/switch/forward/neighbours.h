/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The router as a station: it is asked for its address, asks others for theirs, and answers echo.
 *
 * A frame whose next hop's address is not known is dropped, and its drop asks: it does not wait,
 * because a lossless frame that waits holds its sender's buffer, and in the end its sender, for as
 * long as somebody who may not exist does not answer.
 */
#ifndef QUENCH_SWITCH_FORWARD_NEIGHBOURS_H
#define QUENCH_SWITCH_FORWARD_NEIGHBOURS_H

#include "switch/forward/router.h"
#include "wire/nd.h"

/* The longest request. */
#define SW_REQUEST_BYTES ND_FRAME_BYTES

/** Learn from a frame to a group in an interface's VLAN, as neighbours that moved announce it.
 * @return true: it is a request to the router, which the group need not see. */
bool sw_neigh_hear(struct sw_router *r, const struct arrival *a);

/**
 * A frame to the router itself: ARP, neighbour discovery, echo. An answer takes its place.
 *
 * @param to_own_ip  Is its destination an address of the router's?
 * @return           SW_PASS: send what a holds now; SW_CONSUMED; or a reason to drop it.
 */
enum sw_drop sw_neigh_rx(struct sw_router *r, struct arrival *a, bool to_own_ip);

/** Enter the addresses that other shards have learned. */
void sw_neigh_take_news(struct sw_router *r, uint64_t now_ns);

/** Build an ARP request or a solicitation for a neighbour. @return its length, at most
 * SW_REQUEST_BYTES. */
size_t sw_neigh_request(const struct sw_router *r, const struct neigh *e, uint8_t *frame);

#endif
