/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings of the data path that a reload may change. At start-up they replace zeros, later the
 * settings in force.
 *
 * Invariant: a reload keeps the credit or debt of token buckets, and the average queue lengths.
 */
#ifndef QUENCH_SWITCH_CORE_SETTINGS_H
#define QUENCH_SWITCH_CORE_SETTINGS_H

#include "switch/core/switch.h"

/** Set shapers, scheduler, marking curves and storm control of a port. */
void sw_set_port(struct sw *sw, uint16_t port, const struct sw_params *params, uint64_t now_ns);
/** Memory for the maps of all ports. @return 0 or -ENOMEM. */
int sw_classes_create(struct sw *sw, uint16_t n_ports);
void sw_classes_destroy(struct sw *sw);
/** Set the maps, the marking point and LLDP. */
void sw_set_classes(struct sw *sw, const struct sw_params *params);

#endif
