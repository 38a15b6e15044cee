/* SPDX-License-Identifier: BSD-3-Clause */
/* ECN marking: WRED decides, CE is set. */
#ifndef QUENCH_SWITCH_EGRESS_MARK_H
#define QUENCH_SWITCH_EGRESS_MARK_H

#include "switch/egress/switch.h"

/**
 * Let WRED decide whether to mark a packet of a queue, and set CE.
 *
 * @param queue_bytes  Charged bytes of the queue without this packet.
 * @param m            Owned by the caller, who afterwards owns the returned packet instead: m, or
 *                     its private copy.
 */
struct rte_mbuf *sw_mark(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
			 struct rte_mbuf *m);

#endif
