/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the way in, for one frame: admission on both sides, and the queue, or the queues. */
#ifndef QUENCH_SWITCH_INGRESS_ADMIT_H
#define QUENCH_SWITCH_INGRESS_ADMIT_H

#include "switch/egress/switch.h"
#include "switch/frame/arrival.h"

/** Queue a frame that the switch itself has made, for one port in a domain; takes it. */
void sw_send_own(struct sw *sw, struct rte_mbuf *m, uint16_t domain, uint16_t port,
		 uint64_t now_ns);

/**
 * Both admissions, and the queue or the queues that it goes to; takes the frame.
 *
 * @return the ingress group, which the caller asks sw_update_xoff() about after the burst.
 */
uint8_t sw_admit(struct sw *sw, struct arrival *a);

/** An admitted frame, or one that the switch has made, is for a port of this shard, in the other
 * form or as it is; takes it. */
void sw_to_port(struct sw *sw, struct arrival *a, bool other_form);

#endif
