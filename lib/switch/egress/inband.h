/* SPDX-License-Identifier: BSD-3-Clause */
/* In-band telemetry: frames with an INT header learn the state of the port as they leave. */
#ifndef QUENCH_SWITCH_EGRESS_INBAND_H
#define QUENCH_SWITCH_EGRESS_INBAND_H

#include "switch/core/switch.h"

/**
 * Add a hop to those of a run of frames that have an INT header. Call it after the counters and the
 * queue were updated for the run.
 *
 * @param pkts  n frames of a queue in the order in which they leave, owned by the caller. A frame
 *              whose data others hold is replaced by a private copy.
 */
void sw_inband_add(struct sw *sw, struct sw_port *p, uint8_t queue, struct rte_mbuf **pkts,
		   uint16_t n, uint64_t now_ns);

#endif
