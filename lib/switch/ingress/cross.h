/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A frame that crosses to another shard: what that has to know of it is written into its metadata.
 *
 * Invariant (tested): frames of one port to another keep their order.
 */
#ifndef QUENCH_SWITCH_INGRESS_CROSS_H
#define QUENCH_SWITCH_INGRESS_CROSS_H

#include "switch/egress/switch.h"
#include "switch/frame/arrival.h"

/** A frame leaves by another shard's port: hand it over at the end of the burst; takes it. */
void sw_cross(struct sw *sw, const struct arrival *a);
/**
 * A flooded frame goes to ports of other shards too: give each of these a hold on it.
 *
 * @param form_ports  Those of ports that it leaves in the other form.
 */
void sw_cross_flood(struct sw *sw, const struct arrival *a, uint64_t ports, uint64_t form_ports);

#endif
