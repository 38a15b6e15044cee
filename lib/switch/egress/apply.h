/* SPDX-License-Identifier: BSD-3-Clause */
/* Applying the requested state of a port, by its owner. */
#ifndef QUENCH_SWITCH_EGRESS_APPLY_H
#define QUENCH_SWITCH_EGRESS_APPLY_H

#include "switch/core/switch.h"

/** Put the requested state of a port in force. */
void sw_port_apply(struct sw *sw, uint16_t port, uint64_t now_ns);

/**
 * A frame arrived on a port whose link counts as down: treat the link as up until a link poll finds
 * it down again.
 */
void sw_port_hear(struct sw *sw, uint16_t port, uint64_t now_ns);

#endif
