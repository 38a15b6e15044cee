/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of a connection's flow: those of its pattern, and what both ends have agreed. */
#ifndef QUENCH_APP_QUENCH_NIC_CONNECTIONS_CONNECTION_FLOW_H
#define QUENCH_APP_QUENCH_NIC_CONNECTIONS_CONNECTION_FLOW_H

#include "ctl/nic_config/nic_flow.h"
#include "nic/cm/cm.h"

/**
 * Lines "flow NAME.key=value" for a stopped flow.
 * @param v         The peer's end of the connection.
 * @param qpn, psn  Ours.
 * @return          text that the caller frees, or NULL: out of memory.
 */
char *connection_flow(const struct nic_flow *pattern, const char *name, const struct cm_view *v,
		      uint32_t qpn, uint32_t psn);

#endif
