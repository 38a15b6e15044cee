/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that the switch generates (LLDP, ARP requests, neighbour solicitations), and LLDP frames
 * that it consumes.
 *
 * Invariant: a generated frame has no ingress charge (PKT_GENERATED).
 */
#ifndef QUENCH_SWITCH_INGRESS_GENERATED_H
#define QUENCH_SWITCH_INGRESS_GENERATED_H

#include "switch/core/switch.h"
#include "switch/frame/arrival.h"

/**
 * Pass a received untagged LLDP frame to the control side.
 * @return SW_CONSUMED or why it is dropped; SW_PASS: it is not LLDP for this switch.
 */
enum sw_drop sw_lldp_rx(struct sw *sw, const struct arrival *a);

/** Enqueue the LLDP frames of the control side. */
void sw_lldp_send(struct sw *sw, uint64_t now_ns);

/** Send the ICMP errors of a burst. */
void sw_own_send(struct sw *sw, uint64_t now_ns);

/** Send the pending requests for neighbours' addresses. */
void sw_neigh_ask(struct sw *sw, uint64_t now_ns);

/** sw_route_check_next_hops(), and send the requests that are due. */
void sw_next_hops_check(struct sw *sw, uint64_t now_ns);

#endif
