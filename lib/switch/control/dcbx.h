/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLDP and DCBX of the switch: frames cross between data path and control side by fixed boxes, and
 * what a port's ends agree on becomes its priorities with PFC.
 */
#ifndef QUENCH_SWITCH_CONTROL_DCBX_H
#define QUENCH_SWITCH_CONTROL_DCBX_H

#include <stdint.h>

struct dcbx_port;
struct node;
struct sw;
struct sw_params;

/** Of the front. @return 0 or -ENOMEM; sw_dcbx_free() after both. */
int sw_dcbx_init(struct sw *sw, const struct sw_params *params);
void sw_dcbx_free(struct sw *sw);
void sw_dcbx_set_params(struct sw *sw, const struct sw_params *params, uint64_t now_ns);

/** @return when to call again. */
uint64_t sw_dcbx_control(struct sw *sw, uint64_t now_ns);
void sw_dcbx_link_down(struct sw *sw, uint16_t port, uint64_t now_ns);

const struct dcbx_port *sw_dcbx(const struct node *node, uint16_t port);

#endif
