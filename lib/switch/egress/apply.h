/* SPDX-License-Identifier: BSD-3-Clause */
/* The wish of other threads for a port, put in force by its owner. */
#ifndef QUENCH_SWITCH_EGRESS_APPLY_H
#define QUENCH_SWITCH_EGRESS_APPLY_H

#include "switch/egress/switch.h"

/** Put what others ask of a port in force. */
void sw_port_apply(struct sw *sw, uint16_t port, uint64_t now_ns);

/** A frame came by a port that is held to be down: it is up, until that is said again. */
void sw_hear(struct sw *sw, uint16_t port, uint64_t now_ns);

#endif
