/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ingress, burst by burst: MAC control, parse, forward, admit.
 *
 * Invariant (tested): each received frame is queued, dropped under a reason, or consumed.
 */
#ifndef QUENCH_SWITCH_INGRESS_SW_RX_H
#define QUENCH_SWITCH_INGRESS_SW_RX_H

#include "switch/core/switch.h"

/** Process frames received by port; takes all of them. */
void sw_rx(struct sw *sw, uint16_t port, struct rte_mbuf **pkts, uint16_t n, uint64_t now_ns);

#endif
