/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame that crosses to another shard: its metadata carries all that the other shard needs.
 *
 * Invariant (tested): frames of one port to another keep their order.
 */
#ifndef QUENCH_SWITCH_INGRESS_CROSS_H
#define QUENCH_SWITCH_INGRESS_CROSS_H

#include "switch/egress/switch.h"
#include "switch/frame/arrival.h"

/** Hand a frame over to the shard of its port at the end of the burst; takes it. */
void sw_cross(struct sw *sw, const struct arrival *a);
/**
 * Give each other shard that a flooded frame goes to a reference to it.
 *
 * @param form_ports  Those of ports that it leaves in the other form.
 */
void sw_cross_flood(struct sw *sw, const struct arrival *a, uint64_t ports, uint64_t form_ports);

#endif
