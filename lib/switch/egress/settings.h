/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reload may change in the data path: at the start it is put over zeros, later over what is
 * in force. */
#ifndef QUENCH_SWITCH_EGRESS_SETTINGS_H
#define QUENCH_SWITCH_EGRESS_SETTINGS_H

#include "switch/egress/switch.h"

/** Shapers, scheduler, marking curves, storm control of a port. */
void sw_set_port(struct sw *sw, uint16_t port, const struct sw_params *params, uint64_t now_ns);
/** Maps, and what follows from them. */
void sw_set_classes(struct sw *sw, const struct sw_params *params);

#endif
