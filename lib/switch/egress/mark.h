/* SPDX-License-Identifier: BSD-3-Clause */
/* Marking of a queue: WRED decides, CE is set. */
#ifndef QUENCH_SWITCH_EGRESS_MARK_H
#define QUENCH_SWITCH_EGRESS_MARK_H

#include "switch/egress/switch.h"

/**
 * The marking point of a packet of a queue: let WRED decide and set CE.
 *
 * @param queue_bytes  Charged, of the packets that wait without this one.
 * @param m            Owned by the caller, who owns what is returned instead: m, or its private
 *                     copy.
 */
struct rte_mbuf *sw_mark(struct sw *sw, struct sw_port *p, uint8_t queue, uint64_t queue_bytes,
			 struct rte_mbuf *m);

#endif
