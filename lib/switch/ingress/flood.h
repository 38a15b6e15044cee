/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that leave by several ports: copies by reference, each admitted at its egress.
 *
 * Invariant (tested): the ingress charge is given back once, with the last copy.
 */
#ifndef QUENCH_SWITCH_INGRESS_FLOOD_H
#define QUENCH_SWITCH_INGRESS_FLOOD_H

#include "switch/egress/switch.h"
#include "switch/frame/arrival.h"

/** Send copies of an admitted frame to all ports that it may go to; takes it. */
void sw_flood(struct sw *sw, struct arrival *a);
/** The same of one that has crossed, to those of the ports that are this shard's. */
void sw_flood_crossed(struct sw *sw, struct arrival *a);

#endif
