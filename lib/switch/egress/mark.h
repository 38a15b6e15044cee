/* SPDX-License-Identifier: BSD-3-Clause */
/* ECN marking: WRED decides, CE is set. */
#ifndef QUENCH_SWITCH_EGRESS_MARK_H
#define QUENCH_SWITCH_EGRESS_MARK_H

#include "switch/core/switch.h"

/**
 * Let WRED decide whether to mark a packet of a queue, and set CE.
 *
 * @param queue_bytes  Charged bytes of the queue without this packet.
 * @param e            Of the packet, which the caller owns.
 * @return             The packet, or a private copy of it, which the caller owns instead.
 */
struct rte_mbuf *sw_mark(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
			 const struct sw_entry *e);

#endif
