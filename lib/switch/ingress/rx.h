/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way in, burst by burst: MAC control, parse, forward, admit.
 *
 * Invariant (tested): each frame that came in is queued, dropped under a reason, or consumed.
 */
#ifndef QUENCH_SWITCH_INGRESS_RX_H
#define QUENCH_SWITCH_INGRESS_RX_H

#include "switch/egress/switch.h"

/** Frames that came in by port; takes all of them. */
void sw_rx(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns);

#endif
