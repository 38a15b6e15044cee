/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Admission of one frame: at its ingress group, at its egress queues, and enqueueing.
 *
 * Invariant: an admitted charge is released once: when the frame leaves, or by sw_refund().
 */
#ifndef QUENCH_SWITCH_INGRESS_ADMIT_H
#define QUENCH_SWITCH_INGRESS_ADMIT_H

#include "switch/egress/switch.h"
#include "switch/frame/arrival.h"

/** Send a frame that the switch has generated, by one port in a domain; takes it. */
void sw_send_own(struct sw *sw, struct rte_mbuf *m, uint16_t domain, uint16_t port,
		 uint64_t now_ns);

/**
 * Admit a frame at its ingress and egress, and enqueue it; takes the frame.
 *
 * @return the ingress group; the caller passes it to sw_update_xoff() after the burst.
 */
uint8_t sw_admit(struct sw *sw, struct arrival *a);

/** Admit a frame at the egress of a port of this shard and enqueue it, in the other form (tagged or
 * untagged) if requested; takes it. Its ingress has admitted it, or the switch has generated it. */
void sw_to_port(struct sw *sw, struct arrival *a, bool other_form);

#endif
