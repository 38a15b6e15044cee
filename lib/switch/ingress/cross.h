/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends frames to other shards. The entry of a frame contains everything that the other shard
 * needs. For floods and changes of form, the metadata of the frame contains more (PKT_LABELLED).
 *
 * Invariant (tested): frames of one port to another keep their order.
 */
#ifndef QUENCH_SWITCH_INGRESS_CROSS_H
#define QUENCH_SWITCH_INGRESS_CROSS_H

#include "switch/core/switch.h"
#include "switch/frame/arrival.h"

/**
 * Queue a frame for the shard that owns its egress port. It is handed over at the end of the burst.
 * Takes the frame.
 */
void sw_cross(struct sw *sw, struct arrival *a);
/**
 * Give a reference to a flooded frame to each other shard that owns some of the ports.
 *
 * @param form_ports  Mask of the ports that need the other form (tagged or untagged).
 */
void sw_cross_flood(struct sw *sw, const struct arrival *a, uint64_t ports, uint64_t form_ports);

#endif
