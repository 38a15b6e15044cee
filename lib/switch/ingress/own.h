/* SPDX-License-Identifier: BSD-3-Clause */
/* The switch's own frames: LLDP from and for the control side, questions about neighbours. */
#ifndef QUENCH_SWITCH_INGRESS_OWN_H
#define QUENCH_SWITCH_INGRESS_OWN_H

#include "switch/egress/switch.h"
#include "switch/frame/arrival.h"

/**
 * An untagged LLDP frame came.
 * @return SW_CONSUMED or why it is dropped; SW_PASS: it is not for us.
 */
enum sw_drop sw_lldp_rx(struct sw *sw, const struct arrival *a);

/** Put the frames that the control side wants sent into their queues. */
void sw_lldp_send(struct sw *sw);

/** Send the questions that touching neighbours has brought up. */
void sw_neigh_ask(struct sw *sw, uint64_t now_ns);

#endif
