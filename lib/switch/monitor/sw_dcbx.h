/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LLDP and DCBX of the switch: exchanges frames with the data path (core/sw_mailbox.h), and
 * requests PFC for the priorities that a port and its peer agree on.
 *
 * Invariant: after sw_dcbx_control(), a port with flow_control = auto has requested.pfc_prios = the
 * pfc_prios of its dcbx_port.
 */
#ifndef QUENCH_SWITCH_MONITOR_SW_DCBX_H
#define QUENCH_SWITCH_MONITOR_SW_DCBX_H

#include <stdbool.h>
#include <stdint.h>

struct dcbx_port;
struct node;
struct sw;
struct sw_params;

/** For the front. @return 0 or -ENOMEM; sw_dcbx_free() in both cases. */
int sw_dcbx_init(struct sw *sw, const struct sw_params *params);
void sw_dcbx_free(struct sw *sw);
void sw_dcbx_set_params(struct sw *sw, const struct sw_params *params, uint64_t now_ns);

/** @return when to call again. */
uint64_t sw_dcbx_control(struct sw *sw, uint64_t now_ns);
/**
 * The switch is about to end: say so to all neighbours, once.
 * @return false when the frames are sent or LLDP is off; true: call again after control work.
 */
bool sw_dcbx_leave(struct node *node, uint64_t now_ns);
void sw_dcbx_link_down(struct sw *sw, uint16_t port, uint64_t now_ns);

const struct dcbx_port *sw_dcbx(const struct node *node, uint16_t port);

#endif
