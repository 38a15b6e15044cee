/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of the data path that a reload may change. At start-up they replace zeros, later the
 * settings in force. */
#ifndef QUENCH_SWITCH_EGRESS_SETTINGS_H
#define QUENCH_SWITCH_EGRESS_SETTINGS_H

#include "switch/egress/switch.h"

/** Shapers, scheduler, marking curves, storm control of a port. */
void sw_set_port(struct sw *sw, uint16_t port, const struct sw_params *params, uint64_t now_ns);
/** Maps, the marking point and LLDP. */
void sw_set_classes(struct sw *sw, const struct sw_params *params);

#endif
