/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flooding: each copy of a frame is a reference to it, and is admitted at its egress.
 *
 * Invariant (tested): the ingress charge is released once, with the last copy.
 */
#ifndef QUENCH_SWITCH_INGRESS_FLOOD_H
#define QUENCH_SWITCH_INGRESS_FLOOD_H

#include "switch/core/switch.h"
#include "switch/frame/arrival.h"

/** Send copies of an admitted frame to sw_flood_ports(); takes it. */
void sw_flood(struct sw *sw, struct arrival *a);
/** As sw_flood(), for a crossed frame, to the ports of this shard. */
void sw_flood_crossed(struct sw *sw, struct arrival *a);

#endif
